"""Step 7 with a learner, on demand: verdicts on joins from losses on held-out rows.

Rows, a learner and the steps to the clusters enter; verdicts leave, by the two sides of each join.
For every join one model is trained on each side and one on both, on the same folds, repeated as in
`compare`. A model of several datasets knows their names, as the models of clusters do. Each group
of datasets is cross-validated once, whichever joins it is part of.

Only the first joins are judged so, and only while their models see a bounded number of rows in all.
The others keep the verdict of the engine on [columns, prediction] where the engine found the
clusters, else they have none; `Merge.judged_by` says which.

A join inside a cluster may be worse than its two sides apart, although the whole cluster is better
than both: a group of datasets needs the others, not just its neighbour. Such a group is asked again
as the last one that comes to its cluster (`LearnerJudge.settle`), so that the ledger shows the
question that the clusters answer. Datasets that their clusters harm have left them before
(`engine.learner_sound`). Where the two cross-validations do not agree on that, the ledger shows the
one that decided: models alone against the models of clusters, on the same held-out rows.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray, Progress
from conjoin.criterion.paired import PairedVerdict, judge_losses
from conjoin.engine.learning import LearningTask
from conjoin.engine.verdicts import FIRST_LINES, MOST_INTERVALS, adjust
from conjoin.execution import in_workers
from conjoin.grouping import Step
from conjoin.grouping.merge import rehung
from conjoin.learners.blended import Blended
from conjoin.learners.paired import (
    FEWEST_FOR_VERDICT,
    FEWEST_OTHERS,
    FEWEST_OTHERS_FOR_VERDICT,
    FEWEST_ROWS,
    FOLDS,
    Dealings,
    cross_validated_losses,
    deal_repeatedly,
    dealings_in_order,
    others,
    repeats_for,
)
from conjoin.learners.rows import Learner, LearnerRows
from conjoin.result.details import VERDICTS, Details, Map, by_ledger
from conjoin.result.values import (
    CROSS_VALIDATION,
    NOT_JUDGED,
    Alternative,
    Merge,
    Sides,
    first_joins,
    sides_of,
    unjudged,
)
from conjoin.tables import DatasetCollection

# Joins that are judged by the learner: those that a terminal shows. Each is up to three
# cross-validations of about a second.
MOST_JUDGED = FIRST_LINES
# Rows that all their models may see together: about a minute of boosting on one core.
MOST_ROWS = 50_000

# Times that joins are put into another order, and judged again.
ROUNDS = 3
ENDLESS = (-float("inf"), float("inf"))

Group = tuple[int, ...]


class Judged(NamedTuple):
    """Steps to the clusters, and the verdicts of the learner on some of them, by their sides."""

    steps: tuple[Step[str], ...]
    verdicts: Mapping[Sides, PairedVerdict]


@dataclass(frozen=True, eq=False)
class LearnerJudge:
    """A learner, and rows dealt to folds, to judge joins by.

    Parameters
    ----------
    learner : Learner
        Settings that it chooses are chosen for every group of datasets anew.
    rows : LearnerRows
        All rows; datasets alternate at random.
    dealt : Dealings
        Their folds.
    names : tuple of str
        Names of the datasets.
    delta : float
        Level of the verdicts.
    order : array (n,)
        Position in the table of every row.
    falls : array (n,), optional
        Loss of each row by the dataset's own model less that by its cluster's, both in use.
    """

    learner: Learner
    rows: LearnerRows
    dealt: Dealings
    names: tuple[str, ...]
    delta: float
    order: IntArray
    falls: FloatArray | None = None
    _known: dict[Group, FloatArray | None] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        learner: Learner,
        task: LearningTask,
        table: DatasetCollection,
        delta: float,
        seed: int,
    ) -> "LearnerJudge":
        """Deal the rows of a task; rows that depend on each other stay in one fold."""
        rows, X = replace(task.rows, past=None), table.X[task.order]
        if isinstance(learner, Blended):  # one shape of trees for each group, as in `compare`
            learner = learner.boosting
        dealt = deal_repeatedly(X, rows, repeats_for(learner, len(rows)), seed)
        when = None if table.order is None else table.order.take(task.order)
        dealt = dealings_in_order(dealt, X, rows.y, table.starts, when)
        # Learners that read rows in order see no trend from one dataset to the next.
        order = np.argsort(dealt.rank, kind="stable")
        taken = rows.take(order), dealt.take(order)
        return cls(learner, *taken, table.names, delta, task.order[order])

    def knowing(self, falls: FloatArray | None) -> "LearnerJudge":
        """Return the judge with what models in use say of each row of the table."""
        return replace(self, falls=None if falls is None else falls[self.order])

    def settle(self, steps: Sequence[Step[str]], progress: Progress | None = None) -> "Judged":
        """Return the verdicts on the first joins, in an order in which they hold.

        One side of a join that does harm comes last to its cluster.
        """
        found = Judged(tuple(steps), self.judge(steps, progress))
        for _ in range(ROUNDS):
            steps = found.steps
            for side in _misplaced(found):
                steps = rehung(steps, side)
            if steps == found.steps:
                break
            found = Judged(steps, self.judge(steps))
        return self._by_models_in_use(found)

    def _by_models_in_use(self, found: "Judged") -> "Judged":
        """Return the verdicts; joins that still do harm are judged by the models in use."""
        if self.falls is None:
            return found
        position = {name: k for k, name in enumerate(self.names)}
        verdicts = dict(found.verdicts)
        for step in found.steps:
            one = verdicts.get(sides_of(step))
            if step.joined and one is not None and harms(one):
                smaller, larger = sorted(_numbers(step, position), key=len)
                verdicts[sides_of(step)] = self.in_use(smaller, larger)
        return Judged(found.steps, verdicts)

    def in_use(self, one: Group, rest: Group) -> PairedVerdict:
        """Return the verdict on a group and the rest of its cluster by the models in use."""
        assert self.falls is not None  # asked for only where datasets have models of their own
        return self._judged(one, rest, np.where(self._of(one), self.falls, 0.0))

    def judge(
        self, steps: Sequence[Step[str]], progress: Progress | None = None
    ) -> dict[Sides, PairedVerdict]:
        """Return the verdicts on the first joins, by their sides."""
        position = {name: k for k, name in enumerate(self.names)}
        pairs = {sides_of(step): _numbers(step, position) for step in self._chosen(steps, position)}
        groups = {group for one, two in pairs.values() for group in (one, two, _union(one, two))}
        self._learn(groups, progress)
        return {sides: self._verdict(*pair) for sides, pair in pairs.items()}

    def _learn(self, groups: Set[Group], progress: Progress | None = None) -> None:
        """Cross-validate the groups of datasets that are not known yet."""
        todo = sorted(groups - self._known.keys(), key=lambda group: (len(group), group))
        found = in_workers(self._losses, todo, alone=not self.learner.in_threads)
        for done, (group, losses) in enumerate(zip(todo, found), start=1):
            self._known[group] = losses
            if progress is not None:
                progress(done, len(todo))

    def on_pairs(self, pairs: Sequence[tuple[Group, Group]]) -> "list[PairedVerdict | None]":
        """Return the verdicts on pairs of groups; None beyond the bound of rows, or with few."""
        sizes = np.bincount(self.rows.dataset, minlength=len(self.names))
        seen = sum(int(sizes[list(group)].sum()) for group in self._known)
        found: list[PairedVerdict | None] = []
        for one, two in pairs:
            new = {one, two, _union(one, two)} - self._known.keys()
            more = sum(int(sizes[list(group)].sum()) for group in new)
            if seen + more > MOST_ROWS:
                found.append(None)
                continue
            seen += more
            self._learn(new)
            judged = self._verdict(one, two)
            found.append(judged if np.isfinite(judged.gain) else None)
        return found

    def _chosen(self, steps: Sequence[Step[str]], position: dict[str, int]) -> "list[Step[str]]":
        """Return the first steps whose models see few enough rows in all."""
        sizes = np.bincount(self.rows.dataset, minlength=len(self.names))
        seen: dict[Group, int] = {}
        chosen = []
        for step in steps[:MOST_JUDGED]:
            one, two = _numbers(step, position)
            needed = {
                group: int(sizes[list(group)].sum()) for group in (one, two, _union(one, two))
            }
            if sum({**seen, **needed}.values()) <= MOST_ROWS:
                seen |= needed
                chosen.append(step)
        return chosen

    def _of(self, group: Group) -> BoolArray:
        return np.isin(self.rows.dataset, group)

    def _losses(self, group: Group) -> FloatArray | None:
        """Return losses of the rows of a group of datasets; None if it has too few."""
        own = self._of(group)
        rows = replace(self.rows.take(own), named=len(group) > 1)
        if len(rows) < FEWEST_ROWS or others(rows.y, rows.response) < FEWEST_OTHERS:
            return None
        dealt = self.dealt.take(np.flatnonzero(own))
        return cross_validated_losses(self.learner, rows, dealt) if dealt.leave_rows else None

    def _verdict(self, one: Group, two: Group) -> PairedVerdict:
        """Return the verdict on a join; every dataset counts the same."""
        together = self._known[_union(one, two)]
        first, second = (self._known[group] for group in (one, two))
        if together is None or first is None or second is None:
            unknown = float("nan")
            return PairedVerdict("undecided", unknown, ENDLESS, 1.0, unknown)
        both = self._of(_union(one, two))
        falls = np.zeros(len(self.rows))
        falls[both] = -together
        falls[self._of(one)] += first
        falls[self._of(two)] += second
        return self._judged(one, two, falls)

    def _judged(self, one: Group, two: Group, falls: FloatArray) -> PairedVerdict:
        """Return the verdict on a join from how far the loss of every row (n,) falls."""
        both = self._of(_union(one, two))
        rows, side = self.rows.take(both), np.isin(self.rows.dataset[both], two).astype(np.int64)
        total = np.bincount(rows.dataset, rows.w)
        unit = None if self.dealt.unit is None else _renumbered(self.dealt.unit[both])
        K = len(one) + len(two)
        found = judge_losses(
            falls[both],
            rows.w / total[rows.dataset],
            side,
            delta=self.delta,
            folds=FOLDS,
            unit=unit,
            share=(len(one) / K, len(two) / K),
        )
        if all(_enough(rows.y[side == number], rows) for number in (0, 1)):
            return found
        return replace(found, verdict="undecided", interval=ENDLESS)


def harms(one: PairedVerdict) -> bool:
    """Say whether a join raises the error by more than a standard error, or should not be made."""
    return one.verdict == "apart" or one.gain < -one.standard_error


def _misplaced(found: Judged) -> list[tuple[str, ...]]:
    """Return the smaller side of each join that raises the error by more than a standard error."""
    sides: list[tuple[str, ...]] = []
    for step in found.steps:
        one = found.verdicts.get(sides_of(step)) if step.joined else None
        taken = any(set(side) & {*step.left, *step.right} for side in sides)
        if one is None or taken or not harms(one):
            continue
        sides.append(min(step.left, step.right, key=len))
    return sides


def _enough(y: FloatArray, rows: LearnerRows) -> bool:
    """Say whether a side has enough rows for a verdict."""
    enough = len(y) >= FEWEST_FOR_VERDICT
    return enough and others(y, rows.response) >= FEWEST_OTHERS_FOR_VERDICT


def _renumbered(unit: IntArray) -> IntArray:
    numbers: IntArray = np.unique(unit, return_inverse=True)[1].astype(np.int64).ravel()
    return numbers


def _numbers(step: Step[str], position: dict[str, int]) -> tuple[Group, Group]:
    one, two = (tuple(sorted(position[name] for name in side)) for side in (step.left, step.right))
    return one, two


def _union(one: Group, two: Group) -> Group:
    return tuple(sorted(one + two))


def judged_line(line: Merge, found: PairedVerdict) -> Merge:
    """Return a line of the ledger with the verdict of the learner."""
    known = np.isfinite(found.interval[0])
    return replace(
        line,
        verdict=found.verdict,
        gain=found.gain,
        interval=found.interval,
        p_value=found.p_value if known else 1.0,
        validated_change=-found.gain,
        standard_error=found.standard_error,
        judged_by=CROSS_VALIDATION,
    )


def needed(most: int | None, steps: int) -> int | None:
    """Return the lines that are needed to show so many of a ledger's steps; None for all.

    A short ledger is adjusted for the number of its lines as a whole.
    """
    return None if most is None or steps <= MOST_INTERVALS else max(most, FIRST_LINES)


def judged_lines(
    lines: Sequence[Merge], found: Mapping[Sides, PairedVerdict], steps: int, by_theory: Set[Sides]
) -> tuple[Merge, ...]:
    """Return lines of a ledger of so many steps, with the verdicts of the learner.

    Of the others, those in `by_theory` keep their verdict; the rest have none.
    """
    mixed = []
    for line in lines:
        sides = sides_of(line)
        if sides in found:
            mixed.append(judged_line(line, found[sides]))
        else:
            mixed.append(line if sides in by_theory else unjudged(line))
    return adjust(mixed, steps)


def judged_alternative(line: Alternative, found: PairedVerdict | None) -> Alternative:
    """Return a possible cluster of a dataset with the verdict of the learner, or without one."""
    if found is None:
        unknown = float("nan")
        return Alternative(line.cluster, "undecided", unknown, (unknown, unknown), NOT_JUDGED)
    return Alternative(line.cluster, found.verdict, found.gain, found.interval, CROSS_VALIDATION)


def own_alternative(line: Alternative, name: str, ledger: Sequence[Merge]) -> Alternative:
    """Return a dataset's own cluster by the line of a ledger that joined the dataset."""
    return Alternative.own(line.cluster, name, first_joins(ledger)[name])


