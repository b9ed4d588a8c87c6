"""Systems of rows give the answers of systems of columns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin import execution, linalg
from conjoin.models import partial, row_space
from conjoin.models.partial import DIAGONAL, INTERCEPT, POOLED, SLOPES, posterior
from conjoin.models.row_space import row_least_squares
from conjoin.moments import Moments
from conjoin.moments.rows import Block, RowMoments
from conjoin.strategies.refits import separate

SIZES = np.array([2, 0, 5, 30, 1, 2, 7, 8, 3, 2])


@pytest.fixture(scope="module")
def both():
    """The same datasets as moments and as rows."""
    rng = np.random.default_rng(0)
    K, p, N = len(SIZES), 6, SIZES.sum()
    starts = np.concatenate([[0], np.cumsum(SIZES)])
    X = np.column_stack([np.ones(N), rng.normal(size=(N, p - 1))])
    own = np.repeat(rng.normal(size=(K, p)), SIZES, axis=0)
    y = np.sum(X * own, axis=1) + rng.normal(size=N)
    w = rng.uniform(0.5, 2.0, N)
    return tuple(kind.by_dataset(X, y / y.std(), starts, w) for kind in (Moments, RowMoments))


@pytest.mark.parametrize("family", [POOLED, INTERCEPT, SLOPES, DIAGONAL], ids=lambda f: f.name)
def test_variances_posterior_and_gradient_are_those_of_columns(both, family):
    moments, rows = both
    hyper = partial.fit_variances(moments, family)
    again = partial.fit_variances(rows, family)
    assert again.noise == pytest.approx(hyper.noise, rel=1e-8)
    assert_allclose(again.L, hyper.L, atol=1e-8)
    post, found = posterior(moments, hyper), partial.posterior_of_rows(rows, hyper)
    assert_allclose(found.mu, post.mu, atol=1e-10)
    assert_allclose(found.C, post.C, atol=1e-10)
    assert_allclose(found.coefficients(), post.beta, atol=1e-10)
    assert found.log_evidence == pytest.approx(post.log_evidence, abs=1e-9)


@pytest.mark.parametrize("family", [POOLED, INTERCEPT, DIAGONAL], ids=lambda f: f.name)
def test_the_gradient_is_the_slope_of_the_evidence(both, family):
    task = partial._VarianceFit.of(both[1], family, None, np.ones(len(SIZES)))
    theta = task.start(None) + 0.3
    _, gradient = task.objective(theta)
    step = 1e-5
    slopes = [
        (task.objective(theta + step * e)[0] - task.objective(theta - step * e)[0]) / (2 * step)
        for e in np.eye(len(theta))
    ]
    assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6)


def test_own_fits_are_those_nearest_to_the_pooled_model(both):
    moments, rows = both
    union = moments.union()
    found = row_least_squares(rows, linalg.solve(union.G, union.h))
    assert_allclose(found, separate(moments), atol=1e-9)


def test_with_more_columns_than_rows_the_centre_is_the_same_by_rows_and_by_columns(monkeypatch):
    rng = np.random.default_rng(3)
    X = np.concatenate([np.ones((24, 1)), rng.normal(size=(24, 80))], axis=1)
    rows = RowMoments.by_dataset(X, rng.normal(size=24), np.array([0, 8, 16, 24]))
    spread = np.concatenate([[0.5], np.full(80, 0.2)])
    variances = row_space.Variances(0.7, spread, np.concatenate([[0.0], np.full(80, 3.0)]))
    found = []
    for limit in (2, 1000):
        monkeypatch.setattr(row_space, "FEWER_ROWS", limit)
        found.append(
            (row_space.row_posterior(rows, variances), row_space.row_gradient(rows, variances))
        )
    (one, slope), (two, other) = found
    assert_allclose(one.C, two.C, atol=1e-12)
    assert_allclose(one.mu, two.mu, atol=1e-12)
    for a, b in zip(slope, other):
        assert_allclose(a, b, atol=1e-10)


def test_the_shortest_pooled_fit_by_rows_is_that_of_moore_and_penrose():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(12, 30)), rng.normal(size=12)
    rows = RowMoments.by_dataset(X, y, np.array([0, 6, 12]))
    assert_allclose(row_space.pooled_of_rows(rows), np.linalg.pinv(X) @ y, atol=1e-10)


def test_parts_in_threads_have_the_bits_of_parts_one_after_the_other(monkeypatch):
    rng = np.random.default_rng(5)
    X = np.concatenate([np.ones((240, 1)), rng.normal(size=(240, 60))], axis=1)
    rows = RowMoments.by_dataset(X, rng.normal(size=240), np.arange(0, 241, 40))
    spread = np.concatenate([[0.5], np.full(60, 0.2)])
    variances = row_space.Variances(0.7, spread, np.concatenate([[0.0], np.full(60, 3.0)]))
    whole = row_space.row_gradient(rows, variances)
    blocks = tuple(
        Block(one.datasets[i : i + 1], slice(begin, begin + 40), 40)
        for one in rows.blocks
        for i, begin in enumerate(range(one.rows.start, one.rows.stop, 40))
    )
    rows = RowMoments(rows.A, blocks, rows.n, rows.w)
    monkeypatch.setattr(row_space, "PART_VALUES", 80 * 62)
    found = []
    for processors, large in ((1, 32), (2, 32), (2, 100)):
        monkeypatch.setattr(execution, "_processors", lambda count=processors: count)
        monkeypatch.setattr(row_space, "LARGE_FACTOR", large)
        found.append(row_space.row_gradient(rows, variances))
    one, two, full = found
    for a, b, c, d in zip(one, two, full, whole):
        assert np.array_equal(a, b)
        assert_allclose(a, c, atol=1e-9)
        assert_allclose(a, d, atol=1e-9)
