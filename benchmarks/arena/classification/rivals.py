"""What a user would run instead: logistic regression in several arrangements, and GPBoost.

Each contestant takes a `benchmarks.arena.data.Task` whose target is text. It returns one column of
probabilities for every class of the training rows, in sorted order.
"""

from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from benchmarks.arena.classification.logistic import RARE, LogisticByValidation, class_shares
from benchmarks.arena.contest import with_group, with_intercept
from benchmarks.arena.data import FloatArray, Task, rows_by_group
from benchmarks.arena.mixed_model import MixedModel

# A class with this share of all training rows is common. A lower share asks groups for rows of very
# rare classes, so that more groups count as poor. Other shares were not tried.
COMMON = 0.01
_POOR = "(poor groups)"


class SeparateLogistic:
    """One logistic regression for every group; `shuffle` as in `LogisticByValidation`."""

    name = "separate"

    def __init__(self, shuffle: bool = True) -> None:
        self.shuffle, self.note = shuffle, ""

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        shares = class_shares(task.y_train)
        answer = np.empty((len(task.X_test), len(shares)))
        train, test = rows_by_group(task.groups_train), rows_by_group(task.groups_test)
        lacking = 0
        for group, rows in test.items():
            own = train[group]
            lacking += len(np.unique(task.y_train[own].astype(str))) < len(shares)
            model = LogisticByValidation(shares, self.shuffle)
            model.fit(task.X_train[own], task.y_train[own])
            answer[rows] = model.predict_proba(task.X_test[rows])
        self.note = f"{lacking} groups lack a class" if lacking else ""
        return answer


class PooledLogistic:
    """One logistic regression for all rows, without the groups; `shuffle` as above."""

    name = "pooled"

    def __init__(self, shuffle: bool = True) -> None:
        self.shuffle = shuffle

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        model = LogisticByValidation(class_shares(task.y_train), self.shuffle)
        return model.fit(task.X_train, task.y_train).predict_proba(task.X_test)


class LegoGroupedClassifier:
    """scikit-lego's GroupedClassifier around the same logistic regression as `separate`.

    scikit-lego has no shrinkage for classifiers, but a model of all rows for groups it does not
    know. That model predicts the poor groups: those without two rows of every common class. (A
    class is common if it has one percent of all training rows.) Rows of poor groups are fitted
    under one common name and predicted under their own, which is then new to scikit-lego.
    """

    name = "sklego"

    def __init__(self) -> None:
        import sklego.meta

        self._meta: ModuleType = sklego.meta
        self.note = ""

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        groups, y = task.groups_train.astype(str).astype(object), task.y_train.astype(str)
        counts = pd.crosstab(groups, y)
        common = counts.loc[:, counts.sum() >= COMMON * len(y)]
        rich = common.index[(common >= RARE).all(axis=1)]
        poor = len(counts) - len(rich)
        self.note = f"{poor} of {len(counts)} groups treated as new" if poor else ""
        shown = np.where(np.isin(groups, rich), groups, _POOR)
        estimator = self.estimator(class_shares(task.y_train))
        model = self._meta.GroupedClassifier(estimator, groups=["group"])
        model.fit(with_group(task.X_train, shown), y)
        return np.asarray(model.predict_proba(with_group(task.X_test, task.groups_test)))

    def estimator(self, shares: dict[str, float]) -> Any:
        """Return the model of a group, given the share of every class in all training rows."""
        return LogisticByValidation(shares)


class RidgeByGroup:
    """One logistic regression with the groups as columns, under one ridge term.

    Every group has a 0/1 column and, with `slopes`, its product with every predictor. A group's
    coefficients are then the common ones plus a deviation, which the ridge term shrinks. This is
    the simplest partial pooling with more than two classes.

    Parameters
    ----------
    slopes : bool
        Whether every predictor has a deviation by group, or the intercept only.
    """

    def __init__(self, slopes: bool) -> None:
        self.slopes = slopes
        self.name = "ridge-slopes" if slopes else "ridge-intercept"

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        names = np.unique(task.groups_train.astype(str))
        codes_train = np.searchsorted(names, task.groups_train.astype(str))
        codes_test = np.searchsorted(names, task.groups_test.astype(str))
        train = self._design(task.X_train, codes_train, len(names))
        test = self._design(task.X_test, codes_test, len(names))
        model = LogisticByValidation(class_shares(task.y_train)).fit(train, task.y_train)
        return model.predict_proba(test)

    def _design(self, X: FloatArray, codes: np.ndarray, groups: int) -> sparse.csr_matrix:
        """Return the predictors, then the columns of the groups."""
        rows, columns = X.shape
        own = with_intercept(X) if self.slopes else np.ones((rows, 1))
        width = own.shape[1]
        places = (codes[:, None] * width + np.arange(width)).ravel()
        starts = np.arange(0, rows * width + 1, width)
        blocks = sparse.csr_matrix((own.ravel(), places, starts), shape=(rows, groups * width))
        return sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(X), blocks]))


class BoostRandomEffectsBinary(MixedModel):
    """GPBoost's mixed model with a logit link, for two classes only.

    The probabilities are those GPBoost gives, with the random effects integrated out; `slopes` as
    in `benchmarks.arena.mixed_model.MixedModel`.
    """

    likelihood = "bernoulli_logit"
    predict_options: dict[str, Any] = {"predict_response": True}

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        classes, codes = np.unique(task.y_train.astype(str), return_inverse=True)
        if len(classes) != 2:
            raise NotImplementedError(f"two classes only, here are {len(classes)}")
        second = self.fit_mean(task, codes.astype(np.float64))
        return np.column_stack([1 - second, second])
