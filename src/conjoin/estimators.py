"""A scikit-learn regressor: the same decisions and models behind `fit` and `predict`.

Frames keep their columns of any kind and are read by column name; arrays are read by position and
named x0, x1, ... . The dataset of a row is a column of X (`by`) or an array beside it (`groups`).
"""

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from conjoin import strategy as strategies
from conjoin._typing import AnyArray, FloatArray
from conjoin.criterion import CRITERIA
from conjoin.criterion.checks import check_count, check_level
from conjoin.errors import ArgumentError, ConjoinWarning, DataError, ReadError
from conjoin.evidence import Described, Evidence
from conjoin.execution import small_matrices
from conjoin.methods import PARTITIONS
from conjoin.pipeline import check_seed, described, partition
from conjoin.report.notebook import notebook_view
from conjoin.result import ON_UNSEEN, Assignment, Estimate, MergeVerdict, Partition
from conjoin.store import load_with_extra, save
from conjoin.tables.collect import collect_rows
from conjoin.tables.frame import is_table, to_frame
from conjoin.tables.names import DATASET
from conjoin.tables.schema import MISSING_CHOICES, Roles, shown
from conjoin.working import Working

ONLY = "all"  # name of the dataset where none is given
SAME_FOR_ONE = ("separate", "pooled", "clusters", "auto")


@dataclass(frozen=True)
class Layout:
    """How X looked at fitting.

    Parameters
    ----------
    columns : tuple of str
        Its columns.
    positions : bool
        Whether it was an array, so that columns are found by position.
    source : "by", "groups" or "none"
        Where the names of datasets came from.
    """

    columns: tuple[str, ...]
    positions: bool
    source: str


class JoinRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Linear models for many datasets, trained together where that predicts better.

    The estimator for scikit-learn of `conjoin.partition`, whose result is in `result_`.

    Parameters
    ----------
    by : str, int or list of these, optional
        Column (or columns) of X that name the dataset of a row; in an array the position. Leave it
        out to pass the names as `groups` to `fit` and `predict`. With neither, all rows are one
        dataset and get one least-squares model, with a warning.
    strategy, method, count, delta, folds, missing, random_state
        As in `conjoin.partition`.
    on_unseen : "pooled", "nearest" or "raise"
        What a dataset gets that was not there at fitting: the pooled model with one warning, the
        model of the cluster whose features are most like its own, or an error. A row whose name
        is missing gets the pooled model.
    fit_intercept : bool
        Whether models have an intercept.
    limit : bool
        Whether features are kept, at prediction, within the training range widened by its own
        width on either side; a warning says when one was not.

    Attributes
    ----------
    clusters_ : list of lists of str
        Dataset names, clusters in the order of their first dataset.
    labels_ : dict of dataset name to int
        Position of its cluster in `clusters_`.
    strategy_ : str
        The strategy behind the models.
    weights_ : dict of str to float
        Shares of the strategies in "auto".
    errors_ : dict of str to Estimate
        Validated mean squared error of every strategy; found when first asked for.
    verdicts_ : tuple of MergeVerdict
        The ledger: a verdict on every join, and on those refused; found when first asked for.
    coef_ : pandas frame, or Arrow table where pandas is not installed
        A row for each dataset: its intercept and the coefficient of each feature.
    result_ : Partition
        All of the above and more.
    n_features_in_ : int
        Columns of X, the one that names datasets included.
    feature_names_in_ : array of str
        Their names, if X had any.

    Notes
    -----
    Columns of a frame are found by name, in any order, where datasets are named; without names
    (one dataset) scikit-learn's rule holds that their order is that of fitting.

    `cross_val_predict` hands nothing but X to `predict`, so there the name must be a column of X;
    `cross_validate`, searches and pipelines pass `groups` on by metadata routing (see
    `set_fit_request`, `set_predict_request` and `set_score_request`).

    Examples
    --------
    >>> import pandas as pd
    >>> from conjoin.datasets import make_clusters
    >>> stores = make_clusters(sizes=(2, 2), n=100, p=3, distance=2.0)
    >>> table = pd.concat({k: pd.DataFrame(t) for k, t in stores.tables().items()}, names=["store"])
    >>> X = table.reset_index("store")
    >>> y = X.pop("y")
    >>> model = JoinRegressor(by="store").fit(X, y)
    >>> model.clusters_
    [['d1', 'd2'], ['d3', 'd4']]
    >>> bool(model.score(X, y) > 0.8)
    True

    Arrays work the same, with names beside them or in a column given by position:

    >>> features, stores = X[["x1", "x2", "x3"]].to_numpy(), X["store"].to_numpy()
    >>> model = JoinRegressor().fit(features, y, groups=stores)
    >>> model.predict(features[:2], groups=["d1", None]).shape
    (2,)
    """

    def __init__(
        self,
        by: str | int | Sequence[str | int] | None = None,
        *,
        strategy: str = "auto",
        method: Any = "risk",
        on_unseen: str = "pooled",
        missing: str = "indicator",
        count: str = "datasets",
        delta: float = 0.1,
        folds: int = 10,
        fit_intercept: bool = True,
        limit: bool = True,
        random_state: int = 0,
    ) -> None:
        self.by = by
        self.strategy = strategy
        self.method = method
        self.on_unseen = on_unseen
        self.missing = missing
        self.count = count
        self.delta = delta
        self.folds = folds
        self.fit_intercept = fit_intercept
        self.limit = limit
        self.random_state = random_state

    # --- fitting ---------------------------------------------------------------------------------

    def fit(
        self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None
    ) -> "JoinRegressor":
        """Find which datasets to train together, and fit the models.

        Parameters
        ----------
        X : frame or array (rows, columns)
            pandas or Polars frame, Arrow table, mapping of column names to arrays, or array.
            Columns of a frame may be numbers, text, true/false or dates, with missing values.
        y : array (rows,)
            Target: finite numbers.
        groups : array (rows,), optional
            Name of each row's dataset, where `by` is not given.
        sample_weight : array (rows,), optional
            Relative precision of each row; rows of weight zero are left out. A row of weight two
            is one row with half the noise, not two rows: with several datasets that is less
            evidence.
        """
        self._check_parameters()
        if self.by is not None and groups is not None:
            raise ArgumentError(
                f"by={self.by!r} and groups are both given; name datasets by one of them."
            )
        source = "by" if self.by is not None else "none" if groups is None else "groups"
        table, y = self._read_both(X, y, source)
        layout = Layout(tuple(table.column_names), not _is_frame(X), source)
        table, by = _with_names(table, layout, self.by, groups)
        table, roles = self._with_target(table, y, by, sample_weight)
        alone = all(len(table[name].drop_null().unique()) == 1 for name in by)
        self.result_ = self._alone(table, roles) if alone else self._join(table, roles)
        self._layout = layout
        return self

    def _check_parameters(self) -> None:
        choices: dict[str, Sequence[str]] = {
            "strategy": strategies.NAMES,
            "on_unseen": ON_UNSEEN,
            "missing": MISSING_CHOICES,
            "count": ("datasets", "rows"),
        }
        if isinstance(self.method, str):
            choices["method"] = sorted({*PARTITIONS, *CRITERIA})
        for name, allowed in choices.items():
            value = getattr(self, name)
            if value not in allowed:
                raise ArgumentError(
                    f"{name}={value!r} is unknown; expected one of {', '.join(allowed)}."
                )
        check_level("delta", self.delta)
        check_count("folds", self.folds, least=2)
        check_seed(self.random_state)

    def _read_both(self, X: Any, y: Any, source: str) -> tuple[pa.Table, FloatArray]:
        """Return X as a table and y as numbers, in the manner of scikit-learn's checks."""
        if _is_frame(X):
            y = validate_data(self, y=y, y_numeric=True)
            table = _to_arrow(X)
            validate_data(self, _known(X, table), skip_check_array=True)
        else:
            X, y = validate_data(
                self,
                X,
                y,
                dtype=_dtype(source),
                ensure_all_finite="allow-nan",
                ensure_min_samples=2,
                y_numeric=True,
            )
            names = [f"x{j}" for j in range(X.shape[1])]
            table = _arrow_of_array(X, names, _by_columns(self.by, names, positions=True))
        return table, np.asarray(y, dtype=np.float64)

    def _with_target(
        self, table: pa.Table, y: FloatArray, by: tuple[str, ...], sample_weight: Any
    ) -> tuple[pa.Table, Roles]:
        """Put target and weights beside the columns of X; leave out rows without weight."""
        check_consistent_length(table, y)
        target, weights = _free("y", table.column_names), None
        table = _with(table, target, y)
        if sample_weight is not None:
            w = _check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True)
            if not w.any():
                raise DataError("sample_weight is zero in every row; give some row a weight.")
            weights = _free("sample_weight", table.column_names)
            table = _with(table, weights, w).filter(pa.array(w > 0))
        return table, Roles(target, by, None, weights)

    def _join(self, table: pa.Table, roles: Roles) -> Partition:
        return partition(
            table,
            target=roles.target,
            by=roles.by,
            method=self.method,
            strategy=self.strategy,
            count=self.count,  # type: ignore[arg-type]
            delta=self.delta,
            folds=self.folds,
            random_state=self.random_state,
            weights=roles.weights,
            missing=self.missing,
            intercept=self.fit_intercept,
        )

    def _alone(self, table: pa.Table, roles: Roles) -> Partition:
        """Fit one model to the only dataset."""
        warnings.warn(
            "There is only one dataset, so nothing is joined: it gets one least-squares model. "
            "Name the column of datasets with by=..., or pass groups=... to fit.",
            ConjoinWarning,
            stacklevel=3,
        )
        collection = collect_rows(table, roles, missing=self.missing, fewest=1)
        with small_matrices(len(collection.features)):
            working = Working.of(
                collection,
                intercept=self.fit_intercept,
                folds=self.folds,
                seed=int(self.random_state),
                count=self.count,
            )
            return Alone.of(described(collection), working, self.delta).using("separate")

    # --- using the models ------------------------------------------------------------------------

    def predict(self, X: Any, groups: Any = None) -> FloatArray:
        """Predict rows, each with the model of its dataset.

        Parameters
        ----------
        X : frame or array (rows, columns)
            As at fitting, with the column `by` if there was one.
        groups : array (rows,), optional
            Name of each row's dataset, if fitted with `groups`; None where it is not known.
        """
        check_is_fitted(self, "result_")
        self._check_source(groups)
        table = self._read(X)
        by = self.result_.schema.roles.by
        if self._layout.source == "by":
            _check_there(by, table.column_names)
        else:
            table = _with(table, by[0], _names(groups, table))
        rows, names = self.result_.encode(table)
        return self.result_.predict_encoded(rows, names, on_unseen=self.on_unseen, limit=self.limit)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> float:
        """Return R^2, the share of the target's variance that is predicted."""
        prediction = self.predict(X, groups=groups)
        return float(r2_score(y, prediction, sample_weight=sample_weight))

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
        if not _is_frame(X):
            X = validate_data(
                self, X, reset=False, dtype=_dtype(layout.source), ensure_all_finite="allow-nan"
            )
            by = self.result_.schema.roles.by if layout.source == "by" else ()
            return _arrow_of_array(X, layout.columns, by)
        table = _to_arrow(X)
        if layout.positions or layout.source == "none":
            validate_data(self, _known(X, table), skip_check_array=True, reset=False)
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
        """Shares of the strategies in "auto"."""
        return self._fitted.weights

    @property
    def errors_(self) -> dict[str, Estimate]:
        """Validated mean squared error of every strategy."""
        return self._fitted.errors

    @property
    def verdicts_(self) -> tuple[MergeVerdict, ...]:
        """A verdict on every join, and on the joins refused."""
        return self._fitted.verdicts

    @property
    def coef_(self) -> Any:
        """Intercept and coefficients of each dataset, as a frame."""
        result = self._fitted
        columns: dict[str, Any] = {
            _free("intercept", result.features): [
                fit.intercept for fit in result.coefficients.values()
            ]
        }
        for name in result.features:
            columns[name] = [fit.coef[name] for fit in result.coefficients.values()]
        names = list(result.coefficients)
        try:
            pd = import_module("pandas")
        except ImportError:
            return pa.table({_free(DATASET, list(columns)): names, **columns})
        return pd.DataFrame(columns, index=pd.Index(names, name=DATASET))

    @property
    def _fitted(self) -> Partition:
        check_is_fitted(self, "result_")
        result: Partition = self.result_
        return result

    # --- files -----------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator to a file without rows or code; `load` reads it."""
        extra = {
            "estimator": type(self).__name__,
            "params": {name: _plain(name, value) for name, value in self.get_params().items()},
            "layout": asdict(self._layout) if hasattr(self, "result_") else None,
            "named": hasattr(self, "feature_names_in_"),
        }
        save(self._fitted, path, extra)

    @classmethod
    def load(cls, path: str | Path) -> "JoinRegressor":
        """Read an estimator that `save` wrote."""
        result, extra = load_with_extra(path)
        if extra.get("estimator") != cls.__name__:
            raise ReadError(
                f"File {Path(path).name!r} holds a result without an estimator; read it with "
                "conjoin.load."
            )
        model = cls(**extra["params"])
        columns = tuple(extra["layout"].pop("columns"))
        model._layout = Layout(columns, **extra["layout"])
        model.n_features_in_ = len(columns)
        if extra["named"]:
            model.feature_names_in_ = np.array(columns, dtype=object)
        model.result_ = result
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


