"""Step 7, on demand: verdicts on joins, for the ledger and for every dataset.

A judge, labels and steps enter; lines of the ledger and alternatives of datasets leave, with gains
in the units of the data.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.criterion.base import PairScore
from conjoin.criterion.judge import Judge
from conjoin.criterion.risk import known_gain
from conjoin.engine.study import Study
from conjoin.execution import one_thread
from conjoin.grouping import Step
from conjoin.models.likelihood import Joins, Likelihood
from conjoin.models.partial import coefficients
from conjoin.result.values import Alternative, Merge, first_joins
from conjoin.strategies.gains import ValidatedGains
from conjoin.strategies.joins import ValidatedJoins
from conjoin.strategies.plan import Start
from conjoin.tables.order import RowOrder

NO_INTERVAL = (float("nan"), float("nan"))
# Lines of a ledger, or datasets, up to which every gain has an interval. Each end of an interval is
# a root search over verdicts, so thousands of them take long.
MOST_INTERVALS = 200
# Lines of a longer ledger that are judged first: those that a terminal shows.
FIRST_LINES = 12
# Other clusters that a dataset is compared with, and the number of datasets up to which all get
# that many; beyond, each is compared with the nearest other cluster only.
MOST_ALTERNATIVES, FEW_DATASETS = 3, 60


def make_judge(study: Study, start: Start) -> Judge:
    """Fit every dataset by itself, as the base of all verdicts."""
    problem = start.problem
    if not isinstance(problem, Likelihood):
        return Judge.of(problem.moments, scatter=study.scatter)
    order = study.order or RowOrder()
    moments, backing, scatter = problem.own(order.time, order.who)
    gains = ValidatedGains(problem, start.hyper, study.gain_scale)
    return Judge.of(moments, backing, Joins(problem.rows, moments), gains, scatter)


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Verdicts on joins, each computed once.

    Parameters
    ----------
    judge : Judge
    names : tuple of str
        Names of the datasets.
    labels : array (K,)
        The cluster of each dataset.
    near : array (K, p)
        Partially pooled coefficients, whose distances say which clusters are near.
    delta : float
        Level of the verdicts.
    scale : float
        What a unit of the moments is worth in errors.
    joins : ValidatedJoins
        What joining changes on held-out rows.
    """

    judge: Judge
    names: tuple[str, ...]
    labels: IntArray
    near: FloatArray
    delta: float
    scale: float
    joins: ValidatedJoins
    _known: dict[tuple[int, int], tuple[Merge, ...]] = field(default_factory=dict, repr=False)

    def ledger(self, steps: Sequence[Step[str]], most: int | None) -> tuple[Merge, ...]:
        """Return the first steps with their verdicts.

        The steps are judged in the same portions whatever `most` is, so that a line has one
        verdict and one gain wherever it is shown.
        """
        if len(steps) <= MOST_INTERVALS:
            return self._portion(steps, 0, len(steps))[:most]
        first = self._portion(steps, 0, FIRST_LINES)
        if most is not None and most <= FIRST_LINES:
            return first[:most]
        return (first + self._portion(steps, FIRST_LINES, len(steps)))[:most]

    def _portion(self, steps: Sequence[Step[str]], begin: int, end: int) -> tuple[Merge, ...]:
        if (begin, end) not in self._known:
            whole = len(steps) <= MOST_INTERVALS
            lines = self._with_changes(self.judge_steps(steps[begin:end], interval=whole))
            self._known[begin, end] = adjust(lines, len(steps))
        return self._known[begin, end]

    @one_thread()
    def judge_steps(self, steps: Sequence[Step[str]], *, interval: bool) -> tuple[Merge, ...]:
        """Return steps with their verdicts; gains have intervals if asked for."""
        position = {name: k for k, name in enumerate(self.names)}
        pairs = [
            ([position[n] for n in step.left], [position[n] for n in step.right]) for step in steps
        ]
        found = self.judge.judge(pairs, delta=self.delta, interval=interval)
        gains = self.judge.gains(pairs)
        ends = around(gains, found.limits) * self.scale
        return tuple(
            Merge(
                step.left,
                step.right,
                step.joined,
                answer,
                known_gain(gain * self.scale),
                (float(low), float(high)) if interval else NO_INTERVAL,
                step.score,
                float(p),
            )
            for step, answer, gain, (low, high), p in zip(
                steps, found.answers, gains, ends, found.p_values
            )
        )

    def _with_changes(self, lines: Sequence[Merge]) -> tuple[Merge, ...]:
        """Return lines of the ledger with what joining changes on held-out rows."""
        position = {name: k for k, name in enumerate(self.names)}
        pairs = [
            ([position[n] for n in one.left], [position[n] for n in one.right]) for one in lines
        ]
        change, error = (values * self.scale for values in self.joins.changes(pairs))
        return tuple(
            replace(line, validated_change=float(c), standard_error=float(e))
            for line, c, e in zip(lines, change, error)
        )

    # --- alternatives of a dataset ---------------------------------------------------------------

    def alternatives_of(self, name: str, steps: Sequence[Step[str]]) -> tuple[Alternative, ...]:
        """Return what is known of joining one dataset with its own cluster and the nearest others.

        Nearest by the distance of partially pooled coefficients. With very many datasets only the
        nearest other cluster is compared, without interval. `steps` led to the clusters.
        """
        few = len(self.labels) <= MOST_INTERVALS
        return self._alternatives([name], steps, MOST_ALTERNATIVES if few else 1)[name]

    def all_alternatives(self, steps: Sequence[Step[str]]) -> dict[str, tuple[Alternative, ...]]:
        """Return the same for every dataset; with many, the nearest other cluster only."""
        few = len(self.labels) <= FEW_DATASETS
        return self._alternatives(self.names, steps, MOST_ALTERNATIVES if few else 1)

    @one_thread()
    def _alternatives(
        self, names: Sequence[str], steps: Sequence[Step[str]], most: int
    ) -> dict[str, tuple[Alternative, ...]]:
        position = {name: k for k, name in enumerate(self.names)}
        asked, cluster = [], []
        for name in names:
            for c in self._nearest(position[name])[:most]:
                others = tuple(self.names[i] for i in np.nonzero(self.labels == c)[0])
                asked.append(Step((name,), others, PairScore(float("nan"), False)))
                cluster.append(c)
        found: dict[str, list[Alternative]] = {name: [] for name in names}
        for name, line in self._own_lines(names, steps).items():
            found[name].append(Alternative.own(int(self.labels[position[name]]), name, line))
        interval = len(self.labels) <= MOST_INTERVALS // 2
        for c, line in zip(cluster, self.judge_steps(asked, interval=interval)):
            found[line.left[0]].append(Alternative(c, line.verdict, line.gain, line.interval))
        return {
            name: _own_first(lines, int(self.labels[position[name]]))
            for name, lines in found.items()
        }

    def _own_lines(self, names: Sequence[str], steps: Sequence[Step[str]]) -> dict[str, Merge]:
        """Return the line of the ledger that joined each dataset; none for datasets alone."""
        if len(names) == 1 and len(steps) > MOST_INTERVALS:  # one line of many, judged alone
            mine = [step for name, step in first_joins(steps).items() if name in names]
            return dict(zip(names, self.judge_steps(mine, interval=False)))
        known = first_joins(self.ledger(steps, None))
        return {name: known[name] for name in names if name in known}

    def _nearest(self, k: int) -> list[int]:
        """Return the other clusters, nearest first."""
        distance = np.sum((self._centres - self.near[k]) ** 2, axis=1)
        order = np.argsort(distance, kind="stable")
        return [int(c) for c in order if c != self.labels[k]]

    @cached_property
    def _centres(self) -> FloatArray:
        """Mean coefficients of each cluster (C, p)."""
        clusters = range(int(self.labels.max()) + 1)
        return np.stack([self.near[self.labels == c].mean(axis=0) for c in clusters])


