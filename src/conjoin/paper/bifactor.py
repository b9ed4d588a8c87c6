"""BiFactor multi-task learning (Murugesan, Carbonell, Yang 2017), on moments.

    minimise   sum_k |y_k - c_k - X_k w_k|^2 + LEVEL_ROWS c_k^2   +   ridge (|F|^2 + |T|^2)
    over       F, T, c,   with   w_k = F t_k,   so that the slopes of all datasets are W = T F'

Moments of the datasets enter; factors, coefficients and clusters of datasets leave. All datasets
share the r columns of F; each has its own weights for them, a row of T. Given T, the best F is a
ridge regression, and given F, so is each row of T. The two are solved in turns, from moments alone.
At the cheapest split of W into F and T, the cost is 2 ridge times the sum of W's singular values.
So with r = min(p, K) this is trace-norm regression, which has one minimum.

==========  ==================================================================  ============
symbol      meaning                                                             shape
==========  ==================================================================  ============
H, h, q     moments of the slopes, the levels c minimised out                   (K, p, p) ...
F           feature factor                                                      (p, r)
T           task factor, G in the publication (here G is a Gram matrix)         (K, r)
W           slopes of the datasets, T F'                                        (K, p)
c           levels: the intercepts of the datasets                              (K,)
==========  ==================================================================  ============

The published method also has two matrices that relate features to features and tasks to tasks;
here both are the identity. Its TriFactor has a third factor in the middle, W = T S F'. With ridge
costs that adds nothing: the rank is still that of the smaller factor.
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

# Settings that cross-validation chooses from. Ranks above min(p, K) are cut to it; steps of about
# 1.5 to 2 keep the number of fits small.
RANKS = (1, 2, 3, 5, 8, 12)
# In units of `noise_ridge`. At 1 pure noise is shrunk to zero; more would only remove signal.
RIDGES = (0.03, 0.1, 0.3, 1.0)
# A dataset's level is shrunk towards the common mean as if by one more row. Without it a dataset
# of one row would put its noise into its level.
LEVEL_ROWS = 1.0
# Most turns of the two solutions. It only guards against an endless loop: the tolerance ends it.
TURNS = 1000
# Turns end when the objective falls by less than this share of the target's squares.
TOLERANCE = 1e-9
ROUGH = 1e-6  # the same while settings are compared: differences between settings are far larger
# Up to this many entries of F, its equations are written out as one matrix (of 1200 x 1200 at most,
# 12 MB) and solved exactly; above it, by conjugate gradients.
MOST_UNKNOWNS = 1200
# Conjugate gradients start from the last F, so each turn improves on the one before; a turn that
# stops at the step limit is continued by the next one.
GRADIENT_TOLERANCE, GRADIENT_STEPS = 1e-10, 100
# The start values shrink each dataset's own slopes as if by a tenth of its rows, and of the mean
# dataset's: slopes of tiny datasets are mostly noise and must not lead.
START_SHRINKAGE = 0.1
# Share of the target's variance that is taken as noise where no degrees of freedom are left.
GUESSED_NOISE = 0.5
MOST_CLUSTERS = 15  # largest number of clusters tried; each is fitted in every fold


@dataclass(frozen=True, eq=False)
class Slopes:
    """Moments of the slopes, with the levels minimised out; names as in the module's table.

    `center` (K, p) and `start` (K,) give the levels: c = start - center . w.
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
        """Return the sum of squares at slopes W (K, p) and their best levels."""
        return float(np.sum(self.q - 2 * linalg.dot(W, self.h) + linalg.quadratic(W, self.H)))


