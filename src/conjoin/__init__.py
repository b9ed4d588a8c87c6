"""conjoin: which datasets should be trained together, which apart.

Names are loaded on first use, so that `conjoin --help` and scripts that need little start quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from conjoin.version import __version__

if TYPE_CHECKING:
    from conjoin import datasets, paper, representations, sites
    from conjoin.api.check import check
    from conjoin.api.compare import compare
    from conjoin.api.partition import partition
    from conjoin.api.update import update
    from conjoin.criterion import Risk, Validated
    from conjoin.errors import ConjoinError, ConjoinWarning
    from conjoin.estimators.join import JoinClassifier, JoinRegressor
    from conjoin.learners.boosting import Boosting
    from conjoin.paper.bound import Bound
    from conjoin.paper.design import Gaussian
    from conjoin.paper.direct import Direct
    from conjoin.paper.oracle import Oracle
    from conjoin.paper.tuned import Tuned
    from conjoin.result.comparison import Comparison
    from conjoin.result.fits import LinearFit, LogisticFit
    from conjoin.result.load import load
    from conjoin.result.partition import Partition
    from conjoin.result.update import Update
    from conjoin.result.values import Alternative, Assignment, Estimate, Merge

_HOMES = {
    "conjoin.criterion": ("Risk", "Validated"),
    "conjoin.paper.bound": ("Bound",),
    "conjoin.paper.design": ("Gaussian",),
    "conjoin.paper.direct": ("Direct",),
    "conjoin.paper.oracle": ("Oracle",),
    "conjoin.paper.tuned": ("Tuned",),
    "conjoin.errors": ("ConjoinError", "ConjoinWarning"),
    "conjoin.estimators.join": ("JoinClassifier", "JoinRegressor"),
    "conjoin.learners.boosting": ("Boosting",),
    "conjoin.api.check": ("check",),
    "conjoin.api.compare": ("compare",),
    "conjoin.api.partition": ("partition",),
    "conjoin.api.update": ("update",),
    "conjoin.result.fits": ("LinearFit", "LogisticFit"),
    "conjoin.result.comparison": ("Comparison",),
    "conjoin.result.load": ("load",),
    "conjoin.result.partition": ("Partition",),
    "conjoin.result.update": ("Update",),
    "conjoin.result.values": ("Alternative", "Assignment", "Estimate", "Merge"),
}  # fmt: skip
_ROOMS = ("datasets", "paper", "representations", "sites")
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Alternative",
    "Assignment",
    "Boosting",
    "Bound",
    "Comparison",
    "ConjoinError",
    "ConjoinWarning",
    "Direct",
    "Estimate",
    "Gaussian",
    "JoinClassifier",
    "JoinRegressor",
    "LinearFit",
    "LogisticFit",
    "Merge",
    "Oracle",
    "Partition",
    "Risk",
    "Tuned",
    "Update",
    "Validated",
    "__version__",
    "check",
    "compare",
    "datasets",
    "load",
    "paper",
    "partition",
    "representations",
    "sites",
    "update",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"conjoin.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'conjoin' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
