"""Steps of the engine on collections of moments, for tests of strategies and methods."""

from dataclasses import dataclass

import numpy as np

from conjoin.criterion.judge import Judge
from conjoin.engine.methods import METHODS, Candidates
from conjoin.models.problem import LeastSquares
from conjoin.strategies.average import average, average_weights, is_averaged
from conjoin.strategies.plan import Plan, Start, make_plan, start_values
from conjoin.strategies.validation import Fitted, fit_strategies, judge_losses


def equal(K):
    return np.full(K, 1 / K)


@dataclass
class Flow:
    start: Start
    plan: Plan
    fits: dict[str, Fitted]
    losses: np.ndarray
    weights: np.ndarray
    auto: Fitted

    def candidates(self):
        """Return what a method chooses from."""
        moments = self.start.problem.moments
        pooled = judge_losses(self.fits["pooled"], self.start.problem)
        weights = equal(moments.shape[0])
        return Candidates(
            self.start, weights, self.plan.search, Judge.of(moments), pooled, delta=0.1
        )

    def choose(self, method="auto"):
        """Return the partition of a method."""
        return METHODS[method].choose(self.candidates())


def run(truth):
    """Take moments of folds through the steps from start values to the average."""
    start = start_values(LeastSquares(truth.folds))
    plan = make_plan(start)
    problem, moments = start.problem, start.problem.moments
    fits = fit_strategies(plan, problem)
    losses = np.stack([problem.loss(one.fold_coef) for one in fits.values()])
    averaged = [is_averaged(name, moments) for name in fits]
    weights = average_weights(losses, averaged, moments.w, equal(moments.shape[0]))
    return Flow(start, plan, fits, losses, weights, average(list(fits.values()), weights))
