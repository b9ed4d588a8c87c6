import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin import Bound, Gaussian
from conjoin.errors import ArgumentError
from conjoin.moments import Moments
from conjoin.paper.bound import Fits, Inequality, inequality, pair_statistics
from conjoin.paper.design import DesignConstants, Designs, design_constants
from conjoin.paper.tables.synthetic import Block, draw_pairs, known_constants
from tests.helpers import random_rows, raw_unit
from tests.reference import paper_rows

NAMES = ("A1", "A2", "phi", "c1", "c2", "c3", "c4", "c5", "c0", "psi")


def constants_for(rng, p):
    K = rng.standard_normal((p + 2, p))
    return DesignConstants.of(float(rng.uniform(0.1, 2)), K.T @ K / (p + 2))


def fast(X1, y1, X2, y2, constants, alpha, delta):
    fits = [Fits.of(Moments.from_rows(X, y)) for X, y in ((X1, y1), (X2, y2))]
    stats, beta_c = pair_statistics(*fits, constants)
    return stats, inequality(stats, alpha, delta), beta_c


def check_against_twin(X1, y1, X2, y2, constants, alpha, delta, rtol):
    stats, sides, beta_c = fast(X1, y1, X2, y2, constants, alpha, delta)
    plain = paper_rows.phi_psi(X1, y1, X2, y2, constants.A0, constants.B0, alpha, delta)
    assert stats.n0 == plain["n0"]
    assert_allclose(stats.n0_s2c / stats.n0, plain["s2c"], rtol=rtol)
    for field, name in (
        ("Dd2", "Dd2"),
        ("g", "g"),
        ("trace", "trace_Sigma"),
        ("trace2", "trace_Sigma2"),
        ("norm", "norm_Sigma"),
    ):
        assert_allclose(getattr(stats, field), plain[name], rtol=rtol, err_msg=name)
    for name in NAMES:
        assert_allclose(getattr(sides, name), plain[name], rtol=rtol, atol=1e-14, err_msg=name)
    joint = paper_rows.fit(np.vstack([X1, X2]), np.concatenate([y1, y2]))
    assert_allclose(beta_c, joint, rtol=max(rtol, 1e-8), atol=1e-9)


