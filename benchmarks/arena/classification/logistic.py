"""Logistic regression with a ridge term, as the rivals of the classification side use it.

Rows and classes as text enter; probabilities leave, one column for every class of all training
rows, also if the rows at hand lack some of them.
"""

import warnings
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold

from benchmarks.arena.data import FloatArray, TextArray

# As many as scikit-learn takes by default.
FOLDS = 5
# A class with fewer rows cannot be in the training part and in a fold: it does not choose C.
RARE = 2
# scikit-learn's default; Newton's method on dense columns needs few steps.
_DENSE_ITERATIONS = 100
# The solver of sparse columns takes many small steps, hence ten times the default. Other limits
# were not tried.
_SPARSE_ITERATIONS = 1000


class LogisticByValidation(ClassifierMixin, BaseEstimator):
    """Logistic regression with a ridge term, its C chosen by cross-validated log loss.

    LogisticRegressionCV chooses C among scikit-learn's ten values (1e-4 to 1e4) with five
    stratified folds. The model with the chosen C is then fitted to all rows. Rare classes:

    - Classes with at least five rows choose C if there are two of them.
    - Otherwise, classes with two rows or more choose it, with as many folds as the rarest has rows.
    - If fewer than two classes have two rows, C is 1.

    Where the n rows lack a class, the model's probabilities p become ``(n p + q) / (n + 1)``: one
    more row, spread like the shares q of the classes in all training rows. With a single class
    there is no model to fit, and this is the smoothed frequency of the classes.

    Dense columns are fitted by Newton's method, which is faster and more exact than the default
    solver. Sparse columns are fitted by the default solver.

    Parameters
    ----------
    shares : dict
        Share of every class in all training rows, classes sorted (see `class_shares`): the columns
        of the predictions.
    shuffle : bool
        Whether folds are drawn from shuffled rows. LogisticRegressionCV takes rows in order by
        default; where rows are sorted, this chooses a bad C.
    """

    def __init__(self, shares: dict[str, float], shuffle: bool = True) -> None:
        self.shares = shares
        self.shuffle = shuffle

    def fit(self, X: Any, y: TextArray) -> "LogisticByValidation":
        """Choose C and fit."""
        X, y = _array(X), np.asarray(y).astype(str)
        self.classes_ = np.array(list(self.shares))
        self._own, self._rows = np.unique(y), len(y)
        self.C_ = float("nan")
        if len(self._own) > 1:
            settings = _solver(X)
            self.C_ = _chosen_C(X, y, settings, self.shuffle)
            self._model = LogisticRegression(C=self.C_, **settings).fit(X, y)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return a column of probabilities for every class."""
        own = self._model.predict_proba(_array(X)) if len(self._own) > 1 else 1.0
        p = np.zeros((X.shape[0], len(self.classes_)))
        p[:, np.searchsorted(self.classes_, self._own)] = own
        if len(self._own) == len(self.classes_):
            return p
        return (self._rows * p + np.array(list(self.shares.values()))) / (self._rows + 1)

    def predict(self, X: Any) -> TextArray:
        """Return the most probable class of every row."""
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


def class_shares(y: TextArray) -> dict[str, float]:
    """Return the share of every class, classes sorted.

    Examples
    --------
    >>> import numpy as np
    >>> class_shares(np.array(["b", "a", "b", "b"]))
    {'a': 0.25, 'b': 0.75}
    """
    classes, counts = np.unique(y.astype(str), return_counts=True)
    return {str(name): float(count) / len(y) for name, count in zip(classes, counts)}


def _array(X: Any) -> Any:
    return X.to_numpy() if isinstance(X, pd.DataFrame) else X


def _solver(X: Any) -> dict[str, Any]:
    if sparse.issparse(X):
        return {"solver": "lbfgs", "max_iter": _SPARSE_ITERATIONS}
    return {"solver": "newton-cholesky", "max_iter": _DENSE_ITERATIONS}


def _chosen_C(X: Any, y: TextArray, settings: dict[str, Any], shuffle: bool) -> float:
    """Return C by cross-validation, see `LogisticByValidation`."""
    classes, counts = np.unique(y, return_counts=True)
    enough = FOLDS if np.sum(counts >= FOLDS) > 1 else RARE
    used = counts >= enough
    if np.sum(used) < 2:
        return 1.0
    rows = np.isin(y, classes[used])
    splits = min(FOLDS, int(counts[used].min()))
    folds = StratifiedKFold(splits, shuffle=shuffle, random_state=0 if shuffle else None)
    search = LogisticRegressionCV(
        Cs=10,
        cv=folds,
        scoring="neg_log_loss",
        l1_ratios=(0.0,),
        use_legacy_attributes=False,
        **settings,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(search.fit(X[rows], y[rows]).C_)
