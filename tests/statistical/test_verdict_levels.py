"""Level and power of the verdict, over thousands of simulated pairs.

The level is the rate of wrong verdicts, each kind at the gain it is about. Power is the rate of
joins where there is no difference.

Pairs are drawn through their sufficient statistics: for Gaussian rows G is Wishart, the fitted
coefficients are normal around the true ones with covariance sigma^2 G^-1, and the residual sum of
squares is an independent sigma^2 chi-square. The true difference has the size at which joining
gains (almost) nothing. All of it lies in the direction in which the statistic varies most.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from conjoin.criterion.interval import gain_limits
from conjoin.criterion.pair_tests import PairTests, decide
from conjoin.criterion.side import Side
from conjoin.moments import Moments

pytestmark = pytest.mark.slow

# Pairs of each setting: the standard error of a rate near 0.1 is then 0.007, enough to see a level
# of 0.12.
PAIRS = 2000
DELTA = 0.1
# The gain of "just losing" and "just gaining" pairs is off zero by this share of the distance.
BESIDE = 1e-5


@dataclass(frozen=True)
class Setting:
    """Sizes, noise standard deviations and designs of two datasets."""

    p: int
    n: tuple[int, int]
    sigma: tuple[float, float] = (1.0, 1.0)
    unlike: bool = False  # covariances of the features differ
    weights: tuple[float, float] = (0.5, 0.5)

    def __str__(self):
        parts = [f"p={self.p}", f"n={self.n[0]}/{self.n[1]}", f"s={self.sigma[0]}:{self.sigma[1]}"]
        parts += ["unlike"] * self.unlike + [f"w={self.weights}"] * (self.weights != (0.5, 0.5))
        return " ".join(parts)

    def covariances(self):
        if not self.unlike:
            return [np.eye(self.p)] * 2
        rng = np.random.default_rng(self.p)
        roots = [np.linalg.qr(rng.standard_normal((self.p, self.p)))[0] for _ in range(2)]
        scales = [np.geomspace(0.2, 5.0, self.p)] * 2
        return [(root * scale) @ root.T for root, scale in zip(roots, scales)]


SETTINGS = [
    Setting(1, (3, 3)),
    Setting(1, (5, 2000)),
    Setting(1, (50, 50), (1, 3)),
    Setting(2, (4, 40), unlike=True),
    Setting(3, (10, 30), (3, 1), unlike=True),
    Setting(3, (2000, 2000)),
    Setting(5, (7, 7)),
    Setting(5, (20, 60), unlike=True, weights=(0.2, 0.8)),
    Setting(10, (50, 50)),
    Setting(10, (50, 50), (1, 3), unlike=True),
    Setting(10, (25, 75), (1, 3)),
    Setting(10, (25, 75), (3, 1)),
    Setting(10, (12, 300), unlike=True),
    Setting(20, (40, 40), (1, 1.5), unlike=True),
    Setting(30, (32, 60)),
    Setting(30, (60, 200), (2, 1), unlike=True),
    Setting(30, (2000, 500), (1, 2)),
]
ALIKE = [s for s in SETTINGS if s.sigma[0] == s.sigma[1]]
COVERED = [
    (Setting(1, (5, 12)), False),
    (Setting(5, (12, 40), (1, 2), unlike=True), False),
    (Setting(3, (30, 30)), True),
]


def wishart(rng, n, covariance, size):
    """Gram matrices (size, p, p) of n Gaussian rows, by Bartlett's decomposition."""
    p = len(covariance)
    L = np.tril(rng.standard_normal((size, p, p)), -1)
    L[:, np.arange(p), np.arange(p)] = np.sqrt(rng.chisquare(n - np.arange(p), (size, p)))
    C = np.linalg.cholesky(covariance) @ L
    return C @ np.swapaxes(C, 1, 2)


