"""Generalised linear models with a ridge, fitted to many datasets at once by Newton's method.

Rows lie in a padded stack, so that every step is a few products of stacks; padding has weight zero.
For the canonical links here, Newton's method and iteratively reweighted least squares are one.

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
X           design, padded with rows of weight zero                               (K, n, d)
y, w        target and row weights                                                (K, n)
m           linear predictors of a row: 1, or classes less one
B           coefficients of each predictor                                        (K, d, m)
b           B in one vector, m numbers for each column of X; P = d m              (K, P)
eta         X B; without its last axis where m = 1                                (K, n, m)
g           derivative of the loss of a row by eta, the mean less what was seen   (K, n, m)
v           second derivative                                                     (K, n, m, m)
V           contrasts of C classes, orthonormal and orthogonal to ones; m = C-1   (C, m)
Lambda      diagonal of the ridge; 0 for the intercept                            (P,)
s           -sum of w x g', the score                                             (K, P)
G           sum of w xx' (x) v, Fisher's information                              (K, P, P)
H           G + diag(Lambda)                                                      (K, P, P)
==========  ====================================================================  ============

**Classes.** The scores of C classes are V eta, so none is the reference. As V keeps lengths, a
ridge on B is the ridge on the classes' own coefficients, and the fit is that of the usual
symmetric multinomial regression. Two classes are `BERNOULLI`, whose coefficient is the log-odds.

**When to stop.** The Newton decrement s'H^-1 s over the sum of w v is the mean square by which the
step moves eta, rows counted by v. It hangs neither on the units of the weights nor on how rare a
class is, and it stays near 1 on separable data, where no finite maximum exists.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray, IntArray

STEPS = 50
HALVINGS = 30
TOLERANCE = 1e-6  # mean square move of eta in the last step; the step squares it once more
FLAT = 1e-9  # mean v below which the likelihood is taken to have no maximum
LARGEST_COUNT_LOG = 30.0  # beyond it the Poisson mean goes on as a straight line
BLOCK_VALUES = 2_000_000  # values of one padded stack


class Local(NamedTuple):
    """Derivatives of the loss by eta at every row: g and v of the module's table.

    For m = 1 both are of the shape of eta, (K, n); else (K, n, m) and (K, n, m, m).
    """

    gradient: FloatArray
    curvature: FloatArray


@dataclass(frozen=True)
class GlmFamily:
    """A distribution with its canonical link; the loss is minus the log-likelihood, up to y.

    Both functions take y (..., n) and eta, (..., n) for m = 1, else (..., n, m). `loss` returns
    (..., n). `m` is the number of linear predictors.
    """

    name: str
    m: int
    loss: Callable[[FloatArray, FloatArray], FloatArray]
    at: Callable[[FloatArray, FloatArray], Local]


def _bernoulli_loss(y: FloatArray, eta: FloatArray) -> FloatArray:
    loss: FloatArray = np.log1p(np.exp(-np.abs(eta))) + np.maximum(eta, 0.0) - y * eta
    return loss


def _bernoulli(y: FloatArray, eta: FloatArray) -> Local:
    mean, small = _logistic(eta)
    return Local(mean - y, small)


def _logistic(eta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance; one exponential serves both, and none overflows."""
    small = np.exp(-np.abs(eta))
    larger = 1 / (1 + small)
    smaller = small * larger
    return np.where(eta >= 0, larger, smaller), smaller * larger


def _poisson_loss(y: FloatArray, eta: FloatArray) -> FloatArray:
    beyond = np.maximum(eta - LARGEST_COUNT_LOG, 0.0)
    loss: FloatArray = np.exp(eta - beyond) * (1 + beyond * (1 + beyond / 2)) - y * eta
    return loss


def _poisson(y: FloatArray, eta: FloatArray) -> Local:
    beyond = np.maximum(eta - LARGEST_COUNT_LOG, 0.0)
    variance = np.exp(eta - beyond)
    return Local(variance * (1 + beyond) - y, variance)


BERNOULLI = GlmFamily("bernoulli", 1, _bernoulli_loss, _bernoulli)
POISSON = GlmFamily("poisson", 1, _poisson_loss, _poisson)


