import numpy as np
import pytest
from scipy import stats

from conjoin.criterion.interval import gain_limits
from conjoin.criterion.pair_tests import PairTests
from conjoin.criterion.side import Side
from tests.criterion.pairs import pair
from tests.reference.pair_verdict import judge


def test_interval_agrees_with_the_verdict_and_both_answers_occur():
    seen = set()
    for seed in range(60):
        one, two = pair(seed, n=(30 + seed, 90), p=6, d=(seed % 6) * 0.15)
        for equal_noise in (False, True):
            found = judge(one, two, equal_noise=equal_noise)
            low, high = found.interval
            assert low <= high
            assert (low >= 0) == (found.verdict == "join")
            assert (high <= 0) == (found.verdict == "apart")
            short = judge(one, two, equal_noise=equal_noise, interval=False)
            assert (short.verdict, short.gain) == (found.verdict, found.gain)
            assert (short.interval[0] >= 0) == (found.verdict == "join")
            assert (short.interval[1] <= 0) == (found.verdict == "apart")
            seen.add(found.verdict)
    assert seen == {"join", "apart", "undecided"}


def test_lower_levels_give_wider_intervals():
    one, two = pair(1)
    ends = np.array([judge(one, two, delta=delta).interval for delta in (0.3, 0.1, 0.02)])
    assert (np.diff(ends[:, 0]) < 0).all()
    assert (np.diff(ends[:, 1]) > 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_limits_invert_the_noncentral_f(seed):
    """Equal noise and one column: T(m) is a noncentral F, whose non-centrality scipy inverts."""
    one, two = pair(seed, n=(15, 25), p=1, d=0.5)
    tests = PairTests.of(Side.dataset(one), Side.dataset(two), 0.1, True)
    spent = 0.1 * 0.1
    level = 0.1 - spent
    e, nu, Q = tests.e[0].item(), tests.nu[0].item(), tests.Q[0].item()
    # Find m with P(F(1, nu, m/e) <= Q) = level by bisection on scipy's distribution.
    low, high = 0.0, 1e4
    for _ in range(200):
        middle = (low + high) / 2
        above = stats.ncf.cdf(Q, 1, nu, middle / e) > level
        low, high = (middle, high) if above else (low, middle)
    gain = tests.saved.item() - low
    quantile = stats.chi2.ppf(spent if gain < 0 else 1 - spent, nu)
    expected = gain * tests.pooled[0].item() * nu / quantile
    limit, _ = gain_limits(tests, 0.1, *tests.decide())
    assert limit == pytest.approx(expected, rel=1e-3)


def test_a_stretch_lowers_both_limits():
    tests = PairTests.of(*(Side.dataset(m) for m in pair(1)), 0.1, False)
    nobody = np.zeros((), dtype=bool)
    plain = gain_limits(tests, 0.1, nobody, nobody)
    stretched = gain_limits(tests, 0.1, nobody, nobody, stretch=2.0)
    assert stretched[0] < plain[0]
    assert stretched[1] <= plain[1]


def test_pairs_that_cannot_be_tested_have_infinite_limits():
    tests = PairTests.of(*(Side.dataset(m) for m in pair(0, n=(4, 60), p=4)), 0.1, False)
    assert gain_limits(tests, 0.1, *tests.decide()) == (-np.inf, np.inf)
