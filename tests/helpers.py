"""Small builders shared by tests."""

import numpy as np

from conjoin.criterion import Unit
from conjoin.moments import Basis


def random_rows(rng, n, p, beta=None, noise=1.0):
    X = rng.standard_normal((n, p))
    beta = rng.standard_normal(p) if beta is None else beta
    return X, X @ beta + noise * rng.standard_normal(n)


def raw_unit(name, X, y, weights=None):
    """A unit in the coordinates of the rows themselves."""
    w = np.ones(len(y)) if weights is None else weights
    return Unit((name,), (len(y),), X, y, w, Basis.raw(X.shape[1]))


def table(X, y):
    return {**{f"x{j}": column for j, column in enumerate(X.T)}, "y": y}
