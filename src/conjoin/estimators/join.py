"""Estimators for scikit-learn: the decisions and models of `partition` behind `fit` and `predict`.

X, y and the names of datasets enter; numbers, classes or probabilities leave. `estimators.base` has
what both estimators share, `estimators.input` says what X may be.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import d2_tweedie_score, r2_score
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length

from conjoin._typing import AnyArray, FloatArray
from conjoin.api.described import documented
from conjoin.api.request import PredictionOptions, Request
from conjoin.errors import DataError
from conjoin.estimators.base import Join
from conjoin.estimators.input import row_weights, scikit_checks
from conjoin.families import expected, is_missing_label, label_array, plain_label, softmax
from conjoin.tables.checks import check_squares
from conjoin.tables.frame import as_doubles
from conjoin.text import quoted

# Options of `partition` that an estimator has no parameter for: the roles of columns come from X, y
# and sample_weight; the family and the intercept have parameters of their own.
NOT_HERE = ("target", "by", "features", "weights", "columns", "sample_rows", "query",
            "unsafe_query", "family", "intercept", "interval", "keep_moments",
            "checkpoint", "engine", "master", "scheduler", "memory")  # fmt: skip


@documented(Request, PredictionOptions, leave_out=NOT_HERE)
class JoinRegressor(RegressorMixin, Join):  # type: ignore[misc]
    """Linear models for many datasets, trained together where that predicts better.

    The estimator for scikit-learn of `conjoin.partition`, whose result is in `result_`.

    Parameters
    ----------
    by : str, int or list of these, optional
        Column (or columns) of X that name the dataset of a row; in an array the position. Leave it
        out to pass the names as `groups` to `fit` and `predict`. With neither, all rows are one
        dataset: it gets one least-squares model, and a warning says so.
    {options}
    family : "gaussian" or "poisson", default "gaussian"
        Least squares for numbers, or a log-linear model for counts.
    fit_intercept : bool, default True
        Whether models have an intercept.
    feature_names : sequence of str, optional
        Names of the columns of X where X is an array, such as the output of a ColumnTransformer
        (its `get_feature_names_out()`); by default x0, x1 and so on. `by` can then be a name.
    verbose : bool, default False
        Whether a progress bar is shown on standard error from the start. By default one appears on
        a terminal if fitting takes more than three seconds.

    Attributes
    ----------
    clusters_ : list of lists of str
        Names of the datasets, clusters in the order of their first dataset.
    labels_ : dict of dataset name to int
        Position of its cluster in `clusters_`.
    strategy_ : str
        The strategy behind the models.
    weights_ : dict of str to float
        Weights of the strategies in "auto".
    errors_ : dict of str to Estimate
        Mean squared error of every strategy on held-out rows (for counts half the mean deviance);
        computed when first asked for.
    ledger_ : tuple of Merge
        Every join, and the best joins refused, with verdicts; computed when first asked for.
    coef_ : pandas frame, or Arrow table if pandas is not installed
        One row for each dataset: its intercept and the coefficient of each feature.
    result_ : Partition
        All of the above and more.
    n_features_in_ : int
        Columns of X, the one that names datasets included.
    feature_names_in_ : array of str
        Their names, if X had any.

    Notes
    -----
    Columns of a frame are found by name, in any order, if datasets are named. Without names (one
    dataset) scikit-learn's rule holds: columns must be in the order of fitting.

    `cross_val_predict` passes only X to `predict`, so there the name must be a column of X.
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

    _CHOICES: ClassVar[dict[str, Sequence[str]]] = {"family": ("gaussian", "poisson")}

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
        family: str = "gaussian",
        fit_intercept: bool = Request.intercept,
        limit: bool = PredictionOptions.limit,
        representation: Any = Request.representation,
        random_state: int = Request.random_state,
        feature_names: Sequence[str] | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            by,
            learner=learner,
            strategy=strategy,
            method=method,
            grouping=grouping,
            on_unseen=on_unseen,
            missing=missing,
            category=category,
            ignore=ignore,
            time=time,
            horizon=horizon,
            gap=gap,
            repeat=repeat,
            drop_outliers=drop_outliers,
            robust=robust,
            weigh_by=weigh_by,
            delta=delta,
            verdict=verdict,
            folds=folds,
            fit_intercept=fit_intercept,
            limit=limit,
            representation=representation,
            random_state=random_state,
            feature_names=feature_names,
            verbose=verbose,
        )
        self.family = family

    def predict(self, X: Any, groups: Any = None, *, interval: float | None = None) -> Any:
        """Predict rows, each with the model of its dataset.

        Parameters
        ----------
        X : frame or array (rows, columns)
            As at fitting, with the column `by` if there was one.
        groups : array (rows,), optional
            Name of each row's dataset, if fitted with `groups`; None where it is not known.
        interval : float, optional
            Share of new rows that intervals hold, such as 0.9.

        Returns
        -------
        array (rows,)
            Expected targets. Rows without a name get the model for all. With `interval` a tuple of
            three such arrays: (prediction, low, high).

        Raises
        ------
        NotFittedError
            If `fit` was not called before.
        ArgumentError
            If names come from another source than at fitting (`by` or `groups`).
        DataError
            If X lacks a column, or a dataset was not there at fitting and on_unseen is "raise".

        Examples
        --------
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 2), np.array([0, 1, 2, 3, 3, 2, 1, 0])
        >>> model = JoinRegressor(strategy="separate").fit(X, y, groups=["up"] * 4 + ["down"] * 4)
        >>> model.predict([[1.5], [3.0]], groups=["up", "down"]).round(6) + 0.0
        array([1.5, 0. ])
        """
        if interval is not None:
            return self._intervals(X, groups, interval)
        return expected(self._linear_predictors(X, groups), self.result_.schema.response)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> float:
        """Return R^2, the share of the target's variance that is predicted.

        Parameters
        ----------
        X, groups
            As in `predict`.
        y : array (rows,)
            True targets.
        sample_weight : array (rows,), optional
            Weights of the rows.

        Returns
        -------
        float
            At most 1. For counts it is the share of the deviance, d^2.

        Raises
        ------
        NotFittedError, ArgumentError, DataError
            As in `predict`.

        Examples
        --------
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 2), np.array([0, 1, 2, 3, 3, 2, 1, 0])
        >>> names = ["up"] * 4 + ["down"] * 4
        >>> model = JoinRegressor(strategy="separate").fit(X, y, groups=names)
        >>> round(model.score(X, y, groups=names), 6)
        1.0
        """
        prediction = self.predict(X, groups=groups)
        if len(prediction) < 2:
            raise DataError("A score needs at least 2 rows, since one target does not vary.")
        with scikit_checks():
            w = None if sample_weight is None else row_weights(sample_weight, prediction)
            check_squares(as_doubles(y), "y")
            if self.family == "poisson":
                return float(d2_tweedie_score(y, prediction, sample_weight=w, power=1))
            return float(r2_score(y, prediction, sample_weight=w))

    def _family(self) -> str:
        return self.family

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.family == "poisson"
        return tags


