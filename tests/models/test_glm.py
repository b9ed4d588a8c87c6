"""Newton's method for many datasets at once: identities, awkward data, convergence."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conjoin.models import glm, padded_rows
from conjoin.models.glm import fit_glm
from conjoin.models.glm_families import BERNOULLI, POISSON, contrasts, multinomial
from conjoin.models.padded_rows import SortedRows
from tests.models.glm_draws import FAMILIES, STARTS, draw, every_family, padded

TIGHT = 1e-18


def fit_many(Z, y, w, starts, *args, **options):
    return glm.fit_many(SortedRows(Z, y, w, starts), *args, **options)


def ridge_of(family, strength=1.0, intercept=0.0):
    return np.repeat([intercept, strength, strength, strength], family.m)


def fit_one(Z, y, family, ridge, w=None, **options):
    """Fit one dataset; any warning is an error."""
    w = np.ones(len(y)) if w is None else w
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return fit_many(Z, y, w, np.array([0, len(y)]), family, ridge, **options)


def test_the_order_of_classes_does_not_matter():
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
def test_many_datasets_are_fitted_like_each_one_alone(family, monkeypatch):
    monkeypatch.setattr(padded_rows, "BLOCK_VALUES", 900)  # several blocks
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


@every_family
def test_the_default_tolerance_gives_five_digits(family):
    Z, y = draw(family)
    rows, ridge = padded(Z, y), ridge_of(family)
    fit, exact = (fit_glm(rows, family, ridge, tolerance=t) for t in (glm.TOLERANCE, TIGHT))
    assert_allclose(fit.beta, exact.beta, atol=1e-5)
    assert_allclose(fit.information, exact.information, atol=2e-3 * exact.information.max())
    at = rows.derivatives(exact.beta, family)
    assert_allclose(exact.information, rows.information(at), rtol=1e-6)


@every_family
def test_a_weight_of_two_equals_a_repeated_row(family):
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
def test_a_huge_ridge_gives_its_centre(family):
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
def test_dependent_columns_get_the_coefficients_of_least_norm(family):
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


def test_too_few_steps_are_reported():
    Z, y = draw(BERNOULLI)
    fit = fit_glm(padded(Z, y), BERNOULLI, ridge_of(BERNOULLI), steps=1)
    assert np.isfinite(fit.beta).all() and not fit.converged.any()