def draw(rng, setting, grams, difference):
    """Moments of both datasets given their Gram matrices and the true difference (size, p)."""
    result = []
    for G, n, sigma, beta in zip(grams, setting.n, setting.sigma, (difference, 0 * difference)):
        noise = rng.standard_normal(beta.shape)
        root = np.swapaxes(np.linalg.cholesky(G), 1, 2)
        beta = beta + sigma * np.linalg.solve(root, noise[..., None])[..., 0]
        h = np.einsum("...ij,...j->...i", G, beta)
        rss = sigma**2 * rng.chisquare(n - setting.p, len(G))
        size = np.full(len(G), float(n))
        result.append(Moments(G, h, rss + np.sum(beta * h, axis=1), size, size))
    return result


def inside(a, M):
    return a @ M @ np.swapaxes(a, -1, -2)


def bias_and_variances(setting, grams, errors):
    """B and the variance of the joint fit, for errors weighted by the matrices W_k of `errors`."""
    G1, G2 = grams
    W = [w * E for w, E in zip(setting.weights, errors)]
    inverse = np.linalg.inv(G1 + G2)
    B = inside(G2 @ inverse, W[0]) + inside(G1 @ inverse, W[1])
    noise = setting.sigma[0] ** 2 * G1 + setting.sigma[1] ** 2 * G2
    joint = np.einsum("...ij,...ij->...", inside(inverse, noise), W[0] + W[1])
    return B, joint


def spread(setting, grams):
    return sum(s**2 * np.linalg.inv(G) for s, G in zip(setting.sigma, grams))


def worst_direction(B, S):
    """Differences with delta'B delta = 1 whose estimate varies most, one per pair."""
    K = np.swapaxes(np.linalg.cholesky(B), -1, -2)
    M = inside(K, S)
    p = M.shape[-1]
    # With equal sizes and noise all directions are equal: break the tie in the same way each time.
    scale = np.trace(M, axis1=-2, axis2=-1) / p
    M = M + 1e-6 * scale[..., None, None] * np.diag(np.arange(p) / p)
    top = np.linalg.eigh(M)[1][..., -1]
    top = top * np.where(top[..., -1:] < 0, -1, 1)
    return np.linalg.solve(K, top[..., None])[..., 0]


def gain_given_designs(setting, grams):
    """B and the variance that joining saves on the rows at hand, one per pair."""
    errors = [G / n for G, n in zip(grams, setting.n)]
    B, joint = bias_and_variances(setting, grams, errors)
    own = [w * s**2 * setting.p / n for w, s, n in zip(setting.weights, setting.sigma, setting.n)]
    return B, sum(own) - joint


def expected_gain(setting, grams):
    """Mean B and mean variance saved over new designs; E[G^-1] of the small ones is exact."""
    B, joint = bias_and_variances(setting, grams, setting.covariances())
    own = [
        w * s**2 * setting.p / (n - setting.p - 1)
        for w, s, n in zip(setting.weights, setting.sigma, setting.n)
    ]
    return B.mean(axis=0), sum(own) - joint.mean()


def losing_slightly(setting, grams):
    """Differences (pairs, p) with a gain just below zero given the designs."""
    B, saved = gain_given_designs(setting, grams)
    size = (1 + BESIDE) * np.sqrt(np.maximum(saved, 0.0))
    return size[:, None] * worst_direction(B, spread(setting, grams))


def gaining_slightly(setting, grams):
    """Differences (pairs, p), all the same, with a gain just above zero over new designs."""
    B, saved = expected_gain(setting, grams)
    if saved <= 0:
        pytest.skip("joining loses even without a difference")
    S = np.median(spread(setting, grams), axis=0)
    size = (1 - BESIDE) * np.sqrt(saved)
    return np.broadcast_to(size * worst_direction(B, S), grams[0].shape[:2])


def none(setting, grams):
    return np.zeros(grams[0].shape[:2])


def simulate(setting, seed, difference):
    """Draw designs and data; return Gram matrices, differences and both sides."""
    rng = np.random.default_rng(seed)
    grams = [wishart(rng, n, C, PAIRS) for n, C in zip(setting.n, setting.covariances())]
    delta = difference(setting, grams)
    moments = draw(rng, setting, grams, delta)
    return grams, delta, [Side.dataset(m, w) for m, w in zip(moments, setting.weights)]


