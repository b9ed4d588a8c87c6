import numpy as np
import pytest

from conjoin.paper import Gaussian, assumption2, bootstrapped_error, error_of_fit, moore_penrose

N, P = 20, 5


def limits(joint, repetitions=4000):
    """Limits of OSE_M over training sets of fixed size, with equal coefficients."""
    rng = np.random.default_rng(0)
    beta, rows = np.ones(P), 2 * N if joint else N
    X = rng.standard_normal((repetitions, rows, P))
    y = X @ beta + rng.standard_normal((repetitions, rows))
    return error_of_fit(moore_penrose(X, y), beta, np.eye(P), 1.0)


def pair(n, mean=0.0):
    features = Gaussian(np.full(P, mean), np.eye(P))
    return assumption2((features, features), (np.ones(P), np.ones(P)), (n, n), 1.0)[0]


@pytest.mark.parametrize("joint", [False, True])
def test_theorems_2_and_3_fail_with_a_fixed_number_of_training_rows(joint):
    """OSE_M tends to the error of the fit at hand, which differs from OSE however many rows."""
    found = pair(N)
    ose = found.ose_joint if joint else found.ose
    low, high = np.quantile(limits(joint), [0.05, 0.95])
    if not joint:  # sigma^2 (1 + p/(n - p - 1)) = 1 + 5/14
        assert ose == pytest.approx(1 + P / (N - P - 1), rel=0.02)
        assert (low, high) == pytest.approx((1.08, 1.86), abs=0.06)
    assert high - low > 0.2
    assert limits(joint).mean() == pytest.approx(ose, rel=0.02)


def test_ose_m_tends_to_the_error_of_the_fit_as_out_of_samples_grow():
    rng = np.random.default_rng(3)
    beta = np.ones(P)
    X = rng.standard_normal((N, P))
    b = moore_penrose(X, X @ beta + rng.standard_normal(N))
    out = rng.standard_normal((100_000, P))
    y = out @ beta + rng.standard_normal(len(out))
    estimate = bootstrapped_error(b, out, y, M=5)
    exact = float(error_of_fit(b, beta, np.eye(P), 1.0))
    assert estimate == pytest.approx(exact, rel=0.02)
    assert abs(exact - pair(N).ose) > 0.1


def test_with_growing_training_rows_both_sides_tend_to_the_noise_variance():
    assert pair(500).ose == pytest.approx(1.0, abs=0.02)
    assert pair(500).ose_joint < pair(500).ose


def test_assumption_2_needs_a_mean_different_from_zero():
    assert not pair(50).holds  # the features of the paper's Tables 2 and 3
    assert pair(50, mean=0.01).holds
