"""What a user would run instead: least squares, scikit-lego and GPBoost behind one protocol.

Predictors arrive standardised, without an intercept column and without columns that are constant
in training; every group that is asked for at prediction has at least one training row.
"""

from types import ModuleType
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import qr
from sklearn.linear_model import LinearRegression

from benchmarks.arena.data import FloatArray, IntArray, TextArray

Shrinkage = Literal["constant", "equal", "relative", "min_n_obs"]

_DEPENDENT = 1e-8  # share of the largest pivot below which a column counts as dependent
_RESTARTS = 5  # of GPBoost's optimiser, as long as the likelihood still rises


@runtime_checkable
class Contestant(Protocol):
    """Anything that can take part in the arena.

    A contestant may also have an attribute ``note``, a text that is kept with the result of the
    latest `fit_predict`.

    Attributes
    ----------
    name : str
        Name in the tables.
    """

    name: str

    def fit_predict(
        self,
        X_train: FloatArray,
        y_train: FloatArray,
        groups_train: TextArray,
        X_test: FloatArray,
        groups_test: TextArray,
    ) -> FloatArray:
        """Fit on the training rows and predict the target of the test rows.

        Parameters
        ----------
        X_train, X_test : ndarray of shape (rows, columns)
            Standardised predictors.
        y_train : ndarray of shape (rows,)
            Target of the training rows.
        groups_train, groups_test : ndarray of shape (rows,)
            Name of the group of every row.

        Returns
        -------
        ndarray of shape (test rows,)
            Predictions.
        """
        ...


class SeparateLeastSquares:
    """A LinearRegression of its own for every group (minimum norm where it is singular)."""

    name = "separate"

    def fit_predict(
        self,
        X_train: FloatArray,
        y_train: FloatArray,
        groups_train: TextArray,
        X_test: FloatArray,
        groups_test: TextArray,
    ) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        predictions = np.empty(len(X_test))
        train, test = rows_by_group(groups_train), rows_by_group(groups_test)
        for group, rows in test.items():
            own = train[group]
            model = LinearRegression().fit(X_train[own], y_train[own])
            predictions[rows] = model.predict(X_test[rows])
        return predictions


class PooledLeastSquares:
    """One LinearRegression for all rows, blind to the groups."""

    name = "pooled"

    def fit_predict(
        self,
        X_train: FloatArray,
        y_train: FloatArray,
        groups_train: TextArray,
        X_test: FloatArray,
        groups_test: TextArray,
    ) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        return LinearRegression().fit(X_train, y_train).predict(X_test)


class LegoGrouped:
    """scikit-lego's GroupedRegressor around LinearRegression.

    With one group column, a shrinkage averages the predictions of a group's own model and of the
    model of all rows, with these weights (n_k rows in the group, n rows in all):

    - ``constant``: `weight_of_all` for all rows, the rest for the group. This is scikit-lego's
      `alpha` as its code uses it; its documentation describes the opposite.
    - ``equal``: one half each.
    - ``relative``: proportional to n and n_k.
    - ``min_n_obs``: the group's own model if n_k is large enough, else that of all rows.

    Parameters
    ----------
    shrinkage : {"constant", "equal", "relative", "min_n_obs"}, optional
        Kind of shrinkage; none by default.
    weight_of_all : float, optional
        For ``constant``.
    min_rows : int or "2p", optional
        For ``min_n_obs``; "2p" stands for twice the number of coefficients, intercept included.
        scikit-lego refuses a number above n, so it is lowered to n where needed.
    """

    def __init__(
        self,
        shrinkage: Shrinkage | None = None,
        *,
        weight_of_all: float | None = None,
        min_rows: int | Literal["2p"] | None = None,
    ) -> None:
        import sklego.meta

        self._meta: ModuleType = sklego.meta
        self.shrinkage = shrinkage
        self.weight_of_all = weight_of_all
        self.min_rows = min_rows
        settings = (shrinkage, weight_of_all, min_rows)
        self.name = "-".join(["sklego", *(str(s) for s in settings if s is not None)])
        self.note = ""

    def fit_predict(
        self,
        X_train: FloatArray,
        y_train: FloatArray,
        groups_train: TextArray,
        X_test: FloatArray,
        groups_test: TextArray,
    ) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        model = self._meta.GroupedRegressor(
            LinearRegression(),
            groups=["group"],
            shrinkage=self.shrinkage,
            shrinkage_kwargs=self._settings(*X_train.shape),
        )
        model.fit(_with_group(X_train, groups_train), y_train)
        predictions = model.predict(_with_group(X_test, groups_test))
        return np.asarray(predictions, dtype=np.float64).reshape(-1)

    def _settings(self, rows: int, columns: int) -> dict[str, float] | None:
        """Return the arguments of the shrinkage function for a training part of this size."""
        if self.weight_of_all is not None:
            return {"alpha": self.weight_of_all}
        if self.min_rows is None:
            return None
        wanted = 2 * (columns + 1) if self.min_rows == "2p" else self.min_rows
        self.note = f"min_n_obs lowered from {wanted} to {rows}" if wanted > rows else ""
        return {"min_n_obs": min(wanted, rows)}


