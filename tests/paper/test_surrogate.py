from math import exp, log

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.errors import ArgumentError
from conjoin.paper.classification import Setting, norm3
from conjoin.paper.surrogate import (
    cross_entropy,
    cross_entropy_and_gradient,
    plug_in,
    ramp,
    ridge_fit,
    step_sizes,
    subgradient_estimator,
    surrogate_loss,
    surrogate_rows,
)
from conjoin.paper.tables.classification import draw_rows
from tests.reference.paper_classes import (
    cross_entropy_of_row,
    random_classes,
    stationarity_gap,
    subgradient_path,
    surrogate_of_row,
    surrogate_subgradient,
)

SIGNS = ("flipped", "literal")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def differences(function, b, step=1e-6):
    slope = np.empty_like(b)
    for index in np.ndindex(*b.shape):
        move = np.zeros_like(b)
        move[index] = step
        slope[index] = (function(b + move) - function(b - move)) / (2 * step)
    return slope


def test_cross_entropy_agrees_with_the_twin_and_its_gradient_with_differences(rng):
    X, y, b, _ = random_classes(rng)
    expected = np.mean([cross_entropy_of_row(b, x, label, 0.3) for x, label in zip(X, y)])
    assert_allclose(cross_entropy(b, X, y, 0.3), expected, rtol=1e-12)
    slope = differences(lambda b: cross_entropy(b, X, y, 0.3), b)
    assert_allclose(cross_entropy_and_gradient(b, X, y, 0.3)[1], slope, atol=1e-8)


def test_cross_entropy_survives_large_scores(rng):
    X, y, b, _ = random_classes(rng)
    assert np.isfinite(cross_entropy(1e4 * b, X, y, 0.1))


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("seed", range(3))
def test_surrogate_agrees_with_the_twin(sign, seed):
    X, _, b, beta = random_classes(np.random.default_rng(seed))
    expected = [surrogate_of_row(b, beta, x, 0.3, 0.7, sign) for x in X]
    assert_allclose(surrogate_rows(b, beta, X, 0.3, 0.7, sign), expected, rtol=1e-12)
    assert_allclose(surrogate_loss(b, beta, X, 0.3, 0.7, sign), np.mean(expected), rtol=1e-12)


def test_ramp_by_hand():
    assert_allclose(ramp(np.array([-3.0, 0.0, 0.5, 2.0, 5.0]), 2.0), [1, 1, 0.75, 0, 0])


@pytest.mark.parametrize(
    ("sign", "ramp_part"),
    # Scores of x = (3, 4) are 3 and -4; gamma = 5 keeps a fifth of the second one.
    [("flipped", -3 * 1 - (-4) * 0.2), ("literal", -3 * 0.4 - (-4) * 1)],
)
def test_surrogate_by_hand(sign, ramp_part):
    beta, b = np.array([[1.0, 0.0], [0.0, -1.0]]), np.array([[0.0, 0.0], [0.0, -1.0]])
    x = np.array([[3.0, 4.0]])
    expected = 1 * 5 + ramp_part + log(1 + exp(-4)) + 0.2 / 2 * 1
    assert_allclose(surrogate_loss(b, beta, x, 0.2, 5.0, sign), expected, rtol=1e-14)


def test_subgradient_agrees_with_differences_where_smooth(rng):
    X, _, b, beta = random_classes(rng)
    for sign in SIGNS:
        slope = differences(lambda b, sign=sign: surrogate_loss(b, beta, X, 0.3, 0.7, sign), b)
        assert_allclose(surrogate_subgradient(b, beta, X, 0.3), slope, atol=1e-8)


def test_subgradient_bounds_the_loss_from_below_at_a_kink(rng):
    X, _, b, beta = random_classes(rng)
    b[:2] = beta[:2]
    g = surrogate_subgradient(b, beta, X, 0.3)
    value = surrogate_loss(b, beta, X, 0.3, 0.7)
    for _ in range(200):
        move = rng.standard_normal(b.shape) * 10 ** rng.uniform(-6, 1)
        gain = surrogate_loss(b + move, beta, X, 0.3, 0.7) - value
        assert gain >= np.sum(g * move) - 1e-12


def test_printed_gradient_of_the_norm_has_the_wrong_sign(rng):
    """The paper prints (beta - b)/|b - beta|: a step against it moves away from beta."""
    _, _, b, beta = random_classes(rng)
    slope = differences(lambda b: norm3(beta - b), b)
    printed = (beta - b) / np.linalg.norm(beta - b, axis=1, keepdims=True)
    assert_allclose(slope, -printed, atol=1e-8)