def contrasts(classes: int) -> FloatArray:
    """Return V (C, m), m = C - 1: Helmert's contrasts, each class against the mean of those before.

    >>> contrasts(3).round(3)
    array([[-0.707, -0.408],
           [ 0.707, -0.408],
           [ 0.   ,  0.816]])
    """
    before = np.arange(1.0, classes)
    V = np.where(np.arange(classes)[:, None] < before, -1.0, 0.0)
    V[np.arange(1, classes), np.arange(classes - 1)] = before
    scaled: FloatArray = V / np.sqrt(before * (before + 1))
    return scaled


def multinomial(classes: int) -> GlmFamily:
    """Return the family of a class out of C = 3 or more; y holds the class number, 0 to C-1."""
    V = contrasts(classes)
    names = np.arange(classes)
    products = (V[:, :, None] * V[:, None, :]).reshape(classes, -1)

    def loss(y: FloatArray, eta: FloatArray) -> FloatArray:
        scores = eta @ V.T
        largest = scores.max(axis=-1)
        total = np.exp(scores - largest[..., None]).sum(axis=-1)
        own = np.take_along_axis(scores, y.astype(np.intp)[..., None], axis=-1)[..., 0]
        value: FloatArray = np.log(total) + largest - own
        return value

    def at(y: FloatArray, eta: FloatArray) -> Local:
        share = _softmax(eta @ V.T)
        q = share @ V
        curvature = (share @ products).reshape(*eta.shape, -1)
        curvature -= q[..., :, None] * q[..., None, :]
        return Local((share - (y[..., None] == names)) @ V, curvature)

    return GlmFamily("multinomial", classes - 1, loss, at)


def _softmax(scores: FloatArray) -> FloatArray:
    share = np.exp(scores - scores.max(axis=-1, keepdims=True))
    share /= share.sum(axis=-1, keepdims=True)
    return share


def probabilities(family: GlmFamily, eta: FloatArray) -> FloatArray:
    """Return the probability of each class (..., n, C) at linear predictors eta.

    >>> probabilities(BERNOULLI, np.array([0.0]))
    array([[0.5, 0.5]])
    """
    if family.m == 1:
        return np.stack([_logistic(-eta)[0], _logistic(eta)[0]], axis=-1)
    return _softmax(eta @ contrasts(family.m + 1).T)


@dataclass(frozen=True, eq=False)
class PaddedRows:
    """Rows of datasets in one stack; see the module's table."""

    X: FloatArray
    y: FloatArray
    w: FloatArray

    @classmethod
    def of(
        cls, X: FloatArray, y: FloatArray, weights: FloatArray, starts: IntArray
    ) -> "PaddedRows":
        """Stack rows (n, d) that are sorted by dataset; dataset k is starts[k]:starts[k+1]."""
        return cls.take_from(X, y, weights, starts, np.arange(len(starts) - 1))

    @classmethod
    def take_from(
        cls, X: FloatArray, y: FloatArray, weights: FloatArray, starts: IntArray, index: IntArray
    ) -> "PaddedRows":
        """Stack the rows of the datasets named by `index` (K,) only."""
        first, last = np.asarray(starts)[index], np.asarray(starts)[np.asarray(index) + 1]
        K, most = len(first), int((last - first).max(initial=1))
        padded = cls(np.zeros((K, most, X.shape[1])), np.zeros((K, most)), np.zeros((K, most)))
        for k, (i, j) in enumerate(zip(first.tolist(), last.tolist())):
            padded.X[k, : j - i], padded.y[k, : j - i] = X[i:j], y[i:j]
            padded.w[k, : j - i] = weights[i:j]
        return padded

    def eta(self, b: FloatArray, family: GlmFamily) -> FloatArray:
        """Return the linear predictors (K, n), or (K, n, m) for m > 1, at coefficients (K, P)."""
        B = b.reshape(len(b), self.X.shape[2], family.m)
        eta: FloatArray = np.matmul(self.X, B)
        return eta[..., 0] if family.m == 1 else eta

    def loss(self, b: FloatArray, family: GlmFamily) -> FloatArray:
        """Return the weighted loss of coefficients (K, P) on the rows of each dataset (K,)."""
        return linalg.dot(self.w, family.loss(self.y, self.eta(b, family)))

    def at(self, b: FloatArray, family: GlmFamily) -> Local:
        """Return the derivatives at every row at coefficients (K, P)."""
        return family.at(self.y, self.eta(b, family))

    def information(self, local: Local) -> FloatArray:
        """Return G (K, P, P)."""
        K, _, d = self.X.shape
        transposed = np.swapaxes(self.X, 1, 2)
        if local.gradient.ndim == 2:
            return np.matmul(transposed, self.X * (self.w * local.curvature)[..., None])
        m = local.gradient.shape[2]
        G = np.empty((K, d, m, d, m))
        for i in range(m):
            for j in range(i + 1):
                v = self.w * local.curvature[..., i, j]
                G[:, :, i, :, j] = np.matmul(transposed, self.X * v[..., None])
                G[:, :, j, :, i] = G[:, :, i, :, j]
        return G.reshape(K, d * m, d * m)

    def score(self, local: Local) -> FloatArray:
        """Return s (K, P)."""
        if local.gradient.ndim == 2:
            s: FloatArray = np.matmul((-self.w * local.gradient)[:, None], self.X)[:, 0]
            return s
        residual = -self.w[..., None] * local.gradient
        return np.matmul(np.swapaxes(self.X, 1, 2), residual).reshape(len(self.X), -1)

    def take(self, index: IntArray) -> "PaddedRows":
        """Select datasets."""
        return PaddedRows(self.X[index], self.y[index], self.w[index])


