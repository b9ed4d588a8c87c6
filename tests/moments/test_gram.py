import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from conjoin.moments import Moments

FIELDS = ("G", "h", "q", "n", "w")


def rows(seed, n, p):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)), rng.standard_normal(n), rng.uniform(0.1, 3, n)


@given(st.integers(0, 1000), st.integers(1, 20), st.integers(1, 20), st.integers(1, 5))
def test_union_is_the_sum(seed, n1, n2, p):
    X, y, w = rows(seed, n1 + n2, p)
    parts = [Moments.from_rows(X[s], y[s], w[s]) for s in (slice(n1), slice(n1, None))]
    whole = Moments.from_rows(X, y, w)
    for joined in (parts[0] + parts[1], Moments.stack(parts).union()):
        for field in FIELDS:
            assert_allclose(getattr(joined, field), getattr(whole, field), rtol=1e-12, atol=1e-12)
    for field in FIELDS:
        rest = getattr(whole - parts[0], field)
        assert_allclose(rest, getattr(parts[1], field), rtol=1e-9, atol=1e-9)


@given(st.integers(0, 1000), st.integers(1, 6))
def test_batched_equals_looped(seed, batch):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((batch, 7, 3)), rng.standard_normal((batch, 7))
    stacked = Moments.from_rows(X, y)
    flat, starts = X.reshape(-1, 3), np.arange(batch + 1) * 7
    for field in FIELDS:
        looped = np.array([getattr(Moments.from_rows(X[k], y[k]), field) for k in range(batch)])
        assert_allclose(getattr(stacked, field), looped)
        assert_allclose(getattr(Moments.by_dataset(flat, y.ravel(), starts), field), looped)


def test_row_order_does_not_matter():
    X, y, w = rows(0, 50, 4)
    order = np.random.default_rng(1).permutation(50)
    a, b = Moments.from_rows(X, y, w), Moments.from_rows(X[order], y[order], w[order])
    for field in FIELDS:
        assert_allclose(getattr(a, field), getattr(b, field), rtol=1e-12)


def test_integer_weights_repeat_rows_in_sums_but_not_in_counts():
    X, y, _ = rows(0, 6, 2)
    w = np.array([1, 2, 3, 1, 0, 1.0])
    weighted = Moments.from_rows(X, y, w)
    repeated = Moments.from_rows(np.repeat(X, w.astype(int), 0), np.repeat(y, w.astype(int)))
    assert_allclose(weighted.G, repeated.G)
    assert_allclose(weighted.h, repeated.h)
    assert weighted.w == repeated.n == 8
    assert weighted.n == 5


def test_moments_give_the_errors_of_any_coefficients():
    X, y, w = rows(3, 30, 3)
    m, beta = Moments.from_rows(X, y, w), np.array([0.3, -1.0, 2.0])
    residual = y - X @ beta
    assert_allclose(m.sse(beta), np.sum(w * residual**2))
    assert_allclose(m.mse(beta), np.average(residual**2, weights=w))


def test_moments_cannot_be_changed():
    X, y, _ = rows(0, 5, 2)
    m = Moments.from_rows(X, y)
    with pytest.raises(ValueError, match="read-only"):
        m.G[0, 0] = 1.0
    with pytest.raises(AttributeError):
        m.G = X


@pytest.mark.parametrize("sizes", [[3] * 70, [1] * 69 + [400]], ids=["padded", "looped"])
def test_many_datasets_have_the_moments_of_each_alone(sizes):
    """Datasets of one size are padded into one product; very unequal ones are looped over."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    X, y, w = rows(0, int(starts[-1]), 2)
    w[0] = 0.0
    found = Moments.by_dataset(X, y, starts, w)
    for k in (0, 1, len(sizes) - 1):
        own = slice(starts[k], starts[k + 1])
        alone = Moments.from_rows(X[own], y[own], w[own])
        for field in FIELDS:
            assert_allclose(getattr(found, field)[k], getattr(alone, field), atol=1e-12)


def test_moments_of_clusters_are_sums_by_label():
    X, y, w = rows(1, 40, 2)
    each = Moments.by_dataset(X, y, np.arange(5) * 10, w)
    found = each.sum_by(np.array([0, 1, 0, 1]))
    for field in FIELDS:
        assert_allclose(getattr(found, field)[1], getattr(each[1] + each[3], field))
