"""Steps 3 to 7 where datasets have fewer rows than columns: rows stand for moments.

A study whose rows stand for moments enters; an analysis leaves. Such datasets are too small to be
told apart: own fits follow their rows exactly, and no search could say which of them share a model.
All stay in one cluster, and what a dataset has of its own is partially pooled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from conjoin._typing import Progress
from conjoin.engine.analysed import Analysed
from conjoin.engine.analysis import Analysis, Origin
from conjoin.engine.methods import Chosen
from conjoin.engine.strategies import Strategies
from conjoin.engine.study import DatasetFacts, Study
from conjoin.models.problem import RowLeastSquares
from conjoin.strategies.average import average_weights, is_averaged
from conjoin.strategies.row_fits import (
    RowFitted,
    average_rows,
    fit_row_strategies,
    fit_rows,
    judge_rows,
    plan_rows,
    pooled_least_squares,
)

if TYPE_CHECKING:
    from conjoin._typing import Progress
    from conjoin.engine.steps import Task
    from conjoin.result.values import Alternative, Merge
    from conjoin.tables import DatasetCollection

UNKNOWN = (float("nan"), float("nan"))


@dataclass(frozen=True, eq=False)
class RowAnalysis(Analysis):
    """An analysis of datasets that are too small for a search, for verdicts and for own fits."""

    def ledger(self, most: int | None, progress: Progress | None = None) -> "tuple[Merge, ...]":
        """Return nothing: no join was judged."""
        return ()

    def join_change(self, left: Sequence[str], right: Sequence[str]) -> tuple[float, float]:
        """Return that nothing is known of a join."""
        return UNKNOWN

    def alternatives(self, name: str) -> "tuple[Alternative, ...]":
        """Return nothing: no join was judged."""
        return ()

    @property
    def all_alternatives(self) -> "dict[str, tuple[Alternative, ...]]":
        """Nothing for every dataset."""
        return dict.fromkeys(self.facts.names, ())

    @property
    def details(self) -> None:
        """None: the figures of the report need own fits."""
        return None


def find_by_rows(
    task: "Task", table: "DatasetCollection", study: Study, progress: Progress | None = None
) -> Analysed:
    """Do steps 3 to 7 for a study whose rows stand for moments."""
    request, problem = task.request, study.given
    assert isinstance(problem, RowLeastSquares)

    # 3 There is no partition to search for. 4 Fit strategies.
    plan = plan_rows(problem, intercept=request.intercept)
    fits = fit_row_strategies(plan, progress)

    # 5 Validate.
    strategies, auto = _validate(fits, study, problem)

    # 6 All datasets are one cluster.
    pooled, own = strategies.validated["pooled"], strategies.validated["slopes"]
    plain = judge_rows(fit_rows(pooled_least_squares, problem), problem)
    labels = np.zeros(len(table.names), dtype=np.int64)
    chosen = Chosen(labels, pooled, pooled, plain, own)

    # 7 No verdicts.
    origin = Origin(request.method_name, "none", request.delta, task.settings, steps=())
    facts = DatasetFacts.of(table)
    analysis = RowAnalysis(
        facts, study, plan.start, None, strategies, chosen, None, origin, plan.refits
    )
    basis, rows = study.basis, problem.folds
    held_out = auto.lines[rows.fold, np.arange(len(rows.t))]
    return Analysed(
        analysis, {}, None, (held_out * basis.target_scale + basis.target_center)[:, None]
    )


def _validate(
    fits: dict[str, RowFitted], study: Study, problem: RowLeastSquares
) -> tuple[Strategies, RowFitted]:
    """Return the losses of all strategies on held-out rows, and their average."""
    moments = problem.moments
    validated = {name: judge_rows(one, problem) for name, one in fits.items()}
    losses = np.stack([one.losses for one in validated.values()])
    averaged = [is_averaged(name, moments) for name in fits]
    weights = average_weights(losses, averaged, moments.w, study.weights)
    auto = average_rows(list(fits.values()), weights)
    validated["auto"] = judge_rows(auto, problem)
    return Strategies(validated, dict(zip(fits, map(float, weights)))), auto
