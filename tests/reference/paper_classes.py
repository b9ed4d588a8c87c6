"""The classification appendix of the paper, written out one row and one class at a time.

A slow twin for testing, with the propositions that `conjoin.paper.classification` does not need to
decide. Symbols as there and in `conjoin.paper.surrogate`.
"""

from math import exp, log, pi, sqrt

import numpy as np

from conjoin.paper.classification import Setting, norm3, omega
from conjoin.paper.surrogate import loss_and_subgradient, surrogate_loss

ROOT = sqrt(3 / pi)


def surrogate_subgradient(b, beta, X, lam):
    """Return a subgradient (C, p) of the empirical surrogate loss in b."""
    return loss_and_subgradient(b, beta, X, float(np.mean(np.linalg.norm(X, axis=1))), lam)[1]


def random_classes(rng, n=20, p=3, C=4):
    """Draw rows (n, p), classes (n,), and two sets of parameters (C, p)."""
    X, y = rng.standard_normal((n, p)), rng.integers(C, size=n)
    return X, y, rng.standard_normal((C, p)), rng.standard_normal((C, p))


def cross_entropy_of_row(b, x, label, lam):
    """Return l_lam of one row."""
    weights = [exp(sum(bj * xj for bj, xj in zip(row, x))) for row in b]
    ridge = sum(bj**2 for row in b for bj in row)
    return -log(weights[label] / sum(weights)) + lam / 2 * ridge


def surrogate_of_row(b, beta, x, lam, gamma, sign):
    """Return l_lg of one row."""

    def g(t):
        return 1.0 if t < 0 else (1 - t / gamma if t <= gamma else 0.0)

    norm = sqrt(sum(xj**2 for xj in x))
    total, weights = 0.0, 0.0
    for row, true in zip(b, beta):
        t = sum(tj * xj for tj, xj in zip(true, x))
        total += sqrt(sum((tj - bj) ** 2 for tj, bj in zip(true, row))) * norm
        total -= t * g(t if sign == "literal" else -t)
        total += lam / 2 * sum(bj**2 for bj in row)
        weights += exp(sum(bj * xj for bj, xj in zip(row, x)))
    return total + log(weights)


def subgradient_path(samples, lam, gamma, eta, sign):
    """Return the parameters of the best step and the losses of all steps."""
    b = np.zeros_like(samples[0][1])
    path = []
    for step in eta:
        path.append(b)
        b = b - step * sum(surrogate_subgradient(b, beta, X, lam) for X, beta in samples)
    losses = [
        sum(surrogate_loss(b, beta, X, lam, gamma, sign) for X, beta in samples) for b in path
    ]
    return path[int(np.argmin(losses))], losses


def stationarity_gap(b, beta, X, lam):
    """Return the largest distance over classes from 0 to the surrogate's subdifferential at b.

    It is 0 exactly at the minimiser. Where b_c = beta_c the subdifferential is a ball of radius
    mean |x|, elsewhere a point.
    """
    gradient = surrogate_subgradient(b, beta, X, lam)
    length = np.linalg.norm(gradient, axis=1)
    radius = np.where(np.all(b == beta, axis=1), np.mean(np.linalg.norm(X, axis=1)), 0.0)
    return float(np.max(np.maximum(length - radius, 0.0)))


def R_n(n: int, beta, setting: Setting) -> float:
    """Bound the Rademacher complexity of one dataset (Proposition 3).

    The last term has the factor C of the proof; the proposition as printed lacks it.
    """
    C, B, radius = setting.C, setting.B, setting.radius
    signs = ROOT / 2 * (B * (radius * C + norm3(beta)) + C * np.log(C))
    return float((signs + B * C * radius) / np.sqrt(n))


def R_n1_n2(n1: int, n2: int, beta1, beta2, setting: Setting) -> float:
    """Bound the Rademacher complexity of two datasets under one model (Proposition 6)."""
    C, B, radius = setting.C, setting.B, setting.radius
    both = norm3(beta1 - beta2) + norm3(beta1 + beta2)
    shared = ROOT / 8 * B * both + (1 + ROOT / 2) * radius * B * C + ROOT / 2 * C * np.log(C)
    own = norm3(beta1) / np.sqrt(n1) + norm3(beta2) / np.sqrt(n2)
    return float(shared * (1 / np.sqrt(n1) + 1 / np.sqrt(n2)) + ROOT / 4 * B * own)


def theorem3(n1: int, n2: int, beta1, beta2, setting: Setting) -> tuple[float, float]:
    """Return both sides of the last theorem, "an equivalent condition": join if left <= right.

    It is equivalent to `Psi <= Phi1 + Phi2` for the corrected reading only.
    """
    weights = np.sqrt([1 / n1, 1 / n2])
    norms = np.array([norm3(beta1), norm3(beta2)])
    errors = weights * np.array([omega(beta1, setting), omega(beta2, setting)])
    level = np.sqrt(2 * setting.log_delta)
    both = (norm3(beta1 - beta2) + norm3(beta1 + beta2)) / 2
    left = level * np.linalg.norm(errors) + ROOT * setting.B * np.sum(weights) * both
    right = level * np.sum(errors) + ROOT * setting.B * np.sum(weights * norms)
    steps = 4 * np.log(setting.C) / (setting.lam * np.sum(setting.eta))
    return float(left), float(right + steps)
