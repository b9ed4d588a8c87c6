"""BiFactor multi-task learning (Murugesan, Carbonell, Yang 2017), on moments.

    minimise   sum_k |y_k - c_k - X_k w_k|^2 + LEVEL_ROWS c_k^2   +   ridge (|F|^2 + |T|^2)
    over       F, T, c,   with   w_k = F t_k,   so that the slopes of all datasets are W = T F'

Datasets share the r columns of F and differ in how much of each they take. Given T, F is a ridge
regression, and given F, each row of T is one: the two are solved in turns, and rows of the data are
never needed. Split into F and T at least cost, W costs 2 ridge times the sum of its singular
values, so with r = min(p, K) this is trace-norm regression, which has one minimum.

==========  ==================================================================  ============
symbol      meaning                                                             shape
==========  ==================================================================  ============
H, h, q     moments of the slopes, the levels c minimised out                   (K, p, p) ...
F           feature factor                                                      (p, r)
T           task factor, the paper's G (here G is a Gram matrix)                (K, r)
W           slopes of the datasets, T F'                                        (K, p)
c           levels: intercepts of the datasets                                  (K,)
==========  ==================================================================  ============

Of the published method the two matrices that relate features to features and tasks to tasks stay
the identity. A third factor in the middle, W = T S F' (its TriFactor), adds nothing under ridge
costs: the rank is that of the smaller factor.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse.linalg import LinearOperator, cg

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray
from conjoin.models.ols import fit_ols
from conjoin.moments import Moments
from conjoin.moments.resample import stream

RANKS = (1, 2, 3, 5, 8, 12)
RIDGES = (0.03, 0.1, 0.3, 1.0)  # in units of `noise_ridge`
LEVEL_ROWS = 1.0  # a dataset's level is drawn to the common mean as by one row
TURNS = 1000
# Fall of the objective in a turn, as a share of the target's squares, at which turns end.
TOLERANCE = 1e-9
ROUGH = 1e-6  # the same where settings are compared
MOST_UNKNOWNS = 1200  # entries of F up to which its equations are written out
MOST_CLUSTERS = 15


@dataclass(frozen=True, eq=False)
class Slopes:
    """Moments of the slopes, with the levels minimised out; names as in the module's table.

    `center` (K, p) and `start` (K,) give the levels back: c = start - center . w.
    """

    H: FloatArray
    h: FloatArray
    q: FloatArray
    center: FloatArray
    start: FloatArray

    @classmethod
    def of(cls, moments: Moments, *, intercept: bool) -> "Slopes":
        """Take moments (K,) of designs whose first column is the intercept, if there is one."""
        if not intercept:
            K = moments.shape[0]
            return cls(moments.G, moments.h, moments.q, np.zeros((K, moments.p)), np.zeros(K))
        rows = moments.G[:, 0, 0] + LEVEL_ROWS
        center = moments.G[:, 0, 1:] / rows[:, None]
        start = moments.h[:, 0] / rows
        return cls(
            H=moments.G[:, 1:, 1:] - rows[:, None, None] * center[:, :, None] * center[:, None, :],
            h=moments.h[:, 1:] - rows[:, None] * center * start[:, None],
            q=moments.q - rows * start**2,
            center=center,
            start=start,
        )

    def loss(self, W: FloatArray) -> float:
        """Return the sum of squares at slopes W, levels at their best."""
        return float(np.sum(self.q - 2 * linalg.dot(W, self.h) + linalg.quadratic(W, self.H)))


@dataclass(frozen=True, eq=False)
class BiFactor:
    """A fitted pair of factors.

    Parameters
    ----------
    F, T, levels : arrays (p, r), (K, r), (K,)
        As in the module's table; columns in falling order of what they explain.
    ridge : float
    intercept : bool
    objective : tuple of float
        Its value after each turn.
    """

    F: FloatArray
    T: FloatArray
    levels: FloatArray
    ridge: float
    intercept: bool
    objective: tuple[float, ...]

    @property
    def slopes(self) -> FloatArray:
        """W, (K, p)."""
        W: FloatArray = self.T @ self.F.T
        return W

    @property
    def beta(self) -> FloatArray:
        """Coefficients in the order of the moments' columns, intercept first if there is one."""
        if not self.intercept:
            return self.slopes
        return np.concatenate([self.levels[:, None], self.slopes], axis=1)


def fit_bifactor(
    moments: Moments,
    rank: int,
    ridge: float,
    *,
    intercept: bool = True,
    start: FloatArray | None = None,
    restarts: int = 0,
    seed: int = 0,
    tolerance: float = TOLERANCE,
) -> BiFactor:
    """Fit factors of a given rank and ridge to the moments of datasets (K,).

    The first start is `start`, a feature factor (p, r), by default the leading directions of the
    slopes that each dataset has by itself. `restarts` more are drawn with the seed; the fit with
    the least objective is returned.
    """
    data = Slopes.of(moments, intercept=intercept)
    rank = max(1, min(rank, *data.h.shape))
    starts = [_own_directions(data, rank) if start is None else start[:, :rank]]
    for i in range(restarts):
        rng = stream(seed, "bifactor", str(i))
        starts.append(rng.standard_normal((data.h.shape[1], rank)))
    fits = [_alternate(data, F, ridge, tolerance) for F in starts]
    F, T, trace = min(fits, key=lambda fit: fit[2][-1])
    levels = data.start - linalg.dot(data.center, T @ F.T)
    return BiFactor(F, T, levels, ridge, intercept, tuple(trace))