def check(name, setting, wrong):
    rate, error = float(np.mean(wrong)), np.sqrt(DELTA * (1 - DELTA) / PAIRS)
    print(f"{name}: {setting}: {rate:.4f} (at most {DELTA} + 2 x {error:.4f})")
    assert rate <= DELTA + 2 * error


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_false_joins(setting):
    """The gain given the designs, on the rows at hand, is just below zero."""
    _, _, sides = simulate(setting, 1, losing_slightly)
    check("false joins", setting, decide(*sides, delta=DELTA)[0])


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_false_aparts(setting):
    """The gain expected over new designs is just above zero."""
    _, _, sides = simulate(setting, 2, gaining_slightly)
    check("false aparts", setting, decide(*sides, delta=DELTA)[1])


@pytest.mark.parametrize("setting", ALIKE, ids=str)
def test_false_joins_and_aparts_with_equal_noise(setting):
    """The exact variant, on data whose noise is equal."""
    _, _, sides = simulate(setting, 3, losing_slightly)
    check("false joins, equal noise", setting, decide(*sides, delta=DELTA, equal_noise=True)[0])
    _, _, sides = simulate(setting, 4, gaining_slightly)
    check("false aparts, equal noise", setting, decide(*sides, delta=DELTA, equal_noise=True)[1])


@pytest.mark.parametrize("size", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("setting, equal_noise", COVERED, ids=str)
def test_interval_covers_the_gain(setting, equal_noise, size):
    """The lower limit is for the gain given the designs, the upper one for new designs."""
    grams, delta, sides = simulate(setting, 5, lambda s, g: size * losing_slightly(s, g))
    B, saved = gain_given_designs(setting, grams)
    gain = saved - np.einsum("ki,kij,kj->k", delta, B, delta)
    tests = PairTests.of(*sides, DELTA, equal_noise)
    low, _ = gain_limits(tests, DELTA, *tests.decide())
    check(f"gain below the interval, size {size}", setting, gain < low)

    grams, delta, sides = simulate(setting, 6, lambda s, g: size * gaining_slightly(s, g))
    B, saved = expected_gain(setting, grams)
    gain = saved - delta[0] @ B @ delta[0]
    tests = PairTests.of(*sides, DELTA, equal_noise)
    _, high = gain_limits(tests, DELTA, *tests.decide())
    check(f"gain above the interval, size {size}", setting, gain > high)


@pytest.mark.parametrize("p, least", [(1, 0.1), (3, 0.2), (10, 0.5), (20, 0.6)])
def test_power_at_no_difference(p, least):
    """How often 50 and 50 rows with the same coefficients get the verdict "join"."""
    _, _, sides = simulate(Setting(p, (50, 50)), 7, none)
    join, apart = (np.mean(x) for x in decide(*sides, delta=DELTA))
    exact = np.mean(decide(*sides, delta=DELTA, equal_noise=True)[0])
    print(f"power, n=50/50 p={p}: joins {join:.3f}, aparts {apart:.3f}; equal noise {exact:.3f}")
    assert join >= least
    assert apart <= DELTA


def test_levels_on_rows_with_intercept_and_skewed_features():
    """Rows instead of sufficient statistics: an intercept, exponential features, two noises."""
    rng = np.random.default_rng(8)
    setting, pairs = Setting(4, (15, 40), (1.0, 2.0)), PAIRS
    X = [
        np.concatenate([np.ones((pairs, n, 1)), rng.exponential(size=(pairs, n, 3))], axis=2)
        for n in setting.n
    ]
    grams = [np.swapaxes(x, 1, 2) @ x for x in X]
    delta = losing_slightly(setting, grams)
    sides = []
    for x, sigma, beta in zip(X, setting.sigma, (delta, 0 * delta)):
        y = np.einsum("kij,kj->ki", x, beta) + sigma * rng.standard_normal(x.shape[:2])
        sides.append(Side.dataset(Moments.from_rows(x, y)))
    check("false joins on rows", setting, decide(*sides, delta=DELTA)[0])
