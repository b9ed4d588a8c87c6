"""The methods of the paper "Collaborative Prediction: To Join or To Disjoin Datasets" (UAI 2025).

The product does not need this room: `conjoin.partition` and `conjoin.compare` load one of its
modules only if you ask for `method="bound"`, `"tuned"` or `"direct"`, or for `grouping="greedy"`.
Checked arrays and moments enter, scores of pairs, clusters and coefficients leave.

==================  =================================================  ========================
module              what it holds                                      where in the paper
==================  =================================================  ========================
bound               `Bound`, also `Algorithm1`: join where phi > psi   Algorithm 1
tuned               `Tuned`, also `Algorithm2`: the same with a tuned  Algorithm 2
                    confidence level
greedy              `algorithm3`: clusters grown one at a time         Algorithm 3
direct              `Direct`: compare the training losses              baseline of the tables
oracle              `Oracle`: decide with the true coefficients        Theorem 1
design              `Gaussian`: a known distribution of features; W,   Theorem 1
                    A0 and B0 from it or from rows
consistency         `assumption2`, `bootstrapped_error` (OSE_M) and    Theorems 2 and 3
                    `error_of_fit`, its limit
overparametrised    `moore_penrose` and its error, alone and joint     "Overparametrized Regime"
networks            `MLP1`, `MLP2`                                     "Neural Network Setup"
bifactor            `BiFactor`: the multi-task method to compare with  "Comparison with other
bifactor_choice     its rank, ridge and clusters                       models"
classification      `compare_classes`: bounds for classification       appendix "Classification"
surrogate           losses and estimator behind these bounds           appendix "Classification"
tables              the paper's tables and figure, run again           all tables
==================  =================================================  ========================

docs/paper-names.md maps every name of the paper to ours. `conjoin paper` runs the algorithms on
files.

Names are loaded on first use.

Examples
--------
>>> from conjoin.paper import Bound, Tuned
>>> Bound(delta=0.05)
Bound(delta=0.05, share=0.4, resamples=1000, overparametrised=False)
>>> Tuned().rule
'signed'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conjoin.paper.bifactor import BiFactor, fit_bifactor
    from conjoin.paper.bifactor_choice import task_clusters, validate_bifactor
    from conjoin.paper.bound import Bound
    from conjoin.paper.bound import Bound as Algorithm1
    from conjoin.paper.classification import ClassificationBounds, Setting, compare_classes
    from conjoin.paper.consistency import (
        Assumption2,
        assumption2,
        bootstrapped_error,
        error_of_fit,
    )
    from conjoin.paper.design import Gaussian
    from conjoin.paper.direct import Direct
    from conjoin.paper.greedy import greedy as algorithm3
    from conjoin.paper.networks import MLP1, MLP2
    from conjoin.paper.oracle import Oracle
    from conjoin.paper.overparametrised import (
        joint_moore_penrose_error,
        moore_penrose,
        moore_penrose_error,
    )
    from conjoin.paper.surrogate import subgradient_estimator
    from conjoin.paper.tuned import Tuned
    from conjoin.paper.tuned import Tuned as Algorithm2

_MODULE = {
    "Algorithm1": "bound",
    "Algorithm2": "tuned",
    "Assumption2": "consistency",
    "BiFactor": "bifactor",
    "Bound": "bound",
    "ClassificationBounds": "classification",
    "Direct": "direct",
    "Gaussian": "design",
    "MLP1": "networks",
    "MLP2": "networks",
    "Oracle": "oracle",
    "Setting": "classification",
    "Tuned": "tuned",
    "algorithm3": "greedy",
    "assumption2": "consistency",
    "bootstrapped_error": "consistency",
    "compare_classes": "classification",
    "error_of_fit": "consistency",
    "fit_bifactor": "bifactor",
    "joint_moore_penrose_error": "overparametrised",
    "moore_penrose": "overparametrised",
    "moore_penrose_error": "overparametrised",
    "subgradient_estimator": "surrogate",
    "task_clusters": "bifactor_choice",
    "validate_bifactor": "bifactor_choice",
}
# Names of the paper for what has another name here. `conjoin.paper.greedy` is the module.
_OTHER_NAMES = {"Algorithm1": "Bound", "Algorithm2": "Tuned", "algorithm3": "greedy"}

__all__ = [
    "Algorithm1",
    "Algorithm2",
    "Assumption2",
    "BiFactor",
    "Bound",
    "ClassificationBounds",
    "Direct",
    "Gaussian",
    "MLP1",
    "MLP2",
    "Oracle",
    "Setting",
    "Tuned",
    "algorithm3",
    "assumption2",
    "bootstrapped_error",
    "compare_classes",
    "error_of_fit",
    "fit_bifactor",
    "joint_moore_penrose_error",
    "moore_penrose",
    "moore_penrose_error",
    "subgradient_estimator",
    "task_clusters",
    "validate_bifactor",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'conjoin.paper' has no attribute {name!r}")
    module = import_module(f"conjoin.paper.{_MODULE[name]}")
    value = getattr(module, _OTHER_NAMES.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
