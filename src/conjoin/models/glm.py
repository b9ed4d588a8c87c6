"""Generalised linear models with a ridge, fitted to many datasets at once by Newton's method.

Enters: rows of datasets (`SortedRows` or `PaddedRows`), a family and a ridge. Leaves: coefficients,
information and convergence of every dataset (`GlmFit`). Every step is a few products of stacks. For
the canonical links here, Newton's method and iteratively reweighted least squares are the same.

Symbols X, y, w, b, eta, g, v, s and G are those of `models.padded_rows`.

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
Lambda      diagonal of the ridge; 0 for the intercept                            (P,)
H           G + diag(Lambda)                                                      (K, P, P)
==========  ====================================================================  ============

**When to stop.** The Newton decrement s'H^-1 s over the sum of w v is the mean square by which the
step moves eta, with rows counted by v. It depends neither on the units of the weights nor on how
rare a class is. It stays near 1 on separable data, where no finite maximum exists.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.models.glm_families import GlmFamily, RowDerivatives
from conjoin.models.padded_rows import PaddedRows, SortedRows, padded_blocks

# "Tests pass from a to b" below: tests/models/test_glm and test_glm_references with other values.

# Newton steps at most. Distant starts and outliers take up to 20 (tests pass from 20 on); data
# without a maximum stop earlier, by FLAT or PATIENCE.
STEPS = 50
# 2^-40 is about 1e-12: a step that is still too long after so many halvings is zero in effect.
HALVINGS = 40
# Rounds of the line search at least. One round lengthens a step up to four times; a distant start
# needs about twice a Newton step (tests pass from 1 to 4).
STRETCHES = 2
# Mean square move of eta above which a line search sets the length of a step. A move of 0.5 in eta
# is where a parabola stops describing the logistic loss well; shorter steps need no search. Tests
# pass from 0.25 to 1; at 0.05 fits of many datasets differ from single ones by 1e-4.
FAR = 0.25
# Mean square move of eta in the last step, 0.001 in eta. Newton's method squares the error once
# more, so coefficients are right to about 1e-6 (a test asks for 1e-5).
TOLERANCE = 1e-6
# The line search starts no farther than this change of any row's eta, where exp is still finite
# (tests pass from 20 to 500).
LONGEST_MOVE = 100.0
# Change of any single row's eta that the last step may make: an outlier must have come to rest too.
# Tests pass from 0.1 to 0.5; at 2 some separable data count as converged.
LAST_MOVE = 0.5
# The likelihood counts as having no maximum where the mean v is below FLAT and the mean absolute g
# below WRONG: all rows are predicted with certainty, and correctly. WRONG tells such data from a
# start at which rows are predicted with certainty but wrongly. Tests pass with either 100 times
# larger or smaller.
FLAT = 1e-9
WRONG = 1e-6
# Curvature along the step below which a row no longer affects the fit (tests pass from 1e-9 to
# 1e-5).
IDLE = 1e-7
# Steps in which only idle rows move before the fit gives up. An outlier comes to rest within a few;
# separated rows never do (tests pass from 1 to 6).
PATIENCE = 3
TINY = float(np.finfo(float).tiny)  # keeps a division by zero curvature finite


@dataclass(frozen=True, eq=False)
class GlmFit:
    """Coefficients (K, P), their information (K, P, P) without the ridge, and convergence (K,).

    The information is that before the last step, which moves eta by a thousandth at most in the
    mean (the root of the tolerance). `converged` is False where no finite maximum was found within
    the steps allowed; coefficients are finite all the same.
    """

    beta: FloatArray
    information: FloatArray
    converged: BoolArray

    @classmethod
    def empty(cls, K: int, P: int) -> "GlmFit":
        """Return arrays to be filled in."""
        return cls(np.empty((K, P)), np.empty((K, P, P)), np.empty(K, dtype=bool))


def fit_many(
    rows: SortedRows,
    family: GlmFamily,
    ridge: FloatArray,
    start: FloatArray | None = None,
    centre: FloatArray | None = None,
    steps: int = STEPS,
    tolerance: float = TOLERANCE,
) -> GlmFit:
    """Fit datasets of any sizes; arguments as in `fit_glm`, results in the order of the datasets.

    >>> from conjoin.models.glm_families import BERNOULLI
    >>> y = np.array([0.0, 1.0, 1.0, 1.0])
    >>> rows = SortedRows.one_dataset(np.ones((4, 1)), y, np.ones(4))
    >>> fit_many(rows, BERNOULLI, np.zeros(1)).beta.round(3)  # log(3)
    array([[1.099]])
    """
    K, P = len(rows), rows.X.shape[1] * family.m
    fit = GlmFit.empty(K, P)
    for index, block in padded_blocks(rows):
        penalty = np.broadcast_to(ridge, (K, P))[index]
        first, middle = (_of_datasets(index, values) for values in (start, centre))
        part = fit_glm(block, family, penalty, first, middle, steps, tolerance)
        fit.beta[index], fit.information[index] = part.beta, part.information
        fit.converged[index] = part.converged
    return fit


def _of_datasets(index: IntArray, values: FloatArray | None) -> FloatArray | None:
    """Select datasets from (K, P); values (P,) that all datasets share stay as they are."""
    return values if values is None or values.ndim == 1 else values[index]


@np.errstate(over="ignore", invalid="ignore")  # steps from points without curvature
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

    `ridge`, `start` and `centre` are (P,) or (K, P). The centre is zero by default, and the start
    is the centre. A step that goes too far is halved, dataset by dataset. `tolerance` is the mean
    square move of eta in the last step, see the module; the error left is about its square.
    """
    K, P = len(rows.X), rows.X.shape[2] * family.m
    middle = np.zeros((K, P)) if centre is None else np.broadcast_to(centre, (K, P))
    task = _Objective(rows, family, np.broadcast_to(ridge, (K, P)), middle)
    fit = GlmFit.empty(K, P)
    active, waited = np.arange(K), np.zeros(K, dtype=int)
    b = np.broadcast_to(middle if start is None else start, (K, P))
    point = task.point(b, rows.eta(b, family))
    for left in reversed(range(steps)):
        G = task.rows.information(point.row)
        step = task.newton_step(point, G)
        converged, only_idle, flat = task.stops(point, step, tolerance)
        waited[active] += only_idle
        done = converged | flat | (waited[active] > PATIENCE) | (left == 0)
        if done.any():
            fit.beta[active[done]] = np.where(converged[:, None], point.b + step.b, point.b)[done]
            fit.information[active[done]], fit.converged[active[done]] = G[done], converged[done]
            if done.all():
                break
            going = np.nonzero(~done)[0]
            active, task = active[going], task.take(going)
            point, step = point.take(going), step.take(going)
        point = task.descend(point, step)
    return fit


