"""Step 5: losses of all strategies on held-out rows, and the weights of their average.

Fitted coefficients enter, `Strategies` leave.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from conjoin.engine.study import Study
from conjoin.strategies.average import average, average_weights, is_averaged
from conjoin.strategies.plan import Start
from conjoin.strategies.validation import Fitted, Validated, judge_all, judge_losses


@dataclass(frozen=True, eq=False)
class Strategies:
    """The strategies, fitted and validated; "auto", the average, is the last.

    Parameters
    ----------
    validated : mapping of name to Validated
    weights : mapping of name to float
        Weights of the strategies in "auto".
    """

    validated: Mapping[str, Validated]
    weights: Mapping[str, float]


def validate_strategies(fits: dict[str, Fitted], study: Study, start: Start) -> Strategies:
    """Return the losses of all strategies on held-out rows, and those of their average."""
    problem, moments = start.problem, start.problem.moments
    validated = dict(zip(fits, judge_all(list(fits.values()), problem)))
    losses = np.stack([one.losses for one in validated.values()])
    averaged = [is_averaged(name, moments) for name in fits]
    weights = average_weights(losses, averaged, moments.w, study.weights)
    validated["auto"] = judge_losses(average(list(fits.values()), weights), problem)
    return Strategies(validated, dict(zip(fits, map(float, weights))))
