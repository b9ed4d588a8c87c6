"""conjoin: which datasets should be trained together, which apart."""

from conjoin import datasets
from conjoin.criterion import Bound, Direct, Gaussian, Oracle, Tuned
from conjoin.errors import ConjoinError, ConjoinWarning
from conjoin.pipeline import compare, partition
from conjoin.result import Comparison, LinearFit, Partition

__version__ = "0.1.0"

__all__ = [
    "Bound",
    "Comparison",
    "ConjoinError",
    "ConjoinWarning",
    "Direct",
    "Gaussian",
    "LinearFit",
    "Oracle",
    "Partition",
    "Tuned",
    "compare",
    "datasets",
    "partition",
]
