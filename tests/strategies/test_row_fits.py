"""Strategies that work by rows have the answers of those that work by moments."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.models.problem import LeastSquares, RowLeastSquares
from conjoin.moments.folds import fold_moments
from conjoin.moments.rows import RowFolds
from conjoin.strategies.refits import partial_pooling, separate
from conjoin.strategies.row_fits import (
    average_rows,
    fit_row_strategies,
    judge_rows,
    plan_rows,
)
from conjoin.strategies.validation import validate


@pytest.fixture(scope="module")
def both():
    """One collection as moments and as rows: 30 datasets of 1 to 6 rows and 8 columns."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 7, 30)
    starts, N = np.concatenate([[0], np.cumsum(sizes)]), sizes.sum()
    Z = np.column_stack([np.ones(N), rng.normal(size=(N, 7))])
    own = np.repeat(rng.normal(size=(30, 8)) * 0.5, sizes, axis=0)
    t = np.sum(Z * (own + 0.3), axis=1) + 0.5 * rng.normal(size=N)
    rows = Z, t / t.std(), rng.uniform(0.5, 2.0, N), starts, rng.integers(0, 5, N)
    return LeastSquares(fold_moments(*rows, 5)), RowLeastSquares(RowFolds(*rows, 5))


@pytest.fixture(scope="module")
def plan(both):
    return plan_rows(both[1])


def test_losses_and_coefficients_are_those_of_moments(both, plan):
    moments, rows = both
    fits = fit_row_strategies(plan)
    assert list(fits) == ["separate", "pooled", "intercept", "slopes", "partial"]
    for name, fitted in fits.items():
        refit = separate if name == "separate" else partial_pooling(plan.refits[name].hyper)
        expected, found = validate(refit, moments), judge_rows(fitted, rows)
        assert_allclose(found.coef, expected.coef, atol=1e-8)
        assert_allclose(found.losses, expected.losses, atol=1e-8)
        assert_allclose(found.shift, expected.shift, atol=1e-8)


def test_the_average_mixes_coefficients_and_predictions(both, plan):
    fits = fit_row_strategies(plan)
    found = average_rows([fits["pooled"], fits["partial"]], np.array([0.25, 0.75]))
    assert_allclose(found.coef, 0.25 * fits["pooled"].coef + 0.75 * fits["partial"].coef)
    lines = both[1].lines(0.25 * fits["pooled"].coef + 0.75 * fits["partial"].coef)
    assert lines.shape == found.lines.shape[1:]


def test_columns_made_anew_outside_a_fold_are_used_there(both):
    rows = both[1].folds
    new = tuple(np.full((len(rows.t), 1), float(f)) for f in range(5))
    found = RowLeastSquares(rows, new).outside(2)
    assert found.p == rows.p
    assert_allclose(found.G[:, -1, -1], 4.0 * found.w)
