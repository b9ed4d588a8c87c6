"""The row twin of the paper's regression method agrees with itself and with simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from . import paper_rows as rows


def _pair(seed=0, n1=23, n2=31, p=4, shift=0.4):
    """Draw two datasets whose coefficients differ by a constant."""
    rng = np.random.default_rng(seed)
    X1 = rng.normal(size=(n1, p))
    X2 = rng.normal(size=(n2, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p))) + 0.5
    beta = rng.normal(size=p)
    y1 = X1 @ beta + rng.normal(size=n1)
    y2 = X2 @ (beta + shift) + rng.normal(size=n2)
    return X1, y1, X2, y2


def _constants(X1, X2):
    """Take A0 and B0 from one pair of designs and their own second moments."""
    W1, W2 = X1.T @ X1 / X1.shape[0], X2.T @ X2 / X2.shape[0]
    return rows.design_constants(W1, W2, [(X1, X2)])


@pytest.mark.parametrize("seed", range(3))
def test_noise_from_residuals_equals_noise_by_projection(seed):
    """Two ways to write the noise estimate give one number."""
    data = _pair(seed)
    assert rows.noise(*data) == pytest.approx(rows.noise_by_projection(*data), rel=1e-10)


def test_projection_is_symmetric_idempotent_of_trace_n0():
    """I - H + M is the projection the proofs take it for."""
    X1, _, X2, _ = _pair()
    Q = rows.joint_residual_projection(X1, X2)
    np.testing.assert_allclose(Q, Q.T, atol=1e-12)
    np.testing.assert_allclose(Q @ Q, Q, atol=1e-12)
    assert np.trace(Q) == pytest.approx(23 + 31 - 4)


@pytest.mark.parametrize("seed", range(3))
def test_joint_residuals_split_into_separate_ones_and_the_difference(seed):
    """The sum n0 s2c is rss1 + rss2 + |Dd|^2, and D'D is G1 Gc^-1 G2."""
    X1, y1, X2, y2 = _pair(seed)
    A0, B0 = _constants(X1, X2)
    sides = rows.phi_psi(X1, y1, X2, y2, A0, B0, 3.0, 0.1)
    r1, r2 = y1 - X1 @ rows.fit(X1, y1), y2 - X2 @ rows.fit(X2, y2)
    assert sides["n0"] * sides["s2c"] == pytest.approx(r1 @ r1 + r2 @ r2 + sides["Dd2"])
    G1, G2 = X1.T @ X1, X2.T @ X2
    d = rows.fit(X1, y1) - rows.fit(X2, y2)
    assert sides["Dd2"] == pytest.approx(d @ G1 @ np.linalg.inv(G1 + G2) @ G2 @ d)


def test_sigma_has_the_spectrum_of_b0_s():
    """The large matrix Sigma and the small one B0 S share traces and largest eigenvalue."""
    X1, y1, X2, y2 = _pair(1)
    A0, B0 = _constants(*_pair(2)[::2])
    sides = rows.phi_psi(X1, y1, X2, y2, A0, B0, 3.0, 0.1)
    S = np.linalg.inv(X1.T @ X1) + np.linalg.inv(X2.T @ X2)
    assert sides["trace_Sigma"] == pytest.approx(np.trace(B0 @ S))
    assert sides["trace_Sigma2"] == pytest.approx(np.trace(B0 @ S @ B0 @ S))
    assert sides["norm_Sigma"] == pytest.approx(np.linalg.eigvals(B0 @ S).real.max())


def test_given_the_designs_a0_is_the_trace_of_b0_s():
    """With the designs' own second moments, A0 = tr(B0 S)."""
    X1, _, X2, _ = _pair(3)
    A0, B0 = _constants(X1, X2)
    S = np.linalg.inv(X1.T @ X1) + np.linalg.inv(X2.T @ X2)
    assert pytest.approx(np.trace(B0 @ S)) == A0