@documented(Request, PredictionOptions, leave_out=NOT_HERE)
class JoinClassifier(ClassifierMixin, Join):  # type: ignore[misc]
    """Logistic regressions for many datasets, trained together where that predicts better.

    The estimator for scikit-learn of `conjoin.partition` with a target of two or more classes; its
    result is in `result_`. A dataset that lacks a class borrows strength from the others.

    Parameters
    ----------
    by : str, int or list of these, optional
        As in `JoinRegressor`. With neither `by` nor `groups` all rows are one dataset: it gets one
        logistic regression with a ridge of one on standardised columns.
    {options}
    fit_intercept : bool, default True
        Whether models have an intercept.
    feature_names : sequence of str, optional
        Names of the columns of X where X is an array, such as the output of a ColumnTransformer
        (its `get_feature_names_out()`); by default x0, x1 and so on. `by` can then be a name.
    verbose : bool, default False
        Whether a progress bar is shown on standard error from the start. By default one appears on
        a terminal if fitting takes more than three seconds.

    Attributes
    ----------
    classes_ : array
        Labels of the classes, sorted.
    clusters_, labels_, strategy_, weights_, ledger_, result_, n_features_in_, feature_names_in_
        As in `JoinRegressor`.
    errors_ : dict of str to Estimate
        Log loss of every strategy on held-out rows; computed when first asked for.
    coef_ : pandas frame, or Arrow table if pandas is not installed
        One row for each dataset: for two classes the log-odds of the second class, for more the
        linear predictors of each class, in columns "class: feature".

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, store = rng.standard_normal((800, 2)), np.repeat(["a", "b", "c", "d"], 200)
    >>> slope = np.where(np.isin(store, ["a", "b"]), 2.0, -2.0)
    >>> y = np.where(slope * X[:, 0] + rng.logistic(size=800) > 0, "buys", "leaves")
    >>> model = JoinClassifier().fit(X, y, groups=store)
    >>> model.clusters_
    [['a', 'b'], ['c', 'd']]
    >>> model.classes_.tolist()
    ['buys', 'leaves']
    >>> model.predict_proba(X[:3], groups=store[:3]).shape
    (3, 2)

    A dataset with one class only borrows strength from the others:

    >>> y[store == "a"] = "buys"
    >>> probability = JoinClassifier().fit(X, y, groups=store).predict_proba(X[:200], store[:200])
    >>> bool(0.5 < probability[:, 0].min() < 1)
    True
    """

    _SINGLE_MODEL = "logistic"

    def predict_proba(self, X: Any, groups: Any = None) -> FloatArray:
        """Return the probability of each class (rows, classes), in the order of `classes_`.

        Parameters
        ----------
        X : frame or array (rows, columns)
            As at fitting, with the column `by` if there was one.
        groups : array (rows,), optional
            Name of each row's dataset, if fitted with `groups`; None where it is not known.

        Returns
        -------
        array (rows, classes)
            Every row sums to 1.

        Raises
        ------
        NotFittedError, ArgumentError, DataError
            As in `JoinRegressor.predict`.

        Examples
        --------
        >>> X, y = np.arange(8.0).reshape(-1, 1), ["no"] * 4 + ["yes"] * 4
        >>> model = JoinClassifier().fit(X, y, groups=["a", "b"] * 4)
        >>> probability = model.predict_proba([[0.0], [7.0]], groups=["a", "b"])
        >>> (probability > 0.5).tolist()
        [[True, False], [False, True]]
        """
        return softmax(self._linear_predictors(X, groups))

    def predict_log_proba(self, X: Any, groups: Any = None) -> FloatArray:
        """Return the logarithm of `predict_proba` (rows, classes); arguments as there."""
        # The smallest positive number stands for zero, whose logarithm would be -inf.
        return np.log(np.maximum(self.predict_proba(X, groups), np.finfo(float).tiny))

    def decision_function(self, X: Any, groups: Any = None) -> FloatArray:
        """Return the log-odds of the second class (rows,); arguments as in `predict_proba`.

        With more than two classes the linear predictors of all of them (rows, classes).
        """
        linear = self._linear_predictors(X, groups)
        return linear[:, 0] if linear.shape[1] == 1 else linear

    def predict(self, X: Any, groups: Any = None, *, interval: float | None = None) -> Any:
        """Return the most likely class of each row; arguments and errors as in `predict_proba`.

        Returns
        -------
        array (rows,)
            Labels from `classes_`. With `interval`, such as 0.9, a tuple (prediction, sets): sets
            (rows, classes) says which classes are in the set of a row, which holds the true class
            with that probability.

        Examples
        --------
        >>> X, y = np.arange(8.0).reshape(-1, 1), ["no"] * 4 + ["yes"] * 4
        >>> model = JoinClassifier().fit(X, y, groups=["a", "b"] * 4)
        >>> model.predict([[0.0], [7.0]], groups=["a", "b"]).tolist()
        ['no', 'yes']
        """
        if interval is not None:
            return self._intervals(X, groups, interval)
        probability = self.predict_proba(X, groups)
        labels: AnyArray = self.classes_[np.argmax(probability, axis=1)]
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> float:
        """Return the accuracy: the share of rows whose class is predicted.

        Parameters
        ----------
        X, groups
            As in `predict_proba`.
        y : array (rows,)
            True labels.
        sample_weight : array (rows,), optional
            Weights of the rows.

        Returns
        -------
        float
            From 0 to 1.

        Raises
        ------
        DataError
            If y has missing labels, or labels of another type than at fitting.

        Examples
        --------
        >>> X, y = np.arange(8.0).reshape(-1, 1), ["no"] * 4 + ["yes"] * 4
        >>> names = ["a", "b"] * 4
        >>> JoinClassifier().fit(X, y, groups=names).score(X, y, groups=names)
        1.0
        """
        prediction = self.predict(X, groups=groups)
        labels = self._read_labels(_nullable_as_objects(y))
        with scikit_checks():
            check_consistent_length(labels, prediction)
        w = None if sample_weight is None else row_weights(sample_weight, prediction)
        self._refuse_missing(labels)
        given, classes = [plain_label(label) for label in labels.tolist()], self.result_.classes
        other = [x for x in given if isinstance(x, str) != isinstance(classes[0], str)]
        if other:
            raise DataError(
                f"y has labels such as {other[0]!r}, but those at fitting were "
                f"{quoted(classes)}; give them one type."
            )
        hits = [one == two for one, two in zip(given, prediction.tolist())]
        return float(np.average(hits, weights=w))

    def _family(self) -> str:
        return "logistic"

    def _read_both(self, X: Any, y: Any, source: str) -> tuple[pa.Table, AnyArray]:
        table, labels = super()._read_both(X, _nullable_as_objects(y), source)
        if labels.dtype == object and all(isinstance(value, bool) for value in labels):
            labels = labels.astype(bool)
        self._refuse_missing(labels)
        self._refuse_no_labels(labels)
        return table, labels

    @staticmethod
    def _refuse_missing(y: AnyArray) -> None:
        """Refuse labels that are missing."""
        missing = sum(is_missing_label(value) for value in y.tolist())
        if missing:
            raise DataError(
                f"y has {missing} missing labels (NaN, None or blank text) in {len(y)} rows; drop "
                "these rows, or give them a class of their own."
            )

    @staticmethod
    def _refuse_no_labels(y: AnyArray) -> None:
        """Refuse numbers that are no classes."""
        kinds = {"text" if isinstance(value, str) else "numbers" for value in y.tolist()}
        if len(kinds) > 1:
            raise DataError(
                "y has labels that are text beside others that are numbers; expected one kind: "
                "convert them, for example with astype(str)."
            )
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise DataError("y holds an infinite value (inf), which is no class; correct it.")
        with scikit_checks():
            kind = type_of_target(y)
        if kind.startswith("continuous"):
            fraction = next((value for value in y.tolist() if value != int(value)), y[0])
            raise DataError(
                f"Unknown label type: y is continuous, with values such as {fraction:g}, but "
                "JoinClassifier expects classes; use JoinRegressor for numbers."
            )

    def _set_fitted(self) -> None:
        self.classes_ = label_array(self.result_.classes)


def _nullable_as_objects(y: Any) -> Any:
    """Return truth values of pandas that may be missing as objects, None where they are."""
    nullable = str(getattr(y, "dtype", "")) == "boolean"
    return y.to_numpy(dtype=object, na_value=None) if nullable else y
