from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.models.likelihood import LeastSquares
from conjoin.models.partial import SLOPES, fit_variances
from conjoin.moments import Moments
from conjoin.strategies import core as strategy
from tests.collections_ import make


def known_clusters(truth):
    beta = np.empty_like(truth.moments.h)
    for c in np.unique(truth.labels):
        union = truth.moments[truth.labels == c].union()
        beta[truth.labels == c] = np.linalg.solve(union.G, union.h)
    return beta


def equal(K):
    return np.full(K, 1 / K)


def run(truth):
    problem, hyper = strategy.start_values(LeastSquares(truth.folds))
    return problem, strategy.run(problem, equal(truth.folds.shape[0]), hyper)


def kept(problem, outcome):
    hyper = outcome.search.hyper
    return lambda labels: strategy.validate(strategy.clusters(labels, hyper), problem)


@pytest.mark.parametrize("kind", ["clusters", "continuum"])
def test_auto_is_close_to_the_best_strategy(kind):
    truth = make(kind, K=40, n=20, p=5, clusters=3)
    _, outcome = run(truth)
    errors = {name: truth.error(coef) for name, coef in zip(outcome.names, outcome.coef)}
    assert errors["auto"] < 1.15 * min(errors.values())
    assert errors["auto"] < 0.7 * min(errors["separate"], errors["pooled"])
    assert outcome.weights.sum() == pytest.approx(1)
    assert outcome.weights[outcome.names.index("separate")] == 0


def test_planted_clusters_cost_at_most_a_fifth_more_than_known_ones():
    ratios = []
    for seed in range(5):
        truth = make("clusters", K=30, n=30, p=6, clusters=3, seed=seed)
        _, outcome = run(truth)
        known = known_clusters(truth)
        ratios.append(truth.error(outcome.coef[-1]) / truth.error(known))
    assert np.mean(ratios) < 1.2


def test_validated_errors_equal_a_plain_loop_for_pooled_least_squares():
    truth = make("continuum", K=5, n=30, p=3)

    def least_squares(moments):
        union = moments.union()
        return np.broadcast_to(np.linalg.solve(union.G, union.h), moments.h.shape)

    cells = strategy.validate(least_squares, LeastSquares(truth.folds))
    for f in (0, 7):
        beta = least_squares(truth.moments - truth.folds[:, f])
        assert_allclose(cells[f], truth.folds[:, f].sse(beta), rtol=1e-9)


def test_soft_weights():
    w, K = np.ones(10), 10
    rng = np.random.default_rng(0)
    base = rng.uniform(1, 2, (2, K))
    noise = rng.normal(0, 0.05, (2, K))
    close, worse = base + noise, base * 1.2
    shares = strategy.soft_weights(np.stack([base, close, worse, base * 2]), w, equal(K))
    assert shares[3] == 0  # more than half again as large
    assert shares[0] > 0.2
    assert shares[1] > 0.2
    assert shares[2] < 0.01
    assert strategy.soft_weights(np.stack([base, base]), w, equal(K)).tolist() == [0.5, 0.5]


def test_separate_borrows_where_a_dataset_has_no_information():
    truth = make("continuum", K=6, n=30, p=3)
    rng = np.random.default_rng(0)
    Z = np.concatenate([np.ones((30, 1)), rng.standard_normal((30, 3))], axis=1)
    Z[:, 3] = 0.5  # constant inside this dataset
    t = Z[:, 1] + 0.1 * rng.standard_normal(30)
    moments = Moments.concatenate([Moments.stack([Moments.from_rows(Z, t)]), truth.moments])
    beta = strategy.separate(moments)[0]
    union = moments.union()
    pooled = np.linalg.solve(union.G, union.h)
    fitted = np.linalg.lstsq(Z, t, rcond=None)[0]
    assert_allclose(Z @ beta, Z @ fitted, atol=1e-8)
    null = np.array([0.5, 0.0, 0.0, -1.0])  # Z @ null = 0
    assert beta @ null == pytest.approx(pooled @ null)


@pytest.mark.parametrize("sizes", [[1] * 8, [1, 2, 3, 50, 200], [2, 2], [40, 1]])
def test_very_unequal_and_tiny_datasets(sizes):
    truth = make("continuum", K=len(sizes), p=4, sizes=sizes)
    problem, outcome = run(truth)
    assert np.isfinite(outcome.coef).all()
    assert np.isfinite(outcome.cells).all()
    strategy.choose_partition(outcome, problem, equal(len(sizes)), kept(problem, outcome))


def test_partition_is_kept_only_where_it_predicts():
    for kind, clusters in (("clusters", 3), ("continuum", 1)):
        truth = make(kind, K=12, n=60, p=4, clusters=3, spread=0.0, seed=1)
        problem, outcome = run(truth)
        labels = strategy.choose_partition(outcome, problem, equal(12), kept(problem, outcome))
        assert labels.max() + 1 == clusters


def test_honest_validation_of_a_partition_is_worse_than_the_flattering_one():
    truth = make("continuum", K=40, n=12, p=6)
    hyper = fit_variances(truth.moments, SLOPES)
    problem = LeastSquares(truth.folds)
    honest = strategy.validate_partition(strategy.evidence_partition, problem, hyper)
    refit = strategy.clusters(strategy.evidence_partition(truth.moments, hyper), hyper)
    flattering = strategy.validate(refit, problem)
    assert honest.sum() > 1.1 * flattering.sum()


def test_of_few_datasets_nothing_learns_from_the_rows_that_judge_it():
    truth = make("continuum", K=4, n=12, p=6)
    # Other targets in the first fold: h and q of its rows change, G does not.
    h, q = truth.folds.h.copy(), truth.folds.q.copy()
    h[:, 0], q[:, 0] = -3 * h[:, 0], 9 * q[:, 0]
    other = replace(truth.folds, h=h, q=q)
    outside, whole = {}, {}
    for folds in (truth.folds, other):
        problem, hyper = strategy.start_values(LeastSquares(folds))
        plan = strategy.make_plan(problem, hyper)
        rest = problem.moments - problem.folds[:, 0]
        for name, refit in plan.fold_refits.items():
            outside.setdefault(name, []).append(refit(rest))
            whole.setdefault(name, []).append(plan.refits[name](rest))
    for name, (one, two) in outside.items():
        assert np.abs(one - two).max() < 0.02 * np.abs(one).max(), name
    # With the variances of all rows it does.
    assert np.abs(whole["partial"][0] - whole["partial"][1]).max() > 0.1