def test_criterion_on_two_means_matches_hand_calculation():
    """With one constant column every term is a short formula."""
    y1, y2 = np.arange(8.0), np.arange(8.0) + 1.5
    X = np.ones((8, 1))
    A0, B0 = _constants(X, X)
    assert pytest.approx(1 / 8 + 1 / 8 - 2 / 16) == A0
    assert B0 == pytest.approx(np.array([[0.5]]))
    sides = rows.phi_psi(X, y1, X, y2, A0, B0, 4.0, 0.1)
    rss, Dd2 = 2 * 42.0, 4 * 1.5**2
    assert sides["n0"] == 15
    assert sides["s2c"] == pytest.approx((rss + Dd2) / 15)
    assert sides["Dd2"] == pytest.approx(Dd2)
    assert sides["g"] == pytest.approx(1.5**2 / 2)
    L = 15 + 2 * math.sqrt(60) + 8
    step = math.sqrt(4 / 15)
    phi = A0 / L / (3 + 4 * step) * (rss + Dd2 - 2 * (1 + 2 * step) * Dd2)
    assert sides["phi"] == pytest.approx(phi)
    width = (1 + 2 * math.sqrt(4.0) + 2 * 4.0) / 8
    assert sides["psi"] == pytest.approx((1.5 / math.sqrt(2) + sides["c0"] * math.sqrt(width)) ** 2)


@pytest.mark.parametrize("alpha", [2.0, 5.0, 10.0])
@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_c0_turns_the_last_inequality_of_the_proof_into_an_equality(alpha, shift):
    """At sigma = c0 both ends of the chain that c0 was solved from coincide."""
    X1, y1, X2, y2 = _pair(4, shift=shift)
    sides = rows.phi_psi(X1, y1, X2, y2, *_constants(X1, X2), alpha, 0.1)
    n0, sigma, Dd = sides["n0"], sides["c0"], math.sqrt(sides["Dd2"])
    assert not math.isnan(sigma)
    reach = sigma * math.sqrt(n0 + 2 * math.sqrt(n0 * alpha) + 2 * alpha)
    log4 = math.log(4 / 1.1)
    left = math.sqrt(n0 * sides["s2c"]) * (reach + Dd)
    right = (
        -n0 / 8 * 1.1 / math.sqrt(math.e * log4) * sigma**2
        + (math.sqrt(log4) + 0.5 / math.sqrt(log4)) * math.sqrt(2 * n0) * sigma * (Dd - reach)
        + (Dd - reach) ** 2
    )
    assert left == pytest.approx(right, rel=1e-9)


def test_negative_discriminant_gives_nan():
    """Where the quadratic has no real root, c0 and psi are nan and phi is not."""
    y = np.tile([-1.0, 1.0], 50)
    X = np.ones((100, 1))
    found = []
    for gap in np.linspace(0.0, 4.0, 21):
        sides = rows.phi_psi(X, y, X, y + gap, *_constants(X, X), 2.0, 0.1)
        disc = (sides["c1"] - sides["c4"]) ** 2 - 4 * sides["c3"] * (sides["c5"] - sides["c2"])
        assert math.isnan(sides["c0"]) == math.isnan(sides["psi"]) == (disc < 0)
        assert not math.isnan(sides["phi"])
        found.append(disc < 0)
    assert any(found) and not all(found)


def test_exact_copy_is_refused_at_every_alpha_of_the_grid():
    """With no difference at all psi is c0^2 times the width, and still above phi."""
    X, y, _, _ = _pair(5, n1=50, p=10)
    constants = _constants(X, X)
    for alpha in np.arange(2.0, 10.5, 0.5):
        sides = rows.phi_psi(X, y, X, y, *constants, float(alpha), 0.1)
        assert sides["g"] == 0 and sides["c3"] < 0 and sides["c0"] < 0
        assert sides["phi"] < sides["psi"]


def test_moore_penrose_is_least_squares_or_the_shortest_interpolation():
    """(X'X)^+ X'y is the usual fit for n > p and X'(XX')^-1 y for n < p."""
    X, y, _, _ = _pair(6)
    np.testing.assert_allclose(rows.moore_penrose(X, y), rows.fit(X, y), rtol=1e-9)
    wide = np.random.default_rng(6).normal(size=(5, 12))
    expected = wide.T @ np.linalg.inv(wide @ wide.T) @ y[:5]
    np.testing.assert_allclose(rows.moore_penrose(wide, y[:5]), expected, rtol=1e-8)


