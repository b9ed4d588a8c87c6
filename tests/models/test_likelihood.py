"""Likelihoods as problems: repeated moments are Newton's method, against scipy on rows."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.models import backing as backing_module
from conjoin.models import likelihood as likelihood_module
from conjoin.models.glm_families import BERNOULLI, POISSON, multinomial
from conjoin.models.glm_rows import GlmRows
from conjoin.models.likelihood import Joins, Likelihood, OtherRows
from conjoin.models.padded_rows import SortedRows
from conjoin.models.partial import Hyper, coefficients
from conjoin.strategies.refits import clusters
from conjoin.strategies.validation import fit
from tests.models.likelihood_rows import FIELDS, SIZES, D, Rows, every_family, penalised


def test_dispersion_is_pearsons_statistic_of_the_pooled_fit():
    rows = Rows(POISSON)
    found = rows.likelihood()
    mean = np.exp(rows.Z @ found.anchor[0])
    square = np.sum((rows.y - mean) ** 2 / mean)
    assert found.rows.phi == pytest.approx(square / (len(mean) - D))


@every_family
def test_the_order_of_datasets_and_rows_does_not_matter(family):
    rows = Rows(family, weighted=True)
    b0 = rows.coefficients()
    plain = rows.likelihood()
    one = Likelihood(plain.rows, b0)
    rng = np.random.default_rng(3)
    turned = [2, 0, 3, 1]
    order = np.concatenate([rng.permutation(np.flatnonzero(rows.dataset == k)) for k in turned])
    other = rows.likelihood(
        Z=rows.Z[order],
        y=rows.y[order],
        w=rows.w[order],
        fold=rows.fold[order],
        starts=np.concatenate([[0], np.cumsum(SIZES[turned])]),
    )
    assert_allclose(other.anchor, plain.anchor, atol=1e-6)
    assert other.rows.phi == pytest.approx(plain.rows.phi, rel=1e-6)
    moved = Likelihood(replace(other.rows, phi=plain.rows.phi), b0[turned])
    for name in FIELDS:
        there, here = getattr(moved.folds, name), getattr(one.folds, name)[turned]
        assert_allclose(there, here, rtol=1e-9, atol=1e-9)
    assert_allclose(moved.own()[0].h, one.own()[0].h[turned], rtol=1e-6, atol=1e-6)


@every_family
def test_fits_outside_a_fold_see_the_other_rows_that_were_given(family):
    rows = Rows(family, weighted=True)
    plain = rows.likelihood()
    F = plain.folds.shape[1]
    group = tuple(f // 2 for f in range(F))  # two folds are held out together
    others = []
    for g in range(max(group) + 1):
        kept = rows.fold // 2 != g
        starts = np.searchsorted(rows.dataset[kept], np.arange(len(SIZES) + 1))
        own = SortedRows(rows.Z[kept], rows.y[kept], rows.w[kept], starts)
        found = GlmRows.of(own, np.zeros(kept.sum(), dtype=int), 1, family)
        others.append(replace(found, phi=plain.rows.phi))
    nested = replace(plain, others=OtherRows(tuple(others), group))
    inside = [f for f in range(F) if group[f] == 0]
    expected = plain.moments - plain.folds[:, inside].union(1)
    for f in inside:
        assert_allclose(nested.outside(f).G, expected.G, rtol=1e-9, atol=1e-9)
        assert_allclose(nested.outside(f).h, expected.h, rtol=1e-9, atol=1e-9)
    some = nested.of_datasets([2, 0]).near(plain.anchor[[2, 0]] + 0.5)
    assert some.outside(0).G.shape == (2, *expected.G.shape[1:])


@every_family
def test_a_dataset_without_rows_has_moments_of_zero(family):
    rows = Rows(family)
    kept = rows.dataset != 1
    starts = np.searchsorted(rows.dataset[kept], np.arange(len(SIZES) + 1))
    own = SortedRows(rows.Z[kept], rows.y[kept], rows.w[kept], starts)
    found = GlmRows.of(own, np.zeros(kept.sum(), dtype=int), 1, family)
    moments = found.moments(rows.likelihood().anchor).union(1)
    assert moments.n[1] == moments.q[1] == 0 and not moments.G[1].any()
    assert np.isfinite(moments.q).all() and np.isfinite(moments.h).all()


# --- repeated until convergence it is Newton's method ---------------------------------------------


def converge(refit, problem):
    """Refit until moments are formed at the coefficients they lead to."""
    for _ in range(30):
        beta = refit(problem.moments)
        nearer = problem.near(beta)
        problem = Likelihood(problem.rows, beta) if nearer is problem else nearer
    return beta


def partial_pooling(hyper):
    return lambda moments: coefficients(moments, hyper)


def hyper_of(rows, L, slope_variance=0.7, noise=0.9):
    variances = np.full((D - 1) * rows.family.m, slope_variance)
    return Hyper(noise, L, variances, np.ones(len(rows.starts) - 1))


def diagonal(family):
    return np.diag(np.sqrt(np.repeat([0.5, 0.2, 0.05], family.m)))


@every_family
def test_pooled_is_the_penalised_maximum_of_all_rows(family):
    rows = Rows(family, weighted=True)
    problem = rows.likelihood()
    none = np.zeros((D * family.m, 0))
    beta = converge(partial_pooling(hyper_of(rows, none)), problem)
    everything = np.zeros(4, dtype=int)
    wanted = penalised(rows, problem.rows.phi, everything, none, 0.7, 0.9)
    assert_allclose(beta, wanted, atol=1e-4)


@every_family
@pytest.mark.parametrize("labels", [[0, 1, 0, 1], [0, 0, 0, 1]])
def test_clusters_are_the_penalised_maximum(family, labels):
    rows, labels = Rows(family, weighted=True), np.array(labels)
    problem, L = rows.likelihood(), diagonal(family)
    beta = converge(clusters(labels, hyper_of(rows, L), exact=False), problem)
    assert_allclose(beta[0], beta[labels == 0][-1])
    assert_allclose(beta, penalised(rows, problem.rows.phi, labels, L, 0.7, 0.9), atol=1e-4)


@every_family
@pytest.mark.parametrize("full", [False, True])
def test_partial_pooling_is_the_penalised_maximum(family, full):
    rows, L = Rows(family, weighted=True), diagonal(family)
    if full:
        turn = np.linalg.qr(np.random.default_rng(5).standard_normal(L.shape))[0]
        L = np.linalg.cholesky(turn @ L @ L @ turn.T)
    problem = rows.likelihood()
    beta = converge(partial_pooling(hyper_of(rows, L)), problem)
    wanted = penalised(rows, problem.rows.phi, np.arange(4), L, 0.7, 0.9)
    assert_allclose(beta, wanted, atol=1e-4)


@every_family
def test_the_default_number_of_moves_comes_close(family):
    """Where moments are kept, coefficients give rows nearly the same linear predictors."""
    rows, L = Rows(family), diagonal(family)
    problem = rows.likelihood()
    beta, near = fit(partial_pooling(hyper_of(rows, L)), problem)
    wanted = penalised(rows, problem.rows.phi, np.arange(4), L, 0.7, 0.9)
    change = (beta - wanted).reshape(4, D, family.m)[rows.dataset]
    assert np.sqrt(np.mean(np.einsum("nd,ndm->nm", rows.Z, change) ** 2)) < 0.01
    assert near.near(beta) is near


def test_moments_are_kept_where_coefficients_are_close():
    rows = Rows(BERNOULLI)
    problem = rows.likelihood()
    assert problem.near(problem.anchor) is problem
    assert problem.near(problem.anchor + 1e-4) is problem
    assert problem.near(problem.anchor + 1.0) is not problem


@every_family
def test_moments_move_no_farther_than_the_limit(family):
    rows = Rows(family)
    problem = rows.likelihood()
    far = problem.near(problem.anchor + 100.0 * rows.coefficients())
    change = (far.anchor - problem.anchor).reshape(4, D, family.m)[rows.dataset]
    eta = np.abs(np.einsum("nd,ndm->nm", rows.Z, change)).max(axis=1)
    longest = np.maximum.reduceat(eta, rows.starts[:-1])
    # The change is halved as often as is needed, and not more often.
    assert np.all(
        (longest <= likelihood_module.FARTHEST) & (longest > likelihood_module.FARTHEST / 2)
    )


@every_family
def test_own_moments_are_near_maximum_likelihood(family, monkeypatch):
    monkeypatch.setattr(backing_module, "FEWEST_ROWS", 1.0)
    monkeypatch.setattr(backing_module, "FEWEST_MASS", 0.1)
    monkeypatch.setattr(backing_module, "FEWEST_RARE", 0.1)
    monkeypatch.setattr(backing_module, "LEAST_EVEN", 0.0)
    rows = Rows(family, sizes=np.array([80, 90, 120, 60]))
    problem = rows.likelihood()
    moments, backing, _ = problem.own()
    own = np.linalg.solve(moments.G, moments.h[..., None])[..., 0]
    flat = 30 * np.eye(D * family.m)  # a prior so weak that each dataset is fitted alone
    wanted = penalised(rows, problem.rows.phi, np.arange(4), flat, 1e6, 1.0)
    assert_allclose(own, wanted, atol=0.02)
    assert np.all(backing.mass > 0)
    if family is not POISSON:
        assert np.all(backing.mass <= problem.moments.n / family.m + 1e-9)


def test_noise_rises_where_rows_vary_more_than_the_model_allows():
    """Rows that come in blocks of ten copies carry a tenth of the information they claim."""
    rows = Rows(BERNOULLI, sizes=np.array([60, 60, 60, 60]))
    plain = rows.likelihood()
    ordinary = plain._with_sandwich_noise().q - plain.moments.q
    heavy = rows.likelihood(w=np.full(240, 10.0))
    raised = heavy._with_sandwich_noise().q - heavy.moments.q
    assert (raised > 100).all()  # noise near ten instead of one, for about 57 degrees of freedom
    assert (ordinary < 0.1 * raised).all()


# --- what joining costs ---------------------------------------------------------------------------


@every_family
def test_the_cost_of_a_join_is_the_loss_that_one_fit_for_both_adds(family):
    rows = Rows(family, sizes=np.array([80, 90, 120, 60]), weighted=True)
    problem = rows.likelihood()
    joins = Joins(problem.rows, problem.own()[0])
    P = D * family.m
    flat, labels = 30 * np.eye(P), np.array([0, 0, 1, 2])
    phi = problem.rows.phi
    apart = penalised(rows, phi, np.arange(4), flat, 1e6, 1.0)
    joint = penalised(rows, phi, labels, flat, 1e6, 1.0)
    one_fold = problem.rows.without_folds
    added = (one_fold.loss(joint[None]) - one_fold.loss(apart[None]))[0, :2]
    weight = problem.rows.w.sum(axis=1)[:2]
    by_moments, exact = joins.costs([((0,), (1,))])[:, 0]
    assert exact == pytest.approx(np.mean(added / weight) * 2 / phi, rel=0.02)
    assert exact / 3 < by_moments < 3 * exact  # datasets are not near each other


def test_joining_a_dataset_with_its_copy_costs_nothing():
    rows = Rows(multinomial(3), sizes=np.array([100, 100, 40, 40]))
    for name in ("Z", "y"):
        getattr(rows, name)[100:200] = getattr(rows, name)[:100]
    problem = rows.likelihood()
    joins = Joins(problem.rows, problem.own()[0])
    costs = joins.costs([((0,), (1,)), ((0,), (2,))])
    assert np.abs(costs[:, 0]).max() < 1e-6
    assert costs[:, 1].min() > 1e-3
    assert set(joins.known) == {(0,), (1,), (2,), (0, 1), (0, 2)}
