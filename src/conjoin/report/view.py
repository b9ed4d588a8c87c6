"""A result as sections of the page see it: positions, colours, columns, errors in use.

A `Partition` enters, a `View` with arrays by dataset and by column leaves. Nothing is fitted here.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from conjoin._typing import FloatArray
from conjoin.report.measure import measure_of
from conjoin.report.numbers import percent_of
from conjoin.result.details import Details
from conjoin.result.fits import Fit

if TYPE_CHECKING:
    from conjoin.result.partition import Partition

# Confidence of the page's intervals for coefficients and for distances between strategies; the
# verdicts' level is by default the same.
LEVEL = 0.9
# Clusters with a colour of their own; the others are grey. More than eight colours are hard to tell
# apart, for colour-blind readers above all.
COLOURS = 8
LEVEL_NAME = "level"  # of the column that stands for the intercept


class View:
    """A result, its details (None where a file has none) and what sections need of both."""

    def __init__(self, result: "Partition") -> None:
        self.result = result
        self.names = list(result.labels)
        self.position = {name: k for k, name in enumerate(self.names)}
        self.in_use = np.array([result.coefficients[name].error for name in self.names])
        self.measure = measure_of(result.family)

    @property
    def details(self) -> Details | None:
        """Figures behind the page; finding them takes time."""
        found: Details | None = self.result.analysis.details
        return found

    @cached_property
    def colours(self) -> list[int]:
        """The colour number of each cluster."""
        return colours(self.result.clusters)

    @cached_property
    def features(self) -> list[str]:
        """The features that clusters and verdicts are about.

        With a learner these are the columns and its prediction; its other predictions come last.
        """
        return list(self.result.features[: len(self.result.analysis.placement.basis.scale)])

    @cached_property
    def line_columns(self) -> list[str]:
        """Names of the columns of one line of a model: the level, if there is one, and features."""
        intercept = self.result.analysis.placement.basis.intercept
        return [*([LEVEL_NAME] if intercept else []), *self.features]

    @cached_property
    def classes(self) -> list[str]:
        """Classes that have a line each: none for numbers, counts and two classes."""
        several = len(self.result.pooled.lines) > 1
        return [str(label) for label in self.result.classes] if several else []

    @cached_property
    def columns(self) -> list[str]:
        """Names of all coefficients of a model, one line after another."""
        found = [f"{label}: {name}" for label in self.classes for name in self.line_columns]
        return found or self.line_columns

    @cached_property
    def widths(self) -> FloatArray:
        """Typical width (columns,) of what each coefficient is multiplied with."""
        scale = self.result.analysis.placement.basis.scale
        one = np.concatenate([np.ones(len(self.line_columns) - len(scale)), scale])
        return np.tile(one, len(self.result.pooled.lines))

    def percent(self, gain: float | None, names: Sequence[str]) -> float | None:
        """Return a gain in percent of the error in use, averaged over the datasets concerned."""
        error = float(np.mean(self.in_use[[self.position[name] for name in names]]))
        return percent_of(gain, error)

    def coef(self, fit: Fit) -> FloatArray:
        """Return a model's coefficients (columns,), one line after another.

        The level is the value of the line at average features.
        """
        center = self.result.analysis.placement.basis.center
        found: list[FloatArray] = []
        for line in fit.lines:
            slopes = np.array([line.coef[name] for name in self.features])
            if len(self.line_columns) > len(slopes):
                found.append(np.array([line.intercept + float(slopes @ center)]))
            found.append(slopes)
        return np.concatenate(found)

    @cached_property
    def common(self) -> FloatArray:
        """Coefficients (columns,) of the model for all.

        With a learner that model may be a prediction alone; then the mean of the clusters' models
        stands for it.
        """
        if self.result.learner == "linear":
            return self.coef(self.result.pooled)
        return np.mean([self.coef(model) for model in self.result.models], axis=0)


def colours(clusters: Sequence[Sequence[str]]) -> list[int]:
    """Return a colour number for each cluster: the largest have their own, the others the last."""
    order = sorted(range(len(clusters)), key=lambda c: (-len(clusters[c]), c))
    several = sum(len(members) > 1 for members in clusters)
    coloured = order if len(clusters) <= COLOURS else order[: min(COLOURS, several)]
    rank = {c: i for i, c in enumerate(sorted(coloured))}
    return [rank.get(c, COLOURS) for c in range(len(clusters))]
