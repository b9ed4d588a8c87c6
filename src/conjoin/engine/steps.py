"""Steps 3 to 7 for one study: search partitions, fit, validate, choose.

A task and a study enter; an analysis with the fits of its strategies leaves (`Analysed`). With a
learner these steps are done twice: for the columns of the table, and with the learner's prediction
as one more column (`engine.learner_run`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conjoin.api.request import Request
from conjoin.engine.analysed import Analysed
from conjoin.engine.analysis import Analysis, Origin
from conjoin.engine.criteria import group_greedily
from conjoin.engine.finished import finished_fits, inputs_of
from conjoin.engine.methods import METHODS, Candidates, fitted
from conjoin.engine.row_steps import find_by_rows
from conjoin.engine.settled import settle_labels
from conjoin.engine.strategies import validate_strategies
from conjoin.engine.study import DatasetFacts, Study, rows_of
from conjoin.engine.verdicts import make_judge
from conjoin.execution import one_thread
from conjoin.models.problem import RowLeastSquares
from conjoin.strategies.plan import make_plan, start_values
from conjoin.strategies.validation import fit_strategies

if TYPE_CHECKING:
    from conjoin._typing import Progress
    from conjoin.criterion import Criterion
    from conjoin.engine.methods import Chosen
    from conjoin.engine.remote import Reduced
    from conjoin.models.optima import Starts
    from conjoin.moments.kept import KeptMoments
    from conjoin.representations.base import Representation
    from conjoin.result.update import Move
    from conjoin.strategies.plan import Start
    from conjoin.tables import DatasetCollection


@dataclass(frozen=True)
class Task:
    """What is asked of a table."""

    request: Request
    criterion: "Criterion | None"
    representation: "Representation | None"
    settings: Mapping[str, Any]
    alone: bool
    before: Mapping[str, int] | None = None  # the labels that an update starts from
    free: bool = False  # whether an update makes changes that may be chance


def find(
    task: Task,
    table: "DatasetCollection | Reduced",
    study: Study,
    progress: "Progress | None" = None,
) -> Analysed:
    """Do steps 3 to 7 for a study."""
    if isinstance(study.given, RowLeastSquares):
        rows = rows_of(table)
        assert rows is not None  # its rows are here
        return find_by_rows(task, rows, study, progress)
    request, criterion = task.request, task.criterion
    facts = DatasetFacts.of(table)
    with one_thread():
        start = start_values(study.given, _starts_of(table))
        judge = make_judge(study, start)

        # 3 Search partitions.
        plan = make_plan(start, intercept=request.intercept)

        # 4 Fit strategies.
        fits = finished_fits(
            (request.intercept, *inputs_of(start.problem)),
            lambda: fit_strategies(plan, start.problem, progress if criterion is None else None),
        )

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
        chosen, moves = _settled(task, chosen, candidates, facts.names)

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
        kept=_kept_after(table, start),
        moves=moves,
    )
    return Analysed(analysis, fits, candidates)


def _starts_of(table: Any) -> "Starts | None":
    """Return where searches for variances start; None if they need not find the last digits."""
    kept: KeptMoments | None = getattr(table, "kept", None)
    if kept is None:
        return {} if getattr(table, "last_digits", False) else None
    return kept.starts


def _kept_after(table: Any, start: "Start") -> "KeptMoments | None":
    """Return kept moments with the optima that were found, for an update to start from."""
    kept: KeptMoments | None = getattr(table, "kept", None)
    if kept is None or start.optima is None:
        return kept
    return kept.with_starts(start.optima.after)


def _settled(
    task: Task, chosen: "Chosen", candidates: Candidates, names: Sequence[str]
) -> "tuple[Chosen, tuple[Move, ...]]":
    """Return the partition, after an update with the changes that are worth it."""
    moves: tuple[Move, ...] = ()
    if task.before is not None:
        chosen, moves = settle_labels(chosen, candidates, names, task.before, free=task.free)
    candidates.forget_joins()
    return chosen, moves