class _Point(NamedTuple):
    """Coefficients (K, P), their eta, the derivatives of rows there, minus the gradient (K, P)."""

    b: FloatArray
    eta: FloatArray
    row: RowDerivatives
    s: FloatArray

    def take(self, index: IntArray) -> "_Point":
        """Select datasets."""
        row = RowDerivatives(self.row.gradient[index], self.row.curvature[index])
        return _Point(self.b[index], self.eta[index], row, self.s[index])


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
class _Objective:
    """What is minimised: the loss of rows under a family, with a ridge around its centre (K, P)."""

    rows: PaddedRows
    family: GlmFamily
    penalty: FloatArray
    middle: FloatArray

    def point(self, b: FloatArray, eta: FloatArray) -> _Point:
        """Return the derivatives at coefficients (K, P) whose eta is known."""
        row = self.family.derivatives(self.rows.y, eta)
        return _Point(b, eta, row, self.rows.score(row) - self.penalty * (b - self.middle))

    def take(self, index: IntArray) -> "_Objective":
        """Select datasets."""
        return _Objective(
            self.rows.take(index), self.family, self.penalty[index], self.middle[index]
        )

    def newton_step(self, at: _Point, G: FloatArray) -> _Step:
        """Return Newton's step for information G (K, P, P)."""
        b = linalg.definite_solve(G + _diagonal(self.penalty), at.s)
        decrement = linalg.dot(at.s, b)
        weight = linalg.dot(self.rows.w, at.row.total_curvature())
        return _Step(b, self.rows.eta(b, self.family), decrement, weight)

    def stops(
        self, at: _Point, step: _Step, tolerance: float
    ) -> tuple[BoolArray, BoolArray, BoolArray]:
        """Return where the step is the last, where it moves idle rows only, where all is flat.

        A row is idle when its loss has no curvature left along the step. An idle row that keeps
        moving is separated from the others. An outlier comes to rest within a few steps.
        """
        w, total = self.rows.w, self.rows.w.sum(axis=1)
        flat = (step.weight <= FLAT * total) & (total > 0)
        if flat.any():  # not flat where rows are predicted with certainty but wrong
            g = np.abs(at.row.gradient)
            flat &= linalg.dot(w, g if g.ndim == 2 else g.sum(axis=-1)) <= WRONG * total
        near = (step.decrement <= tolerance * step.weight) & ~flat
        if not near.any():
            return near, near, flat
        square = _square(step.eta)
        moving = square > LAST_MOVE**2
        last = near & ~np.any(moving, axis=1)
        only_idle = near & ~last
        if only_idle.any():
            curved = _square(step.eta, at.row.curvature) > IDLE * square
            only_idle &= ~np.any(moving & curved, axis=1)
        return last, only_idle, flat

    def descend(self, at: _Point, step: _Step) -> _Point:
        """Go along the step, not so far that the objective rises steeply at its end.

        The objective is convex, so its slope along the step says whether the step was too long. The
        next step needs the gradient anyway, so no loss is computed.
        """
        length = np.ones(len(at.b))
        far = np.nonzero(~(step.decrement <= FAR * step.weight))[0]
        if len(far):
            length[far] = self.step_length(at, step, far)
        for _ in range(HALVINGS):
            found = self.point(
                at.b + length[:, None] * step.b, at.eta + _rowwise(length, step.eta) * step.eta
            )
            steep = ~(linalg.dot(found.s, step.b) >= -0.5 * step.decrement)
            if not steep.any():
                break
            length[steep] /= 2
        return found

    def step_length(self, at: _Point, step: _Step, index: IntArray) -> FloatArray:
        """Return how far to go along the step in the datasets of `index`.

        From a distant start the minimum is about two Newton steps away in the logistic model, and
        far less than one for counts. Along the step eta is a straight line, so the search does not
        touch the design.
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
            row = self.family.derivatives(y, eta + _rowwise(t, D) * D)
            slope, bend = _along(row, D, wD)
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


def _along(at: RowDerivatives, D: FloatArray, wD: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return first and second derivative (K,) of the weighted loss in direction D of eta."""
    if D.ndim == 2:
        return linalg.dot(at.gradient, wD), linalg.dot(at.curvature * wD, D)
    turned = linalg.matvec(at.curvature, D)
    return linalg.dot(at.gradient, wD).sum(axis=1), linalg.dot(turned, wD).sum(axis=1)


def _diagonal(values: FloatArray) -> FloatArray:
    """Return diagonal matrices (..., P, P) of values (..., P)."""
    matrices = np.zeros((*values.shape, values.shape[-1]))
    index = np.arange(values.shape[-1])
    matrices[..., index, index] = values
    return matrices
