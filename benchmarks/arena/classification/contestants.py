"""The rivals of the classification side: a name, and a factory that makes a fresh contestant.

A new contestant is one class with the protocol of `benchmarks.arena.contest.Contestant` and one
line here. It returns one column of probabilities for every class. If its factory raises
ImportError, the run records that and goes on.
"""

from functools import partial

from benchmarks.arena.classification.learners import (
    BoostedClassifier,
    BoostedRandomEffectsClassifier,
    Forest,
    LegoBoosting,
)
from benchmarks.arena.classification.paper import PaperClusters
from benchmarks.arena.classification.rivals import (
    BoostRandomEffectsBinary,
    LegoGroupedClassifier,
    PooledLogistic,
    RidgeByGroup,
    SeparateLogistic,
)
from benchmarks.arena.contest import Factory
from benchmarks.arena.learners import SETTINGS

CONTESTANTS: dict[str, Factory] = {
    "separate": SeparateLogistic,
    "pooled": PooledLogistic,
    "separate-in-order": partial(SeparateLogistic, shuffle=False),
    "pooled-in-order": partial(PooledLogistic, shuffle=False),
    "sklego": LegoGroupedClassifier,
    "ridge-intercept": partial(RidgeByGroup, slopes=False),
    "ridge-slopes": partial(RidgeByGroup, slopes=True),
    "gpboost-intercept": partial(BoostRandomEffectsBinary, slopes=False),
    "gpboost-slopes": partial(BoostRandomEffectsBinary, slopes=True),
    "paper-corrected": partial(PaperClusters, "corrected"),
    "paper-printed": partial(PaperClusters, "printed"),
    **{name: partial(BoostedClassifier, name) for name in SETTINGS},
    "forest": Forest,
    "sklego-boosting": LegoBoosting,
    "gpboost-boosting": BoostedRandomEffectsClassifier,
}
