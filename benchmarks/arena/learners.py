"""Boosted trees and GPBoost's boosting as contestants, for both sides.

A task enters; predictions of the test rows leave. `SETTINGS` is the table of boosters: which
package, how the groups share a model, and what differs from the package's defaults. The sides add
how a target becomes numbers and what a model answers.
"""

from importlib import import_module
from types import ModuleType
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.arena.contest import with_group
from benchmarks.arena.data import FloatArray, Task, TextArray, rows_by_group

Sharing = Literal["named", "pooled", "separate"]

# Random seed of every learner and of the rows that early stopping holds out.
SEED = 0
# Share of the training rows that early stopping holds out: as common as any.
HELD_OUT = 0.2
# GPBoost's default.
_ROUNDS = 100


class Booster(NamedTuple):
    """A package of boosted trees with scikit-learn's interface.

    Attributes
    ----------
    package : str
        The module to import.
    prefix : str
        Its estimators are called so, followed by Regressor or Classifier.
    options : dict
        Options of every estimator: seed, one thread, no printing.
    category : dict
        Further options if the column "group" is a category.
    """

    package: str
    prefix: str
    options: dict[str, Any]
    category: dict[str, Any] = {}


BOOSTERS = {
    "lightgbm": Booster("lightgbm", "LGBM", {"random_state": SEED, "n_jobs": 1, "verbose": -1}),
    "catboost": Booster(
        "catboost",
        "CatBoost",
        {"random_seed": SEED, "thread_count": 1, "verbose": False, "allow_writing_files": False},
        category={"cat_features": ["group"]},
    ),
    "xgboost": Booster(
        "xgboost",
        "XGB",
        {"random_state": SEED, "n_jobs": 1, "verbosity": 0},
        category={"enable_categorical": True},
    ),
}


class Setting(NamedTuple):
    """A contestant of boosted trees.

    Attributes
    ----------
    booster : str
        A key of `BOOSTERS`.
    sharing : {"named", "pooled", "separate"}
        One model for all rows with the group's name as a category; one model for all rows without
        it; one model for every group.
    options : dict
        What differs from the package's defaults.
    patience : int
        Rounds without a gain on held-out rows after which LightGBM stops; it then starts again
        with all rows and the rounds found. 0 for no early stopping.
    """

    booster: str
    sharing: Sharing
    options: dict[str, Any] = {}
    patience: int = 0


SHARINGS: tuple[Sharing, ...] = ("named", "pooled", "separate")

SETTINGS: dict[str, Setting] = {
    **{f"{one}-{sharing}": Setting(one, sharing) for one in BOOSTERS for sharing in SHARINGS},
    "lightgbm-named-200": Setting(
        "lightgbm",
        "named",
        {"n_estimators": 200, "learning_rate": 0.05, "num_leaves": 31, "min_child_samples": 20},
    ),
    "lightgbm-named-early": Setting(
        "lightgbm", "named", {"n_estimators": 2000, "learning_rate": 0.05}, patience=50
    ),
}

# Contestants of this kind on both sides; the pages of the linear ones leave them out.
NAMES = (*SETTINGS, "forest", "sklego-boosting", "gpboost-boosting", "merf")


