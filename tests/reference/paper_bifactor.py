"""BiFactor as published, from rows, with its two covariance matrices written out.

Slow and plain: every dataset has its own rows, both matrices are arguments of the cost, and the
minimum is searched for by a general method from many starts.
"""

import numpy as np
from scipy.optimize import minimize

# Added to squared singular values, so that their roots can be differentiated at zero.
SMOOTHING = 1e-12


def cost(datasets, F, T, levels, ridge, Sigma, Omega, level_rows):
    """The objective as the publication has it; `datasets` are pairs (X, y)."""
    total = 0.0
    for (X, y), t, level in zip(datasets, T, levels):
        total += np.sum((y - level - X @ F @ t) ** 2) + level_rows * level**2
    inverse_1, inverse_2 = np.linalg.pinv(Sigma), np.linalg.pinv(Omega)
    return total + ridge * (np.trace(F.T @ inverse_1 @ F) + np.trace(T.T @ inverse_2 @ T))


def best_covariance(A, trace):
    """Minimise tr(A' S^-1 A) over positive S with a given trace, by a general method."""
    m = len(A)
    lower = np.tril_indices(m)

    def matrix(free):
        root = np.zeros((m, m))
        root[lower] = free
        S = root @ root.T + 1e-10 * np.eye(m)
        return trace * S / np.trace(S)

    def value(free):
        return np.trace(A.T @ np.linalg.solve(matrix(free), A))

    found = minimize(value, np.eye(m)[lower], method="BFGS", options={"gtol": 1e-9})
    return matrix(found.x)


def lowest(datasets, rank, ridge, level_rows, starts, seed):
    """Search for the lowest cost over F, T and levels, both covariances at their best.

    The best Sigma costs |F|_*^2 / rank, see `best_covariance`; so does Omega with T.
    """
    p, K = datasets[0][0].shape[1], len(datasets)
    rng = np.random.default_rng(seed)

    def value(free):
        F = free[: p * rank].reshape(p, rank)
        T = free[p * rank : p * rank + K * rank].reshape(K, rank)
        levels = free[p * rank + K * rank :]
        total, gF, gT, gc = 0.0, np.zeros_like(F), np.zeros_like(T), np.zeros(K)
        for k, (X, y) in enumerate(datasets):
            left = y - levels[k] - X @ F @ T[k]
            total += left @ left + level_rows * levels[k] ** 2
            gF -= 2 * np.outer(X.T @ left, T[k])
            gT[k] -= 2 * F.T @ X.T @ left
            gc[k] += -2 * left.sum() + 2 * level_rows * levels[k]
        for A, g in ((F, gF), (T, gT)):
            U, s, Vt = np.linalg.svd(A, full_matrices=False)
            smooth = np.sqrt(s**2 + SMOOTHING)
            total += ridge * smooth.sum() ** 2 / rank
            g += 2 * ridge * smooth.sum() / rank * (U * (s / smooth)) @ Vt
        return total, np.concatenate([gF.ravel(), gT.ravel(), gc])

    size = p * rank + K * rank + K
    return min(
        minimize(value, rng.standard_normal(size), jac=True, options={"maxiter": 5000}).fun
        for _ in range(starts)
    )
