"""Steps 3 to 7 for one study: search partitions, fit, validate, choose.

A task and a study enter; an analysis with the fits of its strategies leaves (`Analysed`). With a
learner these steps are done twice: for the columns of the table, and with the learner's prediction
as one more column (`engine.learner_run`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from conjoin._typing import IntArray
from conjoin.api.request import Request
from conjoin.engine.analysis import Analysis, Origin
from conjoin.engine.criteria import group_greedily
from conjoin.engine.methods import METHODS, Candidates, fitted
from conjoin.engine.strategies import validate_strategies
from conjoin.engine.study import DatasetFacts, Study
from conjoin.engine.verdicts import make_judge
from conjoin.execution import small_matrices
from conjoin.strategies.plan import make_plan, start_values
from conjoin.strategies.validation import Fitted, fit_strategies
from conjoin.tables import DatasetCollection

if TYPE_CHECKING:
    from conjoin._typing import Progress
    from conjoin.criterion import Criterion
    from conjoin.engine.remote import Reduced
    from conjoin.representations.base import Representation


@dataclass(frozen=True)
class Task:
    """What is asked of a table."""

    request: Request
    criterion: "Criterion | None"
    representation: "Representation | None"
    settings: Mapping[str, Any]
    alone: bool


@dataclass(frozen=True, eq=False)
class Analysed:
    """An analysis with the fits of its strategies, and what partitions are chosen from."""

    analysis: Analysis
    fits: dict[str, Fitted]
    candidates: Candidates

    def with_labels(self, labels: IntArray) -> "Analysed":
        """Return the analysis of other clusters."""
        if np.array_equal(self.analysis.chosen.labels, labels):
            return self
        chosen = fitted(labels, self.candidates)
        # The search of the engine did not find these clusters, so it cannot be repeated for them.
        origin = replace(self.analysis.origin, grouping="learner")
        return replace(self, analysis=replace(self.analysis, chosen=chosen, origin=origin))


def find(
    task: Task,
    table: "DatasetCollection | Reduced",
    study: Study,
    progress: "Progress | None" = None,
) -> Analysed:
    """Do steps 3 to 7 for a study."""
    request, criterion = task.request, task.criterion
    facts = DatasetFacts.of(table)
    with small_matrices(len(facts.schema.features)):
        start = start_values(study.given)
        judge = make_judge(study, start)

        # 3 Search partitions.
        plan = make_plan(start, intercept=request.intercept)

        # 4 Fit strategies.
        fits = fit_strategies(plan, start.problem, progress if criterion is None else None)

        # 5 Validate.
        strategies = validate_strategies(fits, study, start)

        # 6 Choose.
        pooled = strategies.validated["pooled"]
        candidates = Candidates(start, study.weights, plan.search, judge, pooled, request.delta)
        if criterion is None:
            chosen, steps = METHODS[request.method].choose(candidates), None
        else:
            labels, steps = group_greedily(criterion, table, request, progress)
            chosen = fitted(labels, candidates)

    # 7 Verdicts, on demand.
    grouping = "agglomerative" if criterion is None else "greedy"
    origin = Origin(request.method_name, grouping, request.delta, task.settings, steps)
    analysis = Analysis(
        facts,
        study,
        start,
        plan.search,
        strategies,
        chosen,
        judge,
        origin,
        plan.refits,
        table=rows_of(table),
    )
    return Analysed(analysis, fits, candidates)


def rows_of(table: "DatasetCollection | Reduced") -> DatasetCollection | None:
    """Return the rows; None where they are elsewhere."""
    return table if isinstance(table, DatasetCollection) else None
