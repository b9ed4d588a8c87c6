"""Batched linear algebra on small symmetric positive semi-definite matrices.

Enters: stacks of matrices and vectors; leading axes are batch axes, the last two (or one) are the
matrix (or vector). Leaves: products, inverses, solutions and ranks of the whole stack. This is the
only place in the package that decides on rank.

==========  ==============================================================  ============
symbol      meaning                                                         shape
==========  ==============================================================  ============
G           Gram matrix X'X, or a sum of such                               (..., p, p)
R           G scaled to unit diagonal, G = s R s                            (..., p, p)
s           square roots of the diagonal of G                               (..., p)
==========  ==============================================================  ============

**Rank.** A column counts as dependent when less than `RANK_TOLERANCE` of its squared length is new
given all other columns (one over the diagonal of R^-1). The decision depends neither on the units
of the columns nor on their order. **Dependent columns** get the Moore-Penrose inverse in the given
coordinates, as the paper's overparametrised section defines it. It is not invariant to a change of
those coordinates. Directions that hardly differ over all rows together are stretched before they
come here (`moments.collinear`), so that rounding does not make columns look dependent.
"""

import numpy as np
from scipy.linalg import lapack

from conjoin._typing import BoolArray, FloatArray, IntArray

# Share of a column's squared length that must be new. Rounding in X'X alone leaves 1e-16 and more,
# so a much smaller tolerance would take copies of a column for new ones. A larger one would drop
# columns that data determine well, such as x and x squared over a narrow range.
RANK_TOLERANCE = 1e-10
# Least squared length of a column that is more than nothing. The inverse of a shorter one, times
# what RANK_TOLERANCE lets pass, is no double. Rows of classes that are all but certain give such.
LEAST_LENGTH = 1e-290
# Least eigenvalue of a matrix of unit diagonal, as a share of RANK_TOLERANCE, that numpy inverts
# without an error. A matrix near the limit passes here, and the test of its inverse decides.
REGULAR_SHARE = 1e-3
# `definite_solve` sees what is new in a column given those before, not given all others. The margin
# sends doubtful matrices to the exact test.
DOUBTFUL_MARGIN = 100
# Columns from which a Cholesky factor of each matrix is faster than one call for the whole stack.
# Measured with one thread: half as fast at 16 columns, equal at 32, a tenth to a fifth faster from
# 48 to 64.
FEWEST_COLUMNS_FOR_LAPACK = 48
# Matrices from which, and columns up to which, elimination in all matrices at a time is quicker
# than LAPACK with one after the other; how many fit into the cache together. Measured by time.
FEWEST_SWEPT, MOST_COLUMNS_SWEPT, SWEPT_TOGETHER = 200, 12, 512
# `top_eigenvalue` uses its own iteration for so many matrices or more, of 3 to 32 columns. Measured
# with one thread against numpy: twice as fast for 2,000 matrices of 4 to 12 columns, equal for 256
# of them, slower for 64 and above 20 columns. Other limits would save time there, at the price of
# eigenvalues that differ in the eighth digit.
FEWEST_MATRICES, LEAST_COLUMNS, MOST_COLUMNS = 64, 3, 32
# Numbers of one block of it (640 kB), which stay in the processor's cache.
CACHE_VALUES = 80_000
# Laguerre's iteration converges cubically: it stops when a step is below this share of the value,
# since the next one would be below rounding. It needs a few steps; the limit guards against nan.
ROOT_CLOSE, ROOT_STEPS = 1e-8, 50
# The iteration starts this much above Gershgorin's bound, so never exactly at a root.
ABOVE_BOUND = 1e-6


def quadratic(v: FloatArray, M: FloatArray) -> FloatArray:
    """Return v'Mv for stacks of vectors (..., p) and matrices (..., p, p)."""
    return dot(v, matvec(M, v))


def dot(u: FloatArray, v: FloatArray) -> FloatArray:
    """Return u'v for stacks of vectors (..., p)."""
    value: FloatArray = np.einsum("...i,...i->...", u, v)
    return value


def matvec(M: FloatArray, v: FloatArray) -> FloatArray:
    """Return Mv for stacks of matrices (..., p, p) and vectors (..., p)."""
    product: FloatArray = np.matmul(M, v[..., None])[..., 0]
    return product


def sum_by(values: FloatArray, labels: IntArray, count: int) -> FloatArray:
    """Return sums (count, ...) of entries (K, ...) with the same label."""
    if count == len(labels) and np.array_equal(labels, np.arange(count)):
        return values.astype(np.float64)  # every entry by itself: a copy
    total = np.zeros((count, *values.shape[1:]))
    np.add.at(total, labels, values)
    return total