def judged_details(
    details: Details,
    found: Mapping[Sides, PairedVerdict],
    names: Sequence[str],
    ledger: Sequence[Merge],
    *,
    sole: bool,
) -> Details:
    """Return figures of the report with the verdicts of the learner and of the ledger.

    `sole`: the learner chose the clusters, so that no other verdict is about them.
    """
    upper = tuple(
        judged_line(line, found[sides_of(line)]) if sides_of(line) in found else line
        for line in details.upper
    )
    shown = details.map and judged_map(details.map, found, names)
    details = replace(details, upper=upper, map=shown)
    return by_ledger(details, ledger, names, learners=sole)


def judged_map(shown: Map, found: Mapping[Sides, PairedVerdict], names: Sequence[str]) -> Map:
    """Return the map of gains with those of the learner, where it judged a pair of the map."""
    place = {
        tuple(sorted(names[k] for k in group)): number for number, group in enumerate(shown.groups)
    }
    gain, low, high = shown.gain.copy(), shown.low.copy(), shown.high.copy()
    verdict = shown.verdict.copy()
    for sides, one in found.items():
        i, j = (place.get(side) for side in sides)
        if i is None or j is None or not np.isfinite(one.gain):
            continue
        for cell in ((i, j), (j, i)):
            gain[cell], (low[cell], high[cell]) = one.gain, one.interval
            verdict[cell] = VERDICTS.index(one.verdict)
    return replace(shown, gain=gain, low=low, high=high, verdict=verdict)
