import numpy as np

from benchmarks.arena.hindsight import least_loss


def test_least_loss_of_a_known_quadratic() -> None:
    best = np.array([0.5, 0.3, 0.2])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        return float(np.sum((weights - best) ** 2)), 2 * (weights - best)

    weights = least_loss(loss, 3)
    np.testing.assert_allclose(weights, best, atol=1e-4)
    np.testing.assert_allclose(weights.sum(), 1.0)
