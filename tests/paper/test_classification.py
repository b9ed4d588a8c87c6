from math import comb, exp, log, pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from conjoin.errors import ArgumentError, DataError
from conjoin.paper import classification as paper
from conjoin.paper.classification import (
    READINGS,
    Setting,
    bounds,
    compare_classes,
    largest_norm,
    norm3,
)
from conjoin.paper.surrogate import step_sizes, surrogate_loss
from conjoin.paper.tables.classification import draw_rows, turn
from tests.reference.paper_classes import (
    R_n,
    R_n1_n2,
    random_classes,
    surrogate_subgradient,
    theorem3,
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def random_pair(rng, C=3, p=4):
    return rng.standard_normal((C, p)), rng.standard_normal((C, p)) * rng.uniform(0.2, 3)


@pytest.mark.parametrize("seed", range(5))
def test_constants_follow_from_the_propositions(seed):
    rng = np.random.default_rng(seed)
    beta1, beta2 = random_pair(rng)
    setting = Setting(C=3, B=rng.uniform(1, 5), lam=rng.uniform(0.01, 2))
    assert_allclose(paper.phi2(70, beta1, setting), 4 * R_n(70, beta1, setting), rtol=1e-12)
    pair = (70, 300, beta1, beta2, setting)
    assert_allclose(paper.psi2(*pair), 4 * R_n1_n2(*pair), rtol=1e-12)
    assert_allclose(paper.a1(setting), paper.b2(setting), rtol=1e-12)
    assert_allclose(paper.a2(setting), 2 * paper.b3(setting), rtol=1e-12)
    assert_allclose(paper.b3(setting), 2 * paper.b1(setting), rtol=1e-12)


def test_quantities_by_hand():
    """C = 2, B = 3, lam = 2 log 2, so that log C / lam = 1/2 and the radius is 1."""
    lam, beta = 2 * log(2), np.array([[3.0, 4.0], [0.0, 1.0]])
    setting = Setting(C=2, B=3.0, lam=lam, delta=exp(-2), eta=np.array([1.0, 0.5]))
    assert_allclose(setting.radius, 1)
    assert norm3(beta) == 6
    omega = 12 * sqrt(0.5) + 36 + 3 * log(2)
    assert_allclose(paper.omega(beta, setting), omega)
    assert_allclose(paper.G(setting), 12 + 4 * log(2))
    assert_allclose(paper.phi1(16, beta, setting), omega / 2)
    r = sqrt(3 / pi)
    a1 = 6 * (2 * r + 4) + 4 * r * log(2)
    assert_allclose(paper.phi2(16, beta, setting), (a1 + 36 * r) / 4)
    assert_allclose(paper.phi3(setting), (8 * log(2) + (12 + 4 * log(2)) * lam * 1.25) / (3 * lam))
    assert_allclose(paper.psi1(16, 16, beta, beta, setting), omega / sqrt(2))
    assert_allclose(paper.psi2(16, 4, beta, beta, setting), 0.75 * (18 * r + a1) + 13.5 * r)


def test_psi1_is_mcdiarmid_with_squares():
    """The proof of Proposition 5 prints A = omega1/n1 + omega2/n2; psi1 has the squares."""
    beta1, beta2 = random_pair(np.random.default_rng(1))
    setting = Setting(C=3, B=2.0)
    c2 = 50 * (paper.omega(beta1, setting) / 50) ** 2 + 80 * (paper.omega(beta2, setting) / 80) ** 2
    half = paper.psi1(50, 80, beta1, beta2, setting) / 2
    assert_allclose(exp(-2 * half**2 / c2), setting.delta)


@pytest.mark.parametrize("seed", range(5))
def test_psi3_by_reading(seed):
    rng = np.random.default_rng(seed)
    eta = rng.uniform(0, 1, 20)
    by = {name: Setting(C=4, B=2.5, lam=0.3, eta=eta, reading=name) for name in READINGS}
    G = paper.G(by["corrected"])
    start, noise = 4 * log(4) / (0.3 * eta.sum()), np.sum(eta**2) / eta.sum()
    assert_allclose(paper.psi3(by["corrected"]), start + G * noise)
    assert_allclose(paper.psi3(by["printed"]), 2 * paper.psi3(by["corrected"]))
    assert_allclose(paper.psi3(by["squared"]), start + 2 * G**2 * noise)
    gains = {name: 2 * paper.phi3(by[name]) - paper.psi3(by[name]) for name in READINGS}
    assert_allclose(gains["corrected"], start)
    assert_allclose(gains["printed"], -G * noise)
    assert_allclose(gains["squared"], start - G**2 * noise)


@pytest.mark.parametrize("seed", range(5))
def test_last_theorem_follows_from_the_corrected_psi3_only(seed):
    rng = np.random.default_rng(seed)
    beta1, beta2 = random_pair(rng)
    for name in READINGS:
        setting = Setting(C=3, B=rng.uniform(1, 5), reading=name)
        pair = (60, 900, beta1, beta2, setting)
        left, right = theorem3(*pair)
        same = np.isclose(bounds(*pair).margin, right - left, rtol=1e-9)
        assert same == (name == "corrected")


def test_the_bound_on_the_rademacher_complexity_ends_in_C_log_C():
    """As its proof has it; the statement has log C. Without x and beta only this term is left."""
    setting, n = Setting(C=3, B=0.0), 50
    expected = np.sqrt(3 / (np.pi * n)) / 2 * 3 * np.log(3)
    beta = np.zeros((3, 2))
    assert paper.R_n(n, beta, setting) == pytest.approx(expected)
    assert paper.R_n1_n2(n, n, beta, beta, setting) == pytest.approx(2 * expected)


def test_parts_add_up(rng):
    beta1, beta2 = random_pair(rng)
    setting = Setting(C=3, B=4.0)
    found = bounds(60, 900, beta1, beta2, setting)
    steps = paper.phi3(setting)
    for own, n, beta in zip(found.Phi, (60, 900), (beta1, beta2)):
        assert_allclose(own, paper.phi1(n, beta, setting) + paper.phi2(n, beta, setting) + steps)
    pair = (60, 900, beta1, beta2, setting)
    assert_allclose(found.Psi, paper.psi1(*pair) + paper.psi2(*pair) + paper.psi3(setting))
    assert_allclose(found.margin, sum(found.Phi) - found.Psi)
    assert found.join == (found.Psi <= sum(found.Phi))


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_bounds_are_blind_to_the_sign_of_one_dataset(seed):
    rng = np.random.default_rng(seed)
    beta1, beta2 = random_pair(rng)
    n1, n2 = (int(n) for n in rng.integers(5, 10**6, 2))
    setting = Setting(C=3, B=rng.uniform(0.1, 10), lam=10 ** rng.uniform(-3, 1))
    here, there = (bounds(n1, n2, beta1, s * beta2, setting) for s in (1, -1))
    assert_allclose(here.Psi, there.Psi, rtol=1e-12)
    assert here.distance <= 1e-12 * here.psi2
    assert here.sampling >= 0


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.001, 0.78))
def test_equal_norms_and_sizes_are_joined_at_any_distance(seed, delta):
    rng = np.random.default_rng(seed)
    beta = rng.standard_normal((3, 4)) * 10 ** rng.uniform(-3, 3)
    n, lam = int(rng.integers(5, 10**6)), 10 ** rng.uniform(-3, 1)
    setting = Setting(C=3, B=rng.uniform(0.1, 10), lam=lam, delta=delta)
    assert bounds(n, n, beta, turn(beta, rng.uniform(0, 2), rng), setting).join


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.001, 0.49))
def test_ridge_plug_ins_of_equal_sizes_are_always_joined(seed, delta):
    """Ridge fits have |b_c| <= radius; no such pair is refused, whatever the data."""
    rng = np.random.default_rng(seed)
    setting = Setting(C=3, B=rng.uniform(0.1, 10), lam=10 ** rng.uniform(-3, 1), delta=delta)
    # Lengths 0 and radius are the extremes of the penalty; directions at random.
    pair = []
    for _ in range(2):
        beta = rng.standard_normal((3, 4))
        length = setting.radius * rng.choice([0.0, 0.5, 1.0], size=(3, 1))
        pair.append(beta / np.linalg.norm(beta, axis=1, keepdims=True) * length)
    n = int(rng.integers(5, 10**6))
    assert bounds(n, n, *pair, setting).join