# --- one dataset ---------------------------------------------------------------------------------


class Alone(Evidence):
    """What lies behind a single dataset: one least-squares model, nothing to join."""

    @classmethod
    def of(cls, described: Described, working: Working, delta: float) -> "Alone":
        """Take the only dataset of a collection."""
        labels = np.zeros(1, dtype=np.int64)
        return cls(described, working, labels, "none", "none", delta, merges=())

    def using(self, strategy: str) -> Partition:
        """Return the one model there is, whatever the strategy."""
        known, w = self.described, self.working
        beta = strategies.separate(w.moments)[0]
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
            evidence=self,
        )

    @cached_property
    def _error(self) -> float:
        cells = strategies.validate(strategies.separate, self.working.problem)
        return float(cells.sum() / self.working.moments.w.sum())

    @cached_property
    def weights(self) -> dict[str, float]:
        """The model's share in itself."""
        return {"separate": 1.0}

    @cached_property
    def errors(self) -> dict[str, Estimate]:
        """Validated error of the model, under the names of all strategies that it is."""
        error = self._error * self.working.basis.target_scale**2
        return dict.fromkeys(SAME_FOR_ONE, Estimate(error, 0.0, 0.0))


# --- tables --------------------------------------------------------------------------------------


def _dtype(source: str) -> str | None:
    """Return the type that arrays are checked for: a column of names may be text."""
    return "numeric" if source == "none" else None