def blocks(
    X: FloatArray, y: FloatArray, w: FloatArray, starts: IntArray
) -> Iterator[tuple[IntArray, PaddedRows]]:
    """Cut rows sorted by dataset into padded stacks of datasets alike in size.

    Gives the datasets' numbers and their rows. In a stack no dataset is twice as long as another,
    so less than half of it is padding however unequal the sizes are.
    """
    sizes = np.diff(starts)
    order = np.argsort(sizes, kind="stable")
    ranked = sizes[order]
    first = 0
    while first < len(order):
        longest = 2 * max(int(ranked[first]), 1) - 1
        last = int(np.searchsorted(ranked, longest, side="right"))
        room = BLOCK_VALUES // (int(ranked[last - 1]) * X.shape[1] + 1)
        last = min(last, first + max(room, 1))
        yield order[first:last], PaddedRows.take_from(X, y, w, starts, order[first:last])
        first = last


@dataclass(frozen=True, eq=False)
class GlmFit:
    """Coefficients (K, P), information (K, P, P) there without the ridge, and whether they settled.

    `converged` (K,) is False where the likelihood has no maximum to find within the steps allowed.
    """

    beta: FloatArray
    information: FloatArray
    converged: BoolArray


def fit_many(
    X: FloatArray,
    y: FloatArray,
    w: FloatArray,
    starts: IntArray,
    family: GlmFamily,
    ridge: FloatArray,
    start: FloatArray | None = None,
    centre: FloatArray | None = None,
    steps: int = STEPS,
    tolerance: float = TOLERANCE,
) -> GlmFit:
    """Fit datasets of any sizes: rows (n, d) sorted by dataset, k being starts[k]:starts[k+1].

    The rest is as in `fit_glm`; the result is in the order of the datasets.
    """
    K, P = len(starts) - 1, X.shape[1] * family.m
    fit = GlmFit(np.empty((K, P)), np.empty((K, P, P)), np.empty(K, dtype=bool))
    for index, rows in blocks(X, y, w, starts):
        whole = np.broadcast_to(ridge, (K, P))[index]
        first, middle = (_of(index, values) for values in (start, centre))
        part = fit_glm(rows, family, whole, first, middle, steps, tolerance)
        fit.beta[index], fit.information[index] = part.beta, part.information
        fit.converged[index] = part.converged
    return fit


def _of(index: IntArray, values: FloatArray | None) -> FloatArray | None:
    """Select datasets where there is a row for each."""
    return values if values is None or values.ndim == 1 else values[index]


