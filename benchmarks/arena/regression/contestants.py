"""The rivals of the regression side: a name, and a factory that makes a fresh contestant.

A new contestant is one class with the protocol of `benchmarks.arena.contest.Contestant` and one
line here. If its factory raises ImportError, the run records that and goes on.
"""

from functools import partial

from benchmarks.arena.contest import Factory
from benchmarks.arena.learners import SETTINGS
from benchmarks.arena.regression.learners import (
    BoostedRandomEffectsRegressor,
    BoostedRegressor,
    Forest,
    LegoBoosting,
    MixedForest,
)
from benchmarks.arena.regression.rivals import (
    BoostRandomEffects,
    LegoGrouped,
    PooledLeastSquares,
    SeparateLeastSquares,
)

CONTESTANTS: dict[str, Factory] = {
    "separate": SeparateLeastSquares,
    "pooled": PooledLeastSquares,
    "sklego": LegoGrouped,
    "sklego-constant-0.25": partial(LegoGrouped, "constant", weight_of_all=0.25),
    "sklego-equal": partial(LegoGrouped, "equal"),
    "sklego-constant-0.75": partial(LegoGrouped, "constant", weight_of_all=0.75),
    "sklego-relative": partial(LegoGrouped, "relative"),
    "sklego-min_n_obs-30": partial(LegoGrouped, "min_n_obs", min_rows=30),
    "sklego-min_n_obs-2p": partial(LegoGrouped, "min_n_obs", min_rows="2p"),
    "gpboost-intercept": partial(BoostRandomEffects, slopes=False),
    "gpboost-slopes": partial(BoostRandomEffects, slopes=True),
    **{name: partial(BoostedRegressor, name) for name in SETTINGS},
    "forest": Forest,
    "sklego-boosting": LegoBoosting,
    "gpboost-boosting": BoostedRandomEffectsRegressor,
    "merf": MixedForest,
}
