"""Partial pooling in the space of rows, where datasets have fewer rows than columns.

Rows of datasets (`moments.rows`) and variances enter; the posterior of `models.partial` leaves, and
the gradient of its evidence. All systems are of a dataset's own rows, (n, n) instead of (p, p)
(Woodbury). The deviations of coefficients have a diagonal covariance T = diag(r^2), and all
datasets have one noise variance s.

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
V           I + X T X' / s: covariance of a dataset's rows around the centre      (B, n, n)
R           inverse of the Cholesky factor of V, so that V^-1 = R'R               (B, n, n)
W           R [X, y]: rows that are independent with variance s                   (B, n, p + 1)
A, a        W_x'W_x / s, W_x'W_y / s, summed: information on the centre           (p, p), (p,)
C, mu       posterior of the centre, as in `models.partial`                       (p, p), (p,)
e           R'(W_y - W_x mu): residuals at the posterior means                    (B, n)
==========  ====================================================================  ============

A pass over all datasets takes N p^2 operations and as much memory as the rows. Threads work on
parts of the datasets. Their sums are added in the order of the parts, so the bits do not depend on
the number of threads.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.linalg.lapack import dtrtri

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray
from conjoin.execution import in_threads
from conjoin.moments import RowMoments
from conjoin.moments.rows import Block

# How many times more columns than rows there are where the centre is found by a system of rows.
# Forming C from it takes two products of (p, N) by (N, p), an inverse of columns three times p^3.
FEWER_ROWS = 2
# How many times fewer varying columns than rows of a dataset there are where products with the
# centre are formed column by column: that saves a pass of N p^2 operations.
FEW_ACTIVE = 4
# Numbers of A in a part that one thread works on (8 MB): its products (p, p) take less.
PART_VALUES = 1_000_000
# Size from which triangular matrices are inverted one by one: a stack of them is inverted as if
# they were full, which takes eight times the operations.
LARGE_FACTOR = 32


_Found = TypeVar("_Found")


class Variances(NamedTuple):
    """Noise s, roots r (p,) of the spreads (0: a column does not vary), precision of mu (p,)."""

    noise: float
    root: FloatArray
    precision: FloatArray


class Gradient(NamedTuple):
    """Log evidence, and its gradient by log noise, log centre variances (p,), log spreads (p,)."""

    log_evidence: float
    noise: float
    centre: FloatArray
    squares: FloatArray


@dataclass(frozen=True, eq=False)
class RowPosterior:
    """The posterior of the centre, with whitened rows; see the module's table.

    `factors` are R of each block, None where no column varies between datasets: then W is A.
    """

    rows: RowMoments
    variances: Variances
    factors: Sequence[FloatArray] | None
    W: FloatArray
    mu: FloatArray
    C: FloatArray
    A: FloatArray
    log_evidence: float

    @property
    def active(self) -> IntArray:
        """Columns that vary between datasets."""
        return np.flatnonzero(self.variances.root)

    def residuals(self) -> list[FloatArray]:
        """Return e of each block."""
        rest = self.W[:, -1] - self.W[:, :-1] @ self.mu
        if self.factors is None:
            return [block.stack(rest) for block in self.rows.blocks]
        return [
            np.matmul(np.swapaxes(R, 1, 2), block.stack(rest)[..., None])[..., 0]
            for block, R in zip(self.rows.blocks, self.factors)
        ]

    def coefficients(self) -> FloatArray:
        """Return the posterior means of the datasets' coefficients (K, p)."""
        active = self.active
        scale = self.variances.root[active] ** 2 / self.variances.noise
        beta = np.tile(self.mu, (self.rows.shape[0], 1))
        if not len(active):
            return beta
        for (datasets, A), e in zip(self.rows.by_block(), self.residuals()):
            beta[np.ix_(datasets, active)] += np.matmul(e[:, None], A[..., active])[:, 0] * scale
        return beta


def row_posterior(rows: RowMoments, variances: Variances) -> RowPosterior:
    """Return the posterior of the centre and of every dataset's coefficients."""
    noise, _, precision = variances
    W, factors, logdet, products = _whiten(rows, variances)
    P = products / noise
    centre = _centre_by_rows if FEWER_ROWS * len(W) < len(precision) else _centre_by_columns
    C, rest = centre(W[:, :-1], P[:-1, :-1], variances)
    mu = C @ P[:-1, -1]
    logdet += rest
    log_evidence = -0.5 * (float(P[-1, -1] - P[:-1, -1] @ mu) + logdet)
    return RowPosterior(rows, variances, factors, W, mu, C, P[:-1, :-1], log_evidence)


