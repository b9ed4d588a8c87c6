"""conjoin: which datasets should be trained together, which apart.

Names are loaded on first use, so that `conjoin --help` and scripts that need little start quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from conjoin.version import __version__

if TYPE_CHECKING:
    from conjoin import datasets
    from conjoin.criterion import Bound, Direct, Gaussian, Oracle, Risk, Tuned, Validated
    from conjoin.errors import ConjoinError, ConjoinWarning
    from conjoin.estimators import JoinClassifier, JoinRegressor
    from conjoin.fits import LinearFit, LogisticFit
    from conjoin.pipeline import compare, partition
    from conjoin.result import Assignment, Comparison, Estimate, Partition
    from conjoin.store import load

_HOMES = {
    "conjoin.criterion": (
        "Bound", "Direct", "Gaussian", "Oracle", "Risk", "Tuned", "Validated",
    ),
    "conjoin.errors": ("ConjoinError", "ConjoinWarning"),
    "conjoin.estimators": ("JoinClassifier", "JoinRegressor"),
    "conjoin.pipeline": ("compare", "partition"),
    "conjoin.fits": ("LinearFit", "LogisticFit"),
    "conjoin.result": ("Assignment", "Comparison", "Estimate", "Partition"),
    "conjoin.store": ("load",),
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Assignment",
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
    "Oracle",
    "Partition",
    "Risk",
    "Tuned",
    "Validated",
    "__version__",
    "compare",
    "datasets",
    "load",
    "partition",
]


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("conjoin.datasets")
    if name not in _HOME:
        raise AttributeError(f"module 'conjoin' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
