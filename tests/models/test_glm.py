"""Batched generalised linear models: identities, awkward data, derivatives."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conjoin import linalg
from conjoin.models import glm
from conjoin.models.glm import (
    BERNOULLI,
    POISSON,
    PaddedRows,
    blocks,
    contrasts,
    fit_glm,
    fit_many,
    multinomial,
    probabilities,
    sandwich,
)

SIZES = np.array([60, 200, 35])
STARTS = np.concatenate([[0], np.cumsum(SIZES)])
TIGHT = 1e-18
FAMILIES = [BERNOULLI, POISSON, multinomial(3), multinomial(5)]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f"{f.name}{f.m + 1}")


def draw(family, sizes=SIZES, seed=0):
    """Return the design with a column of ones, and targets."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((int(np.sum(sizes)), 3))
    eta = X @ [1.0, -0.5, 0.2] + 0.3
    if family is POISSON:
        y = rng.poisson(np.exp(eta))
    elif family is BERNOULLI:
        y = rng.random(len(X)) < 1 / (1 + np.exp(-eta))
    else:
        scores = X @ rng.standard_normal((3, family.m + 1))
        y = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    return np.column_stack([np.ones(len(X)), X]), y.astype(float)


def padded(Z, y, w=None, starts=STARTS):
    return PaddedRows.of(Z, y, np.ones(len(y)) if w is None else w, starts)


def ridge_of(family, strength=1.0, intercept=0.0):
    return np.repeat([intercept, strength, strength, strength], family.m)


def fit_one(Z, y, family, ridge, w=None, **options):
    """Fit one dataset; any warning is an error."""
    w = np.ones(len(y)) if w is None else w
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return fit_many(Z, y, w, np.array([0, len(y)]), family, ridge, **options)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_contrasts_are_orthonormal_and_sum_to_zero(classes):
    V = contrasts(classes)
    assert V.shape == (classes, classes - 1)
    assert_allclose(V.T @ V, np.eye(classes - 1), atol=1e-14)
    assert_allclose(V.sum(axis=0), 0, atol=1e-14)


@every_family
def test_derivatives_by_finite_differences(family):
    data = padded(*draw(family))
    P = 4 * family.m
    b = np.random.default_rng(1).standard_normal((3, P)) * 0.3
    local = data.at(b, family)
    score, information = data.score(local), data.information(local)
    for j in range(P):
        h = np.zeros(P)
        h[j] = 1e-5
        slope = (data.loss(b + h, family) - data.loss(b - h, family)) / 2e-5
        assert_allclose(-score[:, j], slope, rtol=1e-5, atol=1e-5)
        change = data.score(data.at(b + h, family)) - data.score(data.at(b - h, family))
        assert_allclose(-information[:, j], change / 2e-5, rtol=1e-5, atol=1e-4)


