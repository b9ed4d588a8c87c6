"""What both estimators for scikit-learn share: fitting, reading X, what was found, files.

X, y and the names of datasets enter `fit`, which keeps a `Partition` in `result_`. New rows enter
`predict`, predictions leave. `estimators.input` says what X may be and where the name of a row's
dataset comes from; `engine.run` does the work.
"""

import warnings
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from conjoin._typing import AnyArray, FloatArray
from conjoin.api.option_checks import check_interval
from conjoin.api.request import PredictionOptions, Request, refuse_renamed
from conjoin.checks import check_choice
from conjoin.engine.run import run
from conjoin.errors import ArgumentError, ConjoinWarning, DataError
from conjoin.estimators.files import load_estimator, save_estimator
from conjoin.estimators.found import Found
from conjoin.estimators.input import (
    Layout,
    array_columns,
    arrow_of_array,
    by_columns,
    check_there,
    dtype_of,
    free_name,
    is_frame,
    known_columns,
    names_of_rows,
    refuse_text,
    row_weights,
    scikit_checks,
    to_arrow,
    with_column,
    with_names,
)
from conjoin.learners.beside import Trusted
from conjoin.progress import progress_of_call
from conjoin.report.notebook import notebook_view
from conjoin.result.values import Assignment
from conjoin.tables.frame import as_doubles
from conjoin.tables.roles import Roles


