"""Datasets that bend, small enough for a fit in about a second."""

import numpy as np

from conjoin.learners.boosting import Boosting

# Few rounds, so that tests are quick; the choice of rounds has tests of its own.
QUICK = Boosting(rounds=60, leaves=8)


def bent_tables(seed=0, datasets=6, n=80, laws=1, levels=0.0):
    """Return tables whose target bends; dataset k follows law k modulo `laws`."""
    rng = np.random.default_rng(seed)
    tables = {}
    for k in range(datasets):
        X = rng.uniform(-2, 2, size=(n, 3))
        bends = (2 * np.sin(3 * X[:, 0]), 3 * np.abs(X[:, 1]), 2 * X[:, 0] * X[:, 2])
        y = bends[k % laws] + levels * k + rng.normal(0, 0.5, n)
        tables[f"d{k}"] = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}
    return tables
