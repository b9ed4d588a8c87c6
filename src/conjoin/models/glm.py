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
from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray, IntArray

STEPS = 50
HALVINGS = 40
STRETCHES = 2
FAR = 0.25  # mean square move of eta above which the length of the step is looked for
TOLERANCE = 1e-6  # mean square move of eta in the last step; the step squares it once more
LONGEST_MOVE = 100.0  # of the eta of any row from which the length is looked for
LAST_MOVE = 0.5  # of the eta of any row in the last step
FLAT = 1e-9  # mean v below which, and
WRONG = 1e-6  # mean absolute g below which the likelihood is taken to have no maximum
IDLE = 1e-7  # v along the step below which a row counts no more
PATIENCE = 3  # steps that would be the last but for idle rows
LARGEST_EXPONENT = 700.0
TINY = float(np.finfo(float).tiny)
LARGEST_COUNT_LOG = 30.0  # beyond it the Poisson mean goes on as a straight line
BLOCK_VALUES = 500_000  # of one padded stack
CACHE_VALUES = 128_000  # of one product; both keep to caches of the processor


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
    (..., n). `m` is the number of linear predictors; `scatters` says whether rows may scatter more
    or less than the distribution has it, as counts do.
    """

    name: str
    m: int
    loss: Callable[[FloatArray, FloatArray], FloatArray]
    at: Callable[[FloatArray, FloatArray], Local]
    scatters: bool = False

    def __reduce__(self) -> Any:
        """Pickle by name: the functions of several classes are made for their number."""
        if self.name == "multinomial":
            return multinomial, (self.m + 1,)
        return _by_name, (self.name,)


def _by_name(name: str) -> GlmFamily:
    return {"bernoulli": BERNOULLI, "poisson": POISSON}[name]


def _bernoulli_loss(y: FloatArray, eta: FloatArray) -> FloatArray:
    loss: FloatArray = np.log1p(np.exp(-np.abs(eta))) + np.maximum(eta, 0.0) - y * eta
    return loss


def _bernoulli(y: FloatArray, eta: FloatArray) -> Local:
    mean = _logistic(eta)
    return Local(mean - y, mean * (1 - mean))


def _logistic(eta: FloatArray) -> FloatArray:
    mean = np.minimum(-eta, LARGEST_EXPONENT)
    np.exp(mean, out=mean)
    mean += 1
    return np.divide(1, mean, out=mean)


def _poisson_loss(y: FloatArray, eta: FloatArray) -> FloatArray:
    """Return half the deviance, which is not negative: so ratios of errors make sense."""
    beyond = np.maximum(eta - LARGEST_COUNT_LOG, 0.0)
    loss: FloatArray = np.exp(eta - beyond) * (1 + beyond * (1 + beyond / 2)) - y * eta
    return loss + (xlogy(y, y) - y)


def _poisson(y: FloatArray, eta: FloatArray) -> Local:
    beyond = np.maximum(eta - LARGEST_COUNT_LOG, 0.0)
    variance = np.exp(eta - beyond)
    return Local(variance * (1 + beyond) - y, variance)


BERNOULLI = GlmFamily("bernoulli", 1, _bernoulli_loss, _bernoulli)
POISSON = GlmFamily("poisson", 1, _poisson_loss, _poisson, scatters=True)


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
    products = (V[:, :, None] * V[:, None, :]).reshape(classes, -1)

    def loss(y: FloatArray, eta: FloatArray) -> FloatArray:
        scores = _by_class(V, eta)
        largest = scores.max(axis=0)
        total = np.log(np.exp(scores - largest).sum(axis=0))
        own = np.take_along_axis(scores, y.astype(np.intp).reshape(1, -1), axis=0)[0]
        value: FloatArray = (total + largest - own).reshape(y.shape)
        return value

    def at(y: FloatArray, eta: FloatArray) -> Local:
        share = _softmax(_by_class(V, eta))
        q = V.T @ share
        curvature = (products.T @ share).reshape(classes - 1, *q.shape)
        curvature -= q[:, None] * q
        q -= V.T[:, y.astype(np.intp).ravel()]
        return Local(
            np.moveaxis(q.reshape(-1, *y.shape), 0, -1),
            np.moveaxis(curvature.reshape(*eta.shape[-1:] * 2, *y.shape), (0, 1), (-2, -1)),
        )

    return GlmFamily("multinomial", classes - 1, loss, at)


def _by_class(V: FloatArray, eta: FloatArray) -> FloatArray:
    """Return scores (C, N) of all rows; with classes in front, sums over them run along rows."""
    scores: FloatArray = V @ eta.reshape(-1, V.shape[1]).T
    return scores


def _softmax(scores: FloatArray) -> FloatArray:
    share = scores - scores.max(axis=0)
    np.exp(share, out=share)
    share /= share.sum(axis=0)
    return share


def probabilities(family: GlmFamily, eta: FloatArray) -> FloatArray:
    """Return the probability of each class (..., n, C) at linear predictors eta.

    >>> probabilities(BERNOULLI, np.array([0.0]))
    array([[0.5, 0.5]])
    """
    if family.m == 1:
        return np.stack([_logistic(-eta), _logistic(eta)], axis=-1)
    share = _softmax(_by_class(contrasts(family.m + 1), eta))
    return np.moveaxis(share.reshape(-1, *eta.shape[:-1]), 0, -1)


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
        if np.all(last - first == most) and np.all(first[1:] == last[:-1]):  # nothing to pad
            own = slice(int(first[0]), int(last[-1]))
            return cls(*(np.reshape(x[own], (K, most, *x.shape[1:])) for x in (X, y, weights)))
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
        K, n, d = self.X.shape
        m = 1 if local.gradient.ndim == 2 else local.gradient.shape[2]
        G = np.empty((K, d * m, d * m))
        length = max(CACHE_VALUES // (n * d * (m * (m + 1) // 2)), 1)
        for part in (slice(i, i + length) for i in range(0, K, length)):
            X, w, v = self.X[part], self.w[part], local.curvature[part]
            G[part] = _gram(X, w * v) if m == 1 else _block_gram(X, w, v)
        return G

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


def _gram(X: FloatArray, v: FloatArray) -> FloatArray:
    """Return the sum of v xx' (K, d, d) for v (K, n)."""
    half = X * np.sqrt(v)[..., None]
    return np.matmul(np.swapaxes(half, 1, 2), half)  # a symmetric product: half the work


