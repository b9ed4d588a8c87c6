"""Trees as a user would run them: boosted ones, also with random effects, and a forest.

Each contestant takes a `benchmarks.arena.data.Task` whose target is text. It returns one column of
probabilities for every class of the training rows, in sorted order.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder

from benchmarks.arena.classification.logistic import class_shares
from benchmarks.arena.classification.rivals import LegoGroupedClassifier
from benchmarks.arena.contest import with_group
from benchmarks.arena.data import FloatArray, Task
from benchmarks.arena.learners import SEED, BoostedRandomEffects, BoostedTrees

# scikit-learn's default.
_TREES = 100


def of_all_classes(own: Any, y: Any, shares: dict[str, float]) -> FloatArray:
    """Return probabilities of all classes from those of a model that may know only some.

    Where the n rows of a model lack a class, its probabilities p become ``(n p + q) / (n + 1)``
    with the shares q of the classes in all training rows, as in `LogisticByValidation`.

    Parameters
    ----------
    own : array-like of shape (rows, classes of the model)
        Probabilities of the model.
    y : ndarray of shape (n,)
        Classes of the rows that the model was fitted to.
    shares : dict
        Share of every class in all training rows, classes sorted.

    Examples
    --------
    >>> y, shares = np.array(["a", "b"] * 2), {"a": 0.5, "b": 0.25, "c": 0.25}
    >>> of_all_classes([[0.5, 0.5]], y, shares).tolist()
    [[0.5, 0.45, 0.05]]
    """
    known = np.isin(list(shares), y.astype(str))
    p = np.zeros((len(own), len(shares)))
    p[:, known] = own
    return p if known.all() else (len(y) * p + np.array(list(shares.values()))) / (len(y) + 1)


class BoostedClassifier(BoostedTrees):
    """Boosted trees for classes; a group that cannot be fitted has the shares of its classes."""

    kind = "Classifier"

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        self.shares = class_shares(task.y_train)
        return super().fit_predict(task)

    def answer(self, X: Any, y: Any, X_test: Any) -> FloatArray:
        """Fit a model to rows and return its probabilities for other rows."""
        classes, codes = np.unique(y.astype(str), return_inverse=True)
        if len(classes) == 1:
            raise ValueError("its rows have a single class")
        return of_all_classes(self.fitted(X, codes).predict_proba(X_test), y, self.shares)

    def plain(self, y: Any) -> Any:
        """Return the shares of the classes in a group."""
        return of_all_classes([list(class_shares(y).values())], y, self.shares)[0]


class BoostingOfAllClasses(ClassifierMixin, BaseEstimator):
    """scikit-learn's HistGradientBoostingClassifier, with `of_all_classes`."""

    def __init__(self, shares: dict[str, float]) -> None:
        self.shares = shares

    def fit(self, X: Any, y: Any) -> "BoostingOfAllClasses":
        """Fit the model; with a single class there is none."""
        self.classes_, self._y = np.array(list(self.shares)), np.asarray(y).astype(str)
        several = len(np.unique(self._y)) > 1
        model = HistGradientBoostingClassifier(random_state=SEED)
        self._model = model.fit(X, self._y) if several else None
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return a column of probabilities for every class."""
        own = np.ones((len(X), 1)) if self._model is None else self._model.predict_proba(X)
        return of_all_classes(own, self._y, self.shares)


class LegoBoosting(LegoGroupedClassifier):
    """scikit-lego's GroupedClassifier around scikit-learn's HistGradientBoostingClassifier."""

    name = "sklego-boosting"

    def estimator(self, shares: dict[str, float]) -> Any:
        """Return the model of a group."""
        return BoostingOfAllClasses(shares)


class BoostedRandomEffectsClassifier(BoostedRandomEffects):
    """GPBoost's boosted trees with random intercepts and a logit link, for two classes only."""

    likelihood = "bernoulli_logit"

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        classes, codes = np.unique(task.y_train.astype(str), return_inverse=True)
        if len(classes) != 2:
            raise NotImplementedError(f"two classes only, here are {len(classes)}")
        second = self.fit_mean(task, codes.astype(np.float64))
        return np.column_stack([1 - second, second])


class Forest:
    """scikit-learn's random forest, with the group's name as cross-fitted shares of the classes.

    A forest gives many classes a probability of 0, whose log loss is without bound. So one tree
    more is counted that predicts the shares of the classes in all training rows.
    """

    name = "forest"

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        y = task.y_train.astype(str)
        model = make_pipeline(
            make_column_transformer(
                (TargetEncoder(random_state=SEED), ["group"]), remainder="passthrough"
            ),
            RandomForestClassifier(_TREES, random_state=SEED, n_jobs=1),
        )
        model.fit(with_group(task.X_train, task.groups_train), y)
        p = model.predict_proba(with_group(task.X_test, task.groups_test))
        return (_TREES * p + np.array(list(class_shares(y).values()))) / (_TREES + 1)
