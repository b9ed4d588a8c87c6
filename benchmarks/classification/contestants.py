"""The register of contestants: a name, and a factory that makes a fresh one.

A new contestant is one class with the protocol of `benchmarks.arena.rivals.Contestant`, returning
one column of probabilities for every class, and one line here. A factory that raises ImportError is
recorded as such and does not stop a run.
"""

from functools import partial

from benchmarks.arena.contestants import Factory
from benchmarks.classification.rivals import (
    BoostRandomEffectsBinary,
    LegoGroupedClassifier,
    PaperClusters,
    PooledLogistic,
    RidgeByGroup,
    SeparateLogistic,
)

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
}
