"""What a user would run instead: least squares, scikit-lego and GPBoost.

Each contestant takes a `benchmarks.arena.data.Task` and returns a number for every test row.
"""

from types import ModuleType
from typing import Any, Literal

import numpy as np
from sklearn.linear_model import LinearRegression

from benchmarks.arena.contest import with_group
from benchmarks.arena.data import FloatArray, Task, rows_by_group
from benchmarks.arena.mixed_model import MixedModel

Shrinkage = Literal["constant", "equal", "relative", "min_n_obs"]

# GPBoost's optimiser restarts while the likelihood still rises, at most this often. GPBoost's own
# warnings recommend restarts where its line search fails; other numbers were not tried.
_RESTARTS = 5


class SeparateLeastSquares:
    """One LinearRegression for every group (minimum norm where it is singular)."""

    name = "separate"

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        predictions = np.empty(len(task.X_test))
        train, test = rows_by_group(task.groups_train), rows_by_group(task.groups_test)
        for group, rows in test.items():
            own = train[group]
            model = LinearRegression().fit(task.X_train[own], task.y_train[own])
            predictions[rows] = model.predict(task.X_test[rows])
        return predictions


class PooledLeastSquares:
    """One LinearRegression for all rows; it does not see the groups."""

    name = "pooled"

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        return LinearRegression().fit(task.X_train, task.y_train).predict(task.X_test)


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

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        model = self._meta.GroupedRegressor(
            self.estimator(),
            groups=["group"],
            shrinkage=self.shrinkage,
            shrinkage_kwargs=self._settings(*task.X_train.shape),
        )
        model.fit(with_group(task.X_train, task.groups_train), task.y_train)
        predictions = model.predict(with_group(task.X_test, task.groups_test))
        return np.asarray(predictions, dtype=np.float64).reshape(-1)

    def estimator(self) -> Any:
        """Return the model of a group."""
        return LinearRegression()

    def _settings(self, rows: int, columns: int) -> dict[str, float] | None:
        """Return the arguments of the shrinkage function for a training part of this size."""
        if self.weight_of_all is not None:
            return {"alpha": self.weight_of_all}
        if self.min_rows is None:
            return None
        wanted = 2 * (columns + 1) if self.min_rows == "2p" else self.min_rows
        self.note = f"min_n_obs lowered from {wanted} to {rows}" if wanted > rows else ""
        return {"min_n_obs": min(wanted, rows)}


class BoostRandomEffects(MixedModel):
    """GPBoost's linear mixed model; `slopes` as in `benchmarks.arena.mixed_model.MixedModel`."""

    fit_options: dict[str, Any] = {"params": {"max_num_restarts_lbfgs": _RESTARTS}}

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        return self.fit_mean(task, task.y_train)