@pytest.mark.parametrize("p", [1, 3, 10, 30])
@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_the_slow_twin_on_rows(p, seed):
    rng = np.random.default_rng([p, seed])
    n1, n2 = int(rng.integers(p + 2, 3 * p + 20)), int(rng.integers(p + 2, 3 * p + 20))
    beta = rng.standard_normal(p)
    X1, y1 = random_rows(rng, n1, p, beta)
    X2, y2 = random_rows(rng, n2, p, beta + rng.uniform(0, 0.5))
    alpha = float(rng.uniform(2, 10))
    check_against_twin(X1, y1, X2, y2, constants_for(rng, p), alpha, 0.1, rtol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_nearly_collinear_columns(seed):
    """Correlation 1 - 5e-9: both sides carry the condition number, 1e-3 is what remains."""
    rng = np.random.default_rng(seed)
    X1, y1 = random_rows(rng, 40, 4)
    X2, y2 = random_rows(rng, 40, 4)
    for X in (X1, X2):
        X[:, 3] = X[:, 0] + 1e-4 * X[:, 3]
    check_against_twin(X1, y1, X2, y2, constants_for(rng, 4), 3.0, 0.1, rtol=1e-3)


def test_badly_scaled_columns():
    """Columns of sizes 1e-3 to 1e3: ours scales them; 1e-6 is the twin's plain inverse."""
    rng = np.random.default_rng(0)
    scale = np.array([1e-3, 1.0, 1e3])
    X1, y1 = random_rows(rng, 40, 3)
    X2, y2 = random_rows(rng, 30, 3)
    constants = constants_for(rng, 3)
    scaled = DesignConstants.of(constants.A0, constants.B0 * scale * scale[:, None])
    check_against_twin(X1 * scale, y1, X2 * scale, y2, scaled, 3.0, 0.1, rtol=1e-6)


def test_design_constants_agree_with_the_twin():
    rng = np.random.default_rng(0)
    designs = [(rng.standard_normal((12, 3)), rng.standard_normal((9, 3))) for _ in range(20)]
    W1, W2 = (X.T @ X for X in designs[0])
    stacks = [np.stack([pair[k].T @ pair[k] for pair in designs]) for k in (0, 1)]
    found = design_constants(Designs.from_grams(W1, stacks[0]), Designs.from_grams(W2, stacks[1]))
    A0, B0 = paper_rows.design_constants(W1, W2, designs)
    assert_allclose(found.A0, A0, rtol=1e-10)
    assert_allclose(found.B0, B0, rtol=1e-9)
    assert_allclose(found.root.T @ found.root, B0, rtol=1e-9)


@pytest.mark.parametrize(("n1", "n2", "p"), [(50, 50, 10), (30, 80, 5)])
def test_design_constants_of_common_gaussian_designs(n1, n2, p):
    """METHOD section 1: closed forms for mean 0 and a common covariance."""
    rng = np.random.default_rng(0)
    K = rng.standard_normal((p, p)) / np.sqrt(p) + np.eye(p)
    Omega, N = K.T @ K, n1 + n2
    designs = []
    for n in (n1, n2):
        X = rng.standard_normal((4000, n, p)) @ K
        designs.append(Designs.from_grams(Omega, np.swapaxes(X, -1, -2) @ X))
    found = design_constants(*designs)
    A0 = p / (n1 - p - 1) + p / (n2 - p - 1) - 2 * p / (N - p - 1)
    c = (n1 * (n1 + 2) + n2 * (n2 + 2)) / (N * (N + 2))
    c += 2 * n1 * n2 * (N + 1) * (p - 1) / (N * (N + 2) * (N - 1) * (N - p - 1))
    assert_allclose(found.A0, A0, rtol=0.02)
    assert_allclose(np.trace(np.linalg.solve(Omega, found.B0)) / p, c, rtol=0.01)


@pytest.mark.parametrize(("n", "p"), [(50, 10), (50, 20), (100, 10), (100, 40)])
def test_c3_is_negative_on_the_whole_grid_at_the_papers_sizes(n, p):
    rng = np.random.default_rng(0)
    X1, y1 = random_rows(rng, n, p)
    X2, y2 = random_rows(rng, n, p)
    alphas = 2 + 0.01 * np.arange(801)
    stats, sides, _ = fast(X1, y1, X2, y2, constants_for(rng, p), alphas, 0.1)
    assert (sides.c3 < 0).all()
    known = ~np.isnan(sides.c0)
    assert (sides.c0[known] < 0).all()  # so it is subtracted where a margin should be added


@pytest.mark.parametrize("p", [3, 10, 20])
def test_a_dataset_and_its_exact_copy_are_refused_at_every_alpha(p):
    rng = np.random.default_rng(p)
    X, y = random_rows(rng, 50, p)
    designs = Designs.from_grams(
        np.eye(p), np.stack([Z.T @ Z for Z in rng.standard_normal((500, 50, p))])
    )
    constants = design_constants(designs, designs)
    alphas = 2 + 0.01 * np.arange(801)
    _, sides, _ = fast(X, y, X, y, constants, alphas, 0.1)
    assert not sides.join.any()
    known = {"a": Gaussian(np.zeros(p), np.eye(p)), "b": Gaussian(np.zeros(p), np.eye(p))}
    criterion = Bound(known=known)
    one, two = (criterion.prepare(raw_unit(name, X, y), 0) for name in "ab")
    assert not criterion.compare(one, two).join


def test_negative_discriminant_reads_do_not_join():
    rng = np.random.default_rng(0)
    p, n = 3, 400
    constants, alphas = constants_for(rng, p), np.linspace(0.5, 3, 50)
    seen = False
    for _ in range(20):
        beta = rng.standard_normal(p)
        X1, y1 = random_rows(rng, n, p, beta)
        X2, y2 = random_rows(rng, n, p, beta + rng.uniform(0, 1))
        _, sides, _ = fast(X1, y1, X2, y2, constants, alphas, 0.1)
        seen |= bool(np.isnan(sides.psi).any())
        assert not sides.join[np.isnan(sides.psi)].any()
    assert seen


@pytest.mark.parametrize("options", [{"delta": 0.0}, {"delta": 1.5}, {"share": 1.0}])
def test_bad_arguments(options):
    with pytest.raises(ArgumentError, match=next(iter(options))):
        Bound(**options)


# --- steps of the proof that do not hold (docs/paper-notes.md) ---


def test_the_anticoncentration_lemma_bounds_nothing():
    """sqrt(2e/d)(m+t) + 2 exp(-(m-t)^2/(2d)) - 1 is at least one wherever it may be used, t < m."""
    d = np.arange(1, 200)[:, None, None]
    m = np.geomspace(1e-3, 200, 80)[:, None]
    t = m * np.linspace(0, 0.999, 60)
    bound = np.sqrt(2 * np.e / d) * (m + t) + 2 * np.exp(-((m - t) ** 2) / (2 * d)) - 1
    assert bound.min() >= 1 - 1e-12


def test_c3_changes_sign_near_alpha_of_1_04_n0():
    rng = np.random.default_rng(0)
    X1, y1 = random_rows(rng, 50, 10)
    X2, y2 = random_rows(rng, 50, 10)
    ratios = np.linspace(0.5, 2, 1501)
    stats, sides, _ = fast(X1, y1, X2, y2, constants_for(rng, 10), 90 * ratios, 0.1)
    assert stats.n0 == 90
    assert ratios[np.argmax(sides.c3 > 0)] == pytest.approx(1.0385, abs=0.002)


@pytest.mark.parametrize("d", [0.0, 0.1, 0.3])
def test_the_lower_bound_inside_the_square_is_negative(d):
    """The step needs |D d| >= sigma sqrt(tau); with p = 10, n = 50 it never was in 500 draws."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2, 500, 50, 10))
    beta = rng.standard_normal((500, 10, 1))
    fits = [
        Fits.of(
            Moments.from_rows(
                X[k], (X[k] @ (beta + k * d))[..., 0] + rng.standard_normal((500, 50))
            )
        )
        for k in (0, 1)
    ]
    stats, _ = pair_statistics(*fits, DesignConstants.of(1.0, np.eye(10)))
    a = np.log(10)
    tau = stats.n0 + 2 * np.sqrt(stats.n0 * a) + 2 * a
    assert (np.sqrt(stats.Dd2) < np.sqrt(tau)).all()


def test_the_joint_residual_variance_is_biased_by_a_difference():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2, 30, 4))
    delta = np.full(4, 0.5)
    G1, G2 = (x.T @ x for x in X)
    expected = 1 + delta @ np.linalg.inv(np.linalg.inv(G1) + np.linalg.inv(G2)) @ delta / 56
    noise = rng.standard_normal((2, 4000, 30))
    fits = [
        Fits.of(
            Moments.from_rows(np.broadcast_to(X[k], (4000, 30, 4)), X[k] @ (k * delta) + noise[k])
        )
        for k in (0, 1)
    ]
    stats, _ = pair_statistics(*fits, DesignConstants.of(1.0, np.eye(4)))
    s2c = stats.n0_s2c / stats.n0
    assert expected > 1.05
    assert s2c.mean() == pytest.approx(expected, abs=4 * s2c.std() / np.sqrt(4000))


def test_the_one_line_proof_that_the_lemma_is_at_least_one():
    """sqrt(2e) u + 2 exp(-u^2/2) - 1 is 1 at u = 0 and increases; the bound is never below it."""
    u = np.linspace(0, 20, 4001)
    line = np.sqrt(2 * np.e) * u + 2 * np.exp(-(u**2) / 2) - 1
    assert line[0] == 1 and np.all(np.diff(line) > 0)
    slope = np.sqrt(2 * np.e) - 2 * u * np.exp(-(u**2) / 2)
    assert slope.min() >= np.sqrt(2 * np.e) - 2 / np.sqrt(np.e) - 1e-6 > 0
    rng = np.random.default_rng(0)
    d, m, t = rng.uniform(1, 50, 1000), rng.uniform(0, 9, 1000), rng.uniform(0, 9, 1000)
    own = np.abs(m - t) / np.sqrt(d)
    bound = np.sqrt(2 * np.e / d) * (m + t) + 2 * np.exp(-((m - t) ** 2) / (2 * d)) - 1
    assert np.all(bound >= np.sqrt(2 * np.e) * own + 2 * np.exp(-(own**2) / 2) - 1 - 1e-12)


def test_proposition_1_does_not_follow_from_lemma_1():
    """With equal coefficients and delta = 0.01 it claims 95 %; the decision is right in 8 %."""
    rng, block = np.random.default_rng(0), Block(shift=0, p=10)
    constants = known_constants(block, rng)
    beta = rng.standard_normal((2000, 10))
    stats, gain, _ = draw_pairs(block, beta, beta, constants, rng)
    join = inequality(stats, np.log(1 / 0.01), 0.01).join
    right = np.mean(join == (gain > 0))
    assert right == pytest.approx(0.08, abs=0.03)


def test_units_are_joined_only_where_phi_is_above_psi():
    equal = Inequality(*(np.zeros(1) for _ in NAMES))
    assert not equal.join.any()  # Algorithm 1 has >, Lemma 1 has >=
