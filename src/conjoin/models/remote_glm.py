"""Rows of classes and counts that are elsewhere: what is asked of them, and what they answer.

A coordinator has `RemoteGlmRows` in place of `GlmRows`. Whatever a strategy wants to know of the
rows becomes an `Ask` for each dataset, and a `Desk` brings the answers. Whoever has the rows calls
`answer`. Both sides compute what rows in memory would: nothing is approximated, so the fits are the
same.

==========  =======================================  ==========================================
kind        what is asked                            what is answered
==========  =======================================  ==========================================
sums        coefficients (P,)                        information, score, Pearson by cell
step        coefficients (P,), their change (P,)     how far to go (1, 1/2, ...), sums there
loss        coefficients (F, P)                      loss of each fold (F,)
total       coefficients (P,)                        loss of all rows
mass        coefficients (P,)                        rows counted by their information
scores      coefficients (P,), G^-1 (P, P)           two sums over squared scores
==========  =======================================  ==========================================

With "sums" a cell is a fold if `folds` is true, else the whole dataset. No answer holds anything of
a single row; the one maximum, how far eta changes, is only told as a power of two. Probabilities of
single rows come another way, and only from an engine of one's own (`Singles`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.models.backing import Backing
from conjoin.models.glm import FAR, HALVINGS, STEPS, TOLERANCE
from conjoin.models.glm_rows import GlmRows, Sums, halved
from conjoin.models.held_out import HeldOut

KINDS = ("sums", "step", "loss", "total", "mass", "scores")
Item = TypeVar("Item")
Found = TypeVar("Found")
Arrays = tuple[FloatArray, ...]


class Ask(NamedTuple):
    """One question to one dataset: its kind, whether by fold, and the arrays of the table."""

    kind: str
    dataset: str
    folds: bool
    arrays: Arrays

    @property
    def key(self) -> tuple[str, str, bool, bytes]:
        """What names the question: equal ones have equal answers."""
        return self.kind, self.dataset, self.folds, b"".join(one.tobytes() for one in self.arrays)


class Desk(Protocol):
    """What brings answers."""

    def fetch(self, asked: Sequence[Ask]) -> list[Arrays]:
        """Return the answers to questions, in their order."""

    def each(self, work: Callable[[Item], Found], items: Sequence[Item]) -> Iterator[Found]:
        """Do several pieces of work side by side, so that their questions travel together."""


class Singles(Protocol):
    """What knows single rows."""

    @property
    def has_rows(self) -> bool:
        """Whether the rows are still there."""

    def held_out(self, beta: FloatArray) -> HeldOut:
        """Return the probabilities of rows under coefficients (F, K, P) without their fold."""


def answer(rows: GlmRows, ask: Ask, farthest: float) -> Arrays:
    """Return the answer of one dataset: `rows` (1, F). No eta changes by more than `farthest`."""
    cells = rows if ask.folds else rows.without_folds
    b = ask.arrays[0]
    if ask.kind == "sums":
        return tuple(one[0] for one in cells.sums(b[None]))
    if ask.kind == "step":
        change = ask.arrays[1]
        share = halved(rows.without_folds.largest_change(change[None]), farthest)
        there = rows.without_folds.sums((b + share * change)[None])
        return (share, *(one[0] for one in there))
    if ask.kind == "loss":
        return (rows.loss(b[:, None])[:, 0],)
    if ask.kind == "total":
        return (rows.without_folds.loss(b[None, None])[0],)
    if ask.kind == "mass":
        return (rows.without_folds.mass(b[None]),)
    total, squares = rows.without_folds.squared_scores(b[None], ask.arrays[1][None])
    return total, squares


@dataclass(frozen=True, eq=False)
class RemoteGlmRows(GlmRows):
    """Rows of datasets and folds that are elsewhere.

    Parameters
    ----------
    names : tuple of str
        Datasets, as questions name them.
    places : tuple of arrays
        For each dataset the folds (of F) in which its own folds stand; the others are empty.
    classes : array (K, C)
        Rows of each class; a single column of zeros for counts.
    desk : Desk
    whole : bool
        Whether sums are over all rows of a dataset instead of by fold.
    single : Singles, optional
        What gives the probabilities of single rows, where these may leave.
    """

    remote: ClassVar[bool] = True
    names: tuple[str, ...] = ()
    places: tuple[IntArray, ...] = ()
    classes: FloatArray = None  # type: ignore[assignment]
    desk: Desk = None  # type: ignore[assignment]
    whole: bool = False
    single: Singles | None = None

    @property
    def has_probabilities(self) -> bool:
        """Whether probabilities of single rows may leave, and the rows are still there."""
        return self.single is not None and self.single.has_rows

    @cached_property
    def without_folds(self) -> "RemoteGlmRows":
        """The same rows in one fold."""
        n, w = self.n.sum(axis=1, keepdims=True), self.w.sum(axis=1, keepdims=True)
        return replace(self, n=n, w=w, whole=True)

    def of_datasets(self, members: Sequence[int]) -> "RemoteGlmRows":
        """Return the rows of some datasets, in their folds."""
        kept = np.asarray(members, dtype=int)
        return replace(
            self,
            n=self.n[kept],
            w=self.w[kept],
            classes=self.classes[kept],
            names=tuple(self.names[k] for k in kept),
            places=tuple(self.places[k] for k in kept),
        )

    def each(
        self, work: Callable[[Item], Found], items: Sequence[Item], *, alone: bool
    ) -> Iterator[Found]:
        """Give the results for all items, in their order; their questions travel together."""
        return self.desk.each(work, items)

    def sums(self, b0: FloatArray) -> Sums:
        """Return information, score and Pearson's statistic (K, F) at coefficients (K, P)."""
        asked = [
            Ask("sums", name, not self.whole, (np.ascontiguousarray(b),))
            for name, b in zip(self.names, b0)
        ]
        (K, F), P = self.n.shape, b0.shape[1]
        found = Sums(np.zeros((K, F, P, P)), np.zeros((K, F, P)), np.zeros((K, F)))
        for k, answered in enumerate(self.desk.fetch(asked)):
            place = np.zeros(1, dtype=int) if self.whole else self.places[k]
            for one, part in zip(found, answered):
                one[k, place] = part
        return found

    def step_shares(self, anchor: FloatArray, change: FloatArray, farthest: float) -> FloatArray:
        """Return how far to go along a change (K, P) of coefficients (K, P).

        The sums there come with the answer, since they are asked for next.
        """
        asked = [
            Ask("step", name, False, (np.ascontiguousarray(b), np.ascontiguousarray(c)))
            for name, b, c in zip(self.names, anchor, change)
        ]
        return np.array([float(found[0][0]) for found in self.desk.fetch(asked)])

    def loss(self, beta: FloatArray) -> FloatArray:
        """Return the loss (F, K) of coefficients (F, K, P)."""
        asked = [
            Ask("loss", name, True, (np.ascontiguousarray(beta[self.places[k], k]),))
            for k, name in enumerate(self.names)
        ]
        total = np.zeros(self.n.shape[::-1])
        for k, found in enumerate(self.desk.fetch(asked)):
            total[self.places[k], k] = found[0]
        return total

    def total_losses(self, asked: Sequence[tuple[int, FloatArray]]) -> FloatArray:
        """Return the loss of coefficients (P,) on all rows of a dataset, for each pair of them."""
        asks = [
            Ask("total", self.names[k], False, (np.ascontiguousarray(beta),)) for k, beta in asked
        ]
        return np.array([float(found[0][0]) for found in self.desk.fetch(asks)])

    def mass(self, b0: FloatArray) -> FloatArray:
        """Return the rows of each dataset (K,), each counted by its information at b0 (K, P)."""
        asked = [
            Ask("mass", name, False, (np.ascontiguousarray(b),)) for name, b in zip(self.names, b0)
        ]
        return np.array([float(found[0][0]) for found in self.desk.fetch(asked)])

    def backing(self, b0: FloatArray) -> Backing:
        """Return what a verdict on each dataset rests on, at coefficients b0 (K, P)."""
        return Backing(self.n.sum(axis=1) / self.family.m, self.mass(b0), self.classes)

    def squared_scores(self, b0: FloatArray, inverse: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return sums (K,) over rows of u = s_i'G^-1 s_i and of u^2."""
        asked = [
            Ask("scores", name, False, (np.ascontiguousarray(b), np.ascontiguousarray(M)))
            for name, b, M in zip(self.names, b0, inverse)
        ]
        found = self.desk.fetch(asked)
        return (
            np.array([float(one[0][0]) for one in found]),
            np.array([float(one[1][0]) for one in found]),
        )

    def fit_unions(
        self,
        unions: Sequence[tuple[int, ...]],
        ridge: FloatArray,
        starts: Sequence[FloatArray],
        tolerance: float = TOLERANCE,
    ) -> list[FloatArray]:
        """Return the coefficients (P,) of one fit to each union, by Newton's method in rounds.

        The first m coefficients are those of the intercept, so that the trace of G there is the
        sum of w v.
        """
        fits = [_Newton(start, ridge, tolerance, self.family.m) for start in starts]
        for _ in range(STEPS):
            going = [i for i, fit in enumerate(fits) if not fit.done]
            if not going:
                break
            asked = [
                Ask("sums", self.names[k], False, (np.ascontiguousarray(fits[i].trial),))
                for i in going
                for k in unions[i]
            ]
            found = iter(self.desk.fetch(asked))
            for i in going:
                parts = [next(found) for _ in unions[i]]
                G = np.sum([part[0][0] for part in parts], axis=0)
                fits[i].take(G, np.sum([part[1][0] for part in parts], axis=0))
        return [fit.b for fit in fits]

    def largest_change(self, change: FloatArray) -> FloatArray:
        """Refuse: a largest value does not leave; see `step_shares`."""
        raise NotImplementedError

    def held_out(self, beta: FloatArray, kept: BoolArray | None = None) -> HeldOut:
        """Return the probabilities of rows under coefficients (F, K, P), where these may leave."""
        if self.single is None:
            raise NotImplementedError
        return self.single.held_out(beta)


class _Newton:
    """Newton's method for one fit whose sums come from elsewhere; steps as in `models.glm`."""

    def __init__(
        self, start: FloatArray, ridge: FloatArray, tolerance: float, outputs: int
    ) -> None:
        self.outputs = outputs
        self.b = self.trial = np.asarray(start, dtype=np.float64)
        self.ridge, self.tolerance, self.done = ridge, tolerance, False
        self.step: FloatArray | None = None
        self.decrement, self.halvings = np.inf, 0

    def take(self, G: FloatArray, score: FloatArray) -> None:
        """Go on with information and score at the trial coefficients."""
        s = score - self.ridge * self.trial
        too_far = self.step is not None and not s @ self.step >= -0.5 * self.decrement
        if too_far and self.halvings < HALVINGS:
            self.halvings += 1
            assert self.step is not None
            self.trial = self.b + self.step * 0.5**self.halvings
            return
        self.b, self.halvings = self.trial, 0
        step = linalg.definite_solve((G + np.diag(self.ridge))[None], s[None])[0]
        m = self.outputs
        self.decrement, weight = float(s @ step), float(np.trace(G[:m, :m]))
        if self.decrement <= self.tolerance * weight:
            self.b, self.done = self.b + step, True
            return
        # A step that moves eta far on average starts shorter: the parabola ends there.
        length = min(1.0, np.sqrt(8 * FAR * weight / max(self.decrement, 1e-300)))
        self.step, self.decrement = step * length, self.decrement * length
        self.trial = self.b + self.step
