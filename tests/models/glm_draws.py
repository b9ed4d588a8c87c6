"""Rows drawn from every family, for the tests of generalised linear models."""

import numpy as np
import pytest

from conjoin.models.glm_families import BERNOULLI, POISSON, multinomial
from conjoin.models.padded_rows import PaddedRows, SortedRows

SIZES = np.array([60, 200, 35])
STARTS = np.concatenate([[0], np.cumsum(SIZES)])
FAMILIES = [BERNOULLI, POISSON, multinomial(3), multinomial(5)]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f"{f.name}{f.m + 1}")


def draw(family, sizes=SIZES, seed=0):
    """Return the design with a column of ones, and targets."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((int(np.sum(sizes)), 3))
    eta = X @ [1.0, -0.5, 0.2] + 0.3
    if family is POISSON:
        y = rng.poisson(np.exp(eta))
    elif family is BERNOULLI:
        y = rng.random(len(X)) < 1 / (1 + np.exp(-eta))
    else:
        scores = X @ rng.standard_normal((3, family.m + 1))
        y = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    return np.column_stack([np.ones(len(X)), X]), y.astype(float)


def padded(Z, y, w=None, starts=STARTS):
    return PaddedRows.of(SortedRows(Z, y, np.ones(len(y)) if w is None else w, starts))
