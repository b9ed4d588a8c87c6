"""A single dataset, where nothing can be joined: one model under the names of several strategies.

A study enters, the same frozen values as for many datasets leave, so that everything after step 6
is the same.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from conjoin.engine.analysis import Analysis, Origin
from conjoin.engine.methods import Chosen
from conjoin.engine.strategies import Strategies
from conjoin.engine.study import DatasetFacts, Study
from conjoin.engine.verdicts import make_judge
from conjoin.models.problem import Problem
from conjoin.strategies.plan import start_values
from conjoin.strategies.refits import separate_fit
from conjoin.strategies.validation import Fitted, fit, fit_outside, judge_losses
from conjoin.tables import DatasetCollection

# Newton steps of a single likelihood, and the change of linear predictors at which they end: there
# is time to converge to the last digits.
MOST_MOVES, CLOSE = 50, 1e-16
SAME_FOR_ONE = ("separate", "pooled", "auto")  # strategies that are one model here


def analyse_single(
    facts: DatasetFacts,
    study: Study,
    delta: float,
    settings: Mapping[str, Any],
    table: DatasetCollection | None = None,
) -> Analysis:
    """Return the analysis of a single dataset; `table` are its rows, for intervals."""
    start = start_values(study.given)
    strategies, chosen = fit_single(study.given)
    origin = Origin("none", "none", delta, settings, steps=())
    judge = make_judge(study, start)
    return Analysis(facts, study, start, None, strategies, chosen, judge, origin, table=table)


def fit_single(given: Problem) -> tuple[Strategies, Chosen]:
    """Fit the one model of a single dataset, and validate it."""
    refit = separate_fit(given)
    coef, _ = fit(refit, given, moves=MOST_MOVES, close=CLOSE)
    # Outside folds the usual number of steps does.
    fold_coef = fit_outside(refit, fit(refit, given)[1])
    model = judge_losses(Fitted(coef, fold_coef), given)
    strategies = Strategies(dict.fromkeys(SAME_FOR_ONE, model), {"separate": 1.0})
    label = np.zeros(1, dtype=np.int64)
    return strategies, Chosen(label, model, model, model, model, model.losses)
