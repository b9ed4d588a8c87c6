"""What a user would run instead: logistic regression in several arrangements, and GPBoost.

Predictors arrive standardised, without an intercept column and without columns that are constant
in training; every group that is asked for at prediction has at least one training row. Classes are
text. All contestants return one column of probabilities for every class of the training rows, in
sorted order.
"""

import warnings
from dataclasses import dataclass
from types import ModuleType
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold

from benchmarks.arena.data import FloatArray, TextArray
from benchmarks.arena.rivals import independent_columns, rows_by_group
from conjoin.criterion.base import PairScore, Unit
from conjoin.paper.classification import Reading, Setting, bounds
from conjoin.paper.greedy import greedy
from conjoin.paper.surrogate import plug_in

FOLDS = 5
RARE = 2  # a class with fewer rows does not enter the choice of C
COMMON = 0.01  # share of the rows from which on a class counts as common
MOST_GROUPS_OF_THE_PAPER = 24  # Algorithm 3 compares every pair of groups
_POOR = "(poor groups)"
_DENSE_ITERATIONS, _SPARSE_ITERATIONS = 100, 1000


class LogisticByValidation(ClassifierMixin, BaseEstimator):
    """Logistic regression with a ridge term, its C chosen by cross-validated log loss.

    C is one of scikit-learn's ten (1e-4 to 1e4), chosen by LogisticRegressionCV with five
    stratified folds. The classes that enter the choice are those with at least five rows; if fewer
    than two have five, those with at least two rows, with as many folds as the rarest of them has
    rows; if fewer than two have two, C is 1. The model with the chosen C is fitted to all rows.

    Where the n rows lack a class, the model's probabilities p become ``(n p + q) / (n + 1)``: one
    more row, spread like the shares q of the classes in all training rows. With a single class,
    where there is nothing to fit, that is the smoothed frequency of the classes.

    Dense columns are fitted by Newton's method, which reaches the optimum faster and more exactly
    than the default solver; sparse ones by the default solver.

    Parameters
    ----------
    shares : dict
        Share of every class in all training rows, classes sorted (see `class_shares`): the columns
        of the predictions.
    shuffle : bool
        Whether folds are drawn from shuffled rows. LogisticRegressionCV takes them in order by
        default, which chooses C badly where rows are sorted.
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


class SeparateLogistic:
    """A logistic regression of its own for every group; `shuffle` as in `LogisticByValidation`."""

    name = "separate"

    def __init__(self, shuffle: bool = True) -> None:
        self.shuffle, self.note = shuffle, ""

    def fit_predict(
        self,
        X_train: FloatArray,
        y_train: TextArray,
        groups_train: TextArray,
        X_test: FloatArray,
        groups_test: TextArray,
    ) -> FloatArray:
        """Fit and predict; see `benchmarks.arena.rivals.Contestant.fit_predict`."""
        shares = class_shares(y_train)
        answer = np.empty((len(X_test), len(shares)))
        train, test = rows_by_group(groups_train), rows_by_group(groups_test)
        lacking = 0
        for group, rows in test.items():
            own = train[group]
            lacking += len(np.unique(y_train[own].astype(str))) < len(shares)
            model = LogisticByValidation(shares, self.shuffle).fit(X_train[own], y_train[own])
            answer[rows] = model.predict_proba(X_test[rows])
        self.note = f"{lacking} groups lack a class" if lacking else ""
        return answer


class PooledLogistic:
    """One logistic regression for all rows, blind to the groups; `shuffle` as above."""

    name = "pooled"

    def __init__(self, shuffle: bool = True) -> None:
        self.shuffle = shuffle

    def fit_predict(
        self,
        X_train: FloatArray,
        y_train: TextArray,
        groups_train: TextArray,
        X_test: FloatArray,
        groups_test: TextArray,
    ) -> FloatArray:
        """Fit and predict; see `benchmarks.arena.rivals.Contestant.fit_predict`."""
        model = LogisticByValidation(class_shares(y_train), self.shuffle).fit(X_train, y_train)
        return model.predict_proba(X_test)


class LegoGroupedClassifier:
    """scikit-lego's GroupedClassifier around the same logistic regression as `separate`.

    It has no shrinkage for classifiers, but a model of all rows for groups it does not know. That
    one predicts the poor groups: those without two rows of every common class (one percent of all
    training rows or more). Their rows are fitted under a common name and predicted under their own,
    which scikit-lego then takes for a new group's.
    """

    name = "sklego"

    def __init__(self) -> None:
        import sklego.meta

        self._meta: ModuleType = sklego.meta
        self.note = ""

    def fit_predict(
        self,
        X_train: FloatArray,
        y_train: TextArray,
        groups_train: TextArray,
        X_test: FloatArray,
        groups_test: TextArray,
    ) -> FloatArray:
        """Fit and predict; see `benchmarks.arena.rivals.Contestant.fit_predict`."""
        groups, y = groups_train.astype(str).astype(object), y_train.astype(str)
        counts = pd.crosstab(groups, y)
        common = counts.loc[:, counts.sum() >= COMMON * len(y)]
        rich = common.index[(common >= RARE).all(axis=1)]
        poor = len(counts) - len(rich)
        self.note = f"{poor} of {len(counts)} groups treated as new" if poor else ""
        shown = np.where(np.isin(groups, rich), groups, _POOR)
        estimator = LogisticByValidation(class_shares(y_train))
        model = self._meta.GroupedClassifier(estimator, groups=["group"])
        model.fit(_with_group(X_train, shown), y)
        return np.asarray(model.predict_proba(_with_group(X_test, groups_test)))


class RidgeByGroup:
    """One logistic regression with the groups as columns, under one ridge term.

    Beside the predictors there is a 0/1 column for every group and, with `slopes`, its product with
    every predictor: a group's coefficients are the common ones plus a deviation that the ridge term
    holds down. It is the plain way to partial pooling with more than two classes.

    Parameters
    ----------
    slopes : bool
        Whether every predictor has a deviation by group, or the intercept only.
    """

    def __init__(self, slopes: bool) -> None:
        self.slopes = slopes
        self.name = "ridge-slopes" if slopes else "ridge-intercept"

    def fit_predict(
        self,
        X_train: FloatArray,
        y_train: TextArray,
        groups_train: TextArray,
        X_test: FloatArray,
        groups_test: TextArray,
    ) -> FloatArray:
        """Fit and predict; see `benchmarks.arena.rivals.Contestant.fit_predict`."""
        names = np.unique(groups_train.astype(str))
        train = self._design(X_train, np.searchsorted(names, groups_train.astype(str)), len(names))
        test = self._design(X_test, np.searchsorted(names, groups_test.astype(str)), len(names))
        model = LogisticByValidation(class_shares(y_train)).fit(train, y_train)
        return model.predict_proba(test)

    def _design(self, X: FloatArray, codes: np.ndarray, groups: int) -> sparse.csr_matrix:
        """Return the predictors, then the columns of the groups."""
        rows, columns = X.shape
        own = np.column_stack([np.ones(rows), X]) if self.slopes else np.ones((rows, 1))
        width = own.shape[1]
        places = (codes[:, None] * width + np.arange(width)).ravel()
        starts = np.arange(0, rows * width + 1, width)
        blocks = sparse.csr_matrix((own.ravel(), places, starts), shape=(rows, groups * width))
        return sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(X), blocks]))


class BoostRandomEffectsBinary:
    """GPBoost's mixed model with a logit link: fixed effects of all columns, random by group.

    As in the regression arena: random slopes are independent, one variance a column; dependent
    fixed effects are left out and covariances factorised. Probabilities are those GPBoost gives,
    with the random effects integrated out. Two classes only.

    Parameters
    ----------
    slopes : bool
        Whether every column has a random slope beside the random intercept.
    """

    def __init__(self, slopes: bool) -> None:
        import gpboost

        self._gpboost: ModuleType = gpboost
        self.slopes = slopes
        self.name = "gpboost-slopes" if slopes else "gpboost-intercept"
        self.note = ""

    def fit_predict(
        self,
        X_train: FloatArray,
        y_train: TextArray,
        groups_train: TextArray,
        X_test: FloatArray,
        groups_test: TextArray,
    ) -> FloatArray:
        """Fit and predict; see `benchmarks.arena.rivals.Contestant.fit_predict`."""
        classes, codes = np.unique(y_train.astype(str), return_inverse=True)
        if len(classes) != 2:
            raise NotImplementedError(f"two classes only, here are {len(classes)}")
        fixed_train, fixed_test = (np.column_stack([np.ones(len(X)), X]) for X in (X_train, X_test))
        kept = independent_columns(fixed_train)
        dependent = fixed_train.shape[1] - len(kept)
        self.note = f"{dependent} dependent fixed effects left out" if dependent else ""
        slopes_train = {
            "group_rand_coef_data": X_train,
            "ind_effect_group_rand_coef": [1] * X_train.shape[1],
        }
        model = self._gpboost.GPModel(
            group_data=groups_train.astype(str),
            likelihood="bernoulli_logit",
            matrix_inversion_method="cholesky",
            num_parallel_threads=1,
            **(slopes_train if self.slopes else {}),
        )
        model.fit(y=codes.astype(np.float64), X=fixed_train[:, kept])
        answer = model.predict(
            group_data_pred=groups_test.astype(str),
            X_pred=fixed_test[:, kept],
            predict_var=False,
            predict_response=True,
            **({"group_rand_coef_data_pred": X_test} if self.slopes else {}),
        )
        second = np.asarray(answer["mu"], dtype=np.float64)
        return np.column_stack([1 - second, second])


class PaperClusters:
    """The paper's Algorithm 3 with its bounds for classification; a logistic regression a cluster.

    Psi and Phi are evaluated at ridge fits of the predictors and a column of ones, with the
    library's defaults; B is the largest norm of a row in the two units. The score of a pair is
    ``Phi1 + Phi2 - Psi``, and units are joined where it is not negative.

    Parameters
    ----------
    reading : {"corrected", "printed"}
        How the step terms are read, see `conjoin.paper.classification`.
    """

    threshold = 0.0

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.name = f"paper-{reading}"
        self.note = ""

    def fit_predict(
        self,
        X_train: FloatArray,
        y_train: TextArray,
        groups_train: TextArray,
        X_test: FloatArray,
        groups_test: TextArray,
    ) -> FloatArray:
        """Fit and predict; see `benchmarks.arena.rivals.Contestant.fit_predict`."""
        shares = class_shares(y_train)
        train, test = rows_by_group(groups_train), rows_by_group(groups_test)
        if len(train) > MOST_GROUPS_OF_THE_PAPER:
            raise NotImplementedError(f"more than {MOST_GROUPS_OF_THE_PAPER} groups")
        X, codes = np.column_stack([np.ones(len(X_train)), X_train]), _codes(y_train, shares)
        units = [_Rows((name,), X[rows], codes[rows], len(shares)) for name, rows in train.items()]
        clusters = greedy(self, cast(list[Unit], units), seed=0).clusters
        self.note = f"{len(clusters)} clusters of {len(units)} groups"
        answer = np.empty((len(X_test), len(shares)))
        for names in clusters:
            # In the order of the table: one cluster of all is then `pooled`, folds included.
            own = np.sort(np.concatenate([train[name] for name in names]))
            rows = np.concatenate([test.get(name, np.empty(0, dtype=np.intp)) for name in names])
            if len(rows):
                model = LogisticByValidation(shares).fit(X_train[own], y_train[own])
                answer[rows] = model.predict_proba(X_test[rows])
        return answer

    def prepare(self, unit: Any, seed: int) -> "_Prepared":
        """Fit what the bounds need of a unit."""
        largest = float(np.max(np.linalg.norm(unit.X, axis=1)))
        beta = plug_in(unit.X, unit.codes, unit.C, Setting(unit.C, largest).lam)
        return _Prepared(len(unit.codes), unit.C, largest, beta)

    def compare(self, a: "_Prepared", b: "_Prepared") -> PairScore:
        """Evaluate both bounds of a pair."""
        setting = Setting(a.C, max(a.largest, b.largest), reading=self.reading)
        both = bounds(a.n, b.n, a.beta, b.beta, setting)
        return PairScore(both.margin, both.join, phi=sum(both.Phi), psi=both.Psi)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a group, or of groups already joined."""

    names: tuple[str, ...]
    X: FloatArray
    codes: np.ndarray
    C: int

    def union(self, other: "_Rows") -> "_Rows":
        return _Rows(
            tuple(sorted([*self.names, *other.names])),
            np.concatenate([self.X, other.X]),
            np.concatenate([self.codes, other.codes]),
            self.C,
        )


@dataclass(frozen=True, eq=False)
class _Prepared:
    n: int
    C: int
    largest: float
    beta: FloatArray


def _codes(y: TextArray, shares: dict[str, float]) -> np.ndarray:
    return np.searchsorted(np.array(list(shares)), y.astype(str))


def _with_group(X: FloatArray, groups: TextArray) -> pd.DataFrame:
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return frame.assign(group=groups.astype(str))
