"""Noisy sums of products made usable, and discounted for their noise.

Sums with Gaussian noise of a known standard deviation enter (`sites.privacy`). Two things leave:
sums that rows could have, and the sums that decisions are made from, with less information.

==========  =============================================================  ==========
symbol      meaning                                                        shape
==========  =============================================================  ==========
G, h, q     noisy sums of products of columns (ones first) and target      (p, p) ...
t           standard deviation of the noise of each sum                    number
l           what is added to the slopes' part of G                         number
b           (G + l)^-1 h                                                   (p,)
v           residual variance                                              number
==========  =============================================================  ==========

**Usable.** Noise can make eigenvalues of G negative. As in AdaSSP (Wang 2018), l is as small as
possible so that the centred Gram matrix of the slopes has no eigenvalue below the size of the
noise, 2 t sqrt(p): the spectral norm of a symmetric matrix of such noise.

**Discounted.** With noise E in G and e in h, b errs by (G + l)^-1 (e - E b - l b) beside the error
of least squares. To first order, its covariance is

    v (G + l)^-1 + (G + l)^-1 Omega (G + l)^-1,
    Omega = t^2 [(1 + |b|^2) I + b b' - diag(b^2)] + l^2 |slopes of b|^2 / p on slopes.

Sums with the Gram matrix G* = v (G + l) [v (G + l) + Omega]^-1 (G + l) have exactly this covariance
under least squares, the same b and the same v. So all that follows (verdicts, their intervals,
partial pooling, weights of strategies) knows how little is known. Directions that the noise hides
have hardly any weight left.
"""

import numpy as np

from conjoin._typing import FloatArray


def usable(noisy: FloatArray, t: float) -> tuple[FloatArray, float, float]:
    """Return sums that rows could have (p + 1, p + 1), the number of rows, and l.

    The first column is that of ones, the last one the target.

    >>> P = np.array([[100.0, 0.0, 10.0], [0.0, -3.0, 5.0], [10.0, 5.0, 40.0]])
    >>> sums, rows, added = usable(P, 1.0)
    >>> rows, bool(np.linalg.eigvalsh(sums)[0] > 0), round(added, 3)
    (100.0, True, 5.828)
    """
    P = (noisy + noisy.T) / 2
    p = len(P) - 1
    n = max(float(np.round(P[0, 0])), p + 2.0)
    P[0, 0] = n
    mean = P[0, 1:] / n
    inner = P[1:, 1:] - n * np.outer(mean, mean)  # around the mean: slopes and, last, the target
    S, s = inner[:-1, :-1], inner[:-1, -1]
    least = float(np.linalg.eigvalsh(S)[0]) if p > 1 else np.inf
    added = float(max(2 * t * np.sqrt(p) - least, 0.0))
    S = S + added * np.eye(p - 1)
    slopes = np.linalg.solve(S, s)
    b = np.concatenate([[mean[-1] - mean[:-1] @ slopes], slopes])
    rss = float(inner[-1, -1] - 2 * slopes @ s + slopes @ (S - added * np.eye(p - 1)) @ slopes)
    # Below its own standard deviation the residual sum of squares is noise.
    rss = max(rss, t * (1 + float(b @ b)))
    inner = np.block([[S, s[:, None]], [s[None, :], np.array([[slopes @ S @ slopes + rss]])]])
    P[1:, 1:] = inner + n * np.outer(mean, mean)
    return P, n, added


def discounted(products: FloatArray, n: float, t: float, added: float) -> FloatArray:
    """Return the sums that decisions are made from (p + 1, p + 1).

    `products`, `n` and `added` are those of `usable`.
    """
    G, h, q = products[:-1, :-1], products[:-1, -1], float(products[-1, -1])
    p = len(G)
    b = np.linalg.solve(G, h)
    rss = max(q - float(h @ b), 0.0)
    v = rss / max(n - p, 1.0)
    omega = t**2 * ((1 + float(b @ b)) * np.eye(p) + np.outer(b, b) - np.diag(b**2))
    slopes = np.arange(1, p)
    omega[slopes, slopes] += added**2 * float(b[1:] @ b[1:]) / max(p - 1, 1)
    less = v * G @ np.linalg.solve(v * G + omega, G)
    less = (less + less.T) / 2
    found = np.empty_like(products)
    found[:-1, :-1] = less
    found[:-1, -1] = found[-1, :-1] = less @ b
    found[-1, -1] = float(b @ less @ b) + rss
    return found


def error_noise(products: FloatArray, t: float) -> float:
    """Return the variance that noise adds to the residual variance, over that variance's square.

    `products` and `t` are those of `usable`. With c = (-b, 1), the residual sum of squares is
    c'P c. The entries on and above the diagonal of P have independent noise of variance t^2, so the
    variance is t^2 (sum_i c_i^4 + 4 sum_{i<j} c_i^2 c_j^2).

    >>> error_noise(np.diag([100.0, 30.0, 20.0]), 2.0)  # b = 0: the noise of one square
    0.01
    """
    b = np.linalg.solve(products[:-1, :-1], products[:-1, -1])
    c = np.append(-b, 1.0) ** 2
    rss = float(products[-1, -1] - products[:-1, -1] @ b)
    return float(t**2 * (2 * c.sum() ** 2 - np.sum(c**2)) / rss**2)
