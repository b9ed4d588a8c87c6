import numpy as np
import pytest

from conjoin.criterion.judge import Judge
from conjoin.criterion.pair_tests import PairTests
from conjoin.criterion.robust import heavy_tailed, robust_tests
from conjoin.criterion.side import Side
from conjoin.models.scatter import Scatter
from conjoin.moments import Moments

PAIR = [((0,), (1,))]


def two(seed, n=(200, 300), p=4, d=0.0, noise=None, columns=None):
    """Rows of two datasets whose coefficients differ by d."""
    rng = np.random.default_rng(seed)
    draw = columns or (lambda r, shape: r.standard_normal(shape))
    Z = np.column_stack([np.ones(sum(n)), draw(rng, (sum(n), p - 1))])
    scale = np.ones(len(Z)) if noise is None else noise(Z)
    t = Z.sum(axis=1) + scale * rng.standard_normal(len(Z))
    t[n[0] :] += d * Z[n[0] :].sum(axis=1)
    return Z, t, np.cumsum([0, *n])


def judge_of(Z, t, starts, robust=True):
    scatter = Scatter.of_rows(Z, t, np.ones(len(t)), starts) if robust else None
    return Judge.of(Moments.by_dataset(Z, t, starts), scatter=scatter)


def robust_and_plain(Z, t, starts):
    moments = Moments.by_dataset(Z, t, starts)
    scatter = Scatter.of_rows(Z, t, np.ones(len(t)), starts)
    sides = Side.dataset(moments[[0]]), Side.dataset(moments[[1]])
    scatters = scatter[[0]], scatter[[1]]
    return robust_tests(sides, scatters, 0.1), PairTests.of(*sides, 0.1, False), scatters


def test_with_equal_noise_and_many_rows_both_tests_agree():
    robust, plain, _ = robust_and_plain(*two(0, n=(20_000, 30_000)))
    middle = plain.saved.shape[-1] // 2
    scale = plain.pooled[0, 0, middle]
    assert robust.saved[0, 0] == pytest.approx(plain.saved[0, middle] * scale, rel=0.05)
    np.testing.assert_allclose(
        robust.e[0, 0, 0], plain.e[0, 0, middle] * scale, rtol=0.1, atol=1e-12
    )


def test_saved_variance_is_that_of_the_sandwich():
    """With noise that grows, the variance that joining saves is the true one."""
    Z, t, starts = two(1, n=(4000, 4000), p=3, noise=lambda Z: np.abs(Z[:, 1]))
    robust, plain, _ = robust_and_plain(Z, t, starts)
    G, M = (np.linalg.inv(Z[:4000].T @ Z[:4000]), (Z[:4000] * Z[:4000, 1:2] ** 2).T @ Z[:4000])
    own = np.trace(G @ M) / 4000 / 2  # one side, with weight one half
    assert robust.saved[0, 0] == pytest.approx(own, rel=0.15)  # two owns minus a joint of the same
    assert plain.saved[0].max() * plain.pooled.max() < 0.8 * own


def test_p_values_decide():
    near, _, _ = robust_and_plain(*two(2))
    far, _, _ = robust_and_plain(*two(2, d=1.0))
    assert near.p_values()[1, 0] > 0.1
    assert far.p_values()[1, 0] < 1e-6
    assert far.decide()[1].all()


def test_heavy_columns_leave_the_upper_limit_open_unless_apart():
    heavy = {"columns": lambda r, shape: np.exp(1.5 * r.standard_normal(shape))}
    Z, t, starts = two(3, **heavy)
    assert heavy_tailed(robust_and_plain(Z, t, starts)[2]).all()
    same = judge_of(Z, t, starts).judge(PAIR, delta=0.1, interval=True)
    assert same.heavy[0]
    assert same.answers[0] != "apart"
    assert same.limits[0, 1] == np.inf
    far = judge_of(*two(3, d=5.0, **heavy)).judge(PAIR, delta=0.1, interval=True)
    assert far.answers[0] == "apart"
    assert far.limits[0, 1] <= 0


def test_noise_that_grows_no_longer_looks_like_a_difference():
    grows = {"n": (100, 100), "p": 3, "noise": lambda Z: np.exp(Z[:, 1])}
    wrong = {True: 0, False: 0}
    for seed in range(120):
        data = two(seed, **grows)
        for robust in wrong:
            found = judge_of(*data, robust=robust).judge(PAIR, delta=0.1, interval=False)
            wrong[robust] += found.answers[0] == "apart"
    assert wrong[True] <= 0.1 * 120
    assert wrong[False] > 2 * max(wrong[True], 1)


def test_a_shift_and_a_scale_of_the_target_change_nothing():
    Z, t, starts = two(4, d=0.2)
    first = judge_of(Z, t, starts).judge(PAIR, delta=0.1, interval=True)
    second = judge_of(Z, 7 * t + 3, starts).judge(PAIR, delta=0.1, interval=True)
    assert first.answers == second.answers
    np.testing.assert_allclose(first.limits * 49, second.limits, rtol=1e-5)


def test_groups_of_datasets_are_judged_by_their_sums():
    rng = np.random.default_rng(5)
    starts = np.arange(0, 401, 50)
    Z = np.column_stack([np.ones(400), rng.standard_normal((400, 2))])
    t = Z.sum(axis=1) + rng.standard_normal(400)
    t[200:] += 2 * Z[200:, 1]
    judge = judge_of(Z, t, starts)
    pairs = [((0, 1, 2, 3), (4, 5, 6, 7)), ((0, 1), (2, 3))]
    found = judge.judge(pairs, delta=0.1, interval=True)
    assert found.answers[0] == "apart"
    assert found.answers[1] != "apart"
    assert found.p_values[0] < 1e-3


def test_pairs_without_residuals_are_undecided():
    Z, t, starts = two(6, n=(3, 200), p=4)
    found = judge_of(Z, t, starts).judge(PAIR, delta=0.1, interval=True)
    assert found.answers == ("undecided",)
    assert found.limits.tolist() == [[-np.inf, np.inf]]


def test_a_flag_of_one_row_keeps_nothing_apart():
    rng = np.random.default_rng(0)
    Z = np.column_stack([np.ones(100), rng.standard_normal(100), np.zeros(100)])
    Z[[10, 60], 2] = 1.0  # one row of each dataset, both fitted exactly
    t = Z[:, 1] + rng.standard_normal(100)
    t[10] += 200.0  # a row of its kind can be anything
    starts = np.array([0, 50, 100])
    found = judge_of(Z, t, starts).judge(PAIR, delta=0.1, interval=True)
    assert found.answers[0] != "apart"
    assert found.heavy[0] and found.limits[0, 1] == np.inf
    different = np.where(np.arange(100) < 50, 5.0, 0.0) * Z[:, 1]
    assert judge_of(Z, t + different, starts).judge(PAIR, delta=0.1, interval=True).answers == (
        "apart",
    )