@pytest.mark.parametrize("sign", SIGNS)
def test_surrogate_bounds_the_cross_entropy_under_the_assumption(rng, sign):
    beta = rng.standard_normal((3, 4))
    X, y = draw_rows(beta, 50, 0.2, rng)
    true = beta if sign == "flipped" else -beta  # as printed the true class scores lowest
    for _ in range(20):
        b = rng.standard_normal(beta.shape)
        rows = surrogate_rows(b, true, X, 0.1, 0.2, sign)
        plain = [cross_entropy_of_row(b, x, label, 0.1) for x, label in zip(X, y)]
        assert np.all(rows >= np.array(plain) - 1e-12)


def test_surrogate_is_no_bound_without_the_assumption():
    """Two positive scores, as plug-ins have them: the loss is negative."""
    beta = np.array([[5.0], [5.0]])
    assert surrogate_loss(beta, beta, np.array([[1.0]]), 0.01, 1.0) < 0


@pytest.mark.parametrize("sign", SIGNS)
def test_estimator_agrees_with_the_twin_on_two_datasets(rng, sign):
    X1, _, _, beta1 = random_classes(rng)
    X2, _, _, beta2 = random_classes(rng, n=30)
    samples, eta = [(X1, beta1), (X2, beta2)], step_sizes(50)
    fit = subgradient_estimator(samples, 0.3, 0.7, eta, sign=sign)
    b, losses = subgradient_path(samples, 0.3, 0.7, eta, sign)
    assert_allclose(fit.losses, losses, rtol=1e-10)
    assert_allclose(fit.b, b, rtol=1e-10, atol=1e-12)
    assert fit.loss == min(fit.losses) == fit.losses[fit.s - 1]


def test_sign_moves_the_loss_but_not_the_estimator(rng):
    X, _, _, beta = random_classes(rng)
    flipped, literal = (
        subgradient_estimator([(X, beta)], 0.3, 0.7, step_sizes(100), sign=sign) for sign in SIGNS
    )
    assert np.array_equal(flipped.b, literal.b)
    assert_allclose(np.ptp(flipped.losses - literal.losses), 0, atol=1e-12)
    assert abs(flipped.loss - literal.loss) > 0.1


def test_accuracy_with_each_sign(rng):
    """Known beta, separable rows: all classified right with the flipped sign, none as printed."""
    beta = rng.standard_normal((3, 5))
    X, y = draw_rows(beta, 500, 0.1, rng)
    for true, sign, accuracy in ((beta, "flipped", 1.0), (-beta, "literal", 0.0)):
        fit = subgradient_estimator([(X, true)], 0.01, 0.1, step_sizes(500), sign=sign)
        assert np.mean(np.argmax(X @ fit.b.T, axis=1) == y) == accuracy


@pytest.mark.parametrize("lam", [0.01, 0.1, 1.0])
def test_minimiser_of_the_surrogate_is_the_plug_in(rng, lam):
    """At a ridge fit, mean softmax_c x + lam beta_c = mean y_c x, no longer than mean |x|."""
    X, y, _, _ = random_classes(rng, n=80)
    beta = plug_in(X, y, 4, lam)
    assert stationarity_gap(beta, beta, X, lam) == 0
    fit = subgradient_estimator([(X, beta)], lam, 0.1, step_sizes(2000))
    assert norm3(fit.b - beta) < 0.05 * norm3(beta)
    assert fit.loss >= surrogate_loss(beta, beta, X, lam, 0.1)


def test_stationarity_gap_is_positive_elsewhere(rng):
    X, _, b, beta = random_classes(rng)
    assert stationarity_gap(b, beta, X, 0.1) > 0


def test_minimiser_of_the_surrogate_can_leave_the_radius(rng):
    """|b_c| <= radius is shown for the cross entropy, and used for the surrogate."""
    X = rng.standard_normal((200, 3))
    beta = 10 * np.eye(3)
    assert stationarity_gap(beta, beta, X, 0.05) == 0
    assert np.linalg.norm(beta[0]) > Setting(C=3, B=4.0, lam=0.05).radius


def test_ridge_fit_is_stationary_and_within_the_radius(rng):
    X, y, _, _ = random_classes(rng, n=60)
    b = ridge_fit(X, y, 4, 0.2)
    assert np.max(np.abs(cross_entropy_and_gradient(b, X, y, 0.2)[1])) < 1e-6
    assert np.max(np.linalg.norm(b, axis=1)) <= Setting(C=4, B=1.0, lam=0.2).radius
    assert np.array_equal(plug_in(X, y, 4, 0.2, "literal"), -b)


def test_an_unknown_sign_is_refused(rng):
    X, _, b, beta = random_classes(rng)
    with pytest.raises(ArgumentError, match="sign='other' is unknown; expected 'flipped' or"):
        surrogate_loss(b, beta, X, 0.1, 1.0, "other")
