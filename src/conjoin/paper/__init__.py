"""The methods of the paper "Collaborative Prediction: To Join or To Disjoin Datasets" (UAI 2025).

The product does not need this room: `conjoin.partition` and `conjoin.compare` load one of its
modules only if you ask for `method="bound"`, `"tuned"` or `"direct"`, or for `grouping="greedy"`.
Checked arrays and moments enter, scores of pairs, clusters and coefficients leave.

==================  =================================================  ========================
module              what it holds                                      where in the paper
==================  =================================================  ========================
bound               `Bound`: the high-probability criterion            Algorithm 1
tuned               `Tuned`: the same with a tuned confidence level    Algorithm 2
greedy              clusters, grown one at a time from pair scores     Algorithm 3
direct              `Direct`: compare the training losses              baseline of the tables
oracle              `Oracle`: decide with the true coefficients        Theorem 1
design              `Gaussian`: a known distribution of features; A0   Theorem 1
                    and B0 from it or from rows
overparametrised    `moore_penrose_error`: error with fewer rows than  "Overparametrized Regime"
                    columns
bifactor            `BiFactor`: the multi-task method to compare with  "Comparison with other
                                                                       models"
classification      `compare_classes`: bounds for classification       appendix "Classification"
surrogate           losses and estimator behind these bounds           appendix "Classification"
tables              the paper's tables and figure, run again           all tables
==================  =================================================  ========================

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
    from conjoin.paper.bifactor_choice import validate_bifactor
    from conjoin.paper.bound import Bound
    from conjoin.paper.classification import ClassificationBounds, Setting, compare_classes
    from conjoin.paper.design import Gaussian
    from conjoin.paper.direct import Direct
    from conjoin.paper.oracle import Oracle
    from conjoin.paper.overparametrised import moore_penrose_error
    from conjoin.paper.surrogate import subgradient_estimator
    from conjoin.paper.tuned import Tuned

# Algorithm 3 is not among the names: `conjoin.paper.greedy` is its module, the function is
# `conjoin.paper.greedy.greedy`.
_MODULE = {
    "BiFactor": "bifactor",
    "Bound": "bound",
    "ClassificationBounds": "classification",
    "Direct": "direct",
    "Gaussian": "design",
    "Oracle": "oracle",
    "Setting": "classification",
    "Tuned": "tuned",
    "compare_classes": "classification",
    "fit_bifactor": "bifactor",
    "moore_penrose_error": "overparametrised",
    "subgradient_estimator": "surrogate",
    "validate_bifactor": "bifactor_choice",
}

__all__ = [
    "BiFactor",
    "Bound",
    "ClassificationBounds",
    "Direct",
    "Gaussian",
    "Oracle",
    "Setting",
    "Tuned",
    "compare_classes",
    "fit_bifactor",
    "moore_penrose_error",
    "subgradient_estimator",
    "validate_bifactor",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'conjoin.paper' has no attribute {name!r}")
    value = getattr(import_module(f"conjoin.paper.{_MODULE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
