"""Generalised linear models with a ridge, fitted to many datasets at once by Newton's method.

Rows lie in a padded stack, so that every step is a few products of stacks; padding has weight zero.
For the canonical links here, Newton's method and iteratively reweighted least squares are one.

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
X           design, padded with rows of weight zero                               (K, n, p)
y, w        target and row weights                                                (K, n)
b           coefficients                                                          (K, p)
eta, mu     X b and the mean it stands for                                        (K, n)
v           variance function at eta, the derivative of the mean                  (K, n)
Lambda      diagonal of the ridge; 0 for the intercept                            (p,)
G           X' diag(w v) X, Fisher's information                                  (K, p, p)
s           X' diag(w) (y - mu), the score                                         (K, p)
==========  ====================================================================  ============
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray, IntArray

STEPS = 50
HALVINGS = 12
TOLERANCE = 1e-10  # of the Newton decrement, relative to the weight of the rows
LARGEST_COUNT_LOG = 30.0


class Local(NamedTuple):
    """The loss at eta, and its derivatives: minus the residual is mean - y, the second is variance.

    All are of the shape of eta.
    """

    loss: FloatArray
    mean: FloatArray
    variance: FloatArray


@dataclass(frozen=True)
class GlmFamily:
    """A distribution with its canonical link; the loss is minus the log-likelihood of y, up to y.

    `at` takes y and eta.
    """

    name: str
    at: Callable[[FloatArray, FloatArray], Local]


def _bernoulli(y: FloatArray, eta: FloatArray) -> Local:
    small = np.exp(-np.abs(eta))  # one exponential for all three, and none overflows
    larger = 1 / (1 + small)
    mean = np.where(eta >= 0, larger, small * larger)
    loss = np.log1p(small) + np.maximum(eta, 0.0) - y * eta
    return Local(loss, mean, small * larger**2)


def _poisson(y: FloatArray, eta: FloatArray) -> Local:
    mean = np.exp(np.minimum(eta, LARGEST_COUNT_LOG))
    return Local(mean - y * eta, mean, mean)


BERNOULLI = GlmFamily("bernoulli", _bernoulli)
POISSON = GlmFamily("poisson", _poisson)


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
        """Stack rows (n, p) that are sorted by dataset; dataset k is starts[k]:starts[k+1]."""
        sizes = np.diff(starts)
        K, most = len(sizes), int(sizes.max(initial=1))
        dataset = np.repeat(np.arange(K), sizes)
        place = np.arange(len(y)) - np.asarray(starts)[dataset]
        padded = cls(np.zeros((K, most, X.shape[1])), np.zeros((K, most)), np.zeros((K, most)))
        padded.X[dataset, place], padded.y[dataset, place] = X, y
        padded.w[dataset, place] = weights
        return padded

    def loss(self, b: FloatArray, family: GlmFamily) -> FloatArray:
        """Return the weighted loss of coefficients (K, p) on the rows of each dataset (K,)."""
        total: FloatArray = np.einsum("kn,kn->k", self.w, self.at(b, family).loss)
        return total

    def at(self, b: FloatArray, family: GlmFamily) -> Local:
        """Return loss, mean and variance of every row at coefficients (K, p)."""
        return family.at(self.y, np.matmul(self.X, b[..., None])[..., 0])

    def information(self, local: Local) -> FloatArray:
        """Return G (K, p, p)."""
        return np.matmul(np.swapaxes(self.X, 1, 2), self.X * (self.w * local.variance)[..., None])

    def score(self, local: Local) -> FloatArray:
        """Return s (K, p)."""
        residual = self.w * (self.y - local.mean)
        s: FloatArray = np.matmul(residual[:, None], self.X)[:, 0]
        return s

    def take(self, index: IntArray) -> "PaddedRows":
        """Select datasets."""
        return PaddedRows(self.X[index], self.y[index], self.w[index])


@dataclass(frozen=True, eq=False)
class GlmFit:
    """Coefficients (K, p), information (K, p, p) there without the ridge, and whether they moved.

    `converged` (K,) is False where the likelihood has no maximum to find within the steps allowed.
    """

    beta: FloatArray
    information: FloatArray
    converged: BoolArray


def fit_glm(
    rows: PaddedRows,
    family: GlmFamily,
    ridge: FloatArray,
    start: FloatArray | None = None,
    centre: FloatArray | None = None,
    steps: int = STEPS,
) -> GlmFit:
    """Minimise loss + 1/2 (b - centre)' diag(ridge) (b - centre) for every dataset.

    `ridge` is (p,) or (K, p), `centre` (p,) or (K, p), by default zero; a step that does not lower
    the objective is halved, dataset by dataset.
    """
    K, _, p = rows.X.shape
    penalty = np.broadcast_to(ridge, (K, p))
    middle = np.zeros((K, p)) if centre is None else np.broadcast_to(centre, (K, p))
    beta = middle.copy() if start is None else np.array(np.broadcast_to(start, (K, p)))
    information = np.empty((K, p, p))
    converged = np.zeros(K, dtype=bool)
    active, task = np.arange(K), _Task(rows, family, penalty, middle)
    b = beta
    value, local = task.at(b)
    for _ in range(steps):
        G = task.rows.information(local)
        gradient = task.rows.score(local) - task.penalty * (b - task.middle)
        step = linalg.solve(G + _diagonal(task.penalty), gradient)
        done = linalg.dot(gradient, step) <= TOLERANCE * np.maximum(task.rows.w.sum(axis=1), 1.0)
        b, value, local = task.descend(b, step, value)
        beta[active], information[active] = b, G
        converged[active[done]] = True
        if done.all():
            break
        if done.any():
            left = np.nonzero(~done)[0]
            active, task = active[left], task.take(left)
            b, value, local = b[left], value[left], Local(*(x[left] for x in local))
    return GlmFit(beta, information, converged)


@dataclass(frozen=True, eq=False)
class _Task:
    """What is minimised: rows, family, ridge and its centre."""

    rows: PaddedRows
    family: GlmFamily
    penalty: FloatArray
    middle: FloatArray

    def at(self, b: FloatArray) -> tuple[FloatArray, Local]:
        """Return the objective (K,) and what the rows say there."""
        local = self.rows.at(b, self.family)
        ridge = 0.5 * np.sum(self.penalty * (b - self.middle) ** 2, axis=1)
        return np.einsum("kn,kn->k", self.rows.w, local.loss) + ridge, local

    def take(self, index: IntArray) -> "_Task":
        """Select datasets."""
        return _Task(self.rows.take(index), self.family, self.penalty[index], self.middle[index])

    def descend(
        self, b: FloatArray, step: FloatArray, value: FloatArray
    ) -> tuple[FloatArray, FloatArray, Local]:
        """Go along the step, halved where the objective would rise."""
        length = np.ones(len(b))
        slack = 1e-12 * np.maximum(np.abs(value), 1.0)
        for _ in range(HALVINGS):
            moved = b + length[:, None] * step
            found, local = self.at(moved)
            risen = ~(found <= value + slack)
            if not risen.any():
                return moved, found, local
            length[risen] /= 2
        moved = np.where(risen[:, None], b, moved)
        return moved, *self.at(moved)


def sandwich(rows: PaddedRows, family: GlmFamily, b: FloatArray, ridge: FloatArray) -> FloatArray:
    """Return the covariance (K, p, p) of coefficients that holds whatever the true distribution.

    H^-1 (sum of squared row scores) H^-1 with H = G + diag(ridge).
    """
    local = rows.at(b, family)
    scores = rows.X * (rows.w * (rows.y - local.mean))[..., None]
    inner = np.matmul(np.swapaxes(scores, 1, 2), scores)
    bread = linalg.inverse(rows.information(local) + _diagonal(np.broadcast_to(ridge, b.shape)))
    return np.matmul(bread, np.matmul(inner, bread))


def _diagonal(values: FloatArray) -> FloatArray:
    matrices = np.zeros((*values.shape, values.shape[-1]))
    index = np.arange(values.shape[-1])
    matrices[..., index, index] = values
    return matrices
