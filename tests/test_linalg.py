import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from conjoin import linalg


def grams(seed, batch, n, p, scale=1.0):
    X = np.random.default_rng(seed).standard_normal((batch, n, p)) * scale
    return np.swapaxes(X, -1, -2) @ X, X


def ranks(G):
    return linalg.inverse_and_rank(G)[1]


@given(st.integers(0, 1000), st.integers(1, 6), st.integers(1, 8))
def test_batched_equals_looped(seed, batch, p):
    G, _ = grams(seed, batch, p + 3, p)
    b = np.random.default_rng(seed).standard_normal((batch, p))
    for k in range(batch):
        assert_allclose(linalg.inverse(G)[k], linalg.inverse(G[k]), rtol=1e-9, atol=1e-12)
        assert_allclose(linalg.solve(G, b)[k], linalg.solve(G[k], b[k]), rtol=1e-9, atol=1e-12)
        assert ranks(G)[k] == ranks(G[k])


@pytest.mark.parametrize("n", [1, 3, 7])
def test_moore_penrose_where_rows_are_fewer_than_columns(n):
    G, X = grams(0, 5, n, 8)
    assert_allclose(linalg.inverse(G), np.linalg.pinv(G, rcond=1e-10, hermitian=True), atol=1e-8)
    assert (ranks(G) == n).all()


def test_mixed_stack_treats_each_matrix_by_its_own_rank():
    full, _ = grams(0, 1, 9, 4)
    deficient, _ = grams(1, 1, 2, 4)
    zero = np.zeros((1, 4, 4))
    G = np.concatenate([full, deficient, zero])
    assert ranks(G).tolist() == [4, 2, 0]
    result = linalg.inverse(G)
    assert_allclose(result[0], np.linalg.inv(full[0]), rtol=1e-10)
    assert_allclose(result[1], np.linalg.pinv(deficient[0]), atol=1e-10)
    assert_allclose(result[2], 0)


def test_rank_does_not_depend_on_units_or_order_of_columns():
    G, _ = grams(2, 3, 20, 5)
    scale = np.array([1e-6, 1.0, 1e6, 1e3, 1e-3])
    scaled = G * scale * scale[:, None]
    assert (ranks(scaled) == 5).all()
    expected = np.linalg.inv(G) / scale / scale[:, None]
    assert_allclose(linalg.inverse(scaled), expected, rtol=1e-9)
    X = np.random.default_rng(0).standard_normal((30, 4))
    X[:, 2] = X[:, 0] - X[:, 3]
    for order in ([0, 1, 2, 3], [2, 0, 3, 1], [3, 2, 1, 0]):
        assert ranks(X[:, order].T @ X[:, order]) == 3


@pytest.mark.parametrize("p", [1, 2, 3, 10, 31])
def test_top_eigenvalue_of_large_stacks(p):
    M, _ = grams(3, 150, 2 * p + 1, p, scale=np.exp(np.random.default_rng(1).normal(size=p)))
    M[0], M[1], M[2] = 0, np.eye(p), np.ones((p, p))
    M[3] = np.diag(np.r_[np.ones(p - 1), 1 + 1e-9])  # nearly equal roots
    M[4] *= 1e12
    assert_allclose(linalg.top_eigenvalue(M), np.linalg.eigvalsh(M)[:, -1], rtol=2e-8, atol=1e-14)


def test_square_root_and_traces():
    (A, B), _ = grams(4, 2, 9, 4)
    K = linalg.square_root(A)
    assert_allclose(K.T @ K, A, rtol=1e-9)
    assert_allclose(linalg.trace_product(A, B), np.trace(A @ B))
    v = np.arange(4.0)
    assert_allclose(linalg.quadratic(v, A), v @ A @ v)