def _whiten(
    rows: RowMoments, variances: Variances
) -> tuple[FloatArray, list[FloatArray] | None, float, FloatArray]:
    """Return W, the factors R of all blocks, the log-determinant of the covariance, and W'W."""
    noise, root, _ = variances
    active = np.flatnonzero(root)
    logdet = float(rows.n.sum()) * float(np.log(noise))
    if not len(active):
        return rows.A, None, logdet, rows.total
    W = np.empty_like(rows.A)
    every = len(active) == len(root)  # a slice is no copy

    def work(part: list[Block]) -> tuple[list[FloatArray], float, FloatArray]:
        factors, logs = [], 0.0
        for block in part:
            A = block.stack(rows.A)
            own = A[..., :-1] * root if every else A[..., active] * root[active]
            V = np.matmul(own, np.swapaxes(own, 1, 2)) / noise + np.eye(block.size)
            factor = np.linalg.cholesky(V)
            logs += 2 * float(np.log(np.diagonal(factor, axis1=1, axis2=2)).sum())
            factors.append(_inverse_factors(factor))
            np.matmul(factors[-1], A, out=block.stack(W))
        whole = W[part[0].rows.start : part[-1].rows.stop]
        return factors, logs, whole.T @ whole

    found: list[FloatArray] = []
    products = np.zeros((W.shape[1], W.shape[1]))
    for factors, logs, product in _in_parts(work, rows):
        found += factors
        logdet += logs
        products += product
    return W, found, logdet, products


def _inverse_factors(factor: FloatArray) -> FloatArray:
    """Return the inverses of lower triangular matrices (B, n, n)."""
    if factor.shape[-1] < LARGE_FACTOR:
        found: FloatArray = np.linalg.inv(factor)
        return found
    return np.stack([dtrtri(one.T)[0].T for one in factor])


