"""The register of contestants: a name, and a factory that makes a fresh one.

A new contestant is one class with the protocol of `benchmarks.arena.rivals.Contestant` and one
line here. A factory that raises ImportError is recorded as such and does not stop a run.
"""

from collections.abc import Callable
from functools import partial

from benchmarks.arena.rivals import (
    BoostRandomEffects,
    Contestant,
    LegoGrouped,
    PooledLeastSquares,
    SeparateLeastSquares,
)

Factory = Callable[[], Contestant]

RIVALS: dict[str, Factory] = {
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
}

CONTESTANTS: dict[str, Factory] = {**RIVALS}