@pytest.mark.parametrize("p", [1, 5, 47, 48, 60])
def test_definite_matrices_of_any_size_are_inverted_and_solved(p):
    rng = np.random.default_rng(p)
    X = rng.standard_normal((3, 2 * p + 1, p))
    M, b = np.swapaxes(X, 1, 2) @ X + np.eye(p), rng.standard_normal((3, p))
    inverses, logdets = linalg.definite_inverse_and_logdet(M)
    assert_allclose(linalg.definite_inverse(M), inverses, rtol=1e-12)
    solved = np.linalg.solve(M, b[..., None])[..., 0]
    most = 2 * np.sum(b * solved, axis=1) + 1
    rest, again = linalg.definite_quadratic(M, b, most)
    assert_allclose(inverses, np.linalg.inv(M), rtol=1e-9, atol=1e-12)
    assert_allclose(rest, most - np.sum(b * solved, axis=1), rtol=1e-9)
    assert_allclose([logdets, again], [np.linalg.slogdet(M)[1]] * 2, rtol=1e-12)


@pytest.mark.parametrize("p", [1, 5, linalg.MOST_COLUMNS_SWEPT])
@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_many_small_matrices_are_eliminated_together(p, scale):
    rng = np.random.default_rng(p)
    X = rng.standard_normal((linalg.SWEPT_TOGETHER + 90, 2 * p, p))
    M = scale * np.swapaxes(X, 1, 2) @ X + np.eye(p)
    inverses, logdets = linalg.definite_inverse_and_logdet(M)
    assert_allclose(inverses, np.linalg.inv(M), rtol=1e-8, atol=1e-12)
    assert_allclose(inverses, np.swapaxes(inverses, 1, 2))
    assert_allclose(logdets, np.linalg.slogdet(M)[1], rtol=1e-10, atol=1e-10)
    assert_allclose(linalg.definite_inverse(M), inverses)
    M[3, 0, 0] = -1.0  # not definite: the exact way
    assert_allclose(linalg.definite_inverse_and_logdet(M)[0], np.linalg.inv(M))


def test_sums_by_label():
    values = np.arange(12.0).reshape(4, 3)
    assert_allclose(linalg.sum_by(values, np.arange(4), 4), values)
    assert_allclose(linalg.sum_by(values, np.array([0, 1, 0, 2]), 3)[0], values[0] + values[2])


def test_definite_solve_equals_solve():
    rng = np.random.default_rng(9)
    X = rng.standard_normal((20, 30, 6))
    b = rng.standard_normal((20, 6))
    G = np.swapaxes(X, 1, 2) @ X
    assert_allclose(linalg.definite_solve(G, b), linalg.solve(G, b), rtol=1e-9)
    X[3, :, 4], X[7, :, 0] = X[3, :, 1] * (1 + 1e-9), 0.0
    G = np.swapaxes(X, 1, 2) @ X
    assert_allclose(linalg.definite_solve(G, b), linalg.solve(G, b), rtol=1e-6)
    assert_allclose(linalg.definite_solve(G[:7], b[:7]), linalg.solve(G[:7], b[:7]), rtol=1e-6)


@pytest.mark.parametrize("p", [2, 60])
def test_definite_quadratic_where_rounding_hides_that_it_is_definite(p):
    """q + 1 is q at 1e17: the bordered matrix has no Cholesky factor any more."""
    b = np.full((1, p), 1e17)
    M = np.eye(p)[None] * 1e17 + 1e17
    most = np.array([b[0] @ np.linalg.solve(M[0], b[0]) * (1 - 1e-14)])
    rest, logdet = linalg.definite_quadratic(M, b, most)
    assert 0 <= rest[0] <= 1e-10 * most[0]
    assert logdet == pytest.approx(np.linalg.slogdet(M)[1])


@pytest.mark.parametrize("tiny", [0.0, 5e-324, 1e-311, 1e-295])
def test_a_column_whose_inverse_is_no_double_counts_as_zero(tiny):
    G = np.diag([tiny, 2.0, 1.0])[None]
    found, rank = linalg.inverse_and_rank(G)
    assert rank.tolist() == [2]
    assert_allclose(found[0], np.diag([0.0, 0.5, 1.0]), atol=1e-15)
    assert_allclose(linalg.solve(G, np.ones((1, 3)))[0], [0.0, 0.5, 1.0], atol=1e-15)