def test_theorem_1_predicts_the_simulated_gain():
    """The mean reduction of error by joining is A0 sigma^2 - delta'B0 delta."""
    rng = np.random.default_rng(7)
    n1, n2, p, sigma = 12, 20, 3, 0.8
    W1, W2 = np.eye(p), np.diag([2.0, 1.0, 0.5])
    beta1 = np.array([1.0, -0.5, 0.2])
    beta2 = beta1 + np.array([0.2, -0.1, 0.3])
    samples, gains = [], []
    for _ in range(4000):
        X1 = rng.normal(size=(n1, p))
        X2 = rng.normal(size=(n2, p)) @ np.sqrt(W2)
        y1 = X1 @ beta1 + sigma * rng.normal(size=n1)
        y2 = X2 @ beta2 + sigma * rng.normal(size=n2)
        b1, b2 = rows.fit(X1, y1), rows.fit(X2, y2)
        bc = rows.fit(np.vstack([X1, X2]), np.concatenate([y1, y2]))
        apart = rows.population_error(b1, beta1, W1, sigma**2)
        apart += rows.population_error(b2, beta2, W2, sigma**2)
        joint = rows.population_error(bc, beta1, W1, sigma**2)
        joint += rows.population_error(bc, beta2, W2, sigma**2)
        samples.append((X1, X2))
        gains.append(apart - joint)
    A0, B0 = rows.design_constants(W1, W2, samples)
    predicted = A0 * sigma**2 - (beta1 - beta2) @ B0 @ (beta1 - beta2)
    error = np.std(gains) / math.sqrt(len(gains))
    assert abs(np.mean(gains) - predicted) < 4 * error
    assert error < 0.2 * abs(predicted)


def test_design_constants_approach_their_gaussian_values():
    """For standard normal columns A0 and B0 have closed forms."""
    rng = np.random.default_rng(8)
    n1, n2, p = 20, 30, 3
    N = n1 + n2
    samples = [(rng.normal(size=(n1, p)), rng.normal(size=(n2, p))) for _ in range(4000)]
    A0, B0 = rows.design_constants(np.eye(p), np.eye(p), samples)
    expected = p / (n1 - p - 1) + p / (n2 - p - 1) - 2 * p / (N - p - 1)
    assert pytest.approx(expected, rel=0.02) == A0
    c = (n1 * (n1 + 2) + n2 * (n2 + 2)) / (N * (N + 2))
    c += 2 * n1 * n2 * (N + 1) * (p - 1) / (N * (N + 2) * (N - 1) * (N - p - 1))
    np.testing.assert_allclose(B0, c * np.eye(p), atol=0.01)


@pytest.mark.parametrize("n", [6, 25])
def test_moore_penrose_error_formula_matches_simulation(n):
    """The formula gives the mean error on unseen rows below and above n = p."""
    rng = np.random.default_rng(9)
    p, sigma = 12, 0.7
    beta = rng.normal(size=p)
    W = np.diag(np.linspace(0.5, 2.0, p))
    designs, errors = [], []
    for _ in range(3000):
        X = rng.normal(size=(n, p)) @ np.sqrt(W)
        y = X @ beta + sigma * rng.normal(size=n)
        unseen = rng.normal(size=p) @ np.sqrt(W)
        answer = unseen @ beta + sigma * rng.normal()
        designs.append(X)
        errors.append((answer - unseen @ rows.moore_penrose(X, y)) ** 2)
    predicted = rows.mp_population_error(beta, sigma**2, W, designs)
    error = np.std(errors) / math.sqrt(len(errors))
    assert abs(np.mean(errors) - predicted) < 4 * error
    assert error < 0.1 * predicted


def test_moore_penrose_error_is_the_least_squares_one_for_tall_designs():
    """The additional term vanishes where X'X has an inverse."""
    X1, _, X2, _ = _pair(10)
    designs = [X1, X2]
    mean_inverse = (np.linalg.inv(X1.T @ X1) + np.linalg.inv(X2.T @ X2)) / 2
    expected = 0.5 + 0.5 * np.trace(mean_inverse)
    got = rows.mp_population_error(np.ones(4), 0.5, np.eye(4), designs)
    assert got == pytest.approx(expected, rel=1e-9)
