"""BiFactor multi-task learning (Murugesan, Carbonell, Yang 2017), on moments.

    minimise   sum_k |y_k - c_k - X_k w_k|^2 + LEVEL_ROWS c_k^2
               + ridge { tr(F' Sigma^-1 F) + tr(T' Omega^-1 T) }
    over       F, T, c, Sigma, Omega   with   w_k = F t_k,   tr Sigma = tr Omega = r

Moments of the datasets enter; factors, covariances and coefficients leave. All datasets share the r
columns of F; each has its own weights for them, a row of T. So the slopes of all datasets are
W = T F'. Given T, the best F is a ridge regression, and given F, so is each row of T. The two are
solved in turns, from moments alone. `bifactor_choice` chooses rank and ridge and finds clusters.

==========  ==================================================================  ============
symbol      meaning                                                             shape
==========  ==================================================================  ============
H, h, q     moments of the slopes, the levels c minimised out                   (K, p, p) ...
F           feature factor                                                      (p, r)
T           task factor, G in the publication (here G is a Gram matrix)         (K, r)
Sigma       how features relate to features                                     (p, p)
Omega       how tasks relate to tasks                                           (K, K)
W           slopes of the datasets, T F'                                        (K, p)
c           levels: the intercepts of the datasets                              (K,)
==========  ==================================================================  ============

**Covariances.** The best Sigma for given F is r (F F')^1/2 / |F|_*, with |.|_* the sum of singular
values; its cost is |F|_*^2 / r. So learning both matrices means: minimise
`|F|_*^2 / r + |T|_*^2 / r`. At the cheapest split of W into F and T this is
`2/r (sum of the roots of W's singular values)^2`. It favours a low rank more than the sum of
singular values does. Alternating with Sigma itself would not work for r < p: it has rank r, so F
could never leave its first column space. The r x r matrix r (F'F)^1/2 / |F|_*, on the other side
of F, has the same cost and leaves F free.

**Identity.** With both matrices fixed, the cost at the cheapest split is 2 times the sum of W's
singular values. With r = min(p, K) this is trace-norm regression, which has one minimum. The fit
with learned matrices starts from it. The trace r makes both costs equal where all singular values
are equal, so the same ridges suit both. Another trace only changes the unit of the ridge.

TriFactor has a third factor in the middle, W = T S F'. With ridge costs that adds nothing: the
rank is still that of the smaller factor.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from conjoin import linalg
from conjoin._typing import FloatArray
from conjoin.errors import ArgumentError
from conjoin.models.ols import fit_ols
from conjoin.moments import Moments
from conjoin.moments.resample import stream

Covariances: TypeAlias = Literal["learned", "identity"]
COVARIANCES: tuple[Covariances, ...] = ("learned", "identity")
# A dataset's level is shrunk towards the common mean as if by one more row. Without it a dataset
# of one row would put its noise into its level.
LEVEL_ROWS = 1.0
# Most turns of the two solutions. It only guards against an endless loop: the tolerance ends it.
TURNS = 1000
# Turns end when the objective falls by less than this share of the target's squares.
TOLERANCE = 1e-9
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
    covariances : {"learned", "identity"}
        Whether Sigma and Omega were learned.
    objective : tuple of float
        Value of the objective after each turn.
    """

    F: FloatArray
    T: FloatArray
    levels: FloatArray
    ridge: float
    intercept: bool
    covariances: Covariances
    objective: tuple[float, ...]

    @property
    def Sigma(self) -> FloatArray:
        """Relation of the features, (p, p): r (F F')^1/2 / |F|_*, or the identity."""
        return _relation(self.F, self.covariances)

    @property
    def Omega(self) -> FloatArray:
        """Relation of the tasks, (K, K): r (T T')^1/2 / |T|_*, or the identity."""
        return _relation(self.T, self.covariances)

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
    covariances: Covariances = "learned",
    start: FloatArray | None = None,
    restarts: int = 0,
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
    covariances : {"learned", "identity"}, default "learned"
        Whether Sigma and Omega are learned, as published, or fixed at the identity.
    start : array, shape (p, r), optional
        Feature factor to start from; by default the leading directions of the slopes that each
        dataset has on its own.
    restarts : int, default 0
        Number of further random starts, the same in every call. The fit with the smallest
        objective is returned.
    tolerance : float, default 1e-9
        Turns end when the objective falls by less than this share of the target's squares.

    Returns
    -------
    BiFactor

    Raises
    ------
    ArgumentError
        If `covariances` is unknown.

    Examples
    --------
    Two datasets with slopes 1 and 2 share one feature.

    >>> X = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    >>> moments = Moments.from_rows(np.stack([X, X]), np.stack([X[:, 0], 2 * X[:, 0]]))
    >>> fit_bifactor(moments, rank=1, ridge=1e-6, intercept=False).slopes.round(3).tolist()
    [[1.0], [2.0]]
    """
    if covariances not in COVARIANCES:
        raise ArgumentError(
            f"covariances={covariances!r} is unknown; expected 'learned' or 'identity'."
        )
    data = Slopes.of(moments, intercept=intercept)
    rank = max(1, min(rank, *data.h.shape))
    starts = [_own_directions(data, rank) if start is None else start[:, :rank]]
    for i in range(restarts):
        rng = stream(0, "bifactor", str(i))
        starts.append(rng.standard_normal((data.h.shape[1], rank)))
    fits = [_alternate(data, F, ridge, tolerance) for F in starts]
    if covariances == "learned":
        fits = [_alternate(data, F, ridge, tolerance, learn=True) for F, _, _ in fits]
    F, T, trace = min(fits, key=lambda fit: fit[2][-1])
    levels = data.start - linalg.dot(data.center, T @ F.T)
    return BiFactor(F, T, levels, ridge, intercept, covariances, tuple(trace))


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


def _relation(factor: FloatArray, covariances: Covariances) -> FloatArray:
    """Return r (A A')^1/2 / |A|_* of a factor A (m, r), or the identity (m, m)."""
    if covariances == "identity":
        return np.eye(len(factor))
    U, s, _ = np.linalg.svd(factor, full_matrices=False)
    scale = factor.shape[1] / max(float(s.sum()), np.finfo(float).tiny)
    relation: FloatArray = scale * (U * s) @ U.T
    return relation


def _alternate(
    data: Slopes, F: FloatArray, ridge: float, tolerance: float, *, learn: bool = False
) -> tuple[FloatArray, FloatArray, list[float]]:
    """Solve for T given F and for F given T in turns; return F, T and the objective after each.

    With `learn`, columns i of balanced factors are solved for in units of the root of
    r s_i / sum_j s_j, with s_i their length: the best r x r matrix of the module's docstring, which
    is diagonal then. A column that reaches zero stays there.
    """
    trace: list[float] = []
    scale = float(np.abs(data.q).sum())
    for _ in range(TURNS):
        unit = _units(F) if learn else np.ones(F.shape[1])
        F, T = _balance(F, _solve_tasks(data, F * unit, ridge) * unit)
        unit = _units(F) if learn else unit
        began = np.divide(F, unit, out=np.zeros_like(F), where=unit > 0)
        F, T = _balance(_solve_features(data, T * unit, began, ridge) * unit, T)
        trace.append(data.loss(T @ F.T) + ridge * (_cost(F, learn) + _cost(T, learn)))
        if len(trace) > 1 and trace[-2] - trace[-1] <= tolerance * scale:
            break
    return F, T, trace


def _units(factor: FloatArray) -> FloatArray:
    """Return the roots (r,) of the best diagonal matrix of trace r for orthogonal columns."""
    lengths = np.linalg.norm(factor, axis=0)
    total = max(float(lengths.sum()), np.finfo(float).tiny)
    units: FloatArray = np.sqrt(len(lengths) * lengths / total)
    return units


def _cost(factor: FloatArray, learn: bool) -> float:
    """Return the ridge cost of a factor with orthogonal columns, at its best covariance."""
    if learn:
        return float(np.linalg.norm(factor, axis=0).sum() ** 2) / factor.shape[1]
    return float(np.sum(factor**2))


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