def noise_ridge(moments: Moments, *, intercept: bool = True) -> float:
    """Return the ridge at which pure noise would just be shrunk to nothing.

    That is the norm of the noise in the scores h, a (p, K) matrix with entries of variance
    sigma^2 n: about sigma sqrt(n) (sqrt(p) + sqrt(K)).
    """
    data = Slopes.of(moments, intercept=intercept)
    fit = fit_ols(moments)
    df = float((moments.n - fit.rank).sum())
    rows = max(float(moments.n.sum()), 1.0)
    # Without degrees of freedom nothing is known of the noise; half the variance is a fair guess.
    noise = float(fit.rss.sum()) / df if df > 0 else 0.5 * float(moments.q.sum()) / rows
    K, p = data.h.shape
    length = float(np.mean(np.einsum("kii->k", data.H))) / p
    least = np.finfo(float).eps * rows
    return max(float(np.sqrt(noise * length) * (np.sqrt(p) + np.sqrt(K))), least)


def _own_directions(data: Slopes, rank: int) -> FloatArray:
    """Return the leading directions (p, rank) of the datasets' own slopes.

    A ridge worth a tenth of a dataset's rows keeps those of tiny datasets from leading.
    """
    H = data.H.copy()
    p = H.shape[-1]
    index = np.arange(p)
    size = np.einsum("kii->k", H) / p
    H[:, index, index] += (0.1 * size + 0.1 * size.mean() + np.finfo(float).tiny)[:, None]
    own = np.linalg.solve(H, data.h[..., None])[..., 0]
    directions: FloatArray = np.linalg.svd(own, full_matrices=False)[2][:rank].T
    return directions


def _alternate(
    data: Slopes, F: FloatArray, ridge: float, tolerance: float
) -> tuple[FloatArray, FloatArray, list[float]]:
    """Solve for T given F and for F given T in turns; return both and the objective's course."""
    trace: list[float] = []
    scale = float(np.abs(data.q).sum())
    for _ in range(TURNS):
        T = _solve_tasks(data, F, ridge)
        F, T = _balance(F, T)
        F = _solve_features(data, T, F, ridge)
        F, T = _balance(F, T)
        trace.append(data.loss(T @ F.T) + ridge * float(np.sum(F**2) + np.sum(T**2)))
        if len(trace) > 1 and trace[-2] - trace[-1] <= tolerance * scale:
            break
    return F, T, trace


def _solve_tasks(data: Slopes, F: FloatArray, ridge: float) -> FloatArray:
    """Return T (K, r): for each dataset a ridge regression on the features X F."""
    r = F.shape[1]
    inner = np.matmul(F.T, np.matmul(data.H, F))
    index = np.arange(r)
    inner[:, index, index] += ridge
    T: FloatArray = np.linalg.solve(inner, (data.h @ F)[..., None])[..., 0]
    return T


def _solve_features(data: Slopes, T: FloatArray, F: FloatArray, ridge: float) -> FloatArray:
    """Return F (p, r) with sum_k H_k F t_k t_k' + ridge F = sum_k h_k t_k'."""
    p, r = F.shape
    right = data.h.T @ T
    if p * r > MOST_UNKNOWNS:
        return _descend(data, T, F, right, ridge)
    pairs = (T[:, :, None] * T[:, None, :]).reshape(len(T), r * r)
    M = (data.H.reshape(len(T), p * p).T @ pairs).reshape(p, p, r, r).transpose(0, 2, 1, 3)
    equations = M.reshape(p * r, p * r)
    equations[np.arange(p * r), np.arange(p * r)] += ridge
    solution: FloatArray = np.linalg.solve(equations, right.ravel()).reshape(p, r)
    return solution


def _descend(
    data: Slopes, T: FloatArray, F: FloatArray, right: FloatArray, ridge: float
) -> FloatArray:
    """Return a better F by conjugate gradients from the last one, where equations are too many."""
    shape = F.shape

    def times(v: FloatArray) -> FloatArray:
        V = v.reshape(shape)
        product: FloatArray = linalg.matvec(data.H, T @ V.T).T @ T + ridge * V
        return product.ravel()

    diagonal = np.einsum("kii->ki", data.H).T @ T**2 + ridge
    size = F.size
    solution: FloatArray = cg(
        LinearOperator((size, size), matvec=times, dtype=np.float64),
        right.ravel(),
        x0=F.ravel(),
        rtol=1e-10,
        maxiter=100,
        M=LinearOperator((size, size), matvec=lambda v: v / diagonal.ravel(), dtype=np.float64),
    )[0].reshape(shape)
    return solution


