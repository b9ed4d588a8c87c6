"""What a result says of its learner, as properties of `Partition`.

A result enters; the name of the learner, how far its model holds for every dataset, and the result
with lines only leave.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from conjoin.errors import ArgumentError

LEVEL = 0.9  # confidence of the intervals, as for all coefficients


@dataclass(frozen=True)
class Reach:
    """How far the model that all datasets share holds for one of them.

    Parameters
    ----------
    value : float
        Coefficient of the learner's prediction in the dataset's own fit of columns and prediction:
        1 if the common model holds entirely, 0 if not at all; nan with too few rows.
    interval : (float, float)
        Its 90 % confidence interval.
    """

    value: float
    interval: tuple[float, float]


class Learners:
    """Properties about the learner; `self` is a `Partition`."""

    @property
    def learner(self: Any) -> str:
        """The learner that clusters and verdicts are about: "linear", "boosting" or a class."""
        found = getattr(self.schema, "predictions", None)
        return found.learner if found is not None and found.leads else "linear"

    @property
    def linear(self: Any) -> Any:
        """The result with lines only: its clusters, verdicts and models.

        It is the result itself where there are no others, and for a result from a file. Datasets
        that got a model later (`adding`) are not in it, since their models may use the learner.
        """
        found = getattr(self.analysis, "linear", None)
        return self if found is None else found.using("auto")

    def reach(self: Any) -> dict[str, Reach]:
        """Return how far the learner's common model holds for every dataset.

        Returns
        -------
        dict of dataset name to Reach

        Raises
        ------
        ArgumentError
            If lines predict better than the learner, if there are more than two classes, or if a
            file was written without these figures.
        """
        details = self.analysis.details
        if self.learner == "linear" or details is None or len(self.pooled.lines) > 1:
            raise ArgumentError(
                "reach() is about a learner's prediction with one line; this result has none: its "
                f"learner is {self.learner!r}, with {len(self.pooled.lines)} lines of a model."
            )
        j = 1 + len(self.schema.inputs)  # after the level and the columns of the table
        value, spread = details.own[:, j], details.own_spread[:, j]
        half = stdtrit(np.maximum(details.degrees, 1.0), (1 + LEVEL) / 2) * spread
        return {
            name: Reach(float(v), (float(v - h), float(v + h)))
            for name, v, h in zip(self.labels, value, half)
        }
