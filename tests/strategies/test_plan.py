from dataclasses import replace

import numpy as np

from conjoin.models.problem import LeastSquares
from conjoin.moments import Moments
from conjoin.strategies import STRATEGIES
from conjoin.strategies.plan import make_plan, start_values
from tests.collections_ import make


def test_of_few_datasets_nothing_learns_from_the_rows_that_judge_it():
    truth = make("continuum", K=4, n=12, p=6)
    # Other targets in the first fold: h and q of its rows change, G does not.
    h, q = truth.folds.h.copy(), truth.folds.q.copy()
    h[:, 0], q[:, 0] = -3 * h[:, 0], 9 * q[:, 0]
    other = replace(truth.folds, h=h, q=q)
    outside, whole = {}, {}
    for folds in (truth.folds, other):
        start = start_values(LeastSquares(folds))
        plan = make_plan(start)
        rest = start.problem.moments - start.problem.folds[:, 0]
        for name, refit in plan.fold_refits.items():
            outside.setdefault(name, []).append(refit(rest))
            whole.setdefault(name, []).append(plan.refits[name](rest))
    for name, (one, two) in outside.items():
        assert np.abs(one - two).max() < 0.02 * np.abs(one).max(), name
    # With the variances of all rows it does.
    assert np.abs(whole["partial"][0] - whole["partial"][1]).max() > 0.1


def test_a_full_covariance_needs_datasets():
    many = make_plan(start_values(LeastSquares(make("continuum", K=6, n=20, p=6).folds)))
    few = make_plan(start_values(LeastSquares(make("continuum", K=2, n=20, p=6).folds)))
    assert "full" in many.refits
    assert "full" not in few.refits


def test_the_names_of_strategies_are_those_that_can_be_chosen():
    plan = make_plan(start_values(LeastSquares(make("continuum", K=6, n=20, p=2).folds)))
    assert {*plan.refits, "clusters", "plain", "lowrank"} == set(STRATEGIES)


def test_a_low_rank_is_used_where_it_shows():
    rng = np.random.default_rng(0)
    K, n, p = 24, 30, 10
    X = rng.standard_normal((K, n, p))
    X[..., 0] = 1
    beta = rng.standard_normal((K, 1)) * 0.5 * rng.standard_normal(p)
    y = np.einsum("knp,kp->kn", X, beta) + rng.standard_normal((K, n))
    folds = Moments.stack(
        [Moments.from_rows(X[:, f::5], y[:, f::5] / y.std()) for f in range(5)]
    ).each(lambda array: np.swapaxes(array, 0, 1))
    start = start_values(LeastSquares(folds))
    plan = make_plan(start)
    assert "lowrank" in plan.refits
    rest = start.problem.moments - start.problem.folds[:, 0]
    outside = plan.fold_refits["lowrank"](rest)
    assert outside.shape == (K, p) and np.isfinite(outside).all()
    assert not np.array_equal(outside, plan.refits["lowrank"](rest))
    assert (
        "lowrank"
        not in make_plan(start_values(LeastSquares(make("continuum", K=6, n=20, p=3).folds))).refits
    )


def test_without_an_intercept_no_strategy_varies_it():
    start = start_values(LeastSquares(make("continuum", K=6, n=20, p=3).folds))
    assert "intercept" in make_plan(start).refits
    assert "intercept" not in make_plan(start, intercept=False).refits
