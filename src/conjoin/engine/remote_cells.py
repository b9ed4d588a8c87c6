"""Classes and counts of rows that stay with an engine: a pass over the rows for each Newton step.

Rows of an engine enter, with coordinates and a family; `RemoteCells` leave, which answer what a
likelihood asks of its rows (`models.remote_glm`). All questions that are open at a time are
answered by one pass: each batch of rows adds its part of every sum, where the rows are.
"""

import weakref
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.engine.remote_rows import Batch
from conjoin.engine.settled_rows import Passable, settle_rows
from conjoin.errors import ArgumentError
from conjoin.families import Response
from conjoin.models.glm_families import GlmFamily, contrasts, family_of, probabilities
from conjoin.models.glm_rows import GlmRows, halved
from conjoin.models.held_out import HeldOut
from conjoin.models.likelihood import FARTHEST
from conjoin.models.padded_rows import SortedRows
from conjoin.models.remote_glm import Arrays, Ask, RemoteGlmRows, answer
from conjoin.moments import Basis
from conjoin.sites.desk import RoundDesk

if TYPE_CHECKING:
    from conjoin.engine.remote import Reduced

Parts = list[tuple[int, Arrays]]
# Answers that are kept in case they are asked for again, in bytes: a fit asks for its last sums
# twice. Beyond, the oldest are forgotten, and asked for in another pass if they are needed.
MOST_KEPT = 256_000_000
# Numbers of single rows that come here for scores of probabilities, 320 MB: 8 million rows of two
# classes. Of more rows a part is taken, which determines an area under the curve to some 0.0002.
MOST_SCORED = 40_000_000
SPREAD = 0x9E3779B97F4A7C15  # an odd number without pattern: 2^64 over the golden ratio


class RemoteCells(NamedTuple):
    """Rows of classes or counts that are elsewhere, where to start, and what carries questions."""

    rows: RemoteGlmRows
    start: FloatArray
    carrier: Any


@dataclass(frozen=True, eq=False)
class PartOfAnswers:
    """What a batch of rows adds to the answers: numbers of questions, and parts of sums.

    Parameters
    ----------
    basis : Basis
    family : GlmFamily
    folds : int
    asked : mapping of int to list of (int, Ask)
        The questions about each dataset, with their numbers.
    """

    basis: Basis
    family: GlmFamily
    folds: int
    asked: dict[int, list[tuple[int, Ask]]]

    def __call__(self, batch: Batch) -> Parts:
        """Return the parts of one batch."""
        order = np.argsort(batch.dataset, kind="stable")
        present, first = np.unique(batch.dataset[order], return_index=True)
        found: Parts = []
        for k, own in zip(present.tolist(), np.split(order, first[1:])):
            asked = self.asked.get(k, ())
            if not asked:
                continue
            Z = self.basis.design(batch.X[own])
            rows = SortedRows.one_dataset(Z, batch.y[own], batch.w[own])
            cells = GlmRows.of(rows, batch.fold[own], self.folds, self.family)
            found += [(number, _part(cells, ask)) for number, ask in asked]
        return found


def _part(cells: GlmRows, ask: Ask) -> Arrays:
    """Return what some rows of a dataset add to an answer.

    For a step it is the largest change of eta, and the sums at its end.
    """
    if ask.kind != "step":
        return answer(cells, ask, FARTHEST)
    rows, (b, change) = cells.without_folds, ask.arrays
    there = rows.sums((b + change)[None])
    return (rows.largest_change(change[None]), *(one[0] for one in there))


