"""Distribution function of a ratio of quadratic forms, by numerical inversion along a contour.

Coefficients, non-centralities and degrees of freedom enter; probabilities leave.

The probability that a linear combination of independent (noncentral) chi-squares is below zero is
an integral of its moment generating function over a line in the complex plane. The line is bent
into a hyperbola through the saddle point. There the integrand falls fast and does not oscillate, so
a few dozen nodes suffice. Each integral is computed with a step and with twice the step; where the
two differ, other contours are tried.

Accuracy on 3,000 random ratios of 6 terms (eigenvalues over three orders of magnitude, 1 to 2,000
degrees of freedom): 99 % of the probabilities are within 3e-7, the worst within 1e-4. No simulation
is involved.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray, IntArray

# Nodes added between two looks at whether an integral has converged. Fewer mean more passes, more
# mean nodes in vain: 16 was the fastest of 4, 8, 16, 32 and 64.
ROUND = 16
# Modulus of the integrand below which the rest of an integral is dropped. Between 1e-7 and 1e-13
# neither accuracy nor time changed: the last nodes of a round are far below it.
DROP = 1e-11
# Complex numbers in one block of integrals, to stay within the processor's cache. Between 20,000
# and 2,000,000 the time changed by less than a third.
BLOCK = 200_000
# The contour leans to the side of the denominators only below this many degrees of freedom: the
# integrand grows like exp(c |s|) there before it falls. Without the limit the worst error rises
# from 7e-5 to 5e-4; between 30 and 300 it stays.
LEAN_LEFT = 100.0
# Largest lean of the hyperbola, the sine of the angle of its asymptotes with the vertical. At one
# it would be a horizontal line, along which the integrand does not fall. Between 0.6 and 0.95 the
# errors stayed the same.
MOST_LEAN = 0.8
# Width of the hyperbola over that of the saddle, one over the root of the second derivative.
# Between 1.0 and 2.0 the errors stayed of the same size.
WIDTH = 1.3
# Bisections for the saddle point, on the logit of its share of the way to the nearest branch point,
# from exp(-50) of the way to all but exp(-25) of it. The place need not be exact, since any
# crossing gives the same integral; between 4 and 20 bisections the errors stayed of the same size.
NEAREST, FARTHEST, BISECTIONS = -50.0, 25.0, 11
# Parameter along the contour at which an integral is given up: the points grow like its
# exponential.
END = 100.0
# Attempts at an integral: (cross the other side of the pole?, step, straight line?). The next one
# is made where a step and twice the step differ by more than AGREE. Halving the step squares the
# error, so a difference of 1e-4 means an error near 1e-8; where convergence is slower it is the
# worst error. A limit of 1e-8 made the worst error 50 times smaller and took three times as long.
ATTEMPTS = ((False, 0.16, False), (True, 0.16, False), (True, 0.08, False)) + tuple(
    (False, step, True) for step in (0.05, 0.025, 0.0125, 0.006)
)
AGREE = 1e-4  # see ATTEMPTS
# Largest and least ratio of the two sides' sizes: beyond, probabilities differ from 0 or 1 by less
# than 1e-30, and powers of the ratio would overflow.
LARGEST_RATIO = 1e60
LEAST_RATIO = 1 / LARGEST_RATIO

ComplexArray: TypeAlias = NDArray[np.complexfloating[Any, Any]]


class _Form(NamedTuple):
    """A flat stack of forms Y = N - D, N as in T(m), D = sum_j g_j/2 chi2_{nu_j}.

    The logarithm of its moment generating function is
    k(s) = -sum log(1 - 2 e_i s)/2 + m s/(1 - 2 e_1 s) - sum nu_j log(1 + g_j s)/2.
    """

    e: FloatArray
    m: FloatArray
    g: FloatArray
    nu: FloatArray

    def __len__(self) -> int:
        return len(self.m)

    def select(self, index: IntArray | BoolArray) -> "_Form":
        """Return some forms of the stack."""
        return _Form(self.e[index], self.m[index], self.g[index], self.nu[index])

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return k at complex points s (B, nodes)."""
        shift = self.m[:, None] * s / (1 - 2 * self.e[:, :1] * s)
        factors = _log_sum(-2 * self.e, np.ones_like(self.e), s) + _log_sum(self.g, self.nu, s)
        return shift - factors / 2

    def slope(self, s: FloatArray) -> FloatArray:
        """Return the derivative of k(s) - log|s| at real points s (B,)."""
        a = self.e / (1 - 2 * self.e * s[:, None])
        b = self.g * self.nu / 2 / (1 + self.g * s[:, None])
        shift = self.m / (1 - 2 * self.e[:, 0] * s) ** 2
        value: FloatArray = a.sum(axis=-1) + shift - b.sum(axis=-1) - 1 / s
        return value

    def bends(self, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the second and third derivative of k(s) - log|s| at real points s (B,)."""
        a = self.e / (1 - 2 * self.e * s[:, None])
        b = self.g / (1 + self.g * s[:, None])
        e1, m = self.e[:, 0], self.m
        w = 1 / (1 - 2 * e1 * s)
        second = 2 * np.sum(a**2, axis=-1) + 4 * m * e1 * w**3 + 1 / s**2
        third = 8 * np.sum(a**3, axis=-1) + 24 * m * e1**2 * w**4 - 2 / s**3
        return (
            second + np.sum(self.nu * b**2, axis=-1) / 2,
            third - np.sum(self.nu * b**3, axis=-1),
        )

    def denominator_is_steadier(self) -> BoolArray:
        """Say where D has more degrees of freedom than N, counted by mean and variance."""
        mean, spread = self.e.sum(axis=-1) + self.m, np.sum(self.e**2, axis=-1)
        spread = spread + 2 * self.e[:, 0] * self.m
        below = np.sum(self.nu * self.g, axis=-1) ** 2 * spread
        steadier: BoolArray = below >= mean**2 * np.sum(self.nu * self.g**2, axis=-1)
        return steadier


def _log_sum(a: FloatArray, weight: FloatArray, s: ComplexArray) -> ComplexArray:
    """Return sum_i weight_i log(1 + a_i s) for a (B, p) at s (B, nodes).

    It is computed from real logarithms and angles: complex logarithms take five times as long.
    """
    x = 1 + a[:, None, :] * s.real[..., None]
    y = a[:, None, :] * s.imag[..., None]
    modulus = linalg.matvec(np.log(x * x + y * y), weight) / 2
    return modulus + 1j * linalg.matvec(np.arctan2(y, x), weight)


def _saddle(form: _Form, left: BoolArray) -> FloatArray:
    """Return where |exp(k(s))/s| is least on the real axis, left or right of the pole at 0."""
    reach = np.where(left, -1 / form.g.max(axis=-1), 1 / np.where(left, 1.0, 2 * form.e[:, 0]))
    low, high = np.full(len(form), NEAREST), np.full(len(form), FARTHEST)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        outward = form.slope(reach / (1 + np.exp(-middle))) * reach < 0
        low, high = np.where(outward, middle, low), np.where(outward, high, middle)
    return reach / (1 + np.exp(-(low + high) / 2))


def _integral(
    form: _Form, left: BoolArray, step: float, straight: bool
) -> tuple[FloatArray, BoolArray]:
    """Return P(Y <= 0) and where two step sizes agree on it.

    The contour is a branch of a hyperbola through the saddle point, as wide as the saddle and
    curved like the path of steepest descent; far out its points grow exponentially. Along it the
    integrand is analytic and falls fast, so the trapezoid rule converges exponentially.
    """
    start = _saddle(form, left)
    second, third = form.bends(start)
    width = WIDTH / np.sqrt(second)
    bend = width * third / (3 * second)
    lean = np.clip(2 * bend / (1 + np.sqrt(1 + 4 * bend**2)), -MOST_LEAN, MOST_LEAN)
    lean = np.where((form.nu.max(axis=-1) > LEAN_LEFT) & (lean < 0), 0.0, lean)
    lean = np.zeros_like(lean) if straight else lean
    across, up = (width * lean)[:, None], (width * np.sqrt(1 - lean**2))[:, None]
    fine, coarse = np.zeros(len(form)), np.zeros(len(form))
    active, done = np.arange(len(form)), 0
    with np.errstate(all="ignore"):  # a failed attempt may overflow; its result is not used
        while len(active) and done * step < END:
            u = step * np.arange(done, done + ROUND)
            x, y = across[active], up[active]
            s = start[active, None] + x * (np.cosh(u) - 1) + 1j * y * np.sinh(u)
            path = x * np.sinh(u) + 1j * y * np.cosh(u)
            value = np.exp(form.select(active).log_mgf(s)) / s * path
            if done == 0:
                value[:, 0] /= 2
            fine[active] += value.imag.sum(axis=-1)
            coarse[active] += 2 * value.imag[:, ::2].sum(axis=-1)
            active = active[np.abs(value[:, -1]) > DROP]
            done += ROUND
        tail = fine * step / np.pi
        agree = np.abs(fine - coarse) * step / np.pi < AGREE
    return np.where(left, -tail, 1 - tail), agree


def _below_zero(form: _Form) -> FloatArray:
    """Return P(Y <= 0) for a flat stack; other contours are tried where the first one fails."""
    result, left = np.zeros(len(form)), form.denominator_is_steadier()
    size = max(1, BLOCK // (ROUND * form.e.shape[-1]))
    for begin in range(0, len(form), size):
        todo = np.arange(begin, min(begin + size, len(form)))
        for other, step, straight in ATTEMPTS:
            side = (left[todo] ^ other) | (form.e[todo, 0] == 0)
            result[todo], good = _integral(form.select(todo), side, step, straight)
            todo = todo[~good]
            if not len(todo):
                break
    return np.clip(result, 0.0, 1.0)


def ratio_probability(
    e: FloatArray,
    m: FloatArray | float,
    denominators: Sequence[tuple[FloatArray | float, FloatArray | float]],
    q: FloatArray | float,
) -> FloatArray:
    """Return P([(sqrt(e_1) z_1 + sqrt(m))^2 + sum_{i>1} e_i z_i^2] <= q sum_j c_j chi2_j/nu_j).

    The moment generating function of the difference of the two sides is inverted along a contour
    through its saddle point; see the module for the accuracy.

    Parameters
    ----------
    e : array (..., p)
        Non-negative coefficients; the largest one carries the shift. Zeros are harmless.
    m : array (...)
        Squared shift, finite and non-negative.
    denominators : sequence of (c_j, nu_j), arrays (...)
        Non-negative coefficients and positive degrees of freedom.
    q : array (...)
        Where the distribution function of the ratio is wanted.

    Returns
    -------
    array (...)
        Probabilities.

    Examples
    --------
    >>> from scipy import stats
    >>> ours = ratio_probability(np.ones(3), 2.0, [(1.0, 20.0)], 4.5)
    >>> bool(abs(ours - stats.ncf.cdf(4.5 / 3, 3, 20, 2.0)) < 1e-8)
    True
    """
    e = -np.sort(-np.asarray(e, dtype=np.float64), axis=-1)
    with np.errstate(over="ignore"):  # `_of_one_size` brings what is infinite to the largest ratio
        pairs = [np.broadcast_arrays(np.multiply(c, q), nu) for c, nu in denominators]
    shape = np.broadcast_shapes(e.shape[:-1], np.shape(m), *(c.shape for c, _ in pairs))
    c, nu = (
        np.stack([np.broadcast_to(pair[i], shape).ravel() for pair in pairs], axis=-1)
        for i in (0, 1)
    )
    e = np.broadcast_to(e, shape + e.shape[-1:]).reshape(-1, e.shape[-1])
    m = np.broadcast_to(np.asarray(m, dtype=np.float64), shape).ravel()
    result = np.where(e[:, 0] + m > 0, 0.0, 1.0)
    some = (c.max(axis=-1) > 0) & (e[:, 0] + m > 0)
    if np.any(some):
        e, m, c = _of_one_size(e[some], m[some], c[some])
        result[some] = _below_zero(_Form(e, m, 2 * c / nu[some], nu[some]))
    return result.reshape(shape)


def _of_one_size(
    e: FloatArray, m: FloatArray, c: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return both sides times a power of two, so that squares of them can be held."""
    factor = np.ldexp(1.0, -np.frexp(np.maximum(e[:, 0], m))[1])[:, None]
    with np.errstate(over="ignore"):
        c = np.minimum(c * factor, LARGEST_RATIO)
    largest = c.max(axis=-1, keepdims=True)
    c = np.where(largest < LEAST_RATIO, c / largest * LEAST_RATIO, c)
    return e * factor, m * factor[:, 0], c