@pytest.mark.parametrize(("lam", "last"), [(0.01, 4297), (0.1, 591), (1.0, 116)])
def test_size_from_which_the_printed_reading_refuses_equal_datasets(lam, last):
    """C = 3, B = 4, |||beta||| = 3, step sizes 1/k, K = 1,000."""
    beta, setting = np.eye(3), Setting(C=3, B=4.0, lam=lam, reading="printed")
    joined = [n for n in range(2, 6000) if bounds(n, n, beta, beta, setting).join]
    assert joined == list(range(2, last + 1))


def test_decision_of_the_squared_reading_depends_on_the_ridge_weight():
    beta = np.eye(3)
    for lam, joins in ((0.001, True), (0.1, False)):
        setting = Setting(C=3, B=4.0, lam=lam, reading="squared")
        for n in (10, 1000, 10**6):
            assert bounds(n, n, beta, beta, setting).join == joins


def test_corrected_refuses_very_unequal_sizes():
    """Same norms, right angles, norm 30 a class: joined with equal sizes, refused at 1 : 1,000."""
    beta, turned = 30 * np.eye(3), 30 * np.eye(3)[[1, 2, 0]]
    setting = Setting(C=3, B=4.0)
    assert bounds(100, 100, beta, turned, setting).join
    assert not bounds(100, 10**5, beta, turned, setting).join


