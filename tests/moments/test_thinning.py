import numpy as np

from conjoin.moments.thinning import thin


def test_parts_add_up_and_estimate_the_error_without_bias():
    rng = np.random.default_rng(0)
    n, noise, differences = 60, 2.0, []
    X = np.column_stack([np.ones(n), rng.standard_normal((n, 3))])
    truth = X @ np.array([1.0, 2.0, 0.0, -1.0])
    for seed in range(300):
        y = truth + noise * rng.standard_normal(n)
        Z = np.column_stack([X, y])
        P = Z.T @ Z
        parts, rows = thin(P, float(n), 5, seed, "a")
        assert np.allclose(parts.sum(axis=0), P)
        assert rows.sum() == n
        assert np.linalg.eigvalsh(parts).min() > -1e-8
        error = 0.0
        for part in parts:
            rest = P - part
            beta = np.linalg.solve(rest[:-1, :-1], rest[:-1, -1])
            error += part[-1, -1] - 2 * beta @ part[:-1, -1] + beta @ part[:-1, :-1] @ beta
        # A fit to four of five parts has 5 / 4 of the variance of a fit to all rows.
        differences.append(error / n - noise**2 * (1 + 5 / 4 * 4 / n))
    assert abs(np.mean(differences)) < 4 * np.std(differences) / np.sqrt(300)


def test_few_rows_have_no_more_noise_than_residuals():
    rng = np.random.default_rng(1)
    Z = np.column_stack([np.ones(9), rng.standard_normal((9, 4))])
    parts, _ = thin(Z.T @ Z, 9.0, 10, 0, "few")
    assert len(parts) == 2
    assert np.allclose(parts.sum(axis=0), Z.T @ Z)
    assert np.linalg.eigvalsh(parts).min() > -1e-8