def fit_glm(
    rows: PaddedRows,
    family: GlmFamily,
    ridge: FloatArray,
    start: FloatArray | None = None,
    centre: FloatArray | None = None,
    steps: int = STEPS,
    tolerance: float = TOLERANCE,
) -> GlmFit:
    """Minimise loss + 1/2 (b - centre)' diag(ridge) (b - centre) for every dataset.

    `ridge`, `start` and `centre` are (P,) or (K, P); the centre is zero by default, the start is
    the centre. A step that goes too far is halved, dataset by dataset.
    """
    K, P = len(rows.X), rows.X.shape[2] * family.m
    penalty = np.broadcast_to(ridge, (K, P))
    middle = np.zeros((K, P)) if centre is None else np.broadcast_to(centre, (K, P))
    beta = middle.copy() if start is None else np.array(np.broadcast_to(start, (K, P)))
    information = np.empty((K, P, P))
    converged = np.zeros(K, dtype=bool)
    active, task = np.arange(K), _Task(rows, family, penalty, middle)
    b = beta
    local, s = task.at(b)
    for _ in range(steps):
        G = task.rows.information(local)
        step = linalg.solve(G + _diagonal(task.penalty), s)
        settled, flat = task.judge(local, linalg.dot(s, step), tolerance)
        b, local, s = task.descend(b, step, s)
        beta[active], information[active] = b, G
        converged[active[settled]] = True
        going = np.nonzero(~(settled | flat))[0]
        if not len(going):
            break
        if len(going) < len(active):
            active, task = active[going], task.take(going)
            b, local, s = b[going], Local(*(x[going] for x in local)), s[going]
    return GlmFit(beta, information, converged)


@dataclass(frozen=True, eq=False)
class _Task:
    """What is minimised: rows, family, ridge and its centre."""

    rows: PaddedRows
    family: GlmFamily
    penalty: FloatArray
    middle: FloatArray

    def at(self, b: FloatArray) -> tuple[Local, FloatArray]:
        """Return what the rows say at b, and minus the gradient of the objective (K, P)."""
        local = self.rows.at(b, self.family)
        return local, self.rows.score(local) - self.penalty * (b - self.middle)

    def take(self, index: IntArray) -> "_Task":
        """Select datasets."""
        return _Task(self.rows.take(index), self.family, self.penalty[index], self.middle[index])

    def judge(
        self, local: Local, decrement: FloatArray, tolerance: float
    ) -> tuple[BoolArray, BoolArray]:
        """Return where the next step is the last (K,), and where there is nothing to find."""
        v = local.curvature
        weight = linalg.dot(self.rows.w, v if v.ndim == 2 else np.trace(v, axis1=-2, axis2=-1))
        total = self.rows.w.sum(axis=1)
        flat = (weight <= FLAT * total) & (total > 0)
        return (decrement <= tolerance * weight) & ~flat, flat

    def descend(
        self, b: FloatArray, step: FloatArray, s: FloatArray
    ) -> tuple[FloatArray, Local, FloatArray]:
        """Go along the step, halved where the objective rises steeply at its end.

        The objective is convex, so its slope along the step tells enough, and the next step needs
        the gradient anyway: no loss is computed.
        """
        decrement = linalg.dot(s, step)
        length = np.ones(len(b))
        for _ in range(HALVINGS):
            moved = b + length[:, None] * step
            local, found = self.at(moved)
            beyond = ~(linalg.dot(found, step) >= -0.5 * decrement)
            if not beyond.any():
                return moved, local, found
            length[beyond] /= 2
        moved = np.where(beyond[:, None], b, moved)
        return moved, *self.at(moved)


def sandwich(rows: PaddedRows, family: GlmFamily, b: FloatArray, ridge: FloatArray) -> FloatArray:
    """Return the covariance (K, P, P) of coefficients that holds whatever the true distribution.

    H^-1 (sum of squared row scores) H^-1.
    """
    local = rows.at(b, family)
    residual = rows.w[..., None] * local.gradient.reshape(*rows.w.shape, family.m)
    scores = (rows.X[..., :, None] * residual[..., None, :]).reshape(*rows.w.shape, -1)
    inner = np.matmul(np.swapaxes(scores, 1, 2), scores)
    bread = linalg.inverse(rows.information(local) + _diagonal(np.broadcast_to(ridge, b.shape)))
    return np.matmul(bread, np.matmul(inner, bread))


def _diagonal(values: FloatArray) -> FloatArray:
    matrices = np.zeros((*values.shape, values.shape[-1]))
    index = np.arange(values.shape[-1])
    matrices[..., index, index] = values
    return matrices
