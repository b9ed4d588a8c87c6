"""How often the verdict is wrong, as a probability for its named target, and how often it helps.

Pairs are drawn through their sufficient statistics: for Gaussian rows G is Wishart, the fitted
coefficients are normal around the true ones with covariance sigma^2 G^-1, and the residual sum of
squares is an independent sigma^2 chi-square. The true difference has the size at which joining
gains (almost) nothing, all of it in the direction in which the statistic varies most.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from conjoin.criterion.verdict import Side, _interval, _tests, decide
from conjoin.moments import Moments

pytestmark = pytest.mark.slow

PAIRS = 2000
DELTA = 0.1


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
    return np.einsum("...ij,...jk,...kl->...il", a, M, np.swapaxes(a, -1, -2))


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
    top = np.linalg.eigh(inside(K, S))[1][..., -1]
    return np.linalg.solve(K, top[..., None])[..., 0]


def at_zero_gain_given_designs(setting, grams):
    """Differences (size, p) of no gain on the rows at hand; zero where joining always loses."""
    errors = [G / n for G, n in zip(grams, setting.n)]
    B, joint = bias_and_variances(setting, grams, errors)
    own = sum(
        w * s**2 * setting.p / n for w, s, n in zip(setting.weights, setting.sigma, setting.n)
    )
    size = np.sqrt(np.maximum(own - joint, 0.0))
    return size[:, None] * worst_direction(B, spread(setting, grams))


def at_zero_expected_gain(setting, grams):
    """The difference (p,) of no gain over new designs; None where joining always loses."""
    B, joint = bias_and_variances(setting, grams, setting.covariances())
    own = sum(
        w * s**2 * setting.p / (n - setting.p - 1)
        for w, s, n in zip(setting.weights, setting.sigma, setting.n)
    )
    saved = own - joint.mean()
    if saved <= 0:
        return None
    return np.sqrt(saved) * worst_direction(B.mean(axis=0), np.median(spread(setting, grams), axis=0))


def rates(setting, equal_noise, seed, difference, pairs=PAIRS):
    """Shares of joins and aparts at the difference that a function of the designs gives."""
    rng = np.random.default_rng(seed)
    grams = [wishart(rng, n, C, pairs) for n, C in zip(setting.n, setting.covariances())]
    delta = difference(setting, grams)
    if delta is None:
        return None
    delta = np.broadcast_to(delta, (pairs, setting.p))
    moments = draw(rng, setting, grams, delta)
    sides = [Side.dataset(m, w) for m, w in zip(moments, setting.weights)]
    return [float(np.mean(x)) for x in decide(*sides, delta=DELTA, equal_noise=equal_noise)]
