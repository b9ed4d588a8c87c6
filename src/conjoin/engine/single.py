"""A single dataset, where nothing is to be joined: the evidence behind its one model."""

from functools import cached_property

import numpy as np

from conjoin.engine.analysis import Analysis, DatasetFacts
from conjoin.engine.study import Study
from conjoin.result.partition import Estimate, Partition
from conjoin.strategies import core as strategies

# There is time to let a single likelihood settle to the last digits.
MOST_MOVES, CLOSE = 50, 1e-16
SAME_FOR_ONE = ("separate", "pooled", "clusters", "auto")


class Alone(Analysis):
    """What lies behind a single dataset: one model, nothing to join."""

    @classmethod
    def of(cls, described: DatasetFacts, study: Study, delta: float) -> "Alone":
        """Take the only dataset of a collection."""
        labels = np.zeros(1, dtype=np.int64)
        return cls(described, study, labels, "none", "none", delta, merges=())

    def using(self, strategy: str) -> Partition:
        """Return the one model there is, whatever the strategy."""
        known, w = self.described, self.study
        refit = strategies.separate_fit(w.given)
        beta = strategies.fit(refit, w.given, moves=MOST_MOVES, close=CLOSE)[0][0]
        fit = known.model(w.basis, beta, known.sizes[0], self._error)
        return Partition(
            clusters=[list(known.names)],
            labels=dict.fromkeys(known.names, 0),
            models=[fit],
            strategy="separate",
            coefficients=dict.fromkeys(known.names, fit),
            pooled=fit,
            method=self.method,
            grouping=self.grouping,
            features=known.schema.features,
            schema=known.schema,
            analysis=self,
        )

    @cached_property
    def _error(self) -> float:
        given = self.study.given
        cells = strategies.validate(strategies.separate_fit(given), given)
        return float(cells.sum() / given.moments.w.sum())

    @cached_property
    def weights(self) -> dict[str, float]:
        """The model's share in itself."""
        return {"separate": 1.0}

    @cached_property
    def errors(self) -> dict[str, Estimate]:
        """Validated error of the model, under the names of all strategies that it is."""
        error = self._error * self.study.basis.target_scale**2
        return dict.fromkeys(SAME_FOR_ONE, Estimate(error, 0.0, 0.0))