@dataclass(frozen=True, eq=False)
class BiFactor:
    """A fitted pair of factors; `fit_bifactor` and `validate_bifactor` return it.

    Attributes
    ----------
    F : array, shape (p, r)
        Feature factor; columns in falling order of what they explain.
    T : array, shape (K, r)
        Task factor: the weights of each dataset.
    levels : array, shape (K,)
        Intercepts of the datasets.
    ridge : float
        Weight of the ridge cost.
    intercept : bool
        Whether the first column of the moments is the intercept.
    objective : tuple of float
        Value of the objective after each turn.
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
    """Fit factors of a given rank and ridge to the moments of K datasets.

    Parameters
    ----------
    moments : Moments, shape (K,)
        Moments of the datasets.
    rank : int
        Number of shared features r; cut to min(p, K).
    ridge : float
        Weight of the ridge cost; `noise_ridge` gives its scale.
    intercept : bool, default True
        Whether the first column of the moments is the intercept.
    start : array, shape (p, r), optional
        Feature factor to start from; by default the leading directions of the slopes that each
        dataset has on its own.
    restarts : int, default 0
        Number of further random starts. The fit with the smallest objective is returned.
    seed : int, default 0
        Random seed of the restarts.
    tolerance : float, default 1e-9
        Turns end when the objective falls by less than this share of the target's squares.

    Returns
    -------
    BiFactor

    Examples
    --------
    Two datasets with slopes 1 and 2 share one feature.

    >>> X = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    >>> moments = Moments.from_rows(np.stack([X, X]), np.stack([X[:, 0], 2 * X[:, 0]]))
    >>> fit_bifactor(moments, rank=1, ridge=1e-6, intercept=False).slopes.round(3).tolist()
    [[1.0], [2.0]]
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
    """Return the ridge at which pure noise would just be shrunk to zero.

    That is the spectral norm of the noise in h, a (p, K) matrix whose entries have variance
    sigma^2 n: about sigma sqrt(n) (sqrt(p) + sqrt(K)).
    """
    data = Slopes.of(moments, intercept=intercept)
    fit = fit_ols(moments)
    df = float((moments.n - fit.rank).sum())
    rows = max(float(moments.n.sum()), 1.0)
    noise = float(fit.rss.sum()) / df if df > 0 else GUESSED_NOISE * float(moments.q.sum()) / rows
    K, p = data.h.shape
    length = float(np.mean(np.einsum("kii->k", data.H))) / p
    least = np.finfo(float).eps * rows  # with no noise at all the equations still need a ridge
    return max(float(np.sqrt(noise * length) * (np.sqrt(p) + np.sqrt(K))), least)


def _own_directions(data: Slopes, rank: int) -> FloatArray:
    """Return the leading directions (p, rank) of the datasets' own slopes."""
    H = data.H.copy()
    p = H.shape[-1]
    index = np.arange(p)
    size = np.einsum("kii->k", H) / p
    ridge = START_SHRINKAGE * size + START_SHRINKAGE * size.mean() + np.finfo(float).tiny
    H[:, index, index] += ridge[:, None]
    own = np.linalg.solve(H, data.h[..., None])[..., 0]
    directions: FloatArray = np.linalg.svd(own, full_matrices=False)[2][:rank].T
    return directions


def _alternate(
    data: Slopes, F: FloatArray, ridge: float, tolerance: float
) -> tuple[FloatArray, FloatArray, list[float]]:
    """Solve for T given F and for F given T in turns; return F, T and the objective after each."""
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
    """Improve F by conjugate gradients from the last one, for too many equations to write out."""
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
        rtol=GRADIENT_TOLERANCE,
        maxiter=GRADIENT_STEPS,
        M=LinearOperator((size, size), matvec=lambda v: v / diagonal.ravel(), dtype=np.float64),
    )[0].reshape(shape)
    return solution


