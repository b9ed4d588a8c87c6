"""Trees as a user would run them: boosted ones, forests, and both with random effects.

Each contestant takes a `benchmarks.arena.data.Task` and returns a number for every test row.
"""

from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder

from benchmarks.arena.contest import with_group
from benchmarks.arena.data import FloatArray, Task
from benchmarks.arena.learners import SEED, BoostedRandomEffects, BoostedTrees
from benchmarks.arena.regression.rivals import LegoGrouped

# The default of the package merf.
_ITERATIONS = 20


class BoostedRegressor(BoostedTrees):
    """Boosted trees for numbers; a group that cannot be fitted has its mean."""

    kind = "Regressor"

    def answer(self, X: Any, y: Any, X_test: Any) -> FloatArray:
        """Fit a model to rows and return its predictions for other rows."""
        return np.asarray(self.fitted(X, y).predict(X_test), dtype=np.float64)

    def plain(self, y: Any) -> float:
        """Return the mean of a group."""
        return float(np.mean(y))


class LegoBoosting(LegoGrouped):
    """scikit-lego's GroupedRegressor around scikit-learn's HistGradientBoostingRegressor."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "sklego-boosting"

    def estimator(self) -> Any:
        """Return the model of a group."""
        return HistGradientBoostingRegressor(random_state=SEED)


class BoostedRandomEffectsRegressor(BoostedRandomEffects):
    """GPBoost's boosted trees with a random intercept for every group."""

    options: dict[str, Any] = {"leaves_newton_update": True}

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        return self.fit_mean(task, task.y_train)


class Forest:
    """scikit-learn's random forest, with the group's name as a cross-fitted mean of the target."""

    name = "forest"

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        encoder = TargetEncoder(target_type="continuous", random_state=SEED)
        model = make_pipeline(
            make_column_transformer((encoder, ["group"]), remainder="passthrough"),
            RandomForestRegressor(random_state=SEED, n_jobs=1),
        )
        model.fit(with_group(task.X_train, task.groups_train), task.y_train)
        return model.predict(with_group(task.X_test, task.groups_test))


class MixedForest:
    """MERF: a random forest and a random intercept for every group, in turn (20 times).

    The steps are those of the package merf 1.0, which starts from variances of 1 and predicts its
    own training rows. That package inverts a matrix of all rows of a group; with random intercepts
    the inverse has a closed form. The forest has scikit-learn's 100 trees instead of merf's 300,
    because each fit makes 20 of them.
    """

    name = "merf"

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        names, codes = np.unique(task.groups_train.astype(str), return_inverse=True)
        rows, y = np.bincount(codes), task.y_train
        forest = RandomForestRegressor(random_state=SEED, n_jobs=1)
        effects, noise, between = np.zeros(len(names)), 1.0, 1.0
        for _ in range(_ITERATIONS):
            forest.fit(task.X_train, y - effects[codes])
            left = y - forest.predict(task.X_train)
            weight = between / (noise + rows * between)
            effects = weight * np.bincount(codes, weights=left)
            # Expected squares given the data: those of the estimates, and the posterior variances.
            noise, between = (
                float(np.sum((left - effects[codes]) ** 2) + noise * np.sum(rows * weight))
                / len(y),
                float(np.mean(effects**2 + noise * weight)),
            )
        places = np.searchsorted(names, task.groups_test.astype(str))
        return forest.predict(task.X_test) + effects[places]
