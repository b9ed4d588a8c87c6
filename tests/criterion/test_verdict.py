import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from conjoin.criterion.verdict import (
    Side,
    decide,
    judge,
    judge_merge,
    ratio_probability,
    rows_to_settle,
)
from conjoin.moments import Moments
from tests.helpers import random_rows


def rows_pair(seed, n=(40, 60), p=4, d=0.3, sigma=(1.0, 1.0)):
    rng = np.random.default_rng(seed)
    beta = rng.standard_normal(p)
    shift = (0.0, d)
    return [random_rows(rng, n[k], p, beta + shift[k], sigma[k]) for k in range(2)]


def pair(*args, **options):
    return [Moments.from_rows(X, y) for X, y in rows_pair(*args, **options)]


def same(a, b, rtol=1e-5):
    assert a.verdict == b.verdict
    assert_allclose(a.gain, b.gain, rtol=rtol, atol=1e-9)
    assert_allclose(a.interval, b.interval, rtol=10 * rtol, atol=1e-9)


# --- the law --------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1, 3, 10, 30])
@pytest.mark.parametrize("nu", [1, 2, 3, 7, 40, 300, 4000])
def test_equal_eigenvalues_give_the_noncentral_f(p, nu):
    levels = np.array([0.001, 0.05, 0.1, 0.5, 0.9, 0.99])
    for m in (0.0, 0.3, float(p), 5.0 * p):
        law = stats.ncf(p, nu, m) if m > 0 else stats.f(p, nu)
        x = law.ppf(levels)
        assert_allclose(
            ratio_probability(2.5 * np.ones(p), 2.5 * m, [(0.5, nu)], 5.0 * p * x),
            law.cdf(x),
            atol=1e-6,
        )


@pytest.mark.parametrize("seed", range(6))
def test_unequal_eigenvalues_against_simulation(seed):
    rng = np.random.default_rng(seed)
    p, size = int(rng.integers(2, 12)), 400_000
    e = np.exp(rng.normal(0, 1.5, p))
    m = e.sum() * rng.uniform(0, 2)
    c, nu = np.exp(rng.normal(0, 1, 2)), rng.integers(1, 60, 2)
    z = rng.standard_normal((size, p)) * np.sqrt(e)
    z[:, np.argmax(e)] += np.sqrt(m)
    below = sum(a * rng.chisquare(b, size) / b for a, b in zip(c, nu))
    ratio = np.sum(z**2, axis=1) / below
    q = np.quantile(ratio, [0.05, 0.1, 0.5, 0.9, 0.95])
    found = ratio_probability(e, m, list(zip(c, nu)), q)
    assert_allclose(found, [0.05, 0.1, 0.5, 0.9, 0.95], atol=4 * 0.5 / np.sqrt(size))


def test_hard_mixtures_of_scales_agree_with_conditioning_on_one_denominator():
    """One denominator of one degree of freedom beside one of many, eigenvalues far apart."""
    nodes, w = np.polynomial.legendre.leggauss(400)
    for e, m, c, nu, q in (
        ([144.6, 4.7e-3, 7.9e-5], 61.0, (1.07, 0.94), (956, 1), 963.5),
        ([385.0, 31.0, 23.0, 8.0], 260.0, (0.84, 0.79), (201, 1), 397.0),
        ([1.0] * 20, 100.0, (0.9, 0.02), (1, 2000), 30.0),
    ):
        # The second chi-square by quantiles, the first by the law with a fixed number beside it:
        # a chi-square of very many degrees of freedom stands for that number.
        u = (nodes + 1) / 2
        small = np.argmin(nu)
        fixed = c[small] * stats.chi2(nu[small]).ppf(u) / nu[small]
        other = 1 - small
        given = ratio_probability(
            np.array(e), m, [(c[other] + 0 * fixed, nu[other]), (fixed, 1e9)], q
        )
        found = ratio_probability(np.array(e), m, list(zip(c, nu)), q)
        assert_allclose(found, np.sum(w * given) / 2, atol=2e-5)


def test_zero_eigenvalues_change_nothing():
    e = np.array([0.5, 2.0, 1.0])
    padded = np.array([0.0, 0.5, 2.0, 0.0, 1.0])
    for m in (0.0, 1.5):
        one, two = (ratio_probability(x, m, [(1.0, 9), (0.3, 20)], 4.0) for x in (e, padded))
        assert_allclose(one, two, atol=1e-9)
    nothing = np.zeros(2)
    assert ratio_probability(nothing, 0.0, [(1.0, 5)], 1.0) == 1
    assert_allclose(
        ratio_probability(nothing, 1.0, [(1.0, 5)], 2.0), stats.chi2.sf(2.5, 5), atol=1e-6
    )
    assert ratio_probability(e, 1.0, [(1.0, 5)], 0.0) == 0


