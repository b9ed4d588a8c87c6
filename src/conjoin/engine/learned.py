"""All that was found with a learner: every strategy in one table, and what can be asked of it.

A linear analysis, the same analysis with the learner's prediction as a column ("corrected") and the
learner's own predictions enter. A `LearnedAnalysis` leaves. Its strategies are linear in the
columns of the table and the predictions, so all of them are validated on the same held-out rows,
averaged, saved and shown alike:

====================  ========================================================================
strategy              prediction for a dataset
====================  ========================================================================
separate ... mixture  the linear strategies, as with learner="linear"
linear                their average
corrected             a line in the columns and the prediction of "learner named", whose
                      coefficients are partially pooled over datasets
residual              the linear average, plus the learner trained on its residuals
curves                a line and a smooth curve of one column, both partially pooled
learner named         one model for all rows, with the dataset's name as a category
learner pooled        one model for all rows, without the name
learner separate      one model for each dataset
learner clusters      one model for each cluster
auto                  the average of linear, corrected, residual, curves and the learner's own
====================  ========================================================================

Clusters, verdicts and the figures of the page are those of one of the two analyses: of the
corrected one where the learner predicts better than lines, else of the linear one. Where they are
about the learner, the first lines of the ledger are judged by it (`engine.learner_verdicts`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from conjoin._typing import FloatArray, Progress
from conjoin.engine.common_model import describe_common_model
from conjoin.engine.courses import course_of
from conjoin.engine.errors import estimate_errors, find_improvements
from conjoin.engine.learner_verdicts import (
    Judged,
    judged_alternative,
    judged_details,
    judged_lines,
    needed,
    own_alternative,
)
from conjoin.engine.placing import place_by_rows
from conjoin.engine.spreads import spread_of_rows
from conjoin.errors import ArgumentError
from conjoin.result.findings import Findings
from conjoin.result.fits import Fit, Limits, fit_of_lines
from conjoin.result.partition import Partition
from conjoin.result.scores import Scored, score
from conjoin.result.values import OF_LEARNER, Sides, sides_of
from conjoin.strategies import reference
from conjoin.strategies.improvement import HeldOut

if TYPE_CHECKING:
    from conjoin.engine.analysis import Analysis
    from conjoin.engine.entries import Entry, Layout, Rows
    from conjoin.engine.learner_verdicts import LearnerJudge
    from conjoin.engine.learning import LearnedColumns
    from conjoin.engine.stability import Contest
    from conjoin.grouping.merge import Step
    from conjoin.learners.schema import LearnedSchema
    from conjoin.models.spread import Spread
    from conjoin.result.common_model import CommonModel
    from conjoin.result.course import Course
    from conjoin.result.details import Details
    from conjoin.result.improvement import Improvements
    from conjoin.result.placement import Placement
    from conjoin.result.stability import Stability
    from conjoin.result.values import Alternative, Estimate, Merge

Value = TypeVar("Value")
# Strategies of the analysis that is shown, beside those with a learner.
OF_CLUSTERS = ("clusters", "plain")


@dataclass(frozen=True, eq=False)
class LearnedAnalysis:
    """The strategies with a learner, and the analysis whose clusters are shown.

    Parameters
    ----------
    main : Analysis
        The analysis whose clusters, verdicts and figures are shown: `linear` or `corrected`.
    linear, corrected : Analysis
        The analysis of the table's columns alone, and that with the learner's prediction.
    entries : mapping of strategy to Entry
        Every strategy but those of the clusters.
    weights : mapping of strategy to float
        Weights of the strategies in "auto".
    schema : LearnedSchema
        The columns of the table and the predictions.
    layout : Layout
        Where the predictions stand among the features.
    rows : Rows
        The rows, for losses and probabilities.
    learned : LearnedColumns, optional
        The learner with its rows and predictions; None after pickling.
    judge : callable, optional
        Makes what judges joins by the learner, when verdicts are asked for; None where clusters are
        about lines, and after pickling.
    contest : Contest, optional
        Models of the learner's clusters against one that knows the names; None if none were tried.
    findings : Findings
        Gross errors and suspicious names and columns, found before the steps.
    """

    main: "Analysis"
    linear: "Analysis"
    corrected: "Analysis"
    entries: "Mapping[str, Entry]"
    weights: dict[str, float]
    schema: "LearnedSchema"
    layout: "Layout"
    rows: "Rows"
    learned: "LearnedColumns | None" = field(default=None, repr=False)
    judge: "Callable[[], LearnerJudge] | None" = None
    contest: "Contest | None" = None
    findings: Findings = Findings()
    _found: dict[str, Any] = field(default_factory=dict, repr=False)

    def _once(self, name: str, compute: "Callable[[], Value]") -> "Value":
        """Compute something when it is first asked for, and keep it."""
        if name not in self._found:
            self._found[name] = compute()
        found: Value = self._found[name]
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: all that was found, and no rows."""
        _ = self.placement, self.errors, self.common_model, self._judged()
        for name in self.entries:
            _ = self.scored(name), self.spread(name), self.course(name)
        entries = {name: replace(one, held_out=None) for name, one in self.entries.items()}
        kept = {"entries": entries, "rows": self.rows.emptied(), "learned": None, "judge": None}
        return {**vars(self), **kept}

    # --- results ---------------------------------------------------------------------------------

    def using(self, strategy: str) -> Partition:
        """Return the result with the models of a strategy."""
        if strategy == "best":
            strategy = min(self._fair, key=lambda name: self.errors[name].error)
        shown = self._once("shown", lambda: self.main.using("auto"))
        models = [self._padded(fit) for fit in shown.models]
        if strategy in OF_CLUSTERS:
            own = self.main.using(strategy).coefficients
            coefficients = {name: self._padded(fit) for name, fit in own.items()}
        elif strategy in self.entries:
            coefficients = self._models(self.entries[strategy])
        else:
            names = ["best", *self.entries, *OF_CLUSTERS]
            raise ArgumentError(f"strategy={strategy!r} is unknown here; expected one of {names}.")
        return replace(
            shown,
            models=models,
            strategy=strategy,
            coefficients=coefficients,
            pooled=self._pooled(),
            features=self.schema.features,
            schema=self.schema,
            analysis=self,
        )

    @property
    def _fair(self) -> list[str]:
        """Strategies that may be called the best: their partition has not seen held-out rows."""
        return [name for name in self.entries if name not in ("auto", "linear")]

    @property
    def limits(self) -> Limits:
        """Limits of all features; predictions have none."""
        names = self.schema.predictions.names
        free = {name: (-float("inf"), float("inf")) for name in names}
        return {**self.linear.facts.limits, **free}

    def _models(self, entry: "Entry") -> dict[str, Fit]:
        facts = self.linear.facts
        errors = self._errors_by_dataset(entry.losses) * self.rows.units
        return {
            name: self._fit(entry.intercept[k], entry.slopes[k], size, float(errors[k]))
            for k, (name, size) in enumerate(zip(facts.names, facts.sizes))
        }

    def _fit(self, intercept: FloatArray, slopes: FloatArray, rows: int, error: float) -> Fit:
        response, features = self.schema.response, self.schema.features
        return fit_of_lines(intercept, slopes, response, features, rows, error, self.limits)

    def _padded(self, fit: Fit) -> Fit:
        """Return a model of the shown analysis with all features."""
        columns = self.layout.line_columns(self.main is self.corrected)
        slopes = np.array([list(line.coef.values()) for line in fit.lines])
        intercept = np.array([line.intercept for line in fit.lines])
        return self._fit(intercept, self.layout.padded(slopes, columns), fit.rows, fit.error)

    def _pooled(self) -> Fit:
        """Return the model for datasets not there at fitting: the better of two without names."""
        best, rows = self._for_all, int(np.sum(self.linear.facts.sizes))
        entry = self.entries[best]
        return self._fit(entry.intercept[0], entry.slopes[0], rows, self.errors[best].error)

    @property
    def _for_all(self) -> str:
        """The strategy of the model for all: that of lines or the learner's."""
        return reference({name: self.errors[name].error for name in self.entries}, "pooled")

    def _errors_by_dataset(self, losses: FloatArray) -> FloatArray:
        tested = self.linear.start.problem.tested
        return np.where(tested, losses.sum(axis=0) / self._w, np.nan)

    @property
    def _w(self) -> FloatArray:
        return self.linear.start.problem.moments.w

    # --- errors ----------------------------------------------------------------------------------

    @property
    def errors(self) -> "dict[str, Estimate]":
        """Error of every strategy on held-out rows."""
        return self._once(
            "errors",
            lambda: estimate_errors(
                self._held_out, self._w, self.linear.study.weights, self.rows.units
            ),
        )

    @property
    def _held_out(self) -> dict[str, HeldOut]:
        return self._once("held out", self._find_held_out)

    def _find_held_out(self) -> dict[str, HeldOut]:
        none = np.zeros(len(self._w))
        found = {
            name: HeldOut(one.losses, none if one.shift is None else one.shift)
            for name, one in self.entries.items()
        }
        clusters = self.main.held_out
        return {**found, **{k: one for k, one in clusters.items() if k not in found}}

    def improvements(self, strategy: str) -> "Improvements":
        """Compare a strategy with separate models and with one model for all.

        Both are the better of the linear ones and the learner's.
        """
        held = self._held_out
        errors = {name: one.error for name, one in self.errors.items()}
        references = {name: held[reference(errors, name)] for name in ("separate", "pooled")}
        weights, names = self.linear.study.weights, self.linear.facts.names
        return self._once(
            f"improvements of {strategy}",
            lambda: find_improvements(held[strategy], references, self._w, weights, names),
        )

    def scored(self, strategy: str) -> Scored | None:
        """Return how good the probabilities of a strategy are; None if that is not known."""
        classes = self.schema.response.classes
        entry = self.entries.get(strategy)
        known = f"scores of {strategy}"
        if known in self._found:  # after pickling there are no rows to find them from
            return self._once(known, lambda: None)
        if not classes or entry is None or entry.held_out is None:
            return (self.linear if strategy not in OF_CLUSTERS else self.main).scored(strategy)
        held_out, names = self.rows.probabilities(entry.held_out), self.linear.facts.names
        return self._once(known, lambda: score(held_out, names, classes))

    def spread(self, strategy: str) -> "Spread":
        """Return how far targets lie from the predictions of a strategy, on held-out rows.

        A new dataset has the model without names. How much farther its rows lie than held-out ones
        of known datasets is taken from lines, which are quickly fitted without each dataset.
        """
        entry = self.entries.get(strategy)
        if f"spread of {strategy}" not in self._found and (entry is None or entry.held_out is None):
            return (self.main if strategy in OF_CLUSTERS else self.linear).spread(strategy)
        return self._once(f"spread of {strategy}", lambda: self._find_spread(strategy))

    def _find_spread(self, strategy: str) -> "Spread":
        held_out = self.entries[strategy].held_out
        assert held_out is not None  # see `spread`
        lines = self.linear.spread("pooled")
        pooled = self.entries[self._for_all].held_out
        found = spread_of_rows(held_out, pooled, self.rows)
        if pooled is None:
            return replace(found, unseen=lines.unseen)
        known = lines.own[:, [0, -1]].mean(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            farther = np.nan_to_num(lines.unseen[[0, -1]] / known, nan=1.0, posinf=1.0)
        return replace(found, unseen=found.unseen * np.maximum(farther.mean(), 1.0))

    def course(self, strategy: str) -> "Course | None":
        """Return errors over time; None where rows have no order."""
        entry = self.entries.get(strategy)
        linear = None if entry is None else entry.held_out
        return self._once(
            f"course of {strategy}",
            lambda: course_of(self._held_out, self.linear.study, self.rows, linear),
        )

    # --- what the shown analysis knows -----------------------------------------------------------

    @property
    def copies(self) -> int:
        """Number of rows that are exact copies of another row of their dataset."""
        return self.main.copies

    @property
    def kept(self) -> None:
        """None: a learner is trained on rows, so moments are not enough to go on from."""
        return None

    def knows(self, name: str) -> bool:
        """Say whether "details" or "stability" was asked for before."""
        return self.main.knows(name)

    @property
    def stability(self) -> "Stability | None":
        """How often datasets are together when the search sees random halves of the rows."""
        if self.contest is None:
            return self.main.stability
        return self.main.stability_of(self.main.origin.method, self.contest)

    @property
    def steps(self) -> "tuple[Step[str], ...]":
        """The steps to the clusters."""
        return self._judged().steps if "judged" in self._found else self.main.steps

    @property
    def _sole_judge(self) -> bool:
        """Whether the learner chose the clusters, so that no other verdict is about them."""
        return self.main.origin.grouping == OF_LEARNER

    def ledger(self, most: int | None, progress: Progress | None = None) -> "tuple[Merge, ...]":
        """Return the first steps with their verdicts, of the learner if clusters are about it."""
        judged = Judged((), {}) if most == 0 else self._judged(progress)
        if not judged.verdicts and not self._sole_judge:
            return self.main.ledger(most)
        steps = len(judged.steps)
        lines = self.main.ledger_of(judged.steps, needed(most, steps))
        return judged_lines(lines, judged.verdicts, steps, self._by_theory)[:most]

    @property
    def _by_theory(self) -> set[Sides]:
        """Sides of the joins that the search itself made: they have verdicts by theory.

        None if the learner chose the clusters. Joins in another order (`LearnerJudge.settle`) are
        not the search's.
        """
        return set() if self._sole_judge else {sides_of(step) for step in self.main.steps}

    def _judged(self, progress: Progress | None = None) -> Judged:
        """Return the verdicts of the learner, by the sides of a join; they are found once."""
        judge, steps = self.judge, self.main.steps
        if judge is None:
            return self._found.get("judged", Judged(steps, {}))
        return self._once("judged", lambda: judge().settle(steps, progress))

    def join_change(self, left: Sequence[str], right: Sequence[str]) -> tuple[float, float]:
        """Return what joining two groups does to their held-out error, and its standard error."""
        sides = frozenset([tuple(sorted(left)), tuple(sorted(right))])
        found = self._judged().verdicts.get(sides)
        if found is not None:
            return -found.gain, found.standard_error
        moved = sides in {sides_of(step) for step in self.steps} - self._by_theory
        if self._sole_judge or moved:
            return float("nan"), float("nan")
        return self.main.join_change(left, right)

    def alternatives(self, name: str) -> "tuple[Alternative, ...]":
        """Return what is known of joining a dataset with its own cluster and with others."""
        return self._alternatives_judged(name, self.main.alternatives(name))

    @property
    def all_alternatives(self) -> "dict[str, tuple[Alternative, ...]]":
        """The same for every dataset."""
        return {
            name: self._alternatives_judged(name, lines)
            for name, lines in self.main.all_alternatives.items()
        }

    def _alternatives_judged(
        self, name: str, lines: "tuple[Alternative, ...]"
    ) -> "tuple[Alternative, ...]":
        """Return joins of a dataset; those that are lines of the ledger have its verdict."""
        names, labels = self.main.facts.names, self.main.chosen.labels
        cluster, ledger = dict(zip(names, labels))[name], self.ledger(None)
        found = []
        for line in lines:
            if line.cluster == cluster:
                found.append(own_alternative(line, name, ledger))
                continue
            others = tuple(n for n, c in zip(names, labels) if c == line.cluster)
            known = self._judged().verdicts.get(frozenset([(name,), tuple(sorted(others))]))
            kept = known is None and not self._sole_judge
            found.append(line if kept else judged_alternative(line, known))
        return tuple(found)

    @property
    def details(self) -> "Details | None":
        """The figures of the report; joins in the ledger have its verdicts here."""
        return self._once("details", self._make_details)

    def _make_details(self) -> "Details | None":
        details, judged = self.main.details, self._judged().verdicts
        if details is None:
            return None
        # The model for all is the one that predicts unknown datasets, not a line beside it.
        found = {name: one.error for name, one in self.errors.items()}
        losses = {
            "all": self.entries[self._for_all].losses,
            "separate": self._held_out[reference(found, "separate")].losses,
        }
        errors = {k: self._errors_by_dataset(x) * self.rows.units for k, x in losses.items()}
        details = replace(details, errors={**details.errors, **errors})
        if not judged and not self._sole_judge:
            return details
        return judged_details(
            details, judged, self.main.facts.names, self.ledger(None), sole=self._sole_judge
        )

    @property
    def placement(self) -> "Placement":
        """What places a new dataset."""
        return self._once("placement", self._make_placement)

    def _make_placement(self) -> "Placement":
        """Return what places by the columns of the table, or by these and the pooled learner.

        The model with names knows no name of a new dataset, so its predictions are another column
        there than for known datasets. The model without names treats both alike.
        """
        layout, table = self.layout, self.rows.table
        if self.main is not self.corrected:
            return replace(self.main.placement, columns=layout.line_columns(corrected=False))
        pooled = self.entries["learner pooled"].held_out
        assert pooled is not None  # a learner's own predictions are kept
        used = layout.seen_by_engine("pooled")
        more = pooled[:, : len(used)]
        found = place_by_rows(table, more, self.linear.study, self.main.chosen.labels)
        return replace(found, columns=np.append(np.arange(layout.inputs), used))

    @property
    def common_model(self) -> "CommonModel | None":
        """Importance, partial dependence and departures of the model that all datasets share."""
        return self._once("common model", self._describe_common_model)

    def _describe_common_model(self) -> "CommonModel | None":
        if self.learned is None:
            return None
        seed = int(self.settings.get("random_state", 0))
        names = self.linear.facts.names
        return describe_common_model(self.learned, self.rows, self.schema, names, seed)

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the partition was asked for with."""
        return self.main.settings