def trace_product(A: FloatArray, B: FloatArray) -> FloatArray:
    """Return tr(AB) for stacks of symmetric matrices."""
    value: FloatArray = np.einsum("...ij,...ij->...", A, B)
    return value


def symmetrise(M: FloatArray) -> FloatArray:
    """Return (M + M')/2, which removes the rounding of a product that is symmetric on paper."""
    return (M + np.swapaxes(M, -1, -2)) / 2


def _unit_diagonal(G: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return R and 1/s with G = s R s; both are zero for a column of zeros."""
    diagonal = np.diagonal(G, axis1=-2, axis2=-1)
    unit = 1 / np.sqrt(np.where(diagonal > LEAST_LENGTH, diagonal, np.inf))
    return G * unit[..., :, None] * unit[..., None, :], unit


def _scaled_inverse(R: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return R^-1 and where it may be used; elsewhere its values have no meaning."""
    try:
        inverse = np.linalg.inv(R)
    except np.linalg.LinAlgError:  # one singular matrix fails the whole stack: set those aside
        regular = np.linalg.eigvalsh(R)[..., 0] > REGULAR_SHARE * RANK_TOLERANCE
        inverse = np.linalg.inv(np.where(regular[..., None, None], R, np.eye(R.shape[-1])))
    else:
        regular = np.ones(R.shape[:-2], dtype=bool)
    inflation = np.diagonal(inverse, axis1=-2, axis2=-1)
    passed = np.all((inflation > 0) & (inflation < 1 / RANK_TOLERANCE), axis=-1)
    return inverse, regular & passed


def _rank_scaled(R: FloatArray, full: BoolArray) -> IntArray:
    """Return the number of independent columns; `full` says where all of them are."""
    p = R.shape[-1]
    ranks = np.full(full.shape, p, dtype=np.int64)
    if not np.all(full):
        # At least one column depends on the others, whatever the eigenvalues say.
        independent = np.linalg.eigvalsh(R[~full]) > RANK_TOLERANCE * p
        ranks[~full] = np.minimum(np.sum(independent, axis=-1), p - 1)
    return ranks


def inverse(G: FloatArray) -> FloatArray:
    """Return the inverse of each matrix, Moore-Penrose where columns are dependent."""
    return _inverse_of(G)[0]


def inverse_and_rank(G: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return inverses, Moore-Penrose where columns are dependent, and ranks."""
    result, R, full = _inverse_of(G)
    return result, _rank_scaled(R, full)


def _inverse_of(G: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return inverses, R, and where all columns are independent."""
    R, unit = _unit_diagonal(G)
    result, full = _scaled_inverse(R)
    result *= unit[..., :, None]
    result *= unit[..., None, :]
    if not full.all():
        result[~full] = _moore_penrose(G[~full], _rank_scaled(R, full)[~full])
    return result, R, full


def logdet_of_known(M: FloatArray) -> float:
    """Return the log-determinant of one matrix (p, p), without columns that are zero.

    >>> logdet_of_known(np.diag([1e-310, 1.0, 0.0]))
    0.0
    """
    known = np.diagonal(M) > LEAST_LENGTH
    return float(np.linalg.slogdet(M if known.all() else M[np.ix_(known, known)])[1])


def definite_inverse(M: FloatArray) -> FloatArray:
    """Return the inverses of positive definite matrices (K, p, p)."""
    if M.shape[-1] < FEWEST_COLUMNS_FOR_LAPACK and not _is_swept(M):
        return np.linalg.inv(M)
    return definite_inverse_and_logdet(M)[0]


def definite_inverse_and_logdet(M: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return inverses and log-determinants of positive definite matrices (K, p, p)."""
    if _is_swept(M):
        found = _sweep(M)
        if found is not None:
            return found
    if M.shape[-1] < FEWEST_COLUMNS_FOR_LAPACK:
        return np.linalg.inv(M), np.linalg.slogdet(M)[1]
    # The Cholesky factor gives both.
    inverses, logdets = np.empty_like(M), np.empty(len(M))
    for k, one in enumerate(M):
        factor, failed = lapack.dpotrf(one.T, lower=1, clean=0)
        if failed:
            inverses[k], logdets[k] = np.linalg.inv(one), np.linalg.slogdet(one)[1]
            continue
        inverses[k] = lapack.dpotri(factor, lower=1)[0]
        logdets[k] = 2 * np.sum(np.log(np.diagonal(factor)))
    lower = np.tril(inverses, -1)  # LAPACK fills the lower triangle only
    return np.tril(inverses) + np.swapaxes(lower, -1, -2), logdets


def _is_swept(M: FloatArray) -> bool:
    """Say whether there are so many small matrices that `_sweep` is quicker than LAPACK."""
    return len(M) >= FEWEST_SWEPT and M.shape[-1] <= MOST_COLUMNS_SWEPT


def _sweep(M: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return inverses and log-determinants of positive definite matrices (K, p, p).

    Gauss-Jordan elimination without exchanges, of many matrices at a time: the last axis is the
    number of the matrix. None if a pivot is not positive.
    """
    K, p, _ = M.shape
    inverses, logdets = np.empty((K, p, p)), np.empty(K)
    for start in range(0, K, SWEPT_TOGETHER):
        some = slice(start, start + SWEPT_TOGETHER)
        A = np.array(np.moveaxis(M[some], 0, -1), order="C")
        product, pivots = np.empty_like(A), np.empty(A.shape[1:])
        for j in range(p):
            row = A[j].copy()
            pivots[j] = row[j]
            if not row[j].min() > 0:
                return None
            scaled = row / row[j]
            A -= np.multiply(row[:, None], scaled, out=product)
            A[j], A[:, j] = scaled, scaled
            A[j, j] = -1 / pivots[j]
        inverses[some] = np.moveaxis(-A, -1, 0)
        logdets[some] = np.log(pivots).sum(axis=0)
    return inverses, logdets


def definite_quadratic(
    M: FloatArray, b: FloatArray, most: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return most - b'M^-1 b and the log-determinants of positive definite matrices (K, p, p).

    `most` (K,) must be above b'M^-1 b.
    """
    K, p = b.shape
    if p < FEWEST_COLUMNS_FOR_LAPACK:
        # One factor gives both: the last squared pivot of [[M, b], [b', most]] is the first result.
        bordered = np.empty((K, p + 1, p + 1))
        bordered[:, :p, :p], bordered[:, :p, p], bordered[:, p, :p] = M, b, b
        bordered[:, p, p] = most
        try:
            pivots = np.diagonal(np.linalg.cholesky(bordered), axis1=-2, axis2=-1)
        except np.linalg.LinAlgError:
            return _rest_and_logdet(M, b, most)
        return pivots[:, p] ** 2, 2 * np.sum(np.log(pivots[:, :p]), axis=-1)
    rest, logdet = np.empty(K), np.empty(K)
    for k, (one, right) in enumerate(zip(M, b)):
        factor, solved, failed = lapack.dposv(one.T, right, lower=1)
        if failed:
            return _rest_and_logdet(M, b, most)
        rest[k] = max(most[k] - right @ solved, 0.0)
        logdet[k] = 2 * np.sum(np.log(np.diagonal(factor)))
    return rest, logdet


def _rest_and_logdet(
    M: FloatArray, b: FloatArray, most: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return what `definite_quadratic` does where rounding hides that matrices are definite.

    Where entries reach 1e16, the difference between `most` and b'M^-1 b is below their rounding.
    """
    solved = np.linalg.solve(M, b[..., None])[..., 0]
    return np.maximum(most - dot(b, solved), 0.0), np.linalg.slogdet(M)[1]


def _moore_penrose(G: FloatArray, ranks: IntArray) -> FloatArray:
    """Return the Moore-Penrose inverses of a stack of matrices of known rank."""
    values, vectors = np.linalg.eigh(G)
    p = G.shape[-1]
    kept = (np.arange(p) >= p - ranks[..., None]) & (values > LEAST_LENGTH)
    weights = np.where(kept, 1 / np.where(kept, values, 1.0), 0.0)
    pseudo: FloatArray = (vectors * weights[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return pseudo


def solve(G: FloatArray, b: FloatArray, *, full_rank: bool = False) -> FloatArray:
    """Return G^-1 b for vectors b (..., p), Moore-Penrose where columns are dependent.

    `full_rank=True` skips the rank test where the caller knows that no column is dependent: a sum
    of Gram matrices has full rank as soon as one of them has.
    """
    if not full_rank:
        return matvec(inverse(G), b)
    R, unit = _unit_diagonal(G)
    solution: FloatArray = np.linalg.solve(R, (b * unit)[..., None])[..., 0]
    return solution * unit


def definite_solve(G: FloatArray, b: FloatArray) -> FloatArray:
    """Return what `solve` returns, in half the time where nearly all matrices have full rank."""
    try:
        factor = np.linalg.cholesky(G)
        solution: FloatArray = np.linalg.solve(G, b[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return solve(G, b)
    # Squared pivots are what is new in a column given those before.
    new = np.diagonal(factor, axis1=-2, axis2=-1) ** 2
    share = DOUBTFUL_MARGIN * RANK_TOLERANCE * np.diagonal(G, axis1=-2, axis2=-1)
    doubtful = ~np.all(new > share, axis=-1)
    if doubtful.any():
        solution[doubtful] = solve(G[doubtful], b[doubtful])
    return solution


def square_root(M: FloatArray) -> FloatArray:
    """Return K with K'K = M for one positive semi-definite matrix."""
    values, vectors = np.linalg.eigh(symmetrise(M))
    root: FloatArray = np.sqrt(np.maximum(values, 0.0))[..., :, None] * np.swapaxes(vectors, -1, -2)
    return root


def top_eigenvalue(M: FloatArray) -> FloatArray:
    """Return the largest eigenvalue of each positive semi-definite matrix of the stack.

    Large stacks of small matrices go through a tridiagonal form and Laguerre's iteration, both
    over the whole stack at once. That avoids the full spectrum of each matrix.
    """
    p = M.shape[-1]
    if M.ndim != 3 or len(M) < FEWEST_MATRICES or not LEAST_COLUMNS <= p <= MOST_COLUMNS:
        value: FloatArray = np.linalg.eigvalsh(M)[..., -1]
        return value
    block = max(FEWEST_MATRICES, CACHE_VALUES // (p * p))
    parts = [_tridiagonal(M[start : start + block]) for start in range(0, len(M), block)]
    diagonal, squares = (np.concatenate(part, axis=1) for part in zip(*parts))
    return _largest_root(diagonal, squares)


def _tridiagonal(M: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return diagonal (p, B) and squared off-diagonal (p-1, B) of a stack (B, p, p).

    Householder reflections with the stack on the last axis, so that each step is a few operations
    on long arrays.
    """
    A = np.ascontiguousarray(np.moveaxis(M, 0, -1))
    diagonal, squares = [], []
    while len(A) > 2:
        diagonal.append(A[0, 0])
        x, A = A[1:, 0], A[1:, 1:]
        square = np.sum(x * x, axis=0)
        squares.append(square)
        u = x.copy()
        u[0] += np.copysign(np.sqrt(square), x[0])
        length = np.sum(u * u, axis=0)
        length[length == 0] = 1.0
        q = np.sum(A * u, axis=1) * (2 / length)
        q -= np.sum(u * q, axis=0) / length * u
        uq = u[:, None] * q
        A = A - uq - np.swapaxes(uq, 0, 1)
    diagonal += [A[0, 0], A[1, 1]]
    squares.append(A[0, 1] ** 2)
    return np.array(diagonal), np.array(squares)


def _largest_root(d: FloatArray, e2: FloatArray) -> FloatArray:
    """Return the largest root of the characteristic polynomial of tridiagonal matrices.

    Started above all roots of a polynomial with real roots, Laguerre's iteration falls
    monotonically and cubically to the largest. With f the ratio of successive leading minors at x,
    `slope` is f'/f and `bend` f''/f. Their sums over the minors give the derivatives of the
    polynomial's logarithm.
    """
    p = len(d)
    radius = np.zeros_like(d)
    off = np.sqrt(e2)
    radius[:-1] += off
    radius[1:] += off
    above = np.max(d + radius, axis=0)  # Gershgorin
    x = np.where(above > 0, above * (1 + ABOVE_BOUND), 1.0)
    for _ in range(ROOT_STEPS):
        with np.errstate(divide="ignore", invalid="ignore"):
            reciprocal = 1 / (d[0] - x)
            slope, bend = -reciprocal, np.zeros_like(x)
            first, second = slope.copy(), slope * slope
            for i in range(1, p):
                r = e2[i - 1] * reciprocal
                reciprocal = 1 / (d[i] - x - r)
                bend = r * (bend - 2 * slope * slope) * reciprocal
                slope = (r * slope - 1) * reciprocal
                first += slope
                second += slope * slope - bend
            root = np.sqrt(np.maximum((p - 1) * (p * second - first * first), 0.0))
            step = p / (first + root)
        step = np.where(np.isfinite(step), step, 0.0)
        x = x - step
        if np.all(np.abs(step) <= ROOT_CLOSE * np.abs(x)):
            break
    return np.where(above > 0, x, 0.0)
