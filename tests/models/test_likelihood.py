"""Likelihoods seen as least squares nearby: against plain twins on rows, and against scipy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import logsumexp, xlogy

from conjoin.criterion.judge import Judge
from conjoin.models import likelihood as local
from conjoin.models.glm import BERNOULLI, POISSON, contrasts, multinomial
from conjoin.models.likelihood import GlmRows, LeastSquares, Likelihood
from conjoin.models.partial import Hyper
from conjoin.moments import Moments
from conjoin.strategies import core as strategy

SIZES = np.array([40, 15, 60, 25])
FOLDS = 3
D = 3  # columns, with that of ones
FAMILIES = [BERNOULLI, multinomial(3), multinomial(4), POISSON]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f"{f.name}{f.m + 1}")


class Rows:
    """Rows of datasets with folds and weights."""

    def __init__(self, family, sizes=SIZES, seed=0, weighted=False):
        rng = np.random.default_rng(seed)
        self.family, self.starts = family, np.concatenate([[0], np.cumsum(sizes)])
        N = int(self.starts[-1])
        self.Z = np.column_stack([np.ones(N), rng.standard_normal((N, D - 1))])
        self.dataset = np.repeat(np.arange(len(sizes)), sizes)
        own = 0.5 * rng.standard_normal((len(sizes), D, family.m))
        eta = np.einsum("nd,ndm->nm", self.Z, own[self.dataset])
        if family is POISSON:
            self.y = rng.poisson(np.exp(eta[:, 0])).astype(float)
        else:
            noise = rng.gumbel(size=(N, family.m + 1))
            self.y = np.argmax(scores(family, eta) + noise, axis=1).astype(float)
        self.w = rng.uniform(0.5, 2.0, N) if weighted else np.ones(N)
        self.fold = rng.integers(FOLDS, size=N)

    def glm(self, **changes):
        at = {**self.__dict__, **changes}
        names = ("Z", "y", "w", "starts", "fold")
        return GlmRows.of(*(at[name] for name in names), FOLDS, self.family)

    def likelihood(self, **changes):
        at = {**self.__dict__, **changes}
        names = ("Z", "y", "w", "starts", "fold")
        return Likelihood.of(*(at[name] for name in names), FOLDS, self.family)

    def coefficients(self, seed=1, size=0.4):
        K = len(self.starts) - 1
        return size * np.random.default_rng(seed).standard_normal((K, D * self.family.m))


def scores(family, eta):
    """Scores of all classes (n, C) at linear predictors (n, m)."""
    if family is BERNOULLI:
        return np.column_stack([np.zeros(len(eta)), eta[:, 0]])
    return eta @ contrasts(family.m + 1).T


# --- slow plain twins, one row at a time ----------------------------------------------------------


def twin_row(family, x, y, b):
    """Score (P,), information (P, P) and squared error over variance of one row."""
    eta = x @ b.reshape(D, family.m)
    if family is POISSON:
        mean = np.exp(eta[0])
        return x * (y - mean), np.outer(x, x) * mean, (y - mean) ** 2 / mean
    V = np.array([[0.0], [1.0]]) if family is BERNOULLI else contrasts(family.m + 1)
    share = np.exp(V @ eta) / np.exp(V @ eta).sum()
    seen = np.arange(family.m + 1) == y
    covariance = np.diag(share) - np.outer(share, share)
    score = np.kron(x, V.T @ (seen - share))
    return score, np.kron(np.outer(x, x), V.T @ covariance @ V), 0.0


def twin_moments(rows, b0, phi):
    """G, h, q, n and w of each dataset and fold, as the module says them."""
    K, P, family = len(b0), b0.shape[1], rows.family
    G, s, pearson = np.zeros((K, FOLDS, P, P)), np.zeros((K, FOLDS, P)), np.zeros((K, FOLDS))
    n, w = np.zeros((K, FOLDS)), np.zeros((K, FOLDS))
    for x, y, weight, k, f in zip(rows.Z, rows.y, rows.w, rows.dataset, rows.fold):
        score, information, square = twin_row(family, x, y, b0[k])
        s[k, f] += weight * score / phi
        G[k, f] += weight * information / phi
        pearson[k, f] += weight * square / phi
        n[k, f] += family.m
        w[k, f] += weight
    q = np.zeros((K, FOLDS))
    for k in range(K):
        whole, score = G[k].sum(axis=0), s[k].sum(axis=0)
        rank = np.linalg.matrix_rank(whole)
        squares = n[k].sum() - rank + score @ np.linalg.pinv(whole) @ score
        for f in range(FOLDS):
            residual = pearson[k, f] if family.scatters else squares * n[k, f] / n[k].sum()
            q[k, f] = b0[k] @ G[k, f] @ b0[k] + 2 * b0[k] @ s[k, f] + residual
    h = np.einsum("kfij,kj->kfi", G, b0) + s
    return G, h, q, n, w


@every_family
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_equal_plain_sums_over_rows(family, weighted):
    rows = Rows(family, weighted=weighted)
    b0 = rows.coefficients()
    found = rows.likelihood()
    phi = found.rows.phi
    assert phi == 1.0 or family is POISSON
    moments = Likelihood(found.rows, b0).folds
    for name, wanted in zip(("G", "h", "q", "n", "w"), twin_moments(rows, b0, phi)):
        assert_allclose(getattr(moments, name), wanted, rtol=1e-10, atol=1e-10, err_msg=name)
    assert moments.outputs == family.m
    assert moments.unit_noise is not family.scatters


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


def test_dispersion_is_pearsons_statistic_of_the_pooled_fit():
    rows = Rows(POISSON)
    found = rows.likelihood()
    mean = np.exp(rows.Z @ found.anchor[0])
    square = np.sum((rows.y - mean) ** 2 / mean)
    assert found.rows.phi == pytest.approx(square / (len(mean) - D))


def test_noise_of_classes_comes_out_as_one():
    """Squared errors of each dataset's own fit, whatever the moments are near to."""
    rows = Rows(multinomial(3))
    for size in (0.0, 0.3, 1.0):
        moments = Likelihood(rows.glm(), rows.coefficients(size=size)).moments
        own = np.linalg.solve(moments.G, moments.h[..., None])[..., 0]
        assert_allclose(moments.sse(own) / (moments.n - moments.p), 1.0)


