"""Distribution of a ratio of quadratic forms, against exact laws and simulation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from conjoin.criterion.law import ratio_probability


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
        # Given the chi-square with one degree of freedom, the denominator is the other chi-square
        # plus a fixed number. A chi-square with very many degrees of freedom is that number.
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


@pytest.mark.parametrize("size", [2.0**-900, 2.0**900])
def test_sizes_of_both_sides_do_not_matter_however_large(size):
    e, m = np.array([[2.0, 0.5], [1.0, 0.0]]), np.array([1.0, 0.0])
    expected = ratio_probability(e, m, [(1.0, 9.0), (0.3, 4.0)], 3.0)
    found = ratio_probability(size * e, size * m, [(size, 9.0), (0.3 * size, 4.0)], 3.0)
    np.testing.assert_array_equal(found, expected)


def test_ratios_without_measure_are_certain():
    with np.errstate(all="raise", under="ignore"):
        found = ratio_probability(np.ones((4, 2)), 1.0, [(1.0, 5.0)], [1e-320, 1e-80, 1e80, 1e308])
    np.testing.assert_allclose(found, [0, 0, 1, 1], atol=1e-12)