@dataclass(frozen=True, eq=False)
class PartOfProbabilities:
    """Gives P, target, weight and dataset of the rows of a batch, or of one in `period` of them.

    `beta` (F, K, P) are coefficients outside each fold.
    """

    basis: Basis
    family: GlmFamily
    beta: FloatArray
    period: int

    def __call__(self, batch: Batch) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
        """Return the rows of one batch that are taken."""
        if self.period > 1:
            batch = batch.take(np.flatnonzero(_marks(batch.X) % np.uint64(self.period) == 0))
        K, m = self.beta.shape[1], self.family.m
        eta = np.empty((len(batch.y), m))
        cell = batch.fold * K + batch.dataset
        order = np.argsort(cell, kind="stable")
        present, first = np.unique(cell[order], return_index=True)
        for one, own in zip(present.tolist(), np.split(order, first[1:])):
            b = self.beta[one // K, one % K].reshape(-1, m)
            eta[own] = self.basis.design(batch.X[own]) @ b
        P = probabilities(self.family, eta[:, 0] if m == 1 else eta)
        return P, batch.y, batch.w, batch.dataset


def _marks(X: FloatArray) -> Any:
    """Return a number (n,) of every row that depends on its values alone, as if at random."""
    bits = np.ascontiguousarray(X).view(np.uint64)
    mixed = np.zeros(len(X), dtype=np.uint64)
    for column in bits.T:
        mixed = (mixed ^ column) * np.uint64(SPREAD)
        mixed ^= mixed >> np.uint64(29)  # high digits decide about low ones
    return mixed >> np.uint64(20)


class EnginePasses:
    """Answers rounds of questions by passes over the rows."""

    def __init__(self, rows: Passable, basis: Basis, family: GlmFamily, folds: int) -> None:
        self.rows: Passable | None = rows
        self.basis, self.family, self.folds = basis, family, folds
        self.position: dict[str, int] = {}
        self.passes, self.total = 0, 0  # `total` are the rows of all datasets
        self.source: Any = None  # what keeps the engine open

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: no rows."""
        return {**vars(self), "rows": None, "source": None}

    def __call__(self, asked: Sequence[Ask]) -> list[Arrays]:
        """Return the answers to questions, in their order, from one pass.

        A step that goes too far for a row is shortened, and its sums need another pass.
        """
        found = self._pass(asked)
        short: dict[int, Ask] = {}
        for i, one in enumerate(asked):
            if one.kind != "step":
                continue
            share = halved(found[i][0], FARTHEST)
            found[i] = (share, *found[i][1:])
            if share[0] < 1:
                there = one.arrays[0] + share * one.arrays[1]
                short[i] = Ask("sums", one.dataset, False, (there,))
        if short:
            for i, sums in zip(short, self._pass(list(short.values()))):
                found[i] = (found[i][0], *sums)
        return found

    @property
    def has_rows(self) -> bool:
        """Whether there is a way to the rows: a pickle has none."""
        return self.rows is not None

    def held_out(self, beta: FloatArray) -> HeldOut:
        """Return the probabilities of rows under coefficients (F, K, P) without their fold.

        Of very many rows a part is taken (`MOST_SCORED`), by their values.
        """
        period = max(1, -(-self.total * (self.family.m + 4) // MOST_SCORED))
        work = PartOfProbabilities(self.basis, self.family, beta, int(period))
        parts = list(zip(*self._rows.each(work)))
        P, y, w, dataset = (np.concatenate(part) for part in parts)
        order = np.argsort(dataset, kind="stable")
        return HeldOut(P[order], y[order].astype(np.int64), w[order], dataset[order])

    @property
    def _rows(self) -> Passable:
        if self.rows is None:
            raise ArgumentError(
                "The rows of this result stayed with an engine, and a pickle has no way to them; "
                "ask for verdicts and errors before pickling, or save() the result."
            )
        return self.rows

    def _pass(self, asked: Sequence[Ask]) -> list[Arrays]:
        """Add up the parts of all batches."""
        rows = self._rows
        of_dataset: dict[int, list[tuple[int, Ask]]] = defaultdict(list)
        for number, one in enumerate(asked):
            of_dataset[self.position[one.dataset]].append((number, one))
        work = PartOfAnswers(self.basis, self.family, self.folds, dict(of_dataset))
        total: dict[int, list[FloatArray]] = {}
        self.passes += 1
        for parts in rows.each(work):
            for number, part in parts:
                if number not in total:
                    total[number] = [np.array(one, dtype=np.float64) for one in part]
                    continue
                _add(total[number], part, largest_first=asked[number].kind == "step")
        return [tuple(total[number]) for number in range(len(asked))]


def _add(total: list[FloatArray], part: Arrays, *, largest_first: bool) -> None:
    """Add a part to sums; of the first array the largest value counts, if that is said."""
    for place, values in enumerate(part):
        if largest_first and place == 0:
            total[0] = np.maximum(total[0], values)
        else:
            total[place] = total[place] + values


def cells_of_engine(table: "Reduced", response: Response) -> RemoteCells:
    """Return the rows of a table as a likelihood sees them: sums that passes of the engine form."""
    family = family_of(response)
    assert family is not None and table.rows is not None
    K, F = table.folds.shape
    rows = settle_rows(table.rows, table.sizes)
    passes = EnginePasses(rows, table.basis, family, F)
    passes.total = int(sum(table.sizes))
    passes.position = {name: k for k, name in enumerate(table.names)}
    C = max(len(response.classes), 1)
    counts, total = np.zeros((K, C)), np.zeros(C)
    for of_batch, weights in rows.each(_Counting(K, C)):
        counts += of_batch
        total += weights
    cells = RemoteGlmRows(
        family,
        (),
        SortedRows.one_dataset(np.zeros((0, 1)), np.zeros(0), np.zeros(0)),
        table.folds.n * family.m,
        table.folds.w,
        names=table.names,
        places=(np.arange(F),) * K,
        classes=counts if response.classes else np.zeros((K, 1)),
        desk=RoundDesk(passes, most=MOST_KEPT),
        single=passes,
    )
    start = np.zeros((len(table.basis.center) + 1) * family.m)
    start[: family.m] = intercept_of(family, total, float(table.folds.w.sum()))
    return RemoteCells(cells, start, passes)


class _Open:
    """An engine that is open as long as this is there."""


def keep_open(tables: Sequence["Reduced | None"], engine: ExitStack) -> None:
    """Close an engine when no table can ask it any more: verdicts are computed when asked for."""
    cells = [one.cells for one in tables if one is not None and one.cells is not None]
    if not cells:
        return
    source, opened = _Open(), engine.pop_all()
    for one in cells:
        one.carrier.source = source
    weakref.finalize(source, _close, opened)


def _close(engine: ExitStack) -> None:
    with suppress(Exception):  # at the end of the process the engine may be gone already
        engine.close()


@dataclass(frozen=True)
class _Counting:
    """Counts the rows of each class by dataset (K, C), and adds up weights: of classes (C,).

    For counts, C is 1 and the weights are those of events.
    """

    datasets: int
    classes: int

    def __call__(self, batch: Batch) -> tuple[FloatArray, FloatArray]:
        K, C = self.datasets, self.classes
        if C == 1:
            return np.zeros((K, 1)), np.array([batch.w @ batch.y])
        label: IntArray = batch.y.astype(np.int64)
        counts = np.bincount(batch.dataset * C + label, minlength=K * C).reshape(K, C)
        weights: FloatArray = np.bincount(label, batch.w, minlength=C).astype(np.float64)
        return counts.astype(np.float64), weights


def intercept_of(family: GlmFamily, total: FloatArray, weight: float) -> Any:
    """Return the coefficients (m,) of the intercept without features: where fits start."""
    share = np.maximum(total / weight, 0.5 / weight)  # half a row, so that logarithms are finite
    if family.free_dispersion:
        return np.log(share)
    logs = np.log(share)
    return logs[1:] - logs[:1] if family.m == 1 else contrasts(len(logs)).T @ logs
