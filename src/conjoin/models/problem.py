"""What strategies are fitted to: moments of datasets and folds, and the loss of coefficients.

Enters: moments by dataset and fold. Leaves: an object with `moments`, `folds`, `near` and `loss`,
through which strategies see squared errors (`LeastSquares`, and `RowLeastSquares` where datasets
have fewer rows than columns) and likelihoods (`models.likelihood.Likelihood`) alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.moments import Forward, Moments, RowFolds, RowMoments

# Mean square change of eta, with rows counted by their curvature, up to which moments are kept. It
# is a change of 0.03 in the log-odds: far below the standard error of any fit to real data, while
# each smaller value costs another pass over all rows.
CLOSE = 1e-3


class Problem(Protocol):
    """Datasets (K,) with folds (K, F), to which coefficients are fitted.

    `exact` says whether the moments describe the loss at all coefficients, not only nearby.
    """

    exact: ClassVar[bool]

    @property
    def moments(self) -> Moments:
        """Moments of all rows of each dataset (K,)."""

    @property
    def folds(self) -> Moments:
        """Moments of each fold (K, F)."""

    def outside(self, f: int) -> Moments:
        """Return the moments (K,) of all rows that a fit outside fold f may see."""

    @property
    def tested(self) -> BoolArray:
        """Which datasets (K,) have held-out rows; with forward validation one may have none."""

    @property
    def seen(self) -> Moments | None:
        """Moments (K, F) that fits outside each fold see, where that is not all other folds."""

    @property
    def parts(self) -> Moments:
        """Moments (K, parts) of all rows, cut as finely as they are known."""

    def inner(self, held: IntArray) -> Moments:
        """Return parts (K, parts) of the rows that a search outside some folds may see."""

    def left_out(self, held: IntArray) -> Sequence[Moments]:
        """Return, for each of some folds that are held out together, what fits may see (K,)."""

    def near(self, beta: FloatArray, close: float = CLOSE) -> "Problem":
        """Return the problem with moments formed near coefficients (K, P).

        It returns itself if its moments are near already: if eta would change by at most `close` in
        the mean square.
        """

    def loss(self, beta: FloatArray) -> FloatArray:
        """Return the loss (F, K) of coefficients (F, K, P), summed over the rows of each fold."""


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Squared errors; moments (K, F) describe them exactly at all coefficients.

    Parameters
    ----------
    folds : Moments (K, F)
        Moments of each fold of each dataset.
    others : Moments (K, F), optional
        Moments of the rows outside each fold, where they are not the sum of the other folds: a
        column of predictions is made anew from those rows alone (`learners.crossfit`).
    pieces : Moments (K, pieces), optional
        With forward validation: moments of all pieces of time, which `plan` puts together.
    plan : Forward, optional
    """

    exact: ClassVar[bool] = True
    folds: Moments
    others: Moments | None = None
    pieces: Moments | None = None
    plan: Forward | None = None

    @classmethod
    def forward(cls, pieces: Moments, plan: Forward) -> "LeastSquares":
        """Return the problem in which a fit sees what came before, and is judged on what follows.

        Losses of a dataset are those of its held-out rows, scaled up to all of its rows.
        """
        return cls(plan.tested(pieces), plan.seen(pieces), pieces, plan)

    @cached_property
    def moments(self) -> Moments:
        """Moments of all rows of each dataset (K,)."""
        return self.parts.union(1)

    @property
    def parts(self) -> Moments:
        """Moments (K, parts) of all rows: of folds, or of pieces of time."""
        return self.folds if self.pieces is None else self.pieces

    @property
    def seen(self) -> Moments | None:
        """Moments (K, F) that fits at each origin see; None where rows have no order."""
        return None if self.plan is None else self.others

    @cached_property
    def tested(self) -> BoolArray:
        """Which datasets (K,) have held-out rows."""
        return np.asarray(self.folds.n.sum(axis=1) > 0)

    @cached_property
    def _scale(self) -> FloatArray:
        """Weight of all rows over that of held-out rows (K,)."""
        return scale_of(self.moments.w, self.folds.w.sum(axis=1))

    def inner(self, held: IntArray) -> Moments:
        """Return parts (K, parts) of the rows that a search outside some folds may see."""
        return inner_parts(self.parts, self.plan, held)

    def left_out(self, held: IntArray) -> list[Moments]:
        """Return, for each of some folds that are held out together, what fits may see (K,)."""
        if self.plan is not None:
            return [self.outside(int(f)) for f in held]
        return [self.moments - self.folds[:, held].union(1)] * len(held)

    @cached_property
    def _by_fold(self) -> Moments:
        """The moments of folds with the axes swapped, (F, K)."""
        return self.folds.each(lambda array: np.swapaxes(array, 0, 1))

    def outside(self, f: int) -> Moments:
        """Return the moments (K,) of all rows that a fit outside fold f may see."""
        return self.moments - self.folds[:, f] if self.others is None else self.others[:, f]

    def near(self, beta: FloatArray, close: float = CLOSE) -> "LeastSquares":
        """Return the problem itself."""
        return self

    def loss(self, beta: FloatArray) -> FloatArray:
        """Return squared errors (F, K) of coefficients (F, K, p)."""
        losses = self._by_fold.sse(beta)
        return losses if self.plan is None else losses * self._scale


