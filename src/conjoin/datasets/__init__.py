"""Data to try things on: synthetic datasets with the right answer attached, and real tables.

`synthetic` has datasets with a numeric target, `outcomes` datasets of classes and counts, `real`
the tables that come with the package. Sizes and seeds enter; tables and true models leave.
"""

from conjoin.datasets.outcomes import (
    SyntheticOutcomes,
    make_class_clusters,
    make_class_pair,
    make_count_clusters,
)
from conjoin.datasets.real import (
    load_seoul_bikes,
    load_washington_bikes,
    seoul_bikes_path,
    washington_bikes_path,
)
from conjoin.datasets.synthetic import (
    SyntheticCollection,
    make_clusters,
    make_continuum,
    make_pair,
)

__all__ = [
    "SyntheticCollection",
    "SyntheticOutcomes",
    "load_seoul_bikes",
    "load_washington_bikes",
    "make_class_clusters",
    "make_class_pair",
    "make_clusters",
    "make_continuum",
    "make_count_clusters",
    "make_pair",
    "seoul_bikes_path",
    "washington_bikes_path",
]
