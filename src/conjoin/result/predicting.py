"""Predictions of a result: numbers, classes and probabilities.

Rows of a table enter; predictions leave, with warnings of what is unusual. `result.predictor` does
the work, for files and estimators too.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.api.described import documented
from conjoin.api.request import PredictionOptions
from conjoin.errors import warn_caller
from conjoin.result.fits import Fit
from conjoin.result.intervals import Intervals, PredictionSets, find_intervals
from conjoin.result.predictor import Predicted, Predictor
from conjoin.tables.schema import Schema

if TYPE_CHECKING:
    from conjoin.result.protocol import AnalysisProtocol
    from conjoin.result.values import Assignment


class Predictions:
    """Predictions of rows, as methods of a `Partition`."""

    if TYPE_CHECKING:
        clusters: list[list[str]]
        schema: Schema
        strategy: str
        coefficients: dict[str, Fit]
        models: list[Fit]
        pooled: Fit
        analysis: AnalysisProtocol
        added: Mapping[str, Assignment]

    @documented(PredictionOptions)
    def predict(
        self,
        X: Any,
        dataset: Any = None,
        *,
        on_unseen: str = PredictionOptions.on_unseen,
        limit: bool = PredictionOptions.limit,
        interval: float | None = PredictionOptions.interval,
        return_source: bool = False,
    ) -> Any:
        """Predict rows under the strategy: numbers, or the most likely classes.

        Parameters
        ----------
        X : frame, mapping of columns, or array (rows, features)
            Columns as at fitting, found by name. Those of an array come in the order of `features`,
            or of `schema.inputs` where there is a representation.
        dataset : name, or one for each row, optional
            Which dataset rows belong to; by default the columns `by` of X say so. A row whose name
            is missing gets the model for all.
        {options}
        return_source : bool, default False
            Whether to return as well which model each row got, as `conjoin predict` writes it:
            "in use" for known datasets, "assigned", "nearest cluster (dataset not seen at
            fitting)", "model for all (dataset not seen at fitting)", "model for all (no dataset
            named)".

        Returns
        -------
        array (rows,)
            With `interval` a tuple of arrays instead: (prediction, low, high) for numbers and
            counts; for classes (prediction, sets), where sets (rows, classes) says which classes,
            in the order of `classes`, are in the set of a row. With `return_source` a pair: the
            same and an array (rows,) of texts.

        Raises
        ------
        DataError
            If X lacks a column, or a dataset was not there at fitting and on_unseen is "raise".

        Examples
        --------
        >>> import conjoin
        >>> from conjoin.datasets import make_clusters
        >>> tables = make_clusters(sizes=(2, 2), distance=2.0).tables()
        >>> result = conjoin.partition(tables, target="y")
        >>> result.predict(tables["d1"], "d1").shape
        (100,)
        """
        options = PredictionOptions(on_unseen=on_unseen, limit=limit, interval=interval)
        rows, names = self.predictor.encode(X, dataset)
        linear = self.predict_encoded(rows, names, options).linear
        predicted: Any = self.predictor.targets(linear)
        if options.interval is not None:
            predicted = self.intervals(linear, names, options.interval)
        if not return_source:
            return predicted
        return predicted, np.array(self.predictor.sources(names, on_unseen), dtype=object)

    def predict_proba(
        self,
        X: Any,
        dataset: Any = None,
        *,
        on_unseen: str = PredictionOptions.on_unseen,
        limit: bool = PredictionOptions.limit,
    ) -> FloatArray:
        """Return the probability of each class (rows, classes); arguments as in `predict`."""
        self.predictor.probabilities(np.zeros((0, 1)))  # refuses numbers before rows are read
        rows, names = self.predictor.encode(X, dataset)
        options = PredictionOptions(on_unseen=on_unseen, limit=limit)
        return self.predictor.probabilities(self.predict_encoded(rows, names, options).linear)

    def intervals(
        self, linear: FloatArray, names: Sequence[str | None], level: float
    ) -> Intervals | PredictionSets:
        """Return intervals of rows by their linear predictors (rows, lines) and datasets."""
        known = {name: k for k, name in enumerate(self.coefficients)}
        added = {name: one.errors["own"] for name, one in self.added.items()}
        spread = self.analysis.spread(self.strategy)
        return find_intervals(linear, names, level, spread, known, self.schema.response, added)

    def predict_encoded(
        self, rows: FloatArray, names: list[str | None], options: PredictionOptions
    ) -> Predicted:
        """Return linear predictors of rows of features (n, features); warn of what is unusual."""
        nearest = None
        if options.on_unseen == "nearest":
            within = self.predictor.notice(rows, names, options)[0]
            nearest = self.predictor.places(within, names, self.analysis.placement)
        predicted = self.predictor.predict(rows, names, options, nearest)
        noticed = predicted.noticed
        unseen = noticed.unseen_sentence("pooled") if options.on_unseen == "pooled" else None
        for sentence in (noticed.beyond_sentence(), unseen):
            if sentence is not None:
                warn_caller(sentence)
        return predicted

    @cached_property
    def predictor(self) -> Predictor:
        """What predicts rows, here, in the estimators and for files."""
        added = {name: one.model for name, one in self.added.items()}
        named = getattr(self.schema, "predictions", None) is not None
        members = self.clusters if named else ()
        return Predictor(self.schema, self.coefficients, self.models, self.pooled, added, members)
