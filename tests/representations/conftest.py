"""Datasets whose target is no linear function, and a result with a network on them."""

import numpy as np
import pandas as pd
import pytest

import conjoin


@pytest.fixture(scope="session")
def frames():
    """Return four datasets in two clusters; the target depends on |a|."""
    rng = np.random.default_rng(0)
    datasets = {}
    for k in range(4):
        X = rng.standard_normal((150, 3))
        slope = 3.0 if k < 2 else -3.0
        y = slope * np.abs(X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(150)
        datasets[f"d{k + 1}"] = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    return datasets


@pytest.fixture(scope="session")
def result(frames):
    """Return the partition of these datasets with a network of two hidden layers."""
    pytest.importorskip("torch", reason="torch is not installed (extra nn)")
    return conjoin.partition(frames, target="y", representation="mlp2")


@pytest.fixture(scope="session")
def rows(frames):
    """Return the features, with the dataset in the column store, and the target of all rows."""
    long = pd.concat([f.assign(store=k) for k, f in frames.items()], ignore_index=True)
    return long.drop(columns="y"), long["y"]