def test_batches_equal_single_calls():
    rng = np.random.default_rng(0)
    e, m = rng.uniform(0, 2, (5, 7, 3)), rng.uniform(0, 4, (5, 1))
    c, nu, q = rng.uniform(0.1, 1, (7,)), rng.integers(1, 50, (5, 1)), rng.uniform(0.1, 9, (5, 7))
    whole = ratio_probability(e, m, [(c, nu), (0.2, 8)], q)
    assert whole.shape == (5, 7)
    for i, j in ((0, 0), (2, 6), (4, 3)):
        single = ratio_probability(e[i, j], m[i, 0], [(c[j], nu[i, 0]), (0.2, 8)], q[i, j])
        assert_allclose(whole[i, j], single, atol=1e-9)


# --- the verdict ----------------------------------------------------------------------------------


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


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("equal_noise", [False, True])
def test_swapping_the_two_changes_nothing(seed, equal_noise):
    one, two = pair(seed, d=0.1 * seed)
    options = {"equal_noise": equal_noise}
    same(
        judge(one, two, weights=(0.3, 0.7), **options),
        judge(two, one, weights=(0.7, 0.3), **options),
    )


@pytest.mark.parametrize("seed", range(8))
def test_change_of_features_and_of_the_target_scale(seed):
    rng = np.random.default_rng(seed)
    data = rows_pair(seed, (12, 30), d=0.15 * seed, sigma=(1.0, 2.0))
    A = rng.standard_normal((4, 4)) + 3 * np.eye(4)
    plain = judge(*(Moments.from_rows(X, y) for X, y in data))
    same(plain, judge(*(Moments.from_rows(X @ A, y) for X, y in data)))
    scaled = judge(*(Moments.from_rows(X, 7 * y) for X, y in data))
    assert scaled.verdict == plain.verdict
    assert_allclose(scaled.gain, 49 * plain.gain, rtol=1e-8)
    assert_allclose(scaled.interval, 49 * np.array(plain.interval), rtol=1e-4)


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


@pytest.mark.parametrize("seed", range(10))
def test_a_merge_of_single_datasets_is_the_pair(seed):
    one, two = pair(seed, d=0.1 * seed)
    single = [Moments.stack([m]) for m in (one, two)]
    same(judge(one, two), judge_merge(*single, interval=True), rtol=1e-8)
    weights = (np.array([0.2]), np.array([0.8]))
    merged = judge_merge(*single, weights=weights, interval=True)
    same(judge(one, two, weights=(0.2, 0.8)), merged, rtol=1e-8)


def test_splitting_datasets_of_a_cluster_only_costs_degrees_of_freedom():
    """Rows of one dataset cut in two, weighted by rows: the same fit, a noise of its own."""
    (X1, y1), (X2, y2) = rows_pair(3, (400, 400), d=0.05)
    whole = [Moments.from_rows(X, y) for X, y in ((X1, y1), (X2, y2))]
    halves = Moments.stack([Moments.from_rows(X1[i::2], y1[i::2]) for i in range(2)])
    merged = judge_merge(
        halves,
        Moments.stack(whole[1:]),
        weights=(np.array([0.25, 0.25]), np.array([0.5])),
        interval=True,
    )
    plain = judge(*whole)
    assert merged.verdict == plain.verdict
    assert_allclose(merged.interval, plain.interval, rtol=0.15)


def test_row_weights_count_as_less_noise():
    """Weights that scale all rows of a dataset alike change no verdict, only the error's unit."""
    (X1, y1), (X2, y2) = rows_pair(2)
    plain = judge(*(Moments.from_rows(X, y) for X, y in ((X1, y1), (X2, y2))))
    weighted = judge(
        *(Moments.from_rows(X, y, np.full(len(y), 4.0)) for X, y in ((X1, y1), (X2, y2)))
    )
    same(plain, weighted)


def test_batched_decisions_equal_single_ones():
    stacks = [Moments.stack(part) for part in zip(*(pair(s, d=0.08 * s) for s in range(12)))]
    join, apart = decide(*(Side.dataset(m) for m in stacks))
    for k in range(12):
        answer = judge(stacks[0][k], stacks[1][k], interval=False).verdict
        assert answer == ("join" if join[k] else "apart" if apart[k] else "undecided")


