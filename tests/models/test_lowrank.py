"""Partial pooling near a subspace: found where it is planted, left out where it is not."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.models import lowrank
from conjoin.models.full import fit_full
from conjoin.models.lowrank import columns_in_many, fit_low_rank, fit_rank
from conjoin.models.partial import (
    DIAGONAL,
    SLOPES,
    coefficients,
    fit_variances,
    posterior,
)
from conjoin.moments import Moments


def planted(rank, seed=0, K=30, n=30, p=12, rest=0.05):
    """Return moments and coefficients that differ in `rank` directions."""
    rng = np.random.default_rng([rank, seed])
    X = rng.standard_normal((K, n, p))
    X[..., 0] = 1
    U = 0.5 * rng.standard_normal((p, rank)) / np.sqrt(max(rank, 1))
    beta = 0.3 * rng.standard_normal(p) + rng.standard_normal((K, rank)) @ U.T
    beta = beta + rest * rng.standard_normal((K, p))
    y = np.einsum("knp,kp->kn", X, beta) + rng.standard_normal((K, n))
    return Moments.from_rows(X, y / y.std()), beta / y.std(), U / y.std()


def diagonal(moments):
    return fit_variances(moments, DIAGONAL, fit_variances(moments, SLOPES))


@pytest.mark.parametrize("rank", [1, 2])
def test_planted_directions_are_found(rank):
    moments, beta, U = planted(rank)
    start = diagonal(moments)
    found = fit_low_rank(moments, start)
    assert found is not None and found.rank == rank
    full = fit_full(moments, start)
    low, others = (
        [np.mean((coefficients(moments, h) - beta) ** 2) for h in hypers]
        for hypers in ((found.hyper,), (start, full))
    )
    assert low[0] < 0.7 * min(others)
    T = found.hyper.L @ found.hyper.L.T
    leading = np.linalg.eigh(T)[1][:, -rank:]
    Q = np.linalg.qr(U)[0]
    assert np.linalg.svd(leading.T @ Q)[1].min() > 0.95  # cosines between the subspaces


@pytest.mark.parametrize("rest", [0.0, 0.05, 0.3])
def test_without_structure_there_is_none(rest):
    for seed in range(3):
        moments, _, _ = planted(0, seed, rest=rest)
        assert fit_low_rank(moments, diagonal(moments)) is None


def test_steps_raise_the_evidence():
    moments, _, _ = planted(1)
    start = diagonal(moments)
    full = fit_full(moments, start)
    evidence = [
        posterior(moments, fit_rank(moments, start, full, 1, steps).hyper).log_evidence
        for steps in (1, 3, 10)
    ]
    assert evidence == sorted(evidence)
    assert evidence[0] < evidence[-1]


def test_few_columns_or_datasets_have_no_rank():
    for options in ({"p": 2}, {"K": 2}, {"K": 9}):
        moments, _, _ = planted(1, **options)
        assert fit_low_rank(moments, diagonal(moments)) is None
    moments, _, _ = planted(2, K=12)
    assert fit_low_rank(moments, diagonal(moments)).rank == 1


def test_a_column_that_few_datasets_know_leaves_no_subspace():
    moments, _, _ = planted(1)
    assert columns_in_many(moments).all()
    G = moments.G.copy()
    G[4:, 3] *= 0.1  # outside four datasets the column has a hundredth of its squares
    G[4:, :, 3] *= 0.1
    rare = replace(moments, G=G)
    assert np.flatnonzero(~columns_in_many(rare)).tolist() == [3]
    assert fit_low_rank(rare, diagonal(moments)) is None


def test_a_criterion_to_exceed_changes_no_fit():
    moments, _, _ = planted(1)
    start = diagonal(moments)
    found, full = fit_low_rank(moments, start), fit_full(moments, start)
    again = fit_low_rank(moments, start, full, found.criterion - 1e-6)
    assert again.criterion == found.criterion
    assert fit_low_rank(moments, start, full, found.criterion + 1e-6) is None
    with mock.patch.object(lowrank, "fit_rank") as fit_rank_:
        far = posterior(moments, full).log_evidence + 2 * lowrank.AHEAD * moments.shape[0]
        assert fit_low_rank(moments, start, full, far) is None
    fit_rank_.assert_not_called()


def test_the_order_of_datasets_changes_nothing():
    moments, _, _ = planted(1)
    first = fit_low_rank(moments, diagonal(moments))
    turned = moments[np.arange(30)[::-1]]
    second = fit_low_rank(turned, diagonal(turned))
    assert_allclose(first.hyper.L @ first.hyper.L.T, second.hyper.L @ second.hyper.L.T, atol=1e-5)