def _block_gram(X: FloatArray, w: FloatArray, v: FloatArray) -> FloatArray:
    """Return the sum of w xx' (x) v (K, dm, dm) for v (K, n, m, m)."""
    (K, _, d), m = X.shape, v.shape[-1]
    i, j = np.tril_indices(m)
    pairs = w * np.moveaxis(v, (-2, -1), (0, 1))[i, j]
    transposed = np.ascontiguousarray(np.swapaxes(X, 1, 2))  # products along rows are fast
    halves = np.matmul(pairs[:, :, None] * transposed, X)
    G = np.empty((K, d, m, d, m))
    G[:, :, i, :, j] = G[:, :, j, :, i] = halves
    return G.reshape(K, d * m, d * m)


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
        room = max(BLOCK_VALUES // (int(ranked[last - 1]) * X.shape[1] + 1), 1)
        last = first + -(-(last - first) // -(-(last - first) // room))  # blocks of equal length
        yield order[first:last], PaddedRows.take_from(X, y, w, starts, order[first:last])
        first = last


@dataclass(frozen=True, eq=False)
class GlmFit:
    """Coefficients (K, P), information (K, P, P) there without the ridge, and whether they settled.

    The information is that before the last step, which moves eta by a thousandth at most in the
    mean (the root of the tolerance). `converged` (K,) is False where no finite maximum was found
    within the steps allowed; coefficients are finite all the same.
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


@np.errstate(over="ignore", invalid="ignore")  # steps from where rows count for nothing
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
    the centre. A step that goes too far is halved, dataset by dataset. `tolerance` is the mean
    square move of eta in the last step, see the module; its square is about what then remains.
    """
    K, P = len(rows.X), rows.X.shape[2] * family.m
    middle = np.zeros((K, P)) if centre is None else np.broadcast_to(centre, (K, P))
    task = _Task(rows, family, np.broadcast_to(ridge, (K, P)), middle)
    fit = GlmFit(np.empty((K, P)), np.empty((K, P, P)), np.empty(K, dtype=bool))
    active, waited = np.arange(K), np.zeros(K, dtype=int)
    b = np.broadcast_to(middle if start is None else start, (K, P))
    at = task.at(b, rows.eta(b, family))
    for left in reversed(range(steps)):
        G = task.rows.information(at.local)
        step = task.newton(at, G)
        settled, restless, flat = task.judge(at, step, tolerance)
        waited[active] += restless
        done = settled | flat | (waited[active] > PATIENCE) | (left == 0)
        if done.any():
            fit.beta[active[done]] = np.where(settled[:, None], at.b + step.b, at.b)[done]
            fit.information[active[done]], fit.converged[active[done]] = G[done], settled[done]
            if done.all():
                break
            going = np.nonzero(~done)[0]
            active, task = active[going], task.take(going)
            at, step = at.take(going), step.take(going)
        at = task.descend(at, step)
    return fit


class _Point(NamedTuple):
    """Coefficients (K, P), their eta, what the rows say there, minus the gradient (K, P)."""

    b: FloatArray
    eta: FloatArray
    local: Local
    s: FloatArray

    def take(self, index: IntArray) -> "_Point":
        """Select datasets."""
        local = Local(self.local.gradient[index], self.local.curvature[index])
        return _Point(self.b[index], self.eta[index], local, self.s[index])


class _Step(NamedTuple):
    """A step in coefficients (K, P) and in eta, its Newton decrement, and the sum of w v (K,)."""

    b: FloatArray
    eta: FloatArray
    decrement: FloatArray
    weight: FloatArray

    def take(self, index: IntArray) -> "_Step":
        """Select datasets."""
        return _Step(*(values[index] for values in self))


@dataclass(frozen=True, eq=False)
class _Task:
    """What is minimised: rows, family, ridge and its centre."""

    rows: PaddedRows
    family: GlmFamily
    penalty: FloatArray
    middle: FloatArray

    def at(self, b: FloatArray, eta: FloatArray) -> _Point:
        """Look at coefficients whose eta is known."""
        local = self.family.at(self.rows.y, eta)
        return _Point(b, eta, local, self.rows.score(local) - self.penalty * (b - self.middle))

    def take(self, index: IntArray) -> "_Task":
        """Select datasets."""
        return _Task(self.rows.take(index), self.family, self.penalty[index], self.middle[index])

    def newton(self, at: _Point, G: FloatArray) -> _Step:
        """Return Newton's step."""
        b = linalg.definite_solve(G + _diagonal(self.penalty), at.s)
        decrement = linalg.dot(at.s, b)
        v = at.local.curvature
        weight = linalg.dot(self.rows.w, v if v.ndim == 2 else np.trace(v, axis1=-2, axis2=-1))
        return _Step(b, self.rows.eta(b, self.family), decrement, weight)

    def judge(
        self, at: _Point, step: _Step, tolerance: float
    ) -> tuple[BoolArray, BoolArray, BoolArray]:
        """Return where the step is the last, where it moves idle rows only, where all is flat.

        A row is idle when its loss has no more curvature along the step. If it moves on it is
        separated from the others, or far out: then it comes to rest within a few steps.
        """
        w, total = self.rows.w, self.rows.w.sum(axis=1)
        flat = (step.weight <= FLAT * total) & (total > 0)
        if flat.any():  # not so where rows are far out on the wrong side
            g = np.abs(at.local.gradient)
            flat &= linalg.dot(w, g if g.ndim == 2 else g.sum(axis=-1)) <= WRONG * total
        near = (step.decrement <= tolerance * step.weight) & ~flat
        if not near.any():
            return near, near, flat
        square = _square(step.eta)
        moving = square > LAST_MOVE**2
        still = near & ~np.any(moving, axis=1)
        restless = near & ~still
        if restless.any():
            bent = _square(step.eta, at.local.curvature) > IDLE * square
            restless &= ~np.any(moving & bent, axis=1)
        return still, restless, flat

    def descend(self, at: _Point, step: _Step) -> _Point:
        """Go along the step, not so far that the objective rises steeply at its end.

        The objective is convex, so its slope along the step tells enough, and the next step needs
        the gradient anyway: no loss is computed.
        """
        length = np.ones(len(at.b))
        far = np.nonzero(~(step.decrement <= FAR * step.weight))[0]
        if len(far):
            length[far] = self.length(at, step, far)
        for _ in range(HALVINGS):
            found = self.at(
                at.b + length[:, None] * step.b, at.eta + _rowwise(length, step.eta) * step.eta
            )
            steep = ~(linalg.dot(found.s, step.b) >= -0.5 * step.decrement)
            if not steep.any():
                break
            length[steep] /= 2
        return found

    def length(self, at: _Point, step: _Step, index: IntArray) -> FloatArray:
        """Return how far to go along the step in the datasets of `index`.

        The way from a distant start is about twice a Newton step in the logistic model, and far
        less than one for counts. Along the step eta is a straight line: the design is not touched.
        """
        y, w = self.rows.y[index], self.rows.w[index]
        eta, D, towards = at.eta[index], step.eta[index], step.b[index]
        penalty = self.penalty[index]
        pull = linalg.dot(penalty * (at.b - self.middle)[index], towards)
        stiffness = linalg.dot(penalty * towards, towards)
        wD = _rowwise(w, D) * D
        longest = np.abs(D).max(axis=tuple(range(1, D.ndim)))
        t = LONGEST_MOVE / np.maximum(longest, LONGEST_MOVE)
        for turn in range(HALVINGS):
            local = self.family.at(y, eta + _rowwise(t, D) * D)
            slope, bend = _along(local, D, wD)
            slope, bend = slope + pull + t * stiffness, bend + stiffness
            steep = ~(slope <= 0.5 * step.decrement[index])
            better = t - slope / np.maximum(bend, np.abs(slope) / (3 * t) + TINY)  # up to 4 t
            t = np.where(steep, t / 2, np.fmax(better, t / 2))
            if turn + 1 >= STRETCHES and not steep.any():
                break
        return t


def _rowwise(values: FloatArray, eta: FloatArray) -> FloatArray:
    """Give numbers of datasets (K,) or of rows (K, n) the axes of eta."""
    return values.reshape(*values.shape, *(1,) * (eta.ndim - values.ndim))


def _square(D: FloatArray, v: FloatArray | None = None) -> FloatArray:
    """Return D'D, or D'vD, of every row (K, n)."""
    if D.ndim == 2:
        return D * D if v is None else D * v * D
    return linalg.dot(D, D if v is None else linalg.matvec(v, D))


def _along(local: Local, D: FloatArray, wD: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return first and second derivative (K,) of the weighted loss in direction D of eta."""
    if D.ndim == 2:
        return linalg.dot(local.gradient, wD), linalg.dot(local.curvature * wD, D)
    turned = linalg.matvec(local.curvature, D)
    return linalg.dot(local.gradient, wD).sum(axis=1), linalg.dot(turned, wD).sum(axis=1)


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