def test_many_columns_join_when_alike_and_part_when_opposite():
    (X1, y1), (X2, y2) = rows_pair(0, (300, 400), p=30, d=0.0)
    one = Moments.from_rows(X1, y1)
    assert judge(one, Moments.from_rows(X2, y2)).verdict == "join"
    assert judge(one, one).verdict == "join"
    opposite = judge(one, Moments.from_rows(X2, -y2))
    assert opposite.verdict == "apart"
    assert opposite.gain < 0
    assert opposite.interval[0] < opposite.gain < opposite.interval[1] < 0


# --- hard data ------------------------------------------------------------------------------------


def hard_pairs():
    rng = np.random.default_rng(0)
    X, y = random_rows(rng, 40, 5)
    few, single = slice(0, 4), slice(0, 1)
    constant = X.copy()
    constant[:, 2] = 0.0
    ones = np.column_stack([np.ones(40), X[:, :3], np.full(40, 3.0)])
    left, right = X.copy(), X.copy()
    left[:, 2:] = 0.0
    right[:, :2] = 0.0
    exact = X @ np.arange(5.0)
    return {
        "fewer rows than columns": ((X[few], y[few]), (X, y + 0.3 * X[:, 0]), {"undecided"}),
        "both with fewer rows": ((X[few], y[few]), (X[4:8], y[4:8]), {"undecided"}),
        "as many rows as columns": ((X[:5], y[:5]), (X, y), {"undecided"}),
        "one spare row": ((X[:6], y[:6]), (X, y), {"undecided", "join"}),
        "single row": ((X[single], y[single]), (X, y), {"undecided"}),
        "single rows": ((X[single], y[single]), (X[1:2], y[1:2]), {"undecided"}),
        "zero column in one": ((constant, y + 0.6 * X[:, 0]), (X, y), {"undecided"}),
        "constant beside an intercept": ((ones, y + 0.3 * X[:, 0]), (X, y), {"undecided", "apart"}),
        "no shared direction": ((left, y), (right, y), {"undecided"}),
        "all zero": ((0 * X, y), (X, y), {"undecided"}),
        "no noise, one truth": ((X[:20], exact[:20]), (X[20:], exact[20:]), {"join", "undecided"}),
        "no noise, two truths": ((X[:20], exact[:20]), (X[20:], -exact[20:]), {"apart"}),
        "no noise in one": ((X[:20], exact[:20]), (X[20:], y[20:]), {"undecided", "apart"}),
        "target of zeros": ((X[:20], 0 * y[:20]), (X[20:], 0 * y[20:]), {"join", "undecided"}),
    }


@pytest.mark.parametrize("name", list(hard_pairs()))
@pytest.mark.parametrize("equal_noise", [False, True])
def test_hard_data_get_an_answer_without_warnings(name, equal_noise):
    one, two, allowed = hard_pairs()[name]
    moments = [Moments.from_rows(*rows) for rows in (one, two)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = judge(*moments, equal_noise=equal_noise)
        swapped = judge(*moments[::-1], equal_noise=equal_noise)
        rows_to_settle(*moments, equal_noise=equal_noise)
        judge_merge(*(Moments.stack([m]) for m in moments), interval=True)
    assert found.verdict == swapped.verdict
    if not equal_noise:
        assert found.verdict in allowed
    low, high = found.interval
    assert low <= high
    assert (low >= 0) == (found.verdict == "join")
    assert (high <= 0) == (found.verdict == "apart")


def test_too_few_rows_can_never_be_told_to_stay_apart():
    """Without a finite error of its own a dataset gains by any company, in expectation."""
    (X1, y1), (X2, y2) = rows_pair(0, (5, 400), p=4, d=50.0)
    found = judge(*(Moments.from_rows(X, y) for X, y in ((X1, y1), (X2, y2))), equal_noise=True)
    assert found.verdict == "undecided"
    assert found.gain == found.interval[1] == np.inf


# --- rows to settle -------------------------------------------------------------------------------


def test_rows_to_settle_is_where_the_verdict_turns():
    for seed in range(20):
        one, two = pair(seed, d=0.25)
        factor = rows_to_settle(one, two)
        if judge(one, two, interval=False).verdict != "undecided":
            assert factor == 1
            continue
        if factor is None:
            continue
        sides = [Side.dataset(m) for m in (one, two)]
        at = np.array([0.995, 1.001]) * factor
        join, apart = decide(*(side.grown(at) for side in sides))
        assert (join | apart).tolist() == [False, True]


def test_rows_to_settle_knows_when_nothing_helps():
    (X1, y1), (X2, y2) = rows_pair(0, (3, 400), p=4)
    assert rows_to_settle(Moments.from_rows(X1, y1), Moments.from_rows(X2, y2)) is None