def test_corrected_refuses_unequal_norms():
    """No coefficients against very large ones: the norms differ, and that alone refuses."""
    beta = 1e4 * np.eye(3)
    setting = Setting(C=3, B=4.0)
    assert not bounds(100, 100, beta, 0 * beta, setting).join
    assert bounds(100, 100, beta, -beta, setting).join


def test_scale_of_beta_is_not_in_the_data():
    """beta and beta/1000 draw the same rows and classes; distances shrink with the scale."""
    rng = np.random.default_rng(3)
    beta1, beta2 = random_pair(rng)
    rows = [
        draw_rows(scale * beta1, 50, scale * 0.1, np.random.default_rng(4)) for scale in (1, 1e-3)
    ]
    assert_allclose(rows[0][0], rows[1][0])
    assert np.array_equal(rows[0][1], rows[1][1])
    setting = Setting(C=3, B=4.0)
    one, small = (bounds(50, 50, s * beta1, s * beta2, setting).distance for s in (1, 1e-3))
    assert_allclose(small, 1e-3 * one, atol=1e-12)


@pytest.mark.parametrize(("lam", "steps"), [(0.1, 10**6), (1.0, 30)])
def test_bound_is_above_the_loss_of_knowing_nothing(lam, steps):
    """phi3 alone exceeds log C, the cross entropy of b = 0, as long as sum eta < 4/lam."""
    setting = Setting(C=3, B=1.0, lam=lam, eta=step_sizes(steps))
    assert setting.eta.sum() < 4 / lam
    assert paper.phi3(setting) > log(3)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("opposite", [False, True])
def test_decisions_on_small_pairs(seed, opposite):
    """As printed the size decides: joined with 100 rows, refused with 2,000, same or opposite."""
    rng = np.random.default_rng(seed)
    beta = rng.standard_normal((3, 5))
    for n in (100, 2000):
        X1, y1 = draw_rows(beta, n, 0.1, rng)
        X2, y2 = draw_rows(-beta if opposite else beta, n, 0.1, rng)
        join = {}
        for name in READINGS:
            setting = Setting(C=3, B=largest_norm(X1, X2), reading=name)
            join[name] = compare_classes(X1, y1, X2, y2, setting).join
        assert join == {"corrected": True, "printed": n == 100, "squared": False}


