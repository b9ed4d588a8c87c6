import numpy as np
import pytest

from conjoin.moments.resample import stream
from conjoin.paper import Gaussian, assumption2, bootstrapped_error, error_of_fit
from tests.reference.paper_consistency import expected_errors, ose_m


def test_ose_m_is_that_of_the_plain_loop():
    rng = np.random.default_rng(0)
    X, y, b = rng.standard_normal((9, 2)), rng.standard_normal(9), np.array([0.3, -0.2])
    draws = stream(4, "OSE_M").integers(9, size=(5, 7))
    ours = bootstrapped_error(b, X, y, M=5, n=7, seed=4)
    assert ours == pytest.approx(ose_m(b, X, y, draws), rel=1e-12)


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_both_errors_are_means_over_training_sets(shift):
    rng = np.random.default_rng(1)
    p, sizes, sigma = 3, (15, 25), 0.8
    features = [(np.zeros(p), np.eye(p)), (np.full(p, shift), np.diag([1.0, 2.0, 0.5]))]
    betas = rng.standard_normal((2, p))
    own, joint = expected_errors(features, betas, sizes, sigma, 1500, rng)
    known = tuple(Gaussian(*one) for one in features)
    both = assumption2(known, tuple(betas), sizes, sigma**2, draws=4000)
    for k, found in enumerate(both):
        for errors, exact in ((own, found.ose), (joint, found.ose_joint)):
            spread = errors[:, k].std() / np.sqrt(len(errors))
            assert errors[:, k].mean() == pytest.approx(exact, abs=4 * spread + 0.01 * exact)
    assert [found.holds for found in both] == [False, shift > 0]


def test_the_error_of_a_fit_is_that_of_many_new_rows():
    rng = np.random.default_rng(2)
    W = np.diag([1.0, 4.0])
    b, beta = np.array([1.0, 0.0]), np.array([0.5, 0.2])
    X = rng.standard_normal((200_000, 2)) @ np.sqrt(W)
    y = X @ beta + rng.standard_normal(len(X))
    assert np.mean((y - X @ b) ** 2) == pytest.approx(error_of_fit(b, beta, W, 1.0), rel=0.01)