@every_family
def test_row_derivatives_by_finite_differences_far_out(family):
    rng = np.random.default_rng(2)
    eta = rng.uniform(-40, 40, (1, 30) if family.m == 1 else (1, 30, family.m))
    y = rng.integers(0, family.m + 1, (1, 30)).astype(float)
    local = family.at(y, eta)
    for a in range(family.m):
        h = 1e-5 if family.m == 1 else 1e-5 * np.eye(family.m)[a]
        slope = (family.loss(y, eta + h) - family.loss(y, eta - h)) / 2e-5
        bend = (family.at(y, eta + h).gradient - family.at(y, eta - h).gradient) / 2e-5
        gradient = local.gradient if family.m == 1 else local.gradient[..., a]
        curvature = local.curvature if family.m == 1 else local.curvature[..., a]
        assert_allclose(gradient, slope, rtol=1e-4, atol=1e-8)
        assert_allclose(curvature, bend, rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("family", [f for f in FAMILIES if f is not POISSON], ids=lambda f: f.m)
def test_probabilities_are_those_of_the_loss(family):
    rng = np.random.default_rng(3)
    eta = 20 * rng.standard_normal((2, 8) if family.m == 1 else (2, 8, family.m))
    shares = probabilities(family, eta)
    assert shares.shape == (2, 8, family.m + 1)
    assert_allclose(shares.sum(axis=-1), 1)
    for c in range(family.m + 1):
        loss = family.loss(np.full((2, 8), float(c)), eta)
        assert_allclose(-np.log(shares[..., c]), loss, rtol=1e-9, atol=1e-12)


def test_three_classes_hang_on_no_order():
    Z, y = draw(multinomial(3))
    order = np.array([2, 0, 1])
    ridge = ridge_of(multinomial(3))
    one, other = (
        fit_many(Z, t, np.ones(len(y)), STARTS, multinomial(3), ridge, tolerance=TIGHT).beta
        for t in (y, order[y.astype(int)].astype(float))
    )
    V = contrasts(3)
    classes = V @ np.swapaxes(one.reshape(3, 4, 2), 1, 2)
    assert_allclose(V[order] @ np.swapaxes(other.reshape(3, 4, 2), 1, 2), classes, atol=1e-8)


@every_family
def test_many_datasets_are_fitted_as_each_alone(family, monkeypatch):
    monkeypatch.setattr(glm, "BLOCK_VALUES", 900)  # several blocks
    sizes = np.random.default_rng(4).integers(20, 150, 12)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    Z, y = draw(family, sizes)
    rng = np.random.default_rng(5)
    w = rng.uniform(0.5, 2, len(y))
    ridge = rng.uniform(0.5, 2, (12, 4 * family.m))
    centre = 0.1 * rng.standard_normal((12, 4 * family.m))
    fit = fit_many(Z, y, w, starts, family, ridge, centre=centre)
    assert fit.converged.all()
    for k, own in enumerate(slice(i, j) for i, j in zip(starts[:-1], starts[1:])):
        alone = fit_one(Z[own], y[own], family, ridge[k], w[own], centre=centre[k])
        assert_allclose(fit.beta[k], alone.beta[0], atol=1e-10)
        assert_allclose(fit.information[k], alone.information[0], atol=1e-9)


def test_blocks_hold_every_dataset_once_with_little_padding():
    sizes = np.array([3, 0, 1000, 5, 700, 4, 90, 1, 2, 5])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    n = starts[-1]
    X, y = np.arange(2.0 * n).reshape(n, 2), np.arange(n) + 1.0
    seen = []
    for index, rows in blocks(X, y, np.full(n, 2.0), starts):
        seen += index.tolist()
        assert rows.y.size <= 2 * max(sizes[index].sum(), len(index))
        for k, dataset in enumerate(index):
            own = slice(starts[dataset], starts[dataset + 1])
            assert_array_equal(rows.X[k, : sizes[dataset]], X[own])
            assert_array_equal(rows.y[k, : sizes[dataset]], y[own])
            assert_allclose(rows.w[k].sum(), 2 * sizes[dataset])
    assert sorted(seen) == list(range(10))


@every_family
def test_the_default_tolerance_is_good_to_five_digits(family):
    Z, y = draw(family)
    rows, ridge = padded(Z, y), ridge_of(family)
    fit, exact = (fit_glm(rows, family, ridge, tolerance=t) for t in (glm.TOLERANCE, TIGHT))
    assert_allclose(fit.beta, exact.beta, atol=1e-5)
    assert_allclose(fit.information, exact.information, atol=2e-3 * exact.information.max())
    assert_allclose(exact.information, rows.information(rows.at(exact.beta, family)), rtol=1e-6)


@every_family
def test_weights_stand_for_repeated_rows(family):
    Z, y = draw(family)
    options = {"family": family, "ridge": ridge_of(family), "tolerance": TIGHT}
    w = np.random.default_rng(6).integers(0, 3, len(y))
    starts = np.concatenate([[0], np.cumsum(np.add.reduceat(w, STARTS[:-1]))])
    repeated = fit_many(
        np.repeat(Z, w, axis=0), np.repeat(y, w), np.ones(w.sum()), starts, **options
    )
    weighted = fit_many(Z, y, w.astype(float), STARTS, **options)
    assert_allclose(weighted.beta, repeated.beta, atol=1e-9)


@every_family
def test_the_unit_of_weights_does_not_matter(family):
    Z, y = draw(family)
    one, other = (
        fit_many(Z, y, np.full(len(y), unit), STARTS, family, unit * ridge_of(family))
        for unit in (1.0, 1e-6)
    )
    assert other.converged.all()
    assert_allclose(other.beta, one.beta, atol=1e-9)


@every_family
def test_the_centre_of_the_ridge_is_where_a_huge_ridge_ends(family):
    centre = np.linspace(0.1, 0.4, 4 * family.m)
    fit = fit_glm(padded(*draw(family)), family, np.full(4 * family.m, 1e9), centre=centre)
    assert_allclose(fit.beta, np.tile(centre, (3, 1)), atol=1e-6)


@every_family
@pytest.mark.parametrize("strength", [0.0, 1.0])
def test_a_distant_start_finds_the_same_maximum(family, strength):
    Z, y = draw(family)
    rows, ridge = padded(Z, y), ridge_of(family, strength, strength)
    start = 20 * np.random.default_rng(7).standard_normal(4 * family.m)
    near, far = (fit_glm(rows, family, ridge, start=s, tolerance=TIGHT) for s in (None, start))
    assert near.converged.all() and far.converged.all()
    assert_allclose(far.beta, near.beta, atol=1e-7)


def separated(family):
    """Return data that a line separates, or counts that are all zero."""
    Z, _ = draw(family, [80])
    if family is POISSON:
        return Z, np.zeros(80)
    return Z, np.digitize(Z[:, 1], np.linspace(-1, 1, family.m)).astype(float)


@every_family
def test_separable_data_are_noticed_and_a_ridge_suffices(family):
    Z, y = separated(family)
    free = fit_one(Z, y, family, ridge_of(family, 0.0))
    assert np.isfinite(free.beta).all() and np.isfinite(free.information).all()
    assert not free.converged.any()
    for strength in (1e-4, 1.0):
        assert fit_one(Z, y, family, ridge_of(family, strength, strength)).converged.all()


@every_family
def test_a_single_class_is_noticed_and_a_ridge_on_the_intercept_suffices(family):
    Z, _ = draw(family, [80])
    y = np.zeros(80)
    free = fit_one(Z, y, family, ridge_of(family))
    assert np.isfinite(free.beta).all() and not free.converged.any()
    assert fit_one(Z, y, family, ridge_of(family, 1.0, 1e-3)).converged.all()


def test_a_class_that_is_absent_is_noticed():
    family = multinomial(4)
    Z, y = draw(family, [120])
    y[y == 2] = 1
    fit = fit_one(Z, y, family, ridge_of(family))
    assert np.isfinite(fit.beta).all() and not fit.converged.any()
    assert fit_one(Z, y, family, ridge_of(family, 1.0, 1e-3)).converged.all()


def test_a_column_that_separates_some_rows_is_noticed():
    Z, y = draw(BERNOULLI, [200])
    flag = Z[:, 2] > 1.5
    y[flag] = 1
    fit = fit_one(np.column_stack([Z, flag]), y, BERNOULLI, np.zeros(5))
    assert np.isfinite(fit.beta).all() and not fit.converged.any()


@every_family
def test_dependent_columns_get_the_least_coefficients(family):
    Z, y = draw(family, [150])
    twice = np.column_stack([Z, Z[:, 1], np.zeros(150)])
    single = fit_one(Z, y, family, ridge_of(family, 0.0), tolerance=TIGHT)
    double = fit_one(twice, y, family, np.zeros(6 * family.m), tolerance=TIGHT)
    B, C = (fit.beta.reshape(-1, family.m) for fit in (single, double))
    assert double.converged.all()
    assert_allclose(C[[0, 2, 3]], B[[0, 2, 3]], atol=1e-6)
    assert_allclose(C[[1, 4]], np.stack([B[1], B[1]]) / 2, atol=1e-6)
    assert_allclose(C[5], 0, atol=1e-12)


@pytest.mark.parametrize("family", FAMILIES[:3], ids=lambda family: family.name)
def test_units_of_columns_do_not_matter(family):
    Z, y = draw(family, [150])
    units = np.array([1.0, 1e6, 1e-6, 1.0])
    one, other = (
        fit_one(X, y, family, np.zeros(4 * family.m), tolerance=1e-14) for X in (Z, Z * units)
    )
    assert other.converged.all()
    assert_allclose(other.beta * np.repeat(units, family.m), one.beta, atol=1e-6)


def test_outlying_rows_and_rare_classes_converge():
    Z, y = draw(BERNOULLI, [200])
    for outlier in (1e2, 1e4, -1e4):
        Z[0, 1] = outlier
        for strength in (0.0, 1.0):
            assert fit_one(Z, y, BERNOULLI, ridge_of(BERNOULLI, strength)).converged.all()
    ones = np.ones((200_000, 1))
    rare = fit_one(ones, (np.arange(200_000) < 4).astype(float), BERNOULLI, np.zeros(1))
    assert rare.converged.all()
    assert_allclose(rare.beta, np.log(4 / 199_996), atol=1e-5)


@pytest.mark.parametrize("level", [1e-3, 1.0, 1e6])
def test_counts_of_any_size_converge_to_the_logarithm_of_their_mean(level):
    y = np.random.default_rng(8).poisson(level, 50_000).astype(float)
    fit = fit_one(np.ones((50_000, 1)), y, POISSON, np.zeros(1), tolerance=1e-12)
    assert fit.converged.all()
    assert_allclose(fit.beta, np.log(y.mean()), atol=1e-8)


@every_family
def test_no_rows_or_no_weight_leave_the_centre(family):
    Z, y = draw(family, [30])
    starts = np.array([0, 0, 30, 30])
    centre = np.linspace(-1, 1, 4 * family.m)
    ridge = ridge_of(family)
    fit = fit_many(Z, y, np.zeros(30), starts, family, ridge, centre=centre)
    assert fit.converged.all()
    assert_array_equal(fit.beta, np.tile(centre, (3, 1)))
    assert_array_equal(fit.information, 0.0)
    none = fit_many(Z[:0], y[:0], y[:0], np.array([0]), family, ridge)
    assert none.beta.shape == (0, 4 * family.m)


def test_fewer_rows_than_columns_have_a_fit():
    Z, y = draw(BERNOULLI, [3])
    assert fit_one(Z, y, BERNOULLI, ridge_of(BERNOULLI, 1.0, 0.1)).converged.all()
    assert np.isfinite(fit_one(Z, y, BERNOULLI, np.zeros(4)).beta).all()


def test_too_few_steps_are_told():
    Z, y = draw(BERNOULLI)
    fit = fit_glm(padded(Z, y), BERNOULLI, ridge_of(BERNOULLI), steps=1)
    assert np.isfinite(fit.beta).all() and not fit.converged.any()


def test_definite_solve_is_solve():
    rng = np.random.default_rng(9)
    X = rng.standard_normal((20, 30, 6))
    b = rng.standard_normal((20, 6))
    G = np.swapaxes(X, 1, 2) @ X
    assert_allclose(linalg.definite_solve(G, b), linalg.solve(G, b), rtol=1e-9)
    X[3, :, 4], X[7, :, 0] = X[3, :, 1] * (1 + 1e-9), 0.0
    G = np.swapaxes(X, 1, 2) @ X
    assert_allclose(linalg.definite_solve(G, b), linalg.solve(G, b), rtol=1e-6)
    assert_allclose(linalg.definite_solve(G[:7], b[:7]), linalg.solve(G[:7], b[:7]), rtol=1e-6)


@every_family
def test_the_sandwich_is_near_the_inverse_information_for_a_true_model(family):
    Z, y = draw(family, [20_000], seed=10)
    data = padded(Z, y, starts=np.array([0, 20_000]))
    fit = fit_glm(data, family, np.zeros(4 * family.m))
    robust = sandwich(data, family, fit.beta, np.zeros(4 * family.m))
    assert_allclose(robust, np.linalg.inv(fit.information), rtol=0.1, atol=2e-5)
