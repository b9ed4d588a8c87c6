"""Sums of products with differential privacy.

Rows of one dataset enter, with declared bounds of every column and a budget; noisy sums leave.
The receiver makes sums of products of them that can be used (`sites.noisy`).

**What is promised.** Two tables are neighbours if one has one row more. Whatever is done with the
noisy sums, no outcome is more than exp(epsilon) times as probable for one of them as for the other,
except with probability delta. This holds for one row; whoever has several rows in the table gets
epsilon for each of them.

**How.** Values are cut at their bounds and scaled: numbers and flags to [-1, 1], levels of
categories to 0 and 1. With z = (1, features, target), the released numbers are the entries of the
upper triangle of sum z z'. One row changes them by at most D in Euclidean norm:

    D^2 = max sum_{i <= j} z_i^2 z_j^2 = s (s + 1) / 2 - d

where s counts the ones, numbers, flags, categories and the target (only one level of a category is
1), and d the categories, the squares of whose levels equal their sums and are not released again.
Gaussian noise of standard deviation sigma(D, epsilon, delta) is added to each number by OpenDP's
mechanism. It draws from a discrete law, so that the digits of floating-point numbers give nothing
away.

**Budget.** All numbers are one vector, so nothing is split between them. The noise does not
depend on the number of rows. F folds would therefore have F times the noise variance. So there are
no folds, and the receiver cuts sums into parts itself (`moments.thinning`). Datasets of one site
have different rows, so each gets the whole budget. A second export spends a second budget: the
ledger adds them up (`sites.ledger`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.errors import ArgumentError
from conjoin.text import quoted

# The largest delta that is accepted: it is the probability that the promise fails, and with more
# than one in a thousand it would fail for somebody in a table of a few thousand rows.
MOST_DELTA = 1e-3
# The largest epsilon: exp(10) is a ratio of 22,000, which protects nobody.
MOST_EPSILON = 10.0


@dataclass(frozen=True)
class Budget:
    """How much privacy an export may cost.

    Parameters
    ----------
    epsilon : float
        Largest logarithm of a ratio of probabilities; 1 is usual, less protects better.
    delta : float, default 1e-6
        Probability that this fails. It should be far below one over the number of rows.
    """

    epsilon: float
    delta: float = 1e-6

    def __post_init__(self) -> None:
        if not 0 < self.epsilon <= MOST_EPSILON:
            raise ArgumentError(
                f"epsilon={self.epsilon!r} must be above 0 and at most {MOST_EPSILON:g}; 1 is "
                "usual."
            )
        if not 0 < self.delta <= MOST_DELTA:
            raise ArgumentError(
                f"delta={self.delta!r} must be above 0 and at most {MOST_DELTA:g}; 1e-6 is usual."
            )

    def describe(self) -> str:
        """Return the promise in a sentence."""
        return (
            f"Differential privacy with epsilon {self.epsilon:g} and delta {self.delta:g}: with or "
            "without any one row, no result is more than "
            f"{np.exp(self.epsilon):.3g} times as probable, except with probability "
            f"{self.delta:g}."
        )


@dataclass(frozen=True, eq=False)
class Bounds:
    """Declared ends of every feature and, last, of the target.

    Parameters
    ----------
    low, high : arrays (features + 1,)
        Values beyond are cut. They come from the plan, never from rows.
    sources : tuple of str
        Column of the table of each feature; levels of a category share one.
    levels : array (features + 1,)
        Which features are 0 or 1.
    """

    low: FloatArray
    high: FloatArray
    sources: tuple[str, ...]
    levels: BoolArray

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        sources: Sequence[str],
        target: str,
        low: FloatArray,
        high: FloatArray,
    ) -> "Bounds":
        """Return the bounds of features and target, after checking them.

        Features between 0 and 1 that are named "column=level" are levels.

        Raises
        ------
        ArgumentError
            If a column has no bounds, or its low end is not below its high one.
        """
        columns = (*names, target)
        missing = [c for c, a, b in zip(columns, low, high) if not np.isfinite([a, b]).all()]
        if missing:
            raise ArgumentError(
                f"Differential privacy needs bounds for {quoted(missing)}; give them with "
                f"--bound {missing[0]}=LOW:HIGH, from what is known of the column and not from "
                "the rows."
            )
        wrong = [c for c, a, b in zip(columns, low, high) if a >= b]
        if wrong:
            raise ArgumentError(f"The bounds of {wrong[0]!r} must have LOW below HIGH.")
        pairs = zip(columns, (*sources, target))
        levels = np.array([name.startswith(f"{source}=") for name, source in pairs])
        levels &= (low == 0) & (high == 1)
        return cls(low.astype(np.float64), high.astype(np.float64), tuple(sources), levels)

    @property
    def center(self) -> FloatArray:
        """Where scaled values are zero."""
        return np.where(self.levels, 0.0, (self.low + self.high) / 2)

    @property
    def scale(self) -> FloatArray:
        """What scaled values are multiplied by to get units."""
        return np.where(self.levels, 1.0, (self.high - self.low) / 2)

    def group(self) -> IntArray:
        """Return the number of each column's group: levels of one category share one."""
        keys = [
            ("level", source) if level else ("column", str(j))
            for j, (source, level) in enumerate(zip((*self.sources, ""), self.levels))
        ]
        numbers = {key: k for k, key in enumerate(dict.fromkeys(keys))}
        return np.array([numbers[key] for key in keys], dtype=np.int64)

    def scaled(self, X: FloatArray, y: FloatArray) -> FloatArray:
        """Return (1, features, target) cut and scaled (n, features + 2).

        A row with two levels of one category loses both, so that the bound on one row's effect
        holds whatever is in the table.
        """
        values = np.clip(np.column_stack([X, y]), self.low, self.high)
        Z = (values - self.center) / self.scale
        Z[:, self.levels] = Z[:, self.levels] == 1
        group = self.group()
        for one in np.unique(group[self.levels]):
            same = np.flatnonzero(self.levels & (group == one))
            several = Z[:, same].sum(axis=1) > 1
            Z[np.ix_(several, same)] = 0.0
        return np.column_stack([np.ones(len(Z)), Z])

    def released(self) -> tuple[IntArray, IntArray]:
        """Return rows and columns of the entries of the upper triangle that are released.

        Not released are squares of levels, which equal their sums, and products of two levels of
        one category, which are zero.
        """
        group = np.concatenate([[-1], self.group()])
        level = np.concatenate([[False], self.levels])
        i, j = np.triu_indices(len(group))
        known = level[i] & level[j] & (group[i] == group[j])
        return i[~known], j[~known]

    def sensitivity(self) -> float:
        """Return D of the module's text.

        >>> numbers = Bounds(np.zeros(3), np.ones(3), ("a", "b"), np.zeros(3, bool))
        >>> round(numbers.sensitivity() ** 2, 6)  # s = 4: ones, two numbers, target
        10.0
        """
        group = self.group()
        s = 1 + len(np.unique(group))
        d = len(np.unique(group[self.levels]))
        return float(np.sqrt(s * (s + 1) / 2 - d))