def _balance(F: FloatArray, T: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split W = T F' by its singular values into the two factors of smallest ridge cost."""
    Q, R = np.linalg.qr(F)
    P, L = np.linalg.qr(T)
    U, s, Vt = np.linalg.svd(R @ L.T)
    root = np.sqrt(s)
    F, T = Q @ U * root, P @ Vt.T * root
    # The sign of a singular vector is arbitrary: make its largest entry in F positive.
    largest = F[np.argmax(np.abs(F), axis=0), np.arange(F.shape[1])]
    sign = np.where(largest < 0, -1.0, 1.0)
    return F * sign, T * sign


# --- choices by cross-validation -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BiFactorChoice:
    """The settings tried by cross-validation, and the fit with the best of them.

    Attributes
    ----------
    fit : BiFactor
        Fit to all rows with the best rank and ridge.
    settings : tuple of (int, float)
        Ranks and ridges tried.
    errors : array, shape (settings,)
        Mean squared error of each on held-out rows.
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
) -> BiFactorChoice:
    """Choose rank and ridge by cross-validation, then fit all rows with them.

    Parameters
    ----------
    folds : Moments, shape (K, F)
        Moments of F folds of K datasets.
    weights : array, shape (K,), optional
        Weight of each dataset's error; equal by default.
    ranks : sequence of int, default 1, 2, 3, 5, 8 and 12
    ridges : sequence of float, default 0.03, 0.1, 0.3 and 1
        In units of `noise_ridge`.
    intercept : bool, default True
        Whether the first column of the moments is the intercept.

    Returns
    -------
    BiFactorChoice

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((6, 2, 20, 4))  # 6 datasets, 2 folds, 20 rows, 4 columns
    >>> y = X @ np.ones(4) + rng.standard_normal((6, 2, 20))
    >>> chosen = validate_bifactor(Moments.from_rows(X, y), intercept=False)
    >>> chosen.fit.slopes.shape, len(chosen.settings)
    ((6, 4), 16)
    """
    total = folds.union(1)
    most = min(total.p - intercept, total.shape[0])
    allowed = sorted({min(rank, most) for rank in ranks})
    unit = noise_ridge(total, intercept=intercept)
    settings = tuple((rank, unit * ridge) for rank in allowed for ridge in sorted(ridges))
    squares = np.zeros((len(settings), total.shape[0]))
    for f in range(folds.shape[1]):
        held_out = folds[:, f]
        fits = _path(total - held_out, settings, intercept)
        squares += np.array([held_out.sse(fit.beta) for fit in fits])
    errors = _mean_error(squares, total, weights)
    rank, ridge = settings[int(np.argmin(errors))]
    return BiFactorChoice(fit_bifactor(total, rank, ridge, intercept=intercept), settings, errors)


def _path(
    moments: Moments, settings: Sequence[tuple[int, float]], intercept: bool
) -> list[BiFactor]:
    """Fit all settings in turn; within a rank, each starts from the fit of the smaller ridge."""
    fits: list[BiFactor] = []
    for rank, ridge in settings:
        last = fits[-1] if fits and fits[-1].F.shape[1] == rank else None
        start = None if last is None else last.F
        fits.append(
            fit_bifactor(moments, rank, ridge, intercept=intercept, start=start, tolerance=ROUGH)
        )
    return fits


def _mean_error(squares: FloatArray, total: Moments, weights: FloatArray | None) -> FloatArray:
    """Return weighted means over datasets of squared errors (settings, K) per unit row weight."""
    K = total.shape[0]
    w = np.full(K, 1 / K) if weights is None else weights / weights.sum()
    errors: FloatArray = squares / total.w @ w
    return errors


# --- clusters ------------------------------------------------------------------------------------


def task_clusters(fit: BiFactor, count: int) -> IntArray:
    """Return labels (K,) of `count` clusters of datasets, numbered in order of appearance.

    Ward's method clusters the rows of T, each column of T multiplied by the length of its column
    of F. Their distances are then those of the slopes, and do not depend on the split into F and T.
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
    """Clusters from the task factor: labels (K,), and the error of 1, 2, ... clusters."""

    labels: IntArray
    errors: FloatArray


def validated_clusters(
    folds: Moments, fit: BiFactor, *, weights: FloatArray | None = None, most: int = MOST_CLUSTERS
) -> Clusters:
    """Choose the number of clusters by cross-validation, with one least-squares model per cluster.

    Each fold of the moments (K, F) is held out once. Factors, clusters and models are found again
    from the other folds, with the rank and ridge of `fit`, which was fitted to all rows.
    """
    total = folds.union(1)
    counts = range(1, min(most, total.shape[0]) + 1)
    squares = np.zeros((len(counts), total.shape[0]))
    for f in range(folds.shape[1]):
        held_out = folds[:, f]
        rest = total - held_out
        factors = fit_bifactor(
            rest, fit.F.shape[1], fit.ridge, intercept=fit.intercept, start=fit.F
        )
        for i, count in enumerate(counts):
            labels = task_clusters(factors, count)
            squares[i] += held_out.sse(cluster_coefficients(rest, labels))
    errors = _mean_error(squares, total, weights)
    return Clusters(task_clusters(fit, counts[int(np.argmin(errors))]), errors)


def cluster_coefficients(moments: Moments, labels: IntArray) -> FloatArray:
    """Return the coefficients (K, p) of each dataset's cluster, fitted by least squares."""
    unions = Moments.stack(
        [moments[labels == label].union() for label in range(int(labels.max()) + 1)]
    )
    return fit_ols(unions).beta[labels]
