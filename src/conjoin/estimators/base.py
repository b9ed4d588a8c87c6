"""What the estimators for scikit-learn share: fitting, reading X, what was found, files.

X, y and names of datasets enter `fit`; the result of `conjoin.partition` stands in `result_`.
`estimators.input` says what X may be and where the name of a row's dataset comes from.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from conjoin._typing import AnyArray, FloatArray, Progress
from conjoin.api.request import PredictionOptions, Request, refuse_renamed
from conjoin.checks import check_choice
from conjoin.engine.run import run
from conjoin.errors import ArgumentError, ConjoinWarning, DataError, ReadError
from conjoin.estimators.input import (
    Layout,
    arrow_of_array,
    by_columns,
    check_there,
    dtype_of,
    free_name,
    is_frame,
    known_columns,
    names_of_rows,
    plain_parameter,
    to_arrow,
    with_column,
    with_names,
)
from conjoin.progress import progress_bar
from conjoin.report.notebook import notebook_view
from conjoin.representations.learned import from_settings, to_settings
from conjoin.result.load import load_with_extra
from conjoin.result.partition import Partition
from conjoin.result.store import save
from conjoin.result.values import Assignment, Estimate, Merge
from conjoin.tables.names import DATASET
from conjoin.tables.roles import Roles


class Join(BaseEstimator):  # type: ignore[misc]
    """What the regressor and the classifier share: all but what is predicted."""

    _ONE = "least-squares"  # what a single dataset gets
    _CHOICES: ClassVar[dict[str, Sequence[str]]] = {}  # of parameters that not all estimators have

    def __new__(cls, *args: Any, **params: Any) -> Self:
        """Name the new spelling of a parameter that was renamed."""
        refuse_renamed(params)
        return super().__new__(cls)

    def __getattr__(self, name: str) -> Any:
        """Name the new spelling of an attribute that was renamed."""
        if name == "verdicts_":
            raise AttributeError(f"{type(self).__name__}.verdicts_ is now called ledger_.")
        # The error of a property, such as `NotFittedError`, is raised again as it was.
        return super().__getattribute__(name)

    def __init__(
        self,
        by: str | int | Sequence[str | int] | None = None,
        *,
        strategy: str = Request.strategy,
        method: Any = Request.method,
        grouping: str | None = Request.grouping,
        on_unseen: str = PredictionOptions.on_unseen,
        missing: str = Request.missing,
        weigh_by: str = Request.weigh_by,
        delta: float = Request.delta,
        folds: int = Request.folds,
        fit_intercept: bool = Request.intercept,
        limit: bool = PredictionOptions.limit,
        representation: Any = Request.representation,
        learn_share: float = Request.learn_share,
        random_state: int = Request.random_state,
        verbose: bool = False,
    ) -> None:
        self.by = by
        self.strategy = strategy
        self.method = method
        self.grouping = grouping
        self.on_unseen = on_unseen
        self.missing = missing
        self.weigh_by = weigh_by
        self.delta = delta
        self.folds = folds
        self.fit_intercept = fit_intercept
        self.limit = limit
        self.representation = representation
        self.learn_share = learn_share
        self.random_state = random_state
        self.verbose = verbose

    # --- fitting ---------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Find which datasets to train together, and fit the models.

        Parameters
        ----------
        X : frame or array (rows, columns)
            pandas or Polars frame, Arrow table, mapping of column names to arrays, or array.
            Columns of a frame may be numbers, text, true/false or dates, with missing values.
        y : array (rows,)
            Target: finite numbers; for a classifier labels of classes.
        groups : array (rows,), optional
            Name of each row's dataset, where `by` is not given.
        sample_weight : array (rows,), optional
            Relative precision of each row; rows of weight zero are left out. A row of weight two
            is one row with half the noise, not two rows: with several datasets that is less
            evidence. A single dataset of classes or counts has no use for that: there weights are
            repeats, against which the ridge counts as one.
        """
        self._check_parameters()
        if self.by is not None and groups is not None:
            raise ArgumentError(
                f"by={self.by!r} and groups are both given; name datasets by one of them."
            )
        source = "by" if self.by is not None else "none" if groups is None else "groups"
        table, y = self._read_both(X, y, source)
        layout = Layout(tuple(table.column_names), not is_frame(X), source)
        table, by = with_names(table, layout, self.by, groups)
        table, roles = self._with_target(table, y, by, sample_weight)
        alone = all(len(table[name].drop_null().unique()) == 1 for name in by)
        if alone:
            self._warn_of_one()
        with self._progress() as progress:
            self.result_ = run(self._request(roles), table, progress, alone=alone)
        self._layout = layout
        self._settle()
        return self

    def _settle(self) -> None:
        """Set what else is known after fitting."""

    def _family(self) -> str:
        """Return the family of the target."""
        raise NotImplementedError

    def _request(self, roles: Roles | None = None) -> Request:
        """Return the request of `partition`; it checks the parameters."""
        known = roles or Roles("y")
        return Request(
            target=known.target,
            by=known.by,
            weights=known.weights,
            strategy=self.strategy,
            method=self.method,
            grouping=self.grouping,
            missing=self.missing,
            weigh_by=self.weigh_by,
            delta=self.delta,
            folds=self.folds,
            random_state=self.random_state,
            family=self._family(),
            intercept=self.fit_intercept,
            representation=self.representation,
            # Without a representation the share means nothing: a search may try both.
            learn_share=Request.learn_share if self.representation is None else self.learn_share,
        )

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot be used, before the data is read."""
        for name, allowed in self._CHOICES.items():
            check_choice(name, getattr(self, name), allowed)
        self._request()
        PredictionOptions(on_unseen=self.on_unseen, limit=self.limit)

    def _read_both(self, X: Any, y: Any, source: str) -> tuple[pa.Table, AnyArray]:
        """Return X as a table and y as an array, in the manner of scikit-learn's checks."""
        numbers = self._family() != "logistic"
        if numbers:
            _refuse_text(y)
        if is_frame(X):
            y = self._read_labels(y) if not numbers else validate_data(self, y=y, y_numeric=True)
            table = to_arrow(X)
            validate_data(self, known_columns(X, table), skip_check_array=True)
        else:
            X, y = validate_data(
                self,
                X,
                y,
                dtype=dtype_of(source),
                ensure_all_finite="allow-nan",
                ensure_min_samples=2,
                y_numeric=numbers,
            )
            names = [f"x{j}" for j in range(X.shape[1])]
            table = arrow_of_array(X, names, by_columns(self.by, names, positions=True))
        return table, np.asarray(y, dtype=np.float64) if numbers else np.asarray(y)

    def _read_labels(self, y: Any) -> AnyArray:
        if y is None:
            raise DataError("requires y to be passed, but the target y is None: pass the labels.")
        return column_or_1d(y, warn=True)

    def _with_target(
        self, table: pa.Table, y: AnyArray, by: tuple[str, ...], sample_weight: Any
    ) -> tuple[pa.Table, Roles]:
        """Put target and weights beside the columns of X; leave out rows without weight."""
        check_consistent_length(table, y)
        target, weights = free_name("y", table.column_names), None
        table = with_column(table, target, y)
        if sample_weight is not None:
            w = _check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True)
            if not w.any():
                raise DataError("sample_weight is zero in every row; give some row a weight.")
            weights = free_name("sample_weight", table.column_names)
            table = with_column(table, weights, w).filter(pa.array(w > 0))
        return table, Roles(target, by, None, weights)

    @contextmanager
    def _progress(self) -> Iterator[Progress | None]:
        """Show a bar if one is wanted."""
        if not self.verbose:
            yield None
            return
        with progress_bar("Finding what to join", stays=True) as progress:
            yield progress

    def _warn_of_one(self) -> None:
        """Say that a single dataset is not joined with anything."""
        hint = (
            "Name the column of datasets with by=..., or pass groups=... to fit."
            if self.by is None
            else f"Column by={self.by!r} has the same value in all rows."
        )
        text = f"There is only one dataset, so nothing is joined: it gets one {self._ONE} model."
        warnings.warn(f"{text} {hint}", ConjoinWarning, stacklevel=3)

    # --- using the models ------------------------------------------------------------------------

    def _linear_predictors(self, X: Any, groups: Any) -> FloatArray:
        """Return the linear predictors of rows (rows, lines)."""
        check_is_fitted(self, "result_")
        self._check_source(groups)
        table = self._read(X)
        by = self.result_.schema.roles.by
        if self._layout.source == "by":
            check_there(by, table.column_names)
        else:
            table = with_column(table, by[0], names_of_rows(groups, table))
        rows, names = self.result_.predictor.encode(table)
        options = PredictionOptions(on_unseen=self.on_unseen, limit=self.limit)
        return self.result_.predict_encoded(rows, names, options).linear

    def assign(self, X: Any, y: Any) -> Assignment:
        """Place a new dataset from some rows with known target, without fitting anew.

        X has the columns of fitting; that of the datasets' names may be left out of a frame.
        """
        check_is_fitted(self, "result_")
        return self.result_.assign(self._read(X), column_or_1d(y, warn=True))

    def _check_source(self, groups: Any) -> None:
        """Refuse names of datasets that come another way than at fitting."""
        source = self._layout.source
        if source == "groups" and groups is None:
            raise ArgumentError(
                "The model was fitted with groups=..., so predict needs them too: pass groups=... "
                "with the name of each row's dataset (None where it is not known)."
            )
        if source != "groups" and groups is not None:
            why = f"with by={self.by!r}" if source == "by" else "without groups, to one dataset"
            raise ArgumentError(f"groups is given, but the model was fitted {why}; leave it out.")

    def _read(self, X: Any) -> pa.Table:
        """Return new rows as a table whose columns have the names of fitting."""
        layout = self._layout
        if not is_frame(X):
            X = validate_data(
                self, X, reset=False, dtype=dtype_of(layout.source), ensure_all_finite="allow-nan"
            )
            by = self.result_.schema.roles.by if layout.source == "by" else ()
            return arrow_of_array(X, layout.columns, by)
        table = to_arrow(X)
        if layout.positions or layout.source == "none":
            validate_data(self, known_columns(X, table), skip_check_array=True, reset=False)
        return table.rename_columns(list(layout.columns)) if layout.positions else table

    # --- what was found --------------------------------------------------------------------------

    @property
    def clusters_(self) -> list[list[str]]:
        """Dataset names by cluster."""
        return self._fitted.clusters

    @property
    def labels_(self) -> dict[str, int]:
        """Position of each dataset's cluster in `clusters_`."""
        return self._fitted.labels

    @property
    def strategy_(self) -> str:
        """The strategy behind the models."""
        return self._fitted.strategy

    @property
    def weights_(self) -> dict[str, float]:
        """Weights of the strategies in "auto"."""
        return self._fitted.weights

    @property
    def errors_(self) -> dict[str, Estimate]:
        """Error of every strategy on held-out rows."""
        return self._fitted.errors

    @property
    def ledger_(self) -> tuple[Merge, ...]:
        """Every join, and the best joins refused, with their verdicts."""
        return self._fitted.ledger()

    @property
    def coef_(self) -> Any:
        """Intercept and coefficients of each dataset, as a frame."""
        result = self._fitted
        fits = [fit.lines for fit in result.coefficients.values()]
        several = len(fits[0]) > 1
        columns: dict[str, Any] = {}
        for i in range(len(fits[0])):
            label = f"{result.classes[i]}: " if several else ""
            constant = free_name("intercept", result.features)
            columns[label + constant] = [lines[i].intercept for lines in fits]
            for name in result.features:
                columns[label + name] = [lines[i].coef[name] for lines in fits]
        names = list(result.coefficients)
        try:
            pd = import_module("pandas")
        except ImportError:
            return pa.table({free_name(DATASET, list(columns)): names, **columns})
        return pd.DataFrame(columns, index=pd.Index(names, name=DATASET))

    @property
    def _fitted(self) -> Partition:
        check_is_fitted(self, "result_")
        result: Partition = self.result_
        return result

    # --- files -----------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator to a file without rows or code; `load` reads it."""
        if self._fitted.representation is not None:
            _ = self._fitted.representation.layers  # refuses what is no network
        params = self.get_params(deep=False)
        settings = to_settings(params.pop("representation"))
        if not isinstance(settings, dict):
            settings = plain_parameter("representation", settings)
        extra = {
            "estimator": type(self).__name__,
            "params": {
                **{name: plain_parameter(name, value) for name, value in params.items()},
                "representation": settings,
            },
            "layout": asdict(self._layout) if hasattr(self, "result_") else None,
            "named": hasattr(self, "feature_names_in_"),
        }
        save(self._fitted, path, extra)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read an estimator that `save` wrote."""
        result, extra = load_with_extra(path)
        if extra.get("estimator") != cls.__name__:
            held = extra.get("estimator", "a result without an estimator")
            raise ReadError(
                f"File {Path(path).name!r} holds {held}, no {cls.__name__}; read it with "
                "conjoin.load, or with the class that wrote it."
            )
        params = extra["params"]
        model = cls(**{**params, "representation": from_settings(params.get("representation"))})
        columns = tuple(extra["layout"].pop("columns"))
        model._layout = Layout(columns, **extra["layout"])
        model.n_features_in_ = len(columns)
        if extra["named"]:
            model.feature_names_in_ = np.array(columns, dtype=object)
        model.result_ = result
        model._settle()
        return model

    # --- scikit-learn ----------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "raise"
        return tags

    def __dir__(self) -> list[str]:
        # Not scikit-learn's, which reads every attribute, and some take long to find.
        return list(object.__dir__(self))

    def _get_fitted_attr_html(self, doc_link: str = "") -> dict[str, Any]:
        # For the same reason, no table of attributes in scikit-learn's diagram.
        return {}

    def _repr_html_inner(self) -> str:
        diagram: str = super()._repr_html_inner()
        return notebook_view(self.result_) + diagram if hasattr(self, "result_") else diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def _refuse_text(y: Any) -> None:
    """Refuse a target of words where numbers are predicted."""
    first = next(iter(np.ravel(np.asarray(y, dtype=object))[:1]), None)
    if isinstance(first, str) and not first.strip().lstrip("+-").replace(".", "", 1).isdigit():
        raise DataError(
            f"y holds text, such as {first!r}, but JoinRegressor predicts numbers; use "
            "JoinClassifier for classes."
        )