@lru_cache(maxsize=32)
def noise_scale(sensitivity: float, budget: Budget) -> float:
    """Return the standard deviation of the noise that a budget asks for, by OpenDP.

    Raises
    ------
    ArgumentError
        If OpenDP is not installed.
    """
    dp = _opendp()

    def mechanism(scale: float) -> object:
        gaussian = dp.m.make_gaussian(*_space(dp), scale=scale)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(gaussian), budget.delta)

    found: float = dp.binary_search_param(
        mechanism, d_in=sensitivity, d_out=(budget.epsilon, budget.delta)
    )
    return found


def add_noise(values: FloatArray, scale: float) -> FloatArray:
    """Return values (m,) with Gaussian noise from OpenDP; the noise cannot be repeated."""
    dp = _opendp()
    gaussian = dp.m.make_gaussian(*_space(dp), scale=scale)
    return np.array(gaussian(values.tolist()))


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError:
        raise ArgumentError(
            "Differential privacy needs OpenDP; install it with: pip install conjoin[privacy]"
        ) from None
    dp.enable_features("contrib")
    return dp


def _space(dp: Any) -> Any:
    return dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)


def private_products(
    X: FloatArray,
    y: FloatArray,
    bounds: Bounds,
    budget: Budget,
    noise: Callable[[FloatArray, float], FloatArray] | None = None,
) -> tuple[FloatArray, float]:
    """Return noisy sums of products of scaled rows (p, p), and the noise's standard deviation.

    Parameters
    ----------
    X, y : arrays (n, features), (n,)
        Rows of one dataset.
    bounds : Bounds
        Declared ends of the columns.
    budget : Budget
        Epsilon and delta.
    noise : callable, optional
        Adds noise of a standard deviation to a vector; by default OpenDP's. Only studies of the
        method replace it, to draw with a random seed.

    Returns
    -------
    array, float
        Symmetric sums for (1, features, target) in the coordinates of the bounds. They may have
        negative eigenvalues.
    """
    scale = noise_scale(bounds.sensitivity(), budget)
    Z = bounds.scaled(X, y)
    i, j = bounds.released()
    P = Z.T @ Z
    noisy = np.zeros_like(P)
    noisy[i, j] = (noise or add_noise)(P[i, j], scale)
    noisy = np.triu(noisy) + np.triu(noisy, 1).T
    levels = 1 + np.flatnonzero(bounds.levels)
    noisy[levels, levels] = noisy[0, levels]
    return noisy, scale
