"""A small collection with known clusters, and a plan that runs in seconds."""

import numpy as np

from conjoin.datasets import make_clusters
from conjoin.paper.tables.protocol import Plan
from conjoin.paper.tables.sets import GroupedRows

QUICK = Plan(bootstraps=2, splits=2, draws=1)


def planted(n=120, seed=0):
    truth = make_clusters(sizes=(2, 2), n=n, p=3, distance=2.0, random_state=seed)
    names = tuple(truth.X)
    return GroupedRows(
        names,
        ("x1", "x2", "x3"),
        np.concatenate([truth.X[name] for name in names]),
        np.concatenate([truth.y[name] for name in names]),
        np.cumsum([0, *(len(truth.y[name]) for name in names)]),
    )