class BoostRandomEffects:
    """GPBoost's linear mixed model: fixed effects of all columns, random effects of the groups.

    Random slopes are independent of each other, one variance a column. Three settings depart from
    the defaults, for all sets alike: fixed effects are reduced to independent columns (GPBoost
    warns of dependent ones and fits them badly), covariances are factorised instead of solved
    iteratively (about 10 to 100 times faster with random slopes here), and the optimiser may
    restart, as GPBoost's own warnings recommend where its line search fails.

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
        y_train: FloatArray,
        groups_train: TextArray,
        X_test: FloatArray,
        groups_test: TextArray,
    ) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        fixed_train, fixed_test = _with_intercept(X_train), _with_intercept(X_test)
        kept = independent_columns(fixed_train)
        dependent = fixed_train.shape[1] - len(kept)
        self.note = f"{dependent} dependent fixed effects left out" if dependent else ""
        slopes_train = {
            "group_rand_coef_data": X_train,
            "ind_effect_group_rand_coef": [1] * X_train.shape[1],
        }
        model = self._gpboost.GPModel(
            group_data=groups_train.astype(str),
            likelihood="gaussian",
            matrix_inversion_method="cholesky",
            num_parallel_threads=1,
            **(slopes_train if self.slopes else {}),
        )
        model.fit(y=y_train, X=fixed_train[:, kept], params={"max_num_restarts_lbfgs": _RESTARTS})
        answer = model.predict(
            group_data_pred=groups_test.astype(str),
            X_pred=fixed_test[:, kept],
            predict_var=False,
            **({"group_rand_coef_data_pred": X_test} if self.slopes else {}),
        )
        return np.asarray(answer["mu"], dtype=np.float64)


def rows_by_group(groups: TextArray) -> dict[str, IntArray]:
    """Return the row numbers of every group, groups in the order of their names.

    Examples
    --------
    >>> import numpy as np
    >>> rows = rows_by_group(np.array(["b", "a", "b"]))
    >>> {group: numbers.tolist() for group, numbers in rows.items()}
    {'a': [1], 'b': [0, 2]}
    """
    names, codes = np.unique(groups.astype(str), return_inverse=True)
    order = np.argsort(codes, kind="stable")
    pieces = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    return dict(zip(map(str, names), pieces, strict=True))


def independent_columns(matrix: FloatArray) -> NDArray[np.intp]:
    """Return the numbers of columns that span the same space, by QR with pivoting.

    The first column is the intercept; standardised columns are orthogonal to it, so it stays.
    """
    _, r, order = qr(matrix, mode="economic", pivoting=True)
    pivots = np.abs(np.diag(r))
    return np.sort(order[: int(np.sum(pivots > _DEPENDENT * pivots[0]))])


def _with_intercept(X: FloatArray) -> FloatArray:
    return np.column_stack([np.ones(len(X)), X])


def _with_group(X: FloatArray, groups: TextArray) -> pd.DataFrame:
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return frame.assign(group=groups)