class Join(Found, BaseEstimator):  # type: ignore[misc]
    """What the regressor and the classifier share: all but what is predicted."""

    _SINGLE_MODEL = "least-squares"  # the kind of model that a single dataset gets
    # Values of parameters that only one of the estimators has; the others are in the request.
    _CHOICES: ClassVar[dict[str, Sequence[str]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Keep the parameters of `__init__` visible, which `__new__` would hide."""
        super().__init_subclass__(**kwargs)
        full = signature(cls.__init__)
        cls.__signature__ = full.replace(parameters=list(full.parameters.values())[1:])

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
        learner: Any = Request.learner,
        strategy: str = Request.strategy,
        method: Any = Request.method,
        grouping: str | None = Request.grouping,
        on_unseen: str = PredictionOptions.on_unseen,
        missing: str = Request.missing,
        category: Sequence[str] | None = Request.category,
        ignore: Sequence[str] | None = Request.ignore,
        time: str | None = Request.time,
        horizon: Any = Request.horizon,
        gap: Any = Request.gap,
        repeat: str | None = Request.repeat,
        drop_outliers: bool | None = Request.drop_outliers,
        robust: bool = Request.robust,
        weigh_by: str = Request.weigh_by,
        delta: float = Request.delta,
        verdict: str = Request.verdict,
        folds: int = Request.folds,
        fit_intercept: bool = Request.intercept,
        limit: bool = PredictionOptions.limit,
        representation: Any = Request.representation,
        random_state: int = Request.random_state,
        feature_names: Sequence[str] | None = None,
        verbose: bool = False,
    ) -> None:
        self.by = by
        self.learner = learner
        self.strategy = strategy
        self.method = method
        self.grouping = grouping
        self.on_unseen = on_unseen
        self.missing = missing
        self.category = category
        self.ignore = ignore
        self.time = time
        self.horizon = horizon
        self.gap = gap
        self.repeat = repeat
        self.drop_outliers = drop_outliers
        self.robust = robust
        self.weigh_by = weigh_by
        self.delta = delta
        self.verdict = verdict
        self.folds = folds
        self.fit_intercept = fit_intercept
        self.limit = limit
        self.representation = representation
        self.random_state = random_state
        self.feature_names = feature_names
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
            Name of each row's dataset, if `by` is not given.
        sample_weight : array (rows,), optional
            Weight of each row. A weight of 2 means that the row is twice as precise (half the noise
            variance), not that it occurs twice. Rows of weight zero are left out. A single dataset
            of classes or counts is the exception: there a weight of 2 counts as two rows.

        Returns
        -------
        self

        Raises
        ------
        ArgumentError
            If a parameter has a value that cannot be used, or `by` and `groups` are both given.
        DataError
            If X, y or sample_weight cannot be used as they are.

        Examples
        --------
        >>> import conjoin
        >>> from conjoin.datasets import make_clusters
        >>> made = make_clusters(sizes=(2, 2), n=100, p=3, distance=2.0)
        >>> X = np.concatenate(list(made.X.values()))
        >>> y = np.concatenate(list(made.y.values()))
        >>> stores = np.repeat(made.names, 100)
        >>> conjoin.JoinRegressor().fit(X, y, groups=stores).clusters_
        [['d1', 'd2'], ['d3', 'd4']]
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
        with progress_of_call(verbose=self.verbose) as progress:
            self.result_ = run(self._request(roles), table, progress, alone=alone)
        self._layout = layout
        self._set_fitted()
        return self

    def _set_fitted(self) -> None:
        """Set attributes beside `result_` that an estimator has after fitting."""

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
            learner=self.learner,
            strategy=self.strategy,
            method=self.method,
            grouping=self.grouping,
            missing=self.missing,
            category=self.category,
            ignore=self.ignore,
            time=self.time,
            horizon=self.horizon,
            gap=self.gap,
            repeat=self.repeat,
            drop_outliers=self.drop_outliers,
            robust=self.robust,
            weigh_by=self.weigh_by,
            delta=self.delta,
            verdict=self.verdict,
            folds=self.folds,
            random_state=self.random_state,
            family=self._family(),
            intercept=self.fit_intercept,
            representation=self.representation,
        )

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot be used, before the data is read."""
        for name, allowed in self._CHOICES.items():
            check_choice(name, getattr(self, name), allowed)
        self._request()
        PredictionOptions(on_unseen=self.on_unseen, limit=self.limit)

    def _read_both(self, X: Any, y: Any, source: str) -> tuple[pa.Table, AnyArray]:
        """Return X as a table and y as an array, in the manner of scikit-learn's checks."""
        if self._family() != "logistic":
            refuse_text(y)
        with scikit_checks():
            return self._checked(X, y, source)

    def _checked(self, X: Any, y: Any, source: str) -> tuple[pa.Table, AnyArray]:
        """Do the same for a target that is no text where numbers are predicted."""
        numbers = self._family() != "logistic"
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
            names = array_columns(X.shape[1], self.feature_names)
            table = arrow_of_array(X, names, by_columns(self.by, names, positions=True))
        return table, as_doubles(y) if numbers else np.asarray(y)

    def _read_labels(self, y: Any) -> AnyArray:
        """Return the labels of rows (rows,)."""
        if y is None:
            raise DataError("requires y to be passed, but the target y is None: pass the labels.")
        return column_or_1d(y, warn=True)

    def _with_target(
        self, table: pa.Table, y: AnyArray, by: tuple[str, ...], sample_weight: Any
    ) -> tuple[pa.Table, Roles]:
        """Put target and weights beside the columns of X; leave out rows without weight."""
        with scikit_checks():
            check_consistent_length(table, y)
        target, weights = free_name("y", table.column_names), None
        table = with_column(table, target, y)
        if sample_weight is not None:
            w = row_weights(sample_weight, y)
            weights = free_name("sample_weight", table.column_names)
            table = with_column(table, weights, w).filter(pa.array(w > 0))
        return table, Roles(target, by, None, weights)

    def _warn_of_one(self) -> None:
        """Say that a single dataset is not joined with anything."""
        hint = (
            "Name the column of datasets with by=..., or pass groups=... to fit."
            if self.by is None
            else f"Column by={self.by!r} has the same value in all rows."
        )
        text = "There is only one dataset, so nothing is joined: it gets one"
        warnings.warn(f"{text} {self._SINGLE_MODEL} model. {hint}", ConjoinWarning, stacklevel=3)

    # --- using the models ------------------------------------------------------------------------

    def _linear_predictors(self, X: Any, groups: Any) -> FloatArray:
        """Return the linear predictors of rows (rows, lines)."""
        return self._predictors_and_names(X, groups)[0]

    def _intervals(self, X: Any, groups: Any, level: float) -> Any:
        """Return predictions with their intervals."""
        check_interval("interval", level)
        return self._fitted.intervals(*self._predictors_and_names(X, groups), level)

    def _predictors_and_names(self, X: Any, groups: Any) -> tuple[FloatArray, list[str | None]]:
        """Return the linear predictors of rows (rows, lines), and the names of their datasets."""
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
        return self.result_.predict_encoded(rows, names, options).linear, names

    def assign(self, X: Any, y: Any) -> Assignment:
        """Place a new dataset from some rows with known target; nothing is fitted again.

        Parameters
        ----------
        X : frame or array (rows, columns)
            Rows of the new dataset, with columns as at fitting. A frame may lack the column `by`.
        y : array (rows,)
            Their targets.

        Returns
        -------
        Assignment
            The most likely cluster, the probability of each, and a model for the new dataset.

        Raises
        ------
        NotFittedError
            If `fit` was not called before.
        DataError
            If X lacks a column, or y has missing or unknown values.

        Examples
        --------
        >>> import conjoin
        >>> from conjoin.datasets import make_clusters
        >>> made = make_clusters(sizes=(3, 2), n=100, p=3, distance=2.0)
        >>> known = ["d1", "d2", "d4", "d5"]
        >>> X = np.concatenate([made.X[name] for name in known])
        >>> y = np.concatenate([made.y[name] for name in known])
        >>> model = conjoin.JoinRegressor().fit(X, y, groups=np.repeat(known, 100))
        >>> placed = model.assign(made.X["d3"], made.y["d3"])
        >>> model.clusters_[placed.cluster]
        ['d1', 'd2']
        """
        check_is_fitted(self, "result_")
        with scikit_checks():
            target = column_or_1d(y, warn=True)
        return self.result_.assign(self._read(X), target)

    def _check_source(self, groups: Any) -> None:
        """Refuse names of datasets from another source than at fitting."""
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
        with scikit_checks():
            return self._same_columns(X)

    def _same_columns(self, X: Any) -> pa.Table:
        """Do the same, with scikit-learn's checks."""
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

    # --- files -----------------------------------------------------------------------------------

    def save(self, path: str | Path, *, evidence: bool = False) -> None:
        """Write the fitted estimator to a file without rows or code.

        Parameters
        ----------
        path : str or Path
            The file; `load` of the same class reads it, and `conjoin.load` reads its result.
        evidence : bool, default False
            As in `Partition.save`.

        Raises
        ------
        NotFittedError
            If `fit` was not called before.
        ArgumentError
            If the file cannot be written, or a parameter cannot be stored, such as a criterion
            that was passed as an object.

        Examples
        --------
        >>> import tempfile, conjoin
        >>> from conjoin.datasets import make_clusters
        >>> made = make_clusters(sizes=(2, 2), n=100, p=3, distance=2.0)
        >>> X, y = (np.concatenate(list(part.values())) for part in (made.X, made.y))
        >>> model = conjoin.JoinRegressor().fit(X, y, groups=np.repeat(made.names, 100))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/model.json")
        ...     conjoin.JoinRegressor.load(f"{folder}/model.json").clusters_
        [['d1', 'd2'], ['d3', 'd4']]
        """
        save_estimator(self, self._fitted, self._layout, path, evidence=evidence)

    @classmethod
    def load(cls, path: str | Path, *, trusted: Trusted = None) -> Self:
        """Read an estimator that `save` wrote.

        Parameters
        ----------
        path : str or Path
            The file.
        trusted : list of str or type, optional
            As in `conjoin.load`, for a learner of another library.

        Returns
        -------
        JoinRegressor or JoinClassifier
            It predicts the same bit by bit; see `save` for an example.

        Raises
        ------
        ReadError
            If the file is missing, is no model, was changed, or holds another estimator.
        """
        model, layout, result = load_estimator(cls, path, trusted)
        model._layout, model.result_ = layout, result
        model._set_fitted()
        return model

    # --- scikit-learn ----------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "raise"
        return tags

    def __dir__(self) -> list[str]:
        # Not scikit-learn's, which reads every attribute; some take long to compute.
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
