import numpy as np
import pytest

from conjoin.models.own_noise import COMMON, OWN, NoiseRule, choose_noise, relative_noise
from conjoin.models.partial import SLOPES, coefficients, fit_variances
from conjoin.models.problem import LeastSquares
from conjoin.moments import Basis
from conjoin.moments.folds import deal, fold_moments
from tests.collections_ import make


def unequal(sd, n=60, p=3, spread=0.5, seed=0):
    """Return fold moments of datasets with noise `sd` (K,), and their coefficients in the basis."""
    rng = np.random.default_rng(seed)
    K = len(sd)
    beta = rng.standard_normal(p) + spread * rng.standard_normal((K, p))
    starts = np.arange(K + 1) * n
    X = rng.standard_normal((K * n, p))
    y = np.sum(X * np.repeat(beta, n, axis=0), axis=1) + np.repeat(sd, n) * rng.standard_normal(
        K * n
    )
    basis = Basis.from_rows(X, y)
    fold = deal(X, y, starts, 10, 0)
    rows = basis.design(X), basis.response(y), np.ones(K * n)
    return basis, fold_moments(*rows, starts, fold, 10), beta


def slope_errors(basis, coef, beta):
    return np.sum((basis.to_original(coef)[1] - beta) ** 2, axis=1)


@pytest.mark.parametrize("ratio", [10.0, 100.0])
def test_noise_is_recovered(ratio):
    sd = np.where(np.arange(20) % 2 == 0, 1.0, ratio)
    _, folds, _ = unequal(sd, n=80)
    found = relative_noise(folds.union(1))
    expected = sd**2 / np.exp(np.mean(np.log(sd**2)))
    assert np.abs(np.log(found / expected)).max() < np.log(2)


def test_equal_noise_is_left_alone():
    problem = LeastSquares(make("continuum", K=20, n=40, p=3).folds)
    common = fit_variances(problem.moments, SLOPES)
    rule, hyper = choose_noise(problem, common)
    assert rule is COMMON
    assert hyper is common


@pytest.mark.parametrize("seed", range(3))
def test_quiet_datasets_predict_better_with_their_own_noise(seed):
    sd = np.where(np.arange(20) % 2 == 0, 0.1, 10.0)
    basis, folds, beta = unequal(sd, n=40, spread=1.0, seed=seed)
    problem = LeastSquares(folds)
    common = fit_variances(problem.moments, SLOPES)
    rule, hyper = choose_noise(problem, common)
    assert rule.name in ("some", "own")
    before, after = (
        slope_errors(basis, coefficients(problem.moments, one), beta) for one in (common, hyper)
    )
    quiet = sd < 1
    assert after[quiet].mean() < 0.1 * before[quiet].mean()
    assert after.mean() < before.mean()


def test_only_named_datasets_have_their_own_noise():
    sd = np.array([0.1, 1.0, 1.0, 10.0, 1.0])
    _, folds, _ = unequal(sd)
    moments = folds.union(1)
    rule = NoiseRule("some", np.array([True, False, False, True, False]))
    found = rule.fit(moments, SLOPES)
    common = fit_variances(moments, SLOPES)
    assert found.noise == common.noise
    assert np.array_equal(found.L, common.L)
    assert found.relative[0] < 0.1 < 1 < found.relative[3]
    assert (found.relative[[1, 2, 4]] == 1).all()
    assert (rule.before(found).relative == 1).all()
    # Datasets without their own noise keep their fits, whatever the others have.
    kept = coefficients(moments, found) == coefficients(moments, common)
    assert kept[[1, 2, 4]].all()
    assert not kept[[0, 3]].any()
    assert (OWN.fit(moments, SLOPES).relative != 1).all()


def test_an_exact_fit_does_not_decide_on_the_noise_of_others():
    _, folds, _ = unequal(np.array([0.0, *np.linspace(0.8, 1.2, 11)]), n=12)
    ratios = relative_noise(folds.union(1))
    assert ratios[1:].max() < 30 * ratios[1:].min()


def squares(problem, rule, hyper):
    """Return the squared error (K,) of partial pooling on held-out rows, under a rule of noise."""
    outside = []
    for f in range(problem.folds.shape[1]):
        rest = problem.left_out(np.array([f]))[0]
        outside.append(coefficients(rest, rule.apply(hyper, rest)))
    return problem.loss(np.stack(outside)).sum(axis=0)


@pytest.mark.parametrize("seed", range(20))
def test_the_sum_over_datasets_predicts_no_worse_than_with_one_noise(seed):
    rng = np.random.default_rng(seed)
    sd = np.exp(rng.normal(0, 1.5, size=12))
    _, folds, _ = unequal(sd, n=40, spread=float(rng.choice([0.05, 0.3, 1.0])), seed=seed)
    problem = LeastSquares(folds)
    common = fit_variances(problem.moments, SLOPES)
    rule, hyper = choose_noise(problem, common)
    before, after = squares(problem, COMMON, common), squares(problem, rule, hyper)
    assert after.sum() <= before.sum()
    if rule.name == "some":
        assert (after[rule.own] < before[rule.own]).all()
        assert np.array_equal(after[~rule.own], before[~rule.own])
