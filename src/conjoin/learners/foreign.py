"""Any estimator of scikit-learn as a learner.

An estimator with `fit` and `predict` (`predict_proba` for classes) enters; it is cloned for every
group of rows. It gets the columns as the linear engine does: numbers, categories as 0/1 columns,
missing values filled in. The dataset's name is a category for HistGradientBoosting, LightGBM,
CatBoost and XGBoost, and otherwise a mean of the target by dataset that is made without the row
itself (scikit-learn's `TargetEncoder`).
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn import __version__ as sklearn_version
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import TargetEncoder
from sklearn.utils.fixes import parse_version
from sklearn.utils.validation import has_fit_parameter

from conjoin._typing import FloatArray, IntArray, Progress
from conjoin.errors import ArgumentError, DataError
from conjoin.execution import in_workers
from conjoin.families import Response
from conjoin.learners.rows import (
    UNKNOWN,
    CrossFitted,
    LearnerRows,
    centred,
    group_count,
    lines_of,
    position_of,
    rows_in_words,
)
from conjoin.moments.resample import stream

# Least probability of a class, and least expected count: a forest may say 0, whose logarithm is
# infinite. One mistake in a thousand is as sure as a few hundred rows can be.
LEAST_PROBABILITY, LEAST_COUNT = 1e-3, 1e-3
# Folds of the target encoding, as by default in scikit-learn.
ENCODING_FOLDS = 5
# Sizes of a target between which its means are used as they are: single precision ends at 3e38 and
# 1e-38, and predictions may go beyond the means.
SMALLEST_SINGLE, LARGEST_SINGLE = 1e-30, 1e30
# Categories that HistGradientBoosting takes at most.
MOST_CATEGORIES = 255
# Boosters of XGBoost that are trees and take categories; None is its default.
TREES_OF_XGBOOST = (None, "gbtree", "dart")
# Characters of a foreign error message that are quoted: the first lines say what is wrong.
MOST_QUOTED = 300


@dataclass(frozen=True, eq=False)
class Foreign:
    """An estimator that a user passed.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Cloned before every fit.
    seed : int
        Random seed of the target encoding, and of the estimator if it has a free `random_state`.
    """

    estimator: Any
    seed: int = 0

    @classmethod
    def of(cls, estimator: Any, seed: int) -> "Foreign":
        """Check that an estimator can be used."""
        name = type(estimator).__name__
        for method in ("fit", "predict"):
            if not callable(getattr(estimator, method, None)):
                raise ArgumentError(
                    f"learner={name} has no method {method}; expected a scikit-learn estimator "
                    "with fit and predict."
                )
        try:
            clone(estimator)
        except Exception as error:
            raise ArgumentError(
                f"learner={name} cannot be cloned ({_quoted(error)}); its __init__ must only "
                "store its arguments, as scikit-learn asks."
            ) from None
        return cls(estimator, seed)

    @property
    def name(self) -> str:
        """Short name for tables: the class."""
        steps = getattr(self.estimator, "steps", None)
        return type(steps[-1][1] if steps else self.estimator).__name__

    @property
    def takes_categories(self) -> bool:
        """Whether it takes categories as codes and missing values as nan: it gets numbers."""
        return False

    @property
    def in_threads(self) -> bool:
        """Whether several models may be trained at the same time.

        Not known of an estimator of a user. In the main thread Ctrl-C also stops it at once.
        """
        return False

    def narrowed(self, settings: dict[str, Any]) -> "Foreign":
        """Return itself: nothing is chosen."""
        return self

    def quicker(self) -> "Foreign":
        """Return itself: its settings are the user's."""
        return self

    def for_few_rows(self) -> None:
        """Return None: its settings are the user's."""
        return None

    def hastened(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the settings: there are none."""
        return settings

    def given_settings(self) -> dict[str, Any]:
        """Return no settings: nothing is chosen."""
        return {}

    def cross_fit(
        self,
        rows: LearnerRows,
        group: IntArray,
        progress: Progress | None = None,
        *,
        keep: bool = False,
    ) -> CrossFitted:
        """Predict each group of rows by a clone trained on the others."""
        count = group_count(group)
        held_out, models = np.zeros((len(rows), rows.lines)), []
        some = [g for g in range(count) if keep or np.any(group == g)]
        train = partial(self._fit_outside, rows, group)
        for g, model in zip(some, in_workers(train, some, alone=not self.in_threads)):
            own = group == g
            models += [model] * keep
            held_out[own] = model.predict(rows.X[own], rows.dataset[own])
            if progress is not None:
                progress(g + 1, count)
        return CrossFitted(held_out, {}, tuple(models))

    def _fit_outside(self, rows: LearnerRows, group: IntArray, g: int) -> "ForeignModel":
        """Train a clone on the rows outside one group."""
        return self.fit(rows.take(rows.outside(group, g)), {})

    def fit(self, rows: LearnerRows, settings: dict[str, Any]) -> "ForeignModel":
        """Train a clone on all rows."""
        self._check_kind(rows.response)
        names = DatasetNames.of(self.estimator, rows, self.seed)
        estimator = self._prepared(names, rows)
        weights = {"sample_weight": rows.w} if self._weighs(rows) else {}
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():  # see `predict` for nan
                warnings.filterwarnings("ignore", "Using categorical_feature")  # GPBoost says so
                estimator.fit(names.first, rows.y, **weights, **names.at_fit)
        except Exception as error:
            raise DataError(
                f"Learner {self.name} failed to train on {rows.in_words()} with "
                f"{rows.X.shape[1]} columns: {type(error).__name__}: {_quoted(error)}."
            ) from error
        own = replace(names, first=None, at_fit={})
        return ForeignModel(estimator, own, rows.response, self.name, rows.labels)

    def _prepared(self, names: "DatasetNames", rows: LearnerRows) -> Any:
        estimator = clone(self.estimator)
        parameters = estimator.get_params()
        settings: dict[str, Any] = {}
        if "random_state" in parameters and parameters["random_state"] is None:
            settings["random_state"] = self.seed
        settings |= names.settings(rows.X.shape[1], parameters)
        return estimator.set_params(**settings) if settings else estimator

    def _weighs(self, rows: LearnerRows) -> bool:
        """Say whether row weights matter and the estimator takes them."""
        return bool(np.ptp(rows.w) > 0 and self.takes_weights)

    @property
    def takes_weights(self) -> bool:
        """Whether the estimator can be trained with row weights."""
        return bool(has_fit_parameter(self.estimator, "sample_weight"))

    def _check_kind(self, response: Response) -> None:
        """Refuse a classifier for numbers and a regressor for classes."""
        if response.classes and not hasattr(self.estimator, "predict_proba"):
            raise ArgumentError(
                f"learner={self.name} has no predict_proba, but the target has classes; choose a "
                "classifier with probabilities."
            )
        if response.classes and _is_of_kind("regressor", self.estimator):
            raise ArgumentError(
                f"learner={self.name} is for numbers, but the target has classes; choose a "
                "classifier."
            )
        if not response.classes and _is_of_kind("classifier", self.estimator):
            raise ArgumentError(
                f"learner={self.name} is for classes, but the target is a number; choose a "
                "regressor, or family='logistic'."
            )


@dataclass(frozen=True, eq=False)
class DatasetNames:
    """How the dataset's name reaches an estimator.

    `kind` is "none", "category" (a last column of codes, with nan), "objects" (of whole numbers,
    as CatBoost asks) or "mean"; `encoder` makes means; `first` are the training rows; `at_fit` are
    further arguments of `fit`.
    """

    kind: str
    encoder: Any = None
    first: Any = None
    at_fit: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, estimator: Any, rows: LearnerRows, seed: int) -> "DatasetNames":
        """Choose how the name reaches an estimator, and make its training rows."""
        if not rows.named:
            return cls("none", None, rows.X)
        kind, at_fit = _category(estimator, rows)
        if kind:
            found = cls(kind, None, None, at_fit)
            return replace(found, first=found.columns(rows.X, rows.dataset))
        name = rows.dataset.astype(np.float64)
        kind = "continuous"
        if rows.response.classes:  # of those that occur: an encoder of many classes fails for two
            kind = "multiclass" if len(np.unique(rows.y)) > 2 else "binary"
        rng = int(stream(seed, "target encoding", str(len(rows))).integers(2**31))
        y = _in_single_range(rows.y) if kind == "continuous" else rows.y.astype(np.int64)
        encoder = TargetEncoder(target_type=kind, **_shuffled(kind, y, rng))
        if len(y) < 2:
            means = encoder.fit(name[:, None], y).transform(name[:, None])
        else:
            means = encoder.fit_transform(name[:, None], y)
        return cls("mean", encoder, np.column_stack([rows.X, means]))

    def settings(self, column: int, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return settings that say which column is a category."""
        if self.kind != "category":
            return {}
        if "categorical_features" in parameters:
            return {"categorical_features": [column]}
        if "enable_categorical" in parameters:
            return {"enable_categorical": True, "feature_types": ["q"] * column + ["c"]}
        return {}

    def columns(self, X: FloatArray, dataset: IntArray) -> Any:
        """Return new rows as the estimator takes them."""
        if self.kind == "none":
            return X
        if self.kind == "objects":
            return np.column_stack([X.astype(object), dataset])
        name = dataset.astype(np.float64)[:, None]
        if self.kind == "category":
            return np.column_stack([X, np.where(name == UNKNOWN, np.nan, name)])
        return np.column_stack([X, self.encoder.transform(name)])


def _category(estimator: Any, rows: LearnerRows) -> tuple[str, dict[str, Any]]:
    """Return how an estimator takes the name as a category, and arguments of `fit`; else "".

    Packages are told by what they take, so that none is loaded. Where a user has named categories
    or kinds of columns, these are about the columns alone, so the name comes as a mean.
    """
    parameters, last = estimator.get_params(), [rows.X.shape[1]]
    if "categorical_features" in parameters:  # HistGradientBoosting
        return ("category" if rows.datasets <= MOST_CATEGORIES else ""), {}
    if "enable_categorical" in parameters:  # XGBoost
        free = parameters.get("feature_types") is None
        trees = parameters.get("booster") in TREES_OF_XGBOOST
        return ("category" if free and trees else ""), {}
    if has_fit_parameter(estimator, "cat_features"):  # CatBoost
        return ("", {}) if "cat_features" in parameters else ("objects", {"cat_features": last})
    if has_fit_parameter(estimator, "categorical_feature"):  # LightGBM
        named = "categorical_feature" in parameters
        return ("", {}) if named else ("category", {"categorical_feature": last})
    return "", {}


@dataclass(frozen=True, eq=False)
class ForeignModel:
    """A trained estimator that predicts rows; `labels` name the datasets in messages."""

    estimator: Any
    names: DatasetNames
    response: Response
    name: str
    labels: tuple[str, ...] = ()

    def predict(self, X: FloatArray, dataset: IntArray) -> FloatArray:
        """Return linear predictors (n, lines) of rows."""
        if not len(X):
            return np.zeros((0, lines_of(self.response)))
        columns = self.names.columns(X, dataset)
        predict = self._probabilities if self.response.classes else self._numbers
        try:
            with np.errstate(all="ignore"):
                values = predict(columns)
        except DataError:
            raise
        except Exception as error:
            raise DataError(
                f"Learner {self.name} failed to predict {rows_in_words(dataset, self.labels)} with "
                f"{columns.shape[1]} columns: {type(error).__name__}: {_quoted(error)}."
            ) from error
        if not np.isfinite(values).all():
            raise DataError(
                f"Learner {self.name} predicts values that are not finite (such as "
                f"{values[~np.isfinite(values)][0]}) for "
                f"{rows_in_words(dataset[~np.isfinite(values).all(axis=1)], self.labels)}; choose "
                "another learner or other columns."
            )
        return values

    def _numbers(self, columns: FloatArray) -> FloatArray:
        found = np.asarray(self.estimator.predict(columns), dtype=np.float64)
        if found.shape not in ((len(columns),), (len(columns), 1)):
            raise self._misshapen(found, len(columns), "one number for each row")
        found = found.reshape(-1, 1)
        if self.response.family == "poisson":
            return np.log(np.maximum(found, LEAST_COUNT))
        return found

    def _probabilities(self, columns: FloatArray) -> FloatArray:
        """Return log-odds of two classes, or logarithms of the probabilities of more."""
        known = np.asarray(self.estimator.classes_).astype(np.int64)
        each = np.asarray(self.estimator.predict_proba(columns), dtype=np.float64)
        if each.shape != (len(columns), len(known)):
            expected = f"a probability of each of {len(known)} classes for each row"
            raise self._misshapen(each, len(columns), expected)
        found = np.zeros((len(columns), len(self.response.classes)))
        found[:, known] = each
        found = np.maximum(found, LEAST_PROBABILITY)
        logs = np.log(found / found.sum(axis=1, keepdims=True))
        return logs[:, 1:] - logs[:, :1] if logs.shape[1] == 2 else centred(logs)

    def _misshapen(self, found: FloatArray, rows: int, expected: str) -> DataError:
        return DataError(
            f"Learner {self.name} predicts an array of shape {found.shape} for {rows:,} rows; "
            f"expected {expected}."
        )

    def to_plain(self, objects: list[Any]) -> dict[str, Any]:
        """Return plain values for a model file; the estimator is appended to `objects`."""
        found = {
            "kind": "estimator",
            "name": self.name,
            "names": self.names.kind,
            "object": position_of(self.estimator, objects),
        }
        if self.names.encoder is not None:
            found["encoder"] = position_of(self.names.encoder, objects)
        return found


def _in_single_range(y: FloatArray) -> FloatArray:
    """Return targets whose means fit into single precision, which trees of scikit-learn use.

    Others are multiplied by a power of two. The encoder that is stored gives means in that unit.
    """
    largest = float(np.abs(y).max())
    if largest == 0 or SMALLEST_SINGLE < largest < LARGEST_SINGLE:
        return y
    return np.ldexp(y, -int(np.frexp(largest)[1]))


def _shuffled(kind: str, y: FloatArray | IntArray, seed: int) -> dict[str, Any]:
    """Return what makes the encoder shuffle rows: from scikit-learn 1.9 on folds, not a seed.

    A class with fewer rows than folds cannot be in all of them, and is dealt like numbers.
    """
    count = max(2, min(ENCODING_FOLDS, len(y)))
    if parse_version(sklearn_version) >= parse_version("1.9"):
        rare = kind != "continuous" and np.unique(y, return_counts=True)[1].min() < count
        folds = KFold if kind == "continuous" or rare else StratifiedKFold
        return {"cv": folds(count, shuffle=True, random_state=seed)}
    return {"random_state": seed, "cv": count}


def _is_of_kind(kind: str, estimator: Any) -> bool:
    """Say whether an estimator calls itself a "regressor" or a "classifier".

    One that does not derive from scikit-learn's `BaseEstimator` need not say what it is.
    """
    try:
        return bool((is_classifier if kind == "classifier" else is_regressor)(estimator))
    except AttributeError:
        return getattr(estimator, "_estimator_type", None) == kind


def _quoted(error: Exception) -> str:
    """Return an error message in one line, cut to a readable length."""
    words = " ".join(str(error).split()) or type(error).__name__
    return words[:MOST_QUOTED].rstrip(".")
