"""The methods that are run: each takes training and test rows and returns predictions.

`lightgbm` is what most people would run: one model with the name of the dataset as a category, and
early stopping on a tenth of the training rows. `gpboost` has trees and a random intercept for each
dataset, with settings of its examples and rounds by its own cross-validation.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

import conjoin
from benchmarks.arena.data import FloatArray
from benchmarks.public.sets import PublicSet

# Settings of LightGBM that are not its defaults: a smaller step with early stopping, as its guide
# advises, and the seed.
STEP, MOST_ROUNDS, PATIENCE = 0.05, 2_000, 50


def run_conjoin(one: PublicSet, train: pd.DataFrame, test: pd.DataFrame) -> FloatArray:
    """Fit conjoin's default."""
    result = conjoin.partition(train, target="y", by=one.by, category=list(one.categories))
    return np.asarray(result.predict(test), dtype=np.float64)


def run_lightgbm(one: PublicSet, train: pd.DataFrame, test: pd.DataFrame) -> FloatArray:
    """Fit LightGBM with the name of the dataset as a category."""
    import lightgbm as lgb

    columns = [name for name in train if name != "y"]
    named = [one.by, *one.categories]
    held_out = np.random.default_rng(0).random(len(train)) < 0.1
    whole = lgb.Dataset(train[~held_out][columns], train["y"][~held_out], categorical_feature=named)
    watched = whole.create_valid(train[held_out][columns], train["y"][held_out])
    found = lgb.train(
        {"learning_rate": STEP, "seed": 0, "deterministic": True, "verbosity": -1},
        whole,
        MOST_ROUNDS,
        valid_sets=[watched],
        callbacks=[lgb.early_stopping(PATIENCE, verbose=False)],
    )
    return np.asarray(found.predict(test[columns]), dtype=np.float64)


def run_gpboost(one: PublicSet, train: pd.DataFrame, test: pd.DataFrame) -> FloatArray:
    """Fit GPBoost with a random intercept for each dataset and each value of the categories."""
    import gpboost as gpb

    named = [one.by, *one.categories]
    columns = [name for name in train if name not in ("y", *named)]
    settings = {"learning_rate": STEP, "seed": 0, "verbose": 0}
    held_out = np.random.default_rng(0).random(len(train)) < 0.1
    part, rest = train[~held_out], train[held_out]
    model = gpb.GPModel(group_data=part[named])
    model.set_prediction_data(group_data_pred=rest[named])
    whole = gpb.Dataset(part[columns], part["y"])
    found = gpb.train(
        params=settings,
        train_set=whole,
        gp_model=model,
        num_boost_round=MOST_ROUNDS,
        valid_sets=gpb.Dataset(rest[columns], rest["y"], reference=whole),
        early_stopping_rounds=PATIENCE,
        use_gp_model_for_validation=True,
        verbose_eval=False,
    )
    rounds = max(int(found.best_iteration), 1)
    model = gpb.GPModel(group_data=train[named])
    data = gpb.Dataset(train[columns], train["y"])
    found = gpb.train(params=settings, train_set=data, gp_model=model, num_boost_round=rounds)
    predicted = found.predict(data=test[columns], group_data_pred=test[named])
    return np.asarray(predicted["response_mean"], dtype=np.float64)


METHODS: dict[str, Callable[[PublicSet, pd.DataFrame, pd.DataFrame], FloatArray]] = {
    "conjoin": run_conjoin,
    "lightgbm": run_lightgbm,
    "gpboost": run_gpboost,
}
