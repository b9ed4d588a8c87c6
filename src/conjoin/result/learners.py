"""What a result says of its learner, as properties of `Partition`.

A result enters; the name of the learner, how far its model holds for every dataset, and the result
with lines only leave.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from conjoin.errors import ArgumentError
from conjoin.result.common_model import CommonModel, Departure, Importance, PartialDependence
from conjoin.text import quoted

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

    def importance(self: Any) -> dict[str, Importance]:
        """Return how much the common model (strategy "learner named") needs every column.

        Returns
        -------
        dict of column to Importance
            The rise of the held-out error when the column is shuffled, largest first. The
            dataset's name is one of the columns, called as the column `by`, or "dataset".

        Raises
        ------
        ArgumentError
            If the result has lines only, or comes from a file written without these figures.

        Examples
        --------
        See docs/learners.md.
        """
        return dict(_common_model(self, "importance()").importance)

    def partial_dependence(self: Any, column: str) -> PartialDependence:
        """Return what the common model predicts on average for values of a column.

        Parameters
        ----------
        column : str
            One of the twelve most important columns of `importance()`.

        Returns
        -------
        PartialDependence

        Raises
        ------
        ArgumentError
            As in `importance`, or if there is no curve for the column.
        """
        known = _common_model(self, "partial_dependence()").dependence
        if not isinstance(column, str) or column not in known:
            raise ArgumentError(
                f"column={column!r} has no curve; expected one of the most important columns: "
                f"{quoted(list(known))}."
            )
        return known[column]

    def departures(self: Any) -> dict[str, Departure]:
        """Return where every dataset departs most from the model without names.

        Returns
        -------
        dict of dataset name to Departure
            Held-out rows of the dataset are compared with predictions of "learner pooled", along
            the column where they differ most. Datasets with too few rows are left out.

        Raises
        ------
        ArgumentError
            As in `importance`.
        """
        return dict(_common_model(self, "departures()").departures)

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


def _common_model(result: Any, asked: str) -> CommonModel:
    """Return what is known of the common model, or say why nothing is."""
    found: CommonModel | None = result.analysis.common_model
    if found is not None:
        return found
    if getattr(result.schema, "predictions", None) is None:
        raise ArgumentError(
            f"{asked} is about a learner's common model, and this result has lines only; look at "
            "its coefficients, or choose learner='boosting'."
        )
    raise ArgumentError(
        f"{asked} is not known here: the file was written without these figures, which are found "
        "from rows. Fit and save the result again."
    )