def test_decision_does_not_depend_on_the_order_of_rows_columns_classes_or_on_the_sign(rng):
    X1, y1, _, _ = random_classes(rng, n=50)
    X2, y2, _, _ = random_classes(rng, n=70)
    setting = Setting(C=4, B=largest_norm(X1, X2))
    found = compare_classes(X1, y1, X2, y2, setting)
    rows, names = rng.permutation(50), rng.permutation(4)
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    others = [
        compare_classes(X1[rows], y1[rows], X2, y2, setting),
        compare_classes(X1 @ Q, y1, X2 @ Q, y2, setting),
        compare_classes(X1, names[y1], X2, names[y2], setting),
        compare_classes(X1, y1, X2, y2, setting, sign="literal"),
        compare_classes(X2, y2, X1, y1, setting),
    ]
    for other in others:
        for part in ("sampling", "distance", "steps"):
            assert_allclose(getattr(other, part), getattr(found, part), rtol=1e-5)


def test_omega_bounds_the_surrogate_for_three_classes_only():
    """All beta_c against x, all b_c along x at the radius: 3 sqrt(2) > 4 at C = 2."""
    for C, holds in ((2, False), (3, True), (5, True)):
        setting = Setting(C=C, B=1.0, lam=0.01)
        x = np.array([[1.0]])
        beta, b = np.full((C, 1), -0.1), np.full((C, 1), setting.radius)
        value = surrogate_loss(b, beta, x, 0.01, 1.0, "literal")
        assert (value <= paper.omega(beta, setting)) == holds


def test_combinatorial_lemma_fails_for_one_row():
    def left(n):
        return sum((n - 2 * k) * comb(n, k) for k in range(n // 2 + 1)) / 2**n

    assert left(1) == 0.5 > sqrt(3 / (4 * pi))
    assert all(left(n) <= sqrt(3 * n / (4 * pi)) for n in range(2, 200))


def test_contraction_lemma_fails_for_tied_parameters():
    """Allow (1, -1) and (-1, 1) only, f(u, v) = (u - v)/2: 1 on the left, 0 on the right."""
    allowed = [(1.0, -1.0), (-1.0, 1.0)]
    left = np.mean([max(s * (u - v) / 2 for u, v in allowed) for s in (1, -1)])
    right = np.mean([max(s * (u + v) for u, v in allowed) for s in (1, -1)])
    assert left == 1
    assert right == 0


def test_subgradient_lemma_needs_the_square_of_its_bound():
    """f(x) = 10 |x| from x = 1, one step of 0.2: the best loss is 10 above the least."""
    G, start, eta = 10.0, 1.0, 0.2
    excess = G * abs(start)
    assert excess > (start**2 + G * eta**2) / (2 * eta)
    assert excess <= (start**2 + G**2 * eta**2) / (2 * eta)


def test_subgradients_stay_within_G(rng):
    """As vectors over all classes, for |x| <= B and |b_c| <= radius."""
    X, _, b, beta = random_classes(rng)
    setting = Setting(C=4, B=float(np.max(np.linalg.norm(X, axis=1))))
    b *= setting.radius / np.linalg.norm(b, axis=1, keepdims=True)
    assert np.linalg.norm(surrogate_subgradient(b, beta, X, setting.lam)) <= paper.G(setting)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": 1}, "C=1 is not a number of classes"),
        ({"lam": 0.0}, "lam=0.0 is not a ridge weight"),
        ({"delta": 1.0}, "delta=1.0 is not a level"),
        ({"reading": "halved"}, "reading='halved' is unknown; expected one of corrected"),
    ],
)
def test_settings_are_checked(change, message):
    with pytest.raises(ArgumentError, match=message):
        Setting(**({"C": 3, "B": 1.0} | change))


def test_data_are_checked(rng):
    X, y, _, _ = random_classes(rng)
    with pytest.raises(DataError, match="y2 has classes 0 to 3; expected whole numbers 0 to 2"):
        compare_classes(X, y % 3, X, np.arange(len(y)) % 4, Setting(C=3, B=4.0))
    with pytest.raises(DataError, match="X1 has 3 columns and X2 has 2"):
        compare_classes(X, y, X[:, :2], y, Setting(C=4, B=4.0))