@every_family
def test_order_of_datasets_and_rows_does_not_matter(family):
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
    moved = Likelihood(GlmRows(**{**other.rows.__dict__, "phi": plain.rows.phi}), b0[turned])
    for name in ("G", "h", "q", "n", "w"):
        there, here = getattr(moved.folds, name), getattr(one.folds, name)[turned]
        assert_allclose(there, here, rtol=1e-9, atol=1e-9)
    assert_allclose(moved.own()[0].h, one.own()[0].h[turned], rtol=1e-6, atol=1e-6)


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


# --- repeated until nothing moves it is Newton's method -------------------------------------------


def settled(refit, problem):
    """Refit until moments are near the coefficients they give."""
    for _ in range(30):
        beta = refit(problem.moments)
        nearer = problem.near(beta)
        problem = Likelihood(problem.rows, beta) if nearer is problem else nearer
    return beta


def penalised(rows, phi, labels, L, slope_variance, noise):
    """Minimise losses over noise and phi plus the prior over centre and deviations, by scipy.

    Unknown are mu (P,) and z of each cluster (C, m); coefficients are mu + L z.
    """
    family, P, C = rows.family, D * rows.family.m, int(labels.max()) + 1
    cluster = labels[rows.dataset]

    def objective(theta):
        mu, z = theta[:P], theta[P:].reshape(C, L.shape[1])
        b = (mu + z @ L.T).reshape(C, D, family.m)
        eta = np.einsum("nd,ndm->nm", rows.Z, b[cluster])
        if family is POISSON:
            value = np.exp(eta[:, 0]) - rows.y * eta[:, 0]
            slope = np.exp(eta) - rows.y[:, None]
        else:
            of, seen = scores(family, eta), np.eye(family.m + 1)[rows.y.astype(int)]
            value = logsumexp(of, axis=1) - np.sum(seen * of, axis=1)
            V = np.array([[0.0], [1.0]]) if family is BERNOULLI else contrasts(family.m + 1)
            slope = (np.exp(of - logsumexp(of, axis=1, keepdims=True)) - seen) @ V
        weight = rows.w / (noise * phi)
        by_row = np.einsum("nd,nm->ndm", rows.Z, weight[:, None] * slope).reshape(-1, P)
        by_cluster = np.zeros((C, P))
        np.add.at(by_cluster, cluster, by_row)
        slopes = np.where(np.arange(P) < family.m, 0.0, mu) / slope_variance
        total = weight @ value + 0.5 * np.sum(z**2) + 0.5 * slopes @ mu
        return total, np.concatenate(
            [by_cluster.sum(axis=0) + slopes, (by_cluster @ L + z).ravel()]
        )

    start = np.zeros(P + C * L.shape[1])
    found = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-7})
    mu, z = found.x[:P], found.x[P:].reshape(C, L.shape[1])
    return (mu + z @ L.T)[labels]


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
    beta = settled(strategy._partial(hyper_of(rows, none)), problem)
    everything = np.zeros(4, dtype=int)
    wanted = penalised(rows, problem.rows.phi, everything, none, 0.7, 0.9)
    assert_allclose(beta, wanted, atol=1e-4)


