"""conjoin: which datasets should be trained together, which apart."""

from conjoin import datasets
from conjoin.criterion import Bound, Direct, Gaussian, Oracle, Risk, Tuned, Validated
from conjoin.errors import ConjoinError, ConjoinWarning
from conjoin.pipeline import compare, partition
from conjoin.result import Comparison, Estimate, LinearFit, Partition

__version__ = "0.1.0"

__all__ = [
    "Bound",
    "Comparison",
    "ConjoinError",
    "ConjoinWarning",
    "Direct",
    "Estimate",
    "Gaussian",
    "LinearFit",
    "Oracle",
    "Partition",
    "Risk",
    "Tuned",
    "Validated",
    "compare",
    "datasets",
    "partition",
]
