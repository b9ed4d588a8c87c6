"""Several shapes of boosted trees, averaged: what one shape misses, another has.

Rows and groups of rows enter; every row predicted by trees that have not seen it, and a weighted
mean of models of all rows leave. With few rows no single shape of trees is clearly the best, and
shapes that are about equally good err in different places. So each of `PARTS` is cross-fitted, and
their weights minimise the loss of the held-out rows (`strategies.stacking`). With many rows one
shape is enough, and several would take too long: `Boosting` then chooses one.

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
f_s         prediction of shape s, of rows that its trees have not seen           (S, n, L)
v           weights from all rows, not negative, sum one                          (S,)
v_-g        weights from the rows outside group g                                 (S,)
held_out    sum of v_-g,s f_s at the rows of group g: no row chose its weights    (n, L)
==========  ====================================================================  ============
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray, Progress
from conjoin.learners.boosting import ENOUGH_FOR_LARGE, Boosting
from conjoin.learners.rows import CrossFitted, LearnerRows, Model, group_count
from conjoin.strategies.stacking import find_weights

# Shapes of trees that are averaged, all of which cost little with few rows. Trees with many leaves
# come in where they can be filled.
PARTS = ("usual", "small", "tiny", "random", "sampled")
MORE_PARTS = (*PARTS, "large")
# Rows up to which shapes are averaged, and rows times lines of classes and counts, which take
# longer. All of them are cross-fitted, and nested up to as many rows, which takes up to twice the
# time of choosing one; with more rows the gain shrinks and the time grows.
MOST_ROWS, MOST_CLASS_ROWS = 20_000, 5_000
# Shapes with a smaller weight are left out: they would cost more than they bring.
LEAST_WEIGHT = 0.1
# Datasets from which they are the units of resampling of the weights; with fewer it is rows.
ENOUGH_DATASETS = 8


def blended(learner: Boosting) -> "Boosting | Blended":
    """Return boosting that averages shapes, unless rounds or trees are given."""
    given = (learner.rounds, learner.leaves, learner.least_rows, learner.shape)
    return Blended(learner) if all(one is None for one in given) else learner


@dataclass(frozen=True)
class Blended:
    """Boosted trees of several shapes where rows are few.

    Parameters
    ----------
    boosting : Boosting
        What is trained; with many rows it alone.
    shapes : tuple of str
        Shapes of trees that are averaged; those of `PARTS` with "large" where rows suffice for it.

    Examples
    --------
    >>> blended(Boosting()).name, type(blended(Boosting(leaves=8))).__name__
    ('boosting', 'Boosting')
    """

    boosting: Boosting
    shapes: tuple[str, ...] = PARTS

    @property
    def name(self) -> str:
        """Short name for tables."""
        return self.boosting.name

    @property
    def takes_categories(self) -> bool:
        """Whether it takes categories as codes and missing values as nan."""
        return self.boosting.takes_categories

    @property
    def in_threads(self) -> bool:
        """Whether several models may be trained at the same time."""
        return self.boosting.in_threads

    def cross_fit(
        self,
        rows: LearnerRows,
        group: IntArray,
        progress: Progress | None = None,
        *,
        keep: bool = False,
    ) -> CrossFitted:
        """Predict each group of rows by trees of the others, averaged over shapes."""
        most = MOST_ROWS if rows.response.family == "gaussian" else MOST_CLASS_ROWS
        # Models that are kept predict the rows of a large table, for which one shape is enough.
        if keep or len(rows) * rows.lines > most:
            return self.boosting.cross_fit(rows, group, progress, keep=keep)
        quick, found = self.boosting.quicker(), []
        large = self.shapes == PARTS and len(rows) >= ENOUGH_FOR_LARGE
        shapes = MORE_PARTS if large else self.shapes
        for done, shape in enumerate(shapes):
            found.append(replace(quick, shape=shape).cross_fit(rows, group))
            if progress is not None:
                progress(done + 1, len(shapes))
        weights = self._weights(found, rows, np.ones(len(rows), dtype=bool))
        kept = [part for part, weight in zip(found, weights) if weight >= LEAST_WEIGHT]
        weights = self._weights(kept, rows, np.ones(len(rows), dtype=bool))
        held_out = np.empty_like(kept[0].held_out)
        for g in range(group_count(group)):
            own = group == g
            outside = self._weights(kept, rows, ~own)
            held_out[own] = np.tensordot(outside, _stacked(kept)[:, own], axes=1)
        best = kept[int(np.argmax(weights))].settings
        parts = [{**one.settings, "weight": float(v)} for one, v in zip(kept, weights)]
        return CrossFitted(held_out, {**best, "parts": parts})

    def fit(self, rows: LearnerRows, settings: dict[str, Any]) -> Model:
        """Train on all rows with given settings."""
        if "parts" not in settings:
            return self.boosting.fit(rows, settings)
        models = tuple(self.boosting.fit(rows, one) for one in settings["parts"])
        return BlendedModel(models, tuple(one["weight"] for one in settings["parts"]))

    def narrowed(self, settings: dict[str, Any]) -> "Boosting | Blended":
        """Return the same with the shapes that were kept, the largest weight first."""
        if "parts" not in settings:
            return self.boosting.narrowed(settings)
        kept = sorted(settings["parts"], key=lambda part: -float(part["weight"]))
        return Blended(self.boosting, tuple(str(part["shape"]) for part in kept))

    def quicker(self) -> "Boosting | Blended":
        """Return boosting with larger steps, and with the best shape once shapes are chosen."""
        quick = self.boosting.quicker()
        return Blended(quick) if self.shapes == PARTS else replace(quick, shape=self.shapes[0])

    def for_few_rows(self) -> Boosting | None:
        """Return boosting for a single dataset of few rows."""
        return self.boosting.for_few_rows()

    def hastened(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the settings; those of several shapes have large steps already."""
        return settings if "parts" in settings else self.boosting.hastened(settings)

    def given_settings(self) -> dict[str, Any] | None:
        """Return None: shapes and rounds are chosen."""
        return None

    def _weights(self, parts: list[CrossFitted], rows: LearnerRows, kept: BoolArray) -> FloatArray:
        """Return the weights (S,) of parts from the rows that are kept."""
        if len(parts) == 1:
            return np.ones(1)
        many = rows.datasets >= ENOUGH_DATASETS
        unit = rows.dataset if many else np.arange(len(rows))
        of_rows = rows.y[kept], rows.response, rows.w[kept] / rows.w.sum(), unit[kept]
        return find_weights(_stacked(parts)[:, kept], *of_rows, self.boosting.random_state)


def _stacked(parts: list[CrossFitted]) -> FloatArray:
    """Return f_s (S, n, L)."""
    return np.stack([one.held_out for one in parts])


@dataclass(frozen=True, eq=False)
class BlendedModel:
    """A weighted mean of models."""

    models: Sequence[Any]
    weights: Sequence[float]

    @property
    def importance(self) -> FloatArray:
        """How much each column lowers the training loss, as shares; the dataset comes last."""
        shares = [one.importance for one in self.models]
        return np.asarray(np.average(shares, axis=0, weights=self.weights))

    def predict(self, X: FloatArray, dataset: IntArray) -> FloatArray:
        """Return linear predictors (n, lines) of rows."""
        each = [w * one.predict(X, dataset) for w, one in zip(self.weights, self.models)]
        return np.asarray(np.sum(each, axis=0))

    def to_plain(self, objects: list[Any]) -> dict[str, Any]:
        """Return plain values for a model file; what is not plain is appended to `objects`."""
        return {
            "kind": "blended",
            "weights": [float(w) for w in self.weights],
            "models": [one.to_plain(objects) for one in self.models],
        }