def _balance(F: FloatArray, T: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split W = T F' anew, by its singular values, into the factors of least ridge cost."""
    Q, R = np.linalg.qr(F)
    P, L = np.linalg.qr(T)
    U, s, Vt = np.linalg.svd(R @ L.T)
    root = np.sqrt(s)
    F, T = Q @ U * root, P @ Vt.T * root
    # A singular vector has no sign of its own: the largest entry of F is made positive.
    largest = F[np.argmax(np.abs(F), axis=0), np.arange(F.shape[1])]
    sign = np.where(largest < 0, -1.0, 1.0)
    return F * sign, T * sign


# --- choices made by folds -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Validated:
    """What folds say of settings.

    Parameters
    ----------
    fit : BiFactor
        With the best setting, on all rows.
    settings : tuple of (int, float)
        Ranks and ridges tried.
    errors : array (settings,)
        Mean squared error of each on left-out rows.
    """

    fit: BiFactor
    settings: tuple[tuple[int, float], ...]
    errors: FloatArray


def validate_bifactor(
    folds: Moments,
    *,
    weights: FloatArray | None = None,
    ranks: Sequence[int] = RANKS,
    ridges: Sequence[float] = RIDGES,
    intercept: bool = True,
) -> Validated:
    """Choose rank and ridge by the error on left-out folds, moments (K, F), and fit all rows.

    `ridges` are in units of `noise_ridge`; `weights` (K,) say how much the error of each dataset
    counts, by default the same.
    """
    total = folds.union(1)
    most = min(total.p - intercept, total.shape[0])
    allowed = sorted({min(rank, most) for rank in ranks})
    unit = noise_ridge(total, intercept=intercept)
    settings = tuple((rank, unit * ridge) for rank in allowed for ridge in sorted(ridges))
    squares = np.zeros((len(settings), total.shape[0]))
    for f in range(folds.shape[1]):
        left_out = folds[:, f]
        fits = _path(total - left_out, settings, intercept)
        squares += np.array([left_out.sse(fit.beta) for fit in fits])
    errors = _mean_error(squares, total, weights)
    rank, ridge = settings[int(np.argmin(errors))]
    return Validated(fit_bifactor(total, rank, ridge, intercept=intercept), settings, errors)


def _path(
    moments: Moments, settings: Sequence[tuple[int, float]], intercept: bool
) -> list[BiFactor]:
    """Fit settings one after another; of one rank, each starts where the smaller ridge ended."""
    fits: list[BiFactor] = []
    for rank, ridge in settings:
        last = fits[-1] if fits and fits[-1].F.shape[1] == rank else None
        start = None if last is None else last.F
        fits.append(
            fit_bifactor(moments, rank, ridge, intercept=intercept, start=start, tolerance=ROUGH)
        )
    return fits


def _mean_error(squares: FloatArray, total: Moments, weights: FloatArray | None) -> FloatArray:
    """Return weighted means over datasets of squares (settings, K) per unit of row weight."""
    K = total.shape[0]
    w = np.full(K, 1 / K) if weights is None else weights / weights.sum()
    errors: FloatArray = squares / total.w @ w
    return errors


# --- clusters ------------------------------------------------------------------------------------


def task_clusters(fit: BiFactor, count: int) -> IntArray:
    """Return labels (K,) of `count` clusters of datasets, numbered as they first occur.

    Rows of T are joined by Ward's method, each column of T in the length of its column of F: their
    distances are then those of the slopes, and do not change when F and T are turned.
    """
    K = len(fit.T)
    if count >= K or K == 1:
        return np.arange(K)
    points = fit.T * np.linalg.norm(fit.F, axis=0)
    found = fcluster(linkage(points, "ward"), count, criterion="maxclust")
    _, first, codes = np.unique(found, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    return order[codes]


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters found from the task factor: labels (K,), and the error of each count from 1 on."""

    labels: IntArray
    errors: FloatArray


def validated_clusters(
    folds: Moments, fit: BiFactor, *, weights: FloatArray | None = None, most: int = MOST_CLUSTERS
) -> Clusters:
    """Choose the number of task clusters by the error of one least-squares model a cluster.

    For every fold of moments (K, F) factors, clusters and models are found anew without it, with
    the rank and ridge of `fit`, a fit to all rows.
    """
    total = folds.union(1)
    counts = range(1, min(most, total.shape[0]) + 1)
    squares = np.zeros((len(counts), total.shape[0]))
    for f in range(folds.shape[1]):
        left_out = folds[:, f]
        rest = total - left_out
        factors = fit_bifactor(
            rest, fit.F.shape[1], fit.ridge, intercept=fit.intercept, start=fit.F
        )
        for i, count in enumerate(counts):
            labels = task_clusters(factors, count)
            squares[i] += left_out.sse(cluster_coefficients(rest, labels))
    errors = _mean_error(squares, total, weights)
    return Clusters(task_clusters(fit, counts[int(np.argmin(errors))]), errors)


def cluster_coefficients(moments: Moments, labels: IntArray) -> FloatArray:
    """Return each dataset's coefficients (K, p) when every cluster has one least-squares model."""
    unions = Moments.stack(
        [moments[labels == label].union() for label in range(int(labels.max()) + 1)]
    )
    return fit_ols(unions).beta[labels]
