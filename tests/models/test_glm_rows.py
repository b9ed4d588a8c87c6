"""Rows under a likelihood: moments, losses and counts against plain sums over rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp, xlogy

from conjoin.models.glm_families import BERNOULLI, POISSON, multinomial
from conjoin.models.likelihood import Likelihood
from tests.models.likelihood_rows import (
    FIELDS,
    FOLDS,
    SIZES,
    D,
    Rows,
    every_family,
    scores,
    twin_moments,
    twin_row,
)


@every_family
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_equal_plain_sums_over_rows(family, weighted):
    rows = Rows(family, weighted=weighted)
    b0 = rows.coefficients()
    found = rows.likelihood()
    phi = found.rows.phi
    assert phi == 1.0 or family is POISSON
    moments = Likelihood(found.rows, b0).folds
    for name, wanted in zip(FIELDS, twin_moments(rows, b0, phi)):
        assert_allclose(getattr(moments, name), wanted, rtol=1e-10, atol=1e-10, err_msg=name)
    assert moments.outputs == family.m
    assert moments.unit_noise is not family.free_dispersion


@every_family
def test_losses_equal_plain_sums_over_rows(family):
    rows = Rows(family, weighted=True)
    beta = 0.4 * np.random.default_rng(2).standard_normal((FOLDS, 4, D * family.m))
    wanted = np.zeros((FOLDS, 4))
    for x, y, weight, k, f in zip(rows.Z, rows.y, rows.w, rows.dataset, rows.fold):
        eta = x @ beta[f, k].reshape(D, family.m)
        if family is POISSON:
            wanted[f, k] += weight * (np.exp(eta[0]) - y - y * eta[0] + xlogy(y, y))
        else:
            of = scores(family, eta[None])[0]
            wanted[f, k] += weight * (logsumexp(of) - of[int(y)])
    assert_allclose(rows.glm().loss(beta), wanted, rtol=1e-10)


def test_the_noise_variance_of_classes_is_one():
    """In each dataset's own fit, wherever moments are formed."""
    rows = Rows(multinomial(3))
    for size in (0.0, 0.3, 1.0):
        moments = Likelihood(rows.glm(), rows.coefficients(size=size)).moments
        own = np.linalg.solve(moments.G, moments.h[..., None])[..., 0]
        assert_allclose(moments.sse(own) / (moments.n - moments.p), 1.0)


@every_family
def test_a_row_of_weight_two_is_two_rows(family):
    rows = Rows(family)
    twice = np.zeros(len(rows.y), dtype=bool)
    twice[[0, 7, 41, 60, 120]] = True
    b0 = rows.coefficients()
    weighted = rows.glm(w=np.where(twice, 2.0, 1.0)).moments(b0)
    repeats = np.where(twice, 2, 1)
    sizes = np.bincount(rows.dataset, repeats).astype(int)
    repeated = rows.glm(
        Z=np.repeat(rows.Z, repeats, axis=0),
        y=np.repeat(rows.y, repeats),
        fold=np.repeat(rows.fold, repeats),
        w=np.ones(repeats.sum()),
        starts=np.concatenate([[0], np.cumsum(sizes)]),
    ).moments(b0)
    for name in ("G", "h", "w"):
        assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-10, atol=1e-10)
    assert_allclose(repeated.n.sum() - weighted.n.sum(), twice.sum() * family.m)


def test_mass_counts_rows_by_their_information():
    for family in (BERNOULLI, multinomial(3), multinomial(4)):
        rows = Rows(family).glm()
        level = np.zeros((4, D * family.m))
        even = rows.mass(level)
        assert np.all((even > 0) & (even <= SIZES + 1e-9))
        level[:, family.m - 1] = 20.0  # the last class is nearly certain
        assert rows.mass(level).max() < 1e-3


@every_family
def test_selected_datasets_do_not_depend_on_the_others(family):
    rows, some = Rows(family, weighted=True), [2, 0]
    beta = rows.coefficients()
    whole, part = rows.glm(), rows.glm().of_datasets(some)
    assert_allclose(part.n, whole.n[some])
    by_fold = np.broadcast_to(beta, (FOLDS, *beta.shape))
    assert_allclose(part.loss(by_fold[:, some]), whole.loss(by_fold)[:, some])
    one, two = part.moments(beta[some]), whole.moments(beta)[some]
    for name in FIELDS:
        assert_allclose(getattr(one, name), getattr(two, name), atol=1e-9)
    assert_allclose(
        part.without_folds.loss(beta[None, some]), whole.without_folds.loss(beta[None])[:, some]
    )


def test_backing_counts_rows_and_classes_of_positive_weight():
    rows = Rows(multinomial(3))
    rows.w[rows.dataset == 1] = 0.0
    backing = rows.glm().backing(rows.coefficients())
    kept = rows.w > 0
    assert_allclose(backing.rows, np.bincount(rows.dataset, kept))
    for label in range(3):
        assert_allclose(
            backing.counts[:, label], np.bincount(rows.dataset, kept & (rows.y == label))
        )
    assert Rows(POISSON).glm().backing(np.zeros((4, D))).counts.tolist() == [[0]] * 4


@every_family
def test_squared_scores_are_sums_over_rows(family):
    rows = Rows(family, weighted=True)
    b0 = rows.coefficients()
    inverse = np.stack([np.eye(D * family.m) * (k + 1) for k in range(4)])
    total, squares = np.zeros(4), np.zeros(4)
    for x, y, weight, k in zip(rows.Z, rows.y, rows.w, rows.dataset):
        s = weight * twin_row(family, x, y, b0[k])[0]
        u = s @ inverse[k] @ s
        total[k] += u
        squares[k] += u**2
    found = rows.glm().squared_scores(b0, inverse)
    assert_allclose(found, [total, squares], rtol=1e-9)


@every_family
def test_the_largest_change_is_that_of_any_row_with_weight(family):
    rows = Rows(family)
    change = rows.coefficients()
    rows.w[0] = 0.0
    rows.Z[0] = 100.0
    eta = np.einsum("nd,ndm->nm", rows.Z, change.reshape(4, D, family.m)[rows.dataset])
    wanted = [np.abs(eta[(rows.dataset == k) & (rows.w > 0)]).max() for k in range(4)]
    assert_allclose(rows.glm().largest_change(change), wanted)