@every_family
@pytest.mark.parametrize("labels", [[0, 1, 0, 1], [0, 0, 0, 1]])
def test_clusters_are_the_penalised_maximum(family, labels):
    rows, labels = Rows(family, weighted=True), np.array(labels)
    problem, L = rows.likelihood(), diagonal(family)
    beta = settled(strategy.clusters(labels, hyper_of(rows, L)), problem)
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
    beta = settled(strategy._partial(hyper_of(rows, L)), problem)
    wanted = penalised(rows, problem.rows.phi, np.arange(4), L, 0.7, 0.9)
    assert_allclose(beta, wanted, atol=1e-4)


@every_family
def test_the_usual_number_of_moves_comes_close(family):
    """Where moments are kept, coefficients give rows nearly the same linear predictors."""
    rows, L = Rows(family), diagonal(family)
    problem = rows.likelihood()
    beta, near = strategy.fit(strategy._partial(hyper_of(rows, L)), problem)
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
def test_moments_are_moved_no_farther_than_they_can_be_trusted(family):
    rows = Rows(family)
    problem = rows.likelihood()
    far = problem.near(problem.anchor + 100.0 * rows.coefficients())
    change = (far.anchor - problem.anchor).reshape(4, D, family.m)[rows.dataset]
    eta = np.abs(np.einsum("nd,ndm->nm", rows.Z, change)).max(axis=1)
    longest = np.maximum.reduceat(eta, rows.starts[:-1])
    assert_allclose(longest, local.FARTHEST, rtol=1e-9)


@every_family
def test_own_moments_are_near_maximum_likelihood(family, monkeypatch):
    monkeypatch.setattr(local, "FEWEST_ROWS", 1.0)
    monkeypatch.setattr(local, "FEWEST_MASS", 0.1)
    monkeypatch.setattr(local, "FEWEST_RARE", 0.1)
    monkeypatch.setattr(local, "LEAST_EVEN", 0.0)
    rows = Rows(family, sizes=np.array([80, 90, 120, 60]))
    problem = rows.likelihood()
    moments, backing = problem.own()
    own = np.linalg.solve(moments.G, moments.h[..., None])[..., 0]
    flat = 30 * np.eye(D * family.m)  # so weak a prior that each dataset stands alone
    wanted = penalised(rows, problem.rows.phi, np.arange(4), flat, 1e6, 1.0)
    assert_allclose(own, wanted, atol=0.02)
    assert np.all(backing.mass > 0)
    if family is not POISSON:
        assert np.all(backing.mass <= problem.moments.n / family.m + 1e-9)