def _in_parts(work: Callable[[list[Block]], _Found], rows: RowMoments) -> Iterator[_Found]:
    """Give what some work finds for parts of the blocks, which are next to each other in A."""
    most = max(PART_VALUES // rows.A.shape[1], 1)
    parts: list[list[Block]] = []
    for block in rows.blocks:
        if not parts or block.rows.stop - parts[-1][0].rows.start > most:
            parts.append([])
        parts[-1].append(block)
    return in_threads(work, parts, alone=len(parts) < 2)


def _centre_by_columns(
    W: FloatArray, A: FloatArray, variances: Variances
) -> tuple[FloatArray, float]:
    """Return C (p, p), and the log-determinant of its inverse less that of the prior's."""
    precision = variances.precision
    total = A + np.diag(precision)
    C = linalg.inverse(linalg.symmetrise(total))
    known = precision[precision > 0]
    return C, linalg.logdet_of_known(total) - float(np.log(known).sum())


def _centre_by_rows(W: FloatArray, A: FloatArray, variances: Variances) -> tuple[FloatArray, float]:
    """Return the same from a system of rows (N, N): with D the prior's precision, by Woodbury.

    Columns without a prior, z, are set aside: M = s I + W_k D_k^-1 W_k' is the covariance of rows
    given them, and W_z'M^-1 W_z the information on them.
    """
    noise, _, precision = variances
    z, k = precision == 0, precision > 0
    prior = 1 / precision[k]
    Wk, Wz = W[:, k] * prior, W[:, z]
    M = noise * np.eye(len(W)) + Wk @ W[:, k].T
    inverse, logdet = linalg.definite_inverse_and_logdet(linalg.symmetrise(M)[None])
    information = linalg.symmetrise(Wz.T @ inverse[0] @ Wz)
    Czz = linalg.inverse(information)
    B = Wk.T @ (inverse[0] @ Wz)
    C = np.empty((len(precision), len(precision)))
    C[np.ix_(k, k)] = np.diag(prior) - Wk.T @ (inverse[0] @ Wk) + B @ Czz @ B.T
    C[np.ix_(k, z)] = -B @ Czz
    C[np.ix_(z, k)] = C[np.ix_(k, z)].T
    C[np.ix_(z, z)] = Czz
    rest = float(logdet[0]) - len(W) * np.log(noise)
    return C, rest + linalg.logdet_of_known(information)


def row_gradient(rows: RowMoments, variances: Variances) -> Gradient:
    """Return the log evidence and its gradient by the logarithms of all variances."""
    post = row_posterior(rows, variances)
    noise, root, precision = variances
    active = post.active
    r2 = root[active] ** 2
    A = post.A
    spread = float(np.sum(A * post.C)) + float(np.sum(r2 * np.diagonal(A)[active]))
    residual, squares = 0.0, -r2 * np.diagonal(A)[active]
    for (_, own), e in zip(rows.by_block(), post.residuals()):
        residual += float(np.sum(e**2))
        z = np.matmul(e[:, None], own[..., active])[:, 0] * (root[active] / noise)
        squares += np.sum(z**2, axis=0)
    moved = r2 * _from_centre(post) / noise**2
    squares += moved
    # The deviations add W T W' / s to the variance of whitened rows.
    spread -= float(np.sum(moved))
    by_noise = 0.5 * (residual / noise + spread - float(rows.n.sum()))
    known = precision > 0
    centre = np.zeros_like(precision)
    centre[known] = 0.5 * ((post.mu**2 + np.diagonal(post.C))[known] * precision[known] - 1)
    by_spread = np.zeros_like(root)
    by_spread[active] = 0.5 * squares
    return Gradient(post.log_evidence, by_noise, centre, by_spread)


def _from_centre(post: RowPosterior) -> FloatArray:
    """Return sums over datasets of w'W C W'w, for the columns w of W that vary (active,).

    With few such columns W'w is formed first, else W C W'.
    """
    active, rows, Wx = post.active, post.rows, post.W[:, :-1]
    found = np.zeros(len(active))
    if not len(active):
        return found
    few = len(active) * FEW_ACTIVE <= max(block.size for block in rows.blocks)

    def work(part: list[Block]) -> FloatArray:
        total = np.zeros(len(active))
        first = part[0].rows.start
        WC = None if few else Wx[first : part[-1].rows.stop] @ post.C
        for block in part:
            W = block.stack(Wx)
            varied = W[..., active]
            if WC is None:
                U = np.swapaxes(np.matmul(np.swapaxes(varied, 1, 2), W), 0, 1)
                total += np.sum(np.matmul(U, post.C) * U, axis=(1, 2))
            else:
                own = WC[block.rows.start - first : block.rows.stop - first].reshape(W.shape)
                S = np.matmul(own, np.swapaxes(W, 1, 2))
                total += np.sum(np.matmul(S, varied) * varied, axis=(0, 1))
        return total

    for one in _in_parts(work, rows):
        found += one
    return found


def row_least_squares(rows: RowMoments, anchor: FloatArray) -> FloatArray:
    """Return own coefficients (K, p) that fit each dataset best and are nearest to `anchor` (p,).

    With fewer rows than columns they fit the rows exactly.
    """
    beta = np.tile(anchor, (rows.shape[0], 1))
    for datasets, A in rows.by_block():
        X, rest = A[..., :-1], A[..., -1] - A[..., :-1] @ anchor
        K = linalg.inverse(np.matmul(X, np.swapaxes(X, 1, 2)))
        beta[datasets] += np.matmul(linalg.matvec(K, rest)[:, None], X)[:, 0]
    return beta


def pooled_of_rows(rows: RowMoments) -> FloatArray:
    """Return the shortest coefficients (p,) that fit all rows best: X'(X X')^-1 y."""
    X, y = rows.A[:, :-1], rows.A[:, -1]
    beta: FloatArray = X.T @ linalg.matvec(linalg.inverse(X @ X.T), y)
    return beta


def row_shrunk(rows: RowMoments, anchor: FloatArray) -> FloatArray:
    """Return (G + I)^-1 (h + anchor): own coefficients (K, p), drawn to `anchor` (p,)."""
    beta = np.tile(anchor, (rows.shape[0], 1))
    for datasets, A in rows.by_block():
        X, rest = A[..., :-1], A[..., -1] - A[..., :-1] @ anchor
        V = np.matmul(X, np.swapaxes(X, 1, 2)) + np.eye(X.shape[1])
        beta[datasets] += np.matmul(np.linalg.solve(V, rest[..., None])[:, None, :, 0], X)[:, 0]
    return beta