class BoostedTrees:
    """LightGBM, CatBoost or XGBoost; a side adds `kind`, `answer` and `plain`.

    Parameters
    ----------
    name : str
        A key of `SETTINGS`.
    """

    kind: Literal["Regressor", "Classifier"]

    def __init__(self, name: str) -> None:
        self.name, self.note = name, ""
        self.setting = SETTINGS[name]
        self.booster = BOOSTERS[self.setting.booster]
        self._module: ModuleType = import_module(self.booster.package)

    def answer(self, X: Any, y: Any, X_test: Any) -> FloatArray:
        """Fit a model to rows and return its predictions for other rows."""
        raise NotImplementedError

    def plain(self, y: Any) -> Any:
        """Return what is predicted for a group that the booster cannot fit."""
        raise NotImplementedError

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        if self.setting.sharing == "named":
            train, test = with_category(task)
            return self.answer(train, task.y_train, test)
        if self.setting.sharing == "pooled":
            return self.answer(task.X_train, task.y_train, task.X_test)
        return self._separate(task)

    def _separate(self, task: Task) -> FloatArray:
        """Fit a model to every group; where the booster refuses, predict its `plain` answer."""
        train, refused = rows_by_group(task.groups_train), []
        answers: dict[int, Any] = {}
        for group, rows in rows_by_group(task.groups_test).items():
            X, y = task.X_train[train[group]], task.y_train[train[group]]
            try:
                own = self.answer(X, y, task.X_test[rows])
            except Exception as error:
                refused.append(str(error))
                own = np.repeat(np.asarray([self.plain(y)]), len(rows), axis=0)
            answers |= dict(zip(rows.tolist(), own))
        many = f"{len(refused)} groups not fitted, the first one: {refused[0]}" if refused else ""
        self.note = many
        return np.array([answers[row] for row in range(len(task.X_test))])

    def fitted(self, X: Any, y: Any) -> Any:
        """Return the estimator, fitted to rows with a target of numbers or codes of classes."""
        if not self.setting.patience:
            return self._estimator().fit(X, y)
        rounds = self._rounds(X, y)
        self.note = f"{rounds} rounds"
        return self._estimator(n_estimators=rounds).fit(X, y)

    def _estimator(self, **more: Any) -> Any:
        category = self.booster.category if self.setting.sharing == "named" else {}
        options = self.booster.options | category | self.setting.options | more
        return getattr(self._module, self.booster.prefix + self.kind)(**options)

    def _rounds(self, X: pd.DataFrame, y: Any) -> int:
        """Return the number of rounds that is best on held-out rows."""
        order = np.random.default_rng(SEED).permutation(len(y))
        held, rest = np.split(order, [max(1, round(HELD_OUT * len(y)))])
        if self.kind == "Classifier":
            # LightGBM refuses held-out rows of a class that no other row has.
            held = held[np.isin(y[held], y[rest])]
        stop = self._module.early_stopping(self.setting.patience, verbose=False)
        model = self._estimator().fit(
            X.iloc[rest], y[rest], eval_set=[(X.iloc[held], y[held])], callbacks=[stop]
        )
        return max(1, int(model.best_iteration_))


def with_category(task: Task) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return training and test rows as frames whose column "group" is a category of numbers."""
    names = np.unique(task.groups_train.astype(str))

    def frame(X: FloatArray, groups: TextArray) -> pd.DataFrame:
        codes = np.searchsorted(names, groups.astype(str))
        return with_group(X, groups).assign(
            group=pd.Categorical.from_codes(codes, np.arange(len(names)))
        )

    return frame(task.X_train, task.groups_train), frame(task.X_test, task.groups_test)


class BoostedRandomEffects:
    """GPBoost's boosted trees with a random intercept for every group; a side adds the rest.

    For numbers, one setting differs from GPBoost's defaults: leaves are updated by a Newton step.
    By default GPBoost 1.8.0 takes gradient steps whose size depends on the target's unit. They
    diverge where the noise is small, and learn almost nothing where it is large.
    """

    name = "gpboost-boosting"
    likelihood = "gaussian"
    options: dict[str, Any] = {}

    def __init__(self) -> None:
        import gpboost

        self._gpboost: ModuleType = gpboost

    def fit_mean(self, task: Task, y: FloatArray) -> FloatArray:
        """Fit the numeric target `y` (training rows,) and return the mean of the test rows."""
        effects = self._gpboost.GPModel(
            group_data=task.groups_train.astype(str),
            likelihood=self.likelihood,
            num_parallel_threads=1,
        )
        model = self._gpboost.train(
            {"verbose": -1, "num_threads": 1, "seed": SEED, **self.options},
            self._gpboost.Dataset(task.X_train, y),
            num_boost_round=_ROUNDS,
            gp_model=effects,
        )
        answer = model.predict(
            data=task.X_test, group_data_pred=task.groups_test.astype(str), pred_latent=False
        )
        return np.asarray(answer["response_mean"], dtype=np.float64)


# What the page on learners shows: conjoin with and without a learner, and what ran on every set.
SHOWN = (
    "conjoin-auto", "conjoin-linear", "conjoin-corrected", "conjoin-residual",
    "conjoin-learner-named", "lightgbm-named-early", "lightgbm-named-200", "lightgbm-named",
    "xgboost-named", "catboost-named", "gpboost-boosting", "forest", "lightgbm-pooled",
    "lightgbm-separate", "xgboost-separate", "sklego-boosting", "gpboost-slopes",
    "gpboost-intercept",
)  # fmt: skip


if __name__ == "__main__":
    print(",".join(SHOWN))