def test_mass_counts_rows_by_their_information():
    for family in (BERNOULLI, multinomial(3), multinomial(4)):
        rows = Rows(family).glm()
        level = np.zeros((4, D * family.m))
        even = rows.mass(level)
        assert np.all((even > 0) & (even <= SIZES + 1e-9))
        level[:, family.m - 1] = 20.0  # the last class is all but certain
        assert rows.mass(level).max() < 1e-3


def test_least_squares_knows_its_loss_everywhere():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((4, 3, 20, 2)), rng.standard_normal((4, 3, 20))
    problem = LeastSquares(Moments.from_rows(X, y))
    beta = rng.standard_normal((3, 4, 2))
    residual = y - np.einsum("kfnp,fkp->kfn", X, beta)
    assert_allclose(problem.loss(beta), np.sum(residual**2, axis=2).T)
    assert problem.near(beta[0]) is problem


# --- awkward data ---------------------------------------------------------------------------------


def separable(rows):
    rows.y = (rows.Z[:, 1] > 0).astype(float) * rows.family.m


def single_classes(rows):
    rows.y[rows.dataset == 0] = 0.0
    rows.y[rows.dataset == 2] = rows.family.m


def absent_class(rows):
    rows.y[(rows.dataset < 3) & (rows.y == rows.family.m)] = 0.0


def constant_column(rows):
    rows.Z[rows.dataset == 1, 1] = 2.0


def no_weight(rows):
    rows.w[rows.dataset == 1] = 1e-12


def nothing(rows):
    pass


CASES = [separable, single_classes, absent_class, constant_column, no_weight, nothing]


@pytest.mark.parametrize("family", [BERNOULLI, multinomial(3), POISSON], ids=lambda f: f.name)
@pytest.mark.parametrize("change", CASES, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("sizes", [SIZES, [1, 1, 40, 3]], ids=str)
def test_awkward_data_stay_finite(family, change, sizes):
    rows = Rows(family, sizes=np.array(sizes))
    change(rows)
    problem, hyper = strategy.start_values(rows.likelihood())
    assert_finite(problem)
    outcome = strategy.run(problem, np.full(4, 0.25), hyper)
    assert np.isfinite(outcome.coef).all()
    assert np.isfinite(outcome.cells).all()
    assert outcome.weights.sum() == pytest.approx(1.0)
    grouped = strategy.clusters(outcome.search.labels, hyper)
    assert np.isfinite(strategy.fit(grouped, problem)[0]).all()
    moments, backing = problem.own()
    assert all(np.isfinite(getattr(moments, name)).all() for name in ("G", "h", "q", "n", "w"))
    judge = Judge.of(moments, backing)
    pairs = [((i,), (j,)) for i in range(4) for j in range(i)]
    answers, ends = judge.verdicts(pairs, delta=0.1, interval=True)
    few = np.array(sizes) < local.FEWEST_ROWS * D
    assert all(a == "undecided" for a, ((i,), (j,)) in zip(answers, pairs) if few[i] or few[j])
    assert not np.isnan(ends).any()
    enough = np.array([not (few[i] or few[j]) for (i,), (j,) in pairs])
    assert not np.isnan(judge.gains(pairs)[enough]).any()


def assert_finite(problem):
    for moments in (problem.moments, problem.folds):
        assert all(np.isfinite(getattr(moments, name)).all() for name in ("G", "h", "q", "n", "w"))
    assert np.linalg.eigvalsh(problem.moments.G).min() > -1e-9


@every_family
def test_some_datasets_are_as_if_the_others_had_never_been(family):
    rows, some = Rows(family, weighted=True), [2, 0]
    beta = rows.coefficients()
    whole, part = rows.glm(), rows.glm().of_datasets(some)
    assert_allclose(part.n, whole.n[some])
    by_fold = np.broadcast_to(beta, (FOLDS, *beta.shape))
    assert_allclose(part.loss(by_fold[:, some]), whole.loss(by_fold)[:, some])
    one, two = part.moments(beta[some]), whole.moments(beta)[some]
    for name in ("G", "h", "q", "n", "w"):
        assert_allclose(getattr(one, name), getattr(two, name), atol=1e-9)
    assert_allclose(part.whole.loss(beta[None, some]), whole.whole.loss(beta[None])[:, some])