def _is_frame(X: Any) -> bool:
    """Say whether X has named columns; some sparse matrices are mappings too."""
    return is_table(X) and not issparse(X)


def _to_arrow(X: Any) -> pa.Table:
    frame = to_frame(X, "X")
    if isinstance(frame, nw.LazyFrame):
        raise DataError("X is a lazy frame, whose rows have no order to match y; collect it first.")
    return frame.to_native()


def _known(X: Any, table: pa.Table) -> Any:
    """Return what scikit-learn of any version knows the columns of: a pandas or Arrow table."""
    return X if hasattr(X, "iloc") else table


def _arrow_of_array(X: AnyArray, names: Sequence[str], by: Sequence[str]) -> pa.Table:
    """Return the columns of an array; of an array of text, all but the names are numbers."""
    columns = dict(zip(names, X.T))
    if X.dtype.kind in "US":
        for name in names:
            if name in by:
                continue
            try:
                columns[name] = columns[name].astype(np.float64)
            except ValueError as error:
                raise DataError(
                    f"Column {name!r} of X is text ({error}); pass a frame or an array of objects "
                    "to have text encoded."
                ) from None
    return to_frame(columns, "X").to_native()


def _by_columns(by: Any, columns: Sequence[str], *, positions: bool) -> tuple[str, ...]:
    """Return the names of the columns that `by` means."""
    wanted = list(by) if isinstance(by, (list, tuple, np.ndarray)) else [by]
    if by is None:
        return ()
    if not wanted:
        raise ArgumentError("by is empty; name a column, or leave it out and pass groups=...")
    if not positions:
        return tuple(str(one) for one in wanted)
    for one in wanted:
        if isinstance(one, bool) or not isinstance(one, Integral):
            raise ArgumentError(
                f"by={one!r} is no position, but X is an array, whose columns have no names; pass "
                "a whole number such as by=0, or a frame."
            )
        if not -len(columns) <= int(one) < len(columns):
            raise ArgumentError(f"by={one} is no column of X, which has {len(columns)} columns.")
    return tuple(columns[int(one)] for one in wanted)


def _with_names(
    table: pa.Table, layout: Layout, by: Any, groups: Any
) -> tuple[pa.Table, tuple[str, ...]]:
    """Return the table with the columns that name datasets, and their names."""
    if layout.source == "by":
        names = _by_columns(by, layout.columns, positions=layout.positions)
        _check_there(names, layout.columns)
        return table, names
    name = _free(DATASET if groups is None else "groups", table.column_names)
    return _with(table, name, _names(groups, table)), (name,)


def _check_there(by: Sequence[str], columns: Sequence[str]) -> None:
    for name in by:
        if name not in columns:
            raise DataError(
                f"X lacks column {name!r}, which by names as that of the datasets; columns are "
                f"{shown(columns)}."
            )


def _names(groups: Any, table: pa.Table) -> Any:
    if groups is None:
        return [ONLY] * len(table)
    check_consistent_length(table, groups)
    return groups


def _with(table: pa.Table, name: str, values: Any) -> pa.Table:
    """Return the table with one more column, in place of one of that name."""
    column = to_frame({name: values}, "X").to_native().column(name)
    if name in table.column_names:
        table = table.drop_columns([name])
    return table.append_column(name, column)


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _plain(name: str, value: Any) -> Any:
    """Return a parameter as a value that a file can hold."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(name, one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ArgumentError(
        f"{name}={value!r} cannot be saved in a file; choose one by name, or save result_, which "
        "predicts the same."
    )
