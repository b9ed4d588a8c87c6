"""Rows of sites for tests."""

import numpy as np

from conjoin.sites.rules import Leaving


def leaving(columns, y, *, folds=1, sources=None, dataset=None, target="cost", classes=()):
    """Return rows of one or more datasets from a mapping of feature to values."""
    y = np.asarray(y, float)
    dataset = np.zeros(len(y), np.int64) if dataset is None else np.asarray(dataset)
    fold = np.zeros(len(y), np.int64)
    for k in np.unique(dataset):
        rows = np.flatnonzero(dataset == k)
        fold[rows] = np.arange(len(rows)) % folds
    return Leaving(
        names=tuple(columns),
        sources=tuple(sources or (name.split("=")[0] for name in columns)),
        X=np.column_stack([np.asarray(c, float) for c in columns.values()]),
        target=target,
        y=y,
        datasets=tuple(f"ward {k + 1}" for k in range(int(dataset.max()) + 1)),
        dataset=dataset,
        fold=fold,
        classes=tuple(classes),
    )


def flag(n, ones, shift=0):
    """Return n zeros and ones, of which so many are ones, from a position on."""
    values = np.zeros(n)
    values[(np.arange(ones) + shift) % n] = 1.0
    return values