def scale_of(whole: FloatArray, tested: FloatArray) -> FloatArray:
    """Return by how much losses of held-out rows are scaled up to all rows of a dataset (K,)."""
    known = tested > 0
    return np.where(known, whole / np.where(known, tested, 1.0), 0.0)


def inner_parts(parts: Moments, plan: Forward | None, held: IntArray) -> Moments:
    """Return the parts (K, parts) that a search outside some folds may see."""
    if plan is not None:
        return parts[:, : int(plan.before[held].min())]
    kept = np.setdiff1d(np.arange(parts.shape[1]), held)
    return parts[:, kept]


@dataclass(frozen=True, eq=False)
class RowLeastSquares:
    """Squared errors of datasets with fewer rows than columns: rows stand for moments.

    Parameters
    ----------
    folds : RowFolds (K, F)
        The rows, with their dataset and fold.
    replaced : tuple of arrays (N, columns), optional
        For each fold, what the last columns of the design hold in fits outside it: predictions that
        were made anew from the rows outside (`learners.crossfit`).
    """

    exact: ClassVar[bool] = True
    folds: RowFolds
    replaced: tuple[FloatArray, ...] = ()

    @cached_property
    def moments(self) -> RowMoments:
        """Moments of all rows of each dataset (K,)."""
        return self.folds.take(np.ones(len(self.folds.t), dtype=bool))

    @property
    def tested(self) -> BoolArray:
        """Which datasets (K,) have held-out rows: all."""
        return np.ones(self.folds.shape[0], dtype=bool)

    @property
    def seen(self) -> None:
        """Rows have no order here."""
        return None

    @property
    def parts(self) -> RowFolds:
        """Moments of all rows, by fold."""
        return self.folds

    def inner(self, held: IntArray) -> RowFolds:
        """Refuse: partitions of such datasets are not searched for in parts of the rows."""
        raise NotImplementedError

    def left_out(self, held: IntArray) -> Sequence[RowMoments]:
        """Return, for each of some folds that are held out together, what fits may see (K,)."""
        return [self.folds.take(~np.isin(self.folds.fold, held))] * len(held)

    def outside(self, f: int) -> RowMoments:
        """Return the moments (K,) of all rows that a fit outside fold f may see."""
        rows, Z = self.folds, None
        if self.replaced:
            new = self.replaced[f]
            Z = np.concatenate([rows.Z[:, : rows.p - new.shape[1]], new], axis=1)
        return rows.take(rows.fold != f, Z)

    def near(self, beta: FloatArray, close: float = CLOSE) -> "RowLeastSquares":
        """Return the problem itself."""
        return self

    def loss(self, beta: FloatArray) -> FloatArray:
        """Return squared errors (F, K) of coefficients (F, K, p)."""
        return self.losses_of(np.stack([self.lines(one) for one in beta]))

    def lines(self, beta: FloatArray) -> FloatArray:
        """Return what coefficients (K, p) predict for every row (N,)."""
        found: FloatArray = np.einsum("ij,ij->i", self.folds.Z, beta[self.folds.dataset])
        return found

    def losses_of(self, lines: FloatArray) -> FloatArray:
        """Return squared errors (F, K) on held-out rows, from what fits outside folds predict.

        `lines` (F, N) are predictions of every row by the fit outside each fold.
        """
        rows, (K, F) = self.folds, self.folds.shape
        held_out = lines[rows.fold, np.arange(len(rows.t))]
        each = rows.weights * (rows.t - held_out) ** 2
        cells = np.bincount(rows.fold * K + rows.dataset, each, minlength=F * K)
        return np.asarray(cells, dtype=np.float64).reshape(F, K)
