"""Forward validation: fit on what came before, judge on what comes next.

Enters: the time of every row, how many origins are wanted, how far ahead models predict (`horizon`)
and how late rows are known (`gap`). Leaves: a `Forward` plan. At each origin a model sees all rows
before it, and is judged on the rows from origin + gap to origin + gap + horizon. No row is judged
twice.

Time is cut into pieces at all these points. Moments of pieces are formed once, and the moments that
a fit may see are sums of them, so every origin is cheap.

==========  ===================================================================  ============
symbol      meaning                                                              shape
==========  ===================================================================  ============
piece       number of the stretch of time that a row lies in, from 0             (N,)
before      a fit at origin f sees the pieces below this number                  (F,)
first, last pieces that it is judged on: first <= piece < last                   (F,)
==========  ===================================================================  ============
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.moments.gram import Moments

# Share of the rows before the first origin. With less, models of the first origins would have seen
# far fewer rows than the final one, and their errors would say little about it; with more, few rows
# would be left to judge by.
FIRST_SHARE = 0.5
# Pieces before the first origin: a search at an origin holds out one piece after another.
EARLY = 5
UNTESTED = -1  # the fold of rows that no model is judged on


@dataclass(frozen=True, eq=False)
class Forward:
    """Which rows a fit at each origin sees, and which it is judged on; see the module's table.

    Parameters
    ----------
    piece : array (N,)
    pieces : int
        Number of pieces.
    before, first, last : arrays (F,)
    origins : array (F,)
        Times of the origins.
    horizon : float, optional
        How far ahead models predict; None for until the next origin.
    gap : float
        Time between the last row of a fit and the first row that it predicts.
    time : array (N,)
        Time of every row.
    """

    piece: IntArray
    pieces: int
    before: IntArray
    first: IntArray
    last: IntArray
    origins: FloatArray
    horizon: float | None
    gap: float
    time: FloatArray

    @cached_property
    def fold_of_piece(self) -> IntArray:
        """Origin (pieces,) whose model is judged on a piece; `UNTESTED` if none is."""
        found = np.full(self.pieces, UNTESTED)
        for f, (i, j) in enumerate(zip(self.first, self.last)):
            found[i:j] = f
        return found

    @cached_property
    def fold(self) -> IntArray:
        """Origin (N,) whose model is judged on a row; `UNTESTED` if none is."""
        return self.fold_of_piece[self.piece]

    @cached_property
    def latest(self) -> IntArray:
        """The last origin (N,) before or at the time of a row; the first for earlier rows."""
        found = np.searchsorted(self.origins, self.time, side="right") - 1
        return np.maximum(found, 0)

    def by_piece(self, beta: FloatArray) -> FloatArray:
        """Return what each piece (pieces, ...) gets of fits (F, ...); untested ones get any."""
        return beta[np.maximum(self.fold_of_piece, 0)]

    def by_fold(self, losses: FloatArray) -> FloatArray:
        """Return sums (F, K) of losses of pieces (pieces, K) over those that are judged."""
        return np.stack([losses[i:j].sum(axis=0) for i, j in zip(self.first, self.last)])

    def tested(self, pieces: Moments) -> Moments:
        """Return the moments (K, F) of the rows that each model is judged on."""
        parts = [pieces[:, i:j].union(1) for i, j in zip(self.first, self.last)]
        return _by_dataset(parts)

    def seen(self, pieces: Moments) -> Moments:
        """Return the moments (K, F) of the rows that each fit sees."""
        return _by_dataset([pieces[:, :j].union(1) for j in self.before])


def _by_dataset(parts: list[Moments]) -> Moments:
    return Moments.stack(parts).each(lambda array: np.swapaxes(array, 0, 1))


def plan_forward(
    time: FloatArray, folds: int, horizon: float | None = None, gap: float = 0.0
) -> Forward | None:
    """Return the plan for rows (N,); None if no row comes after another that a model may see.

    Examples
    --------
    >>> plan = plan_forward(np.arange(20.0), folds=2)
    >>> plan.origins.tolist(), plan.fold.tolist()[8:]
    ([10.0, 15.0], [-1, -1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    """
    times, counts = np.unique(time, return_counts=True)
    if len(times) < 2:
        return None
    origins = _origins(times, counts, folds, horizon, gap)
    if not len(origins):
        return None
    ends = np.append(origins[1:] + gap, np.inf) if horizon is None else origins + gap + horizon
    cuts = np.column_stack([origins, origins + gap, ends])
    early = np.quantile(time[time < origins[0]], np.arange(1, EARLY) / EARLY)
    order = np.unique(np.append(cuts, early))
    # Rows before a cut have a piece below `place`, rows at it or after it have not.
    place = np.searchsorted(order, cuts, side="left") + 1
    piece = np.searchsorted(order, time, side="right")
    before, first, last = place.T
    return Forward(piece, len(order) + 1, before, first, last, origins, horizon, gap, time)


def _origins(
    times: FloatArray, counts: IntArray, folds: int, horizon: float | None, gap: float
) -> FloatArray:
    """Return the times of the origins, evenly spaced by rows; each has rows to be judged on."""
    before = np.cumsum(counts) - counts  # rows before each time
    total = int(counts.sum())
    wanted = FIRST_SHARE + (1 - FIRST_SHARE) * np.arange(folds) / folds
    place = np.searchsorted(before, np.round(wanted * total))
    candidates = times[np.unique(np.minimum(place, len(times) - 1))]
    kept: list[float] = []
    for origin in candidates[candidates > times[0]].tolist():
        start = origin + gap
        if kept and start < (kept[-1] + gap + (horizon or 0.0)):
            continue  # its rows would be judged twice
        end = np.inf if horizon is None else start + horizon
        if not np.any((times >= start) & (times < end)):
            continue
        if kept and horizon is None and not np.any((times >= kept[-1] + gap) & (times < start)):
            kept.pop()  # nothing is left for the one before
        kept.append(origin)
    return np.array(kept)
