"""What steps 3 to 7 return for one study: an analysis with the fits of its strategies."""

from dataclasses import dataclass, replace

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.engine.analysis import Analysis
from conjoin.engine.methods import Candidates, fitted
from conjoin.grouping.refine import Join
from conjoin.result.values import OF_LEARNER
from conjoin.strategies.validation import Fitted


@dataclass(frozen=True, eq=False)
class Analysed:
    """An analysis with the fits of its strategies, and what partitions are chosen from.

    Parameters
    ----------
    analysis : Analysis
    fits : mapping of strategy to Fitted
    candidates : Candidates, optional
        None where no partition was searched for.
    held_out : array (n, 1), optional
        Predictions of held-out rows by the average of the strategies, where the fits outside the
        folds are not kept (`engine.row_steps`).
    """

    analysis: Analysis
    fits: dict[str, Fitted]
    candidates: Candidates | None
    held_out: FloatArray | None = None

    def with_labels(self, labels: IntArray, joins: tuple[Join, ...] | None = None) -> "Analysed":
        """Return the analysis of other clusters, made by some joins or by their merge trees."""
        if np.array_equal(self.analysis.chosen.labels, labels):
            return self
        assert self.candidates is not None  # without a search there is one partition only
        chosen = fitted(labels, self.candidates, joins)
        # The search of the engine did not find these clusters, so it cannot be repeated for them.
        origin = replace(self.analysis.origin, grouping=OF_LEARNER)
        return replace(self, analysis=replace(self.analysis, chosen=chosen, origin=origin))
