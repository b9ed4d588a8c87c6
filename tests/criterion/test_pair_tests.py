from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from conjoin.criterion.pair_tests import PairTests, decide
from conjoin.criterion.side import Side
from conjoin.moments import Moments
from tests.criterion.pairs import pair, rows_pair
from tests.reference.pair_verdict import judge


@pytest.mark.parametrize("seed", range(20))
def test_equal_sizes_and_noise_join_exactly_below_the_noncentral_f_quantile(seed):
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(1, 12)), int(rng.integers(15, 80))
    data = rows_pair(seed, (n, n), p, d=rng.uniform(0, 0.3))
    rss = [np.linalg.lstsq(X, y, rcond=None)[1][0] for X, y in data]
    X, y = (np.concatenate(parts) for parts in zip(*data))
    joint = np.linalg.lstsq(X, y, rcond=None)[1][0]
    nu = 2 * (n - p)
    F = (joint - sum(rss)) / p / (sum(rss) / nu)
    moments = [Moments.from_rows(*rows) for rows in data]
    for delta in (0.05, 0.1, 0.3):
        found = judge(*moments, delta=delta, equal_noise=True, interval=False)
        assert (found.verdict == "join") == (F <= stats.ncf.ppf(delta, p, nu, p))


def test_batched_decisions_equal_single_ones():
    stacks = [Moments.stack(part) for part in zip(*(pair(s, d=0.08 * s) for s in range(12)))]
    join, apart = decide(*(Side.dataset(m) for m in stacks))
    for k in range(12):
        answer = judge(stacks[0][k], stacks[1][k], interval=False).verdict
        assert answer == ("join" if join[k] else "apart" if apart[k] else "undecided")


def test_probability_falls_with_the_noncentrality():
    tests = PairTests.of(*(Side.dataset(m) for m in pair(0)), 0.1, False)
    below = [tests.below(np.full((2, *tests.saved.shape), m)) for m in (0.0, 0.05, 0.2, 1.0)]
    assert (np.diff(below, axis=0) < 0).all()


def test_random_designs_widen_only_the_test_for_apart():
    tests = PairTests.of(*(Side.dataset(m) for m in pair(0, n=(8, 400))), 0.1, False)
    for_join, for_apart = tests.below(np.full((2, *tests.saved.shape), 1.0))
    fixed = replace(tests, sway=np.zeros_like(tests.sway))
    for_join_fixed, for_apart_fixed = fixed.below(np.full((2, *tests.saved.shape), 1.0))
    np.testing.assert_array_equal(for_join, for_join_fixed)
    assert (np.abs(for_apart - for_apart_fixed) > 1e-3).any()


def test_saved_variance_on_new_rows_is_infinite_for_too_few_rows():
    few, enough = (
        PairTests.of(*(Side.dataset(m) for m in pair(0, n=(n, 60), p=4)), 0.1, False)
        for n in (5, 6)
    )
    assert np.isinf(few.saved_on_new_rows).all()
    assert np.isfinite(enough.saved_on_new_rows).all()
    assert (enough.saved_on_new_rows > enough.saved).all()