def around(gains: FloatArray, limits: FloatArray) -> FloatArray:
    """Return limits (B, 2) widened where the estimated gain (B,) lies outside.

    Limits come from tests and gains from an unbiased estimate, which is above the limit where two
    groups look more alike than noise allows.
    """
    low, high = np.fmin(limits[:, 0], gains), np.fmax(limits[:, 1], gains)
    return np.stack([low, high], axis=1)


def adjust(lines: Sequence[Merge], steps: int) -> tuple[Merge, ...]:
    """Return lines of a ledger of so many steps with adjusted p-values."""
    p = np.array([line.p_value for line in lines])
    # A join that nobody judged counts as one of the tests, and has no p-value.
    known, tested = ~np.isnan(p), np.nan_to_num(p, nan=1.0)
    # Holm's method needs all lines. Of a long ledger only the first ones may be judged.
    adjusted = holm(tested) if steps <= MOST_INTERVALS else np.minimum(tested * steps, 1.0)
    adjusted = np.where(known, adjusted, np.nan)
    return tuple(replace(line, adjusted_p=float(x)) for line, x in zip(lines, adjusted))


def holm(p_values: FloatArray) -> FloatArray:
    """Return p-values (B,) adjusted for their number by Holm's method.

    The probability that any of the verdicts with an adjusted p-value of at most delta is wrong is
    at most delta, however many there are.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    count = len(p_values)
    steps = np.maximum.accumulate(p_values[order] * np.arange(count, 0, -1))
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def _own_first(lines: Sequence[Alternative], own: int) -> tuple[Alternative, ...]:
    """Return a dataset's own cluster, then other clusters by what joining them gains."""

    def rank(line: Alternative) -> tuple[bool, float]:
        return line.cluster != own, np.inf if np.isnan(line.gain) else -line.gain

    return tuple(sorted(lines, key=rank))


def make_verdicts(
    study: Study,
    start: Start,
    judge: Judge,
    names: tuple[str, ...],
    labels: IntArray,
    delta: float,
) -> Verdicts:
    """Return what judges the joins of a partition (labels (K,)) at level delta."""
    near = coefficients(start.problem.moments, start.hyper)
    problem = start.problem
    joins = ValidatedJoins.of(problem.folds, start.hyper, study.weights, seen=problem.seen)
    return Verdicts(judge, names, labels, near, delta, study.gain_scale, joins)
