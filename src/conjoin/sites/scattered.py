"""How far residuals of a site's dataset scatter, if that singles out no row.

Rows with their sums enter; a `Scatter` (`models.scatter`) leaves, or None if one row makes up most
of what would leave. A row with a large residual can do so although it makes up little of the plain
sums. Most tables are seen to be safe from the sums themselves, so that one pass over the rows is
enough; otherwise rows are looked at.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.models.scatter import Scatter
from conjoin.moments import Moments
from conjoin.sites.alone import COLLINEAR, Sums, stands_alone
from conjoin.sites.document import numbers, triangle_of
from conjoin.sites.fold_sums import BLOCK
from conjoin.sites.rules import Rules


@dataclass(frozen=True, eq=False)
class Standardised:
    """Rows of one dataset, around their means and in their standard deviations.

    Parameters
    ----------
    X, y : arrays (n, features) and (n,)
        Features and target as they are.
    center, scale : arrays (features + 1,)
        Means and standard deviations; those of the target are last.
    products : array (features + 2, features + 2)
        Sums of products of [1, features, target], standardised.
    """

    X: FloatArray
    y: FloatArray
    center: FloatArray
    scale: FloatArray
    products: FloatArray

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield [1, features] with a column of the table in each row, and targets, in blocks."""
        Z = np.ones((len(self.center) + 1, BLOCK))
        for first in range(0, len(self.y), BLOCK):
            rows = slice(first, first + BLOCK)
            part = Z[:, : len(self.y[rows])]
            part[1:-1], part[-1] = self.X[rows].T, self.y[rows]
            part[1:] -= self.center[:, None]
            part[1:] /= self.scale[:, None]
            yield part[:-1], part[-1]

    def all_rows(self) -> tuple[FloatArray, FloatArray]:
        """Return [1, features] of all rows (n, features + 1), and targets (n,)."""
        parts = [(Z.T.copy(), t.copy()) for Z, t in self.blocks()]
        return np.concatenate([Z for Z, _ in parts]), np.concatenate([t for _, t in parts])

    def flags(self) -> BoolArray:
        """Say which of [1, features] have two values."""
        found: BoolArray = np.zeros(self.X.shape[1] + 1, dtype=bool)
        for j, column in enumerate(self.X.T, start=1):
            # Most columns show a third value soon.
            found[j] = len(np.unique(column[:BLOCK])) <= 2 and len(np.unique(column)) == 2
        return found


def scatter_of(rows: Standardised, repeats: IntArray | None, rules: Rules) -> Scatter | None:
    """Return the scatter of residuals (1,); None if it singles out a row.

    `repeats` (n,) say how often every row is there; None if no row is a copy.
    """
    n = np.array([float(len(rows.y))])
    moments = Moments.from_products(rows.products[None], n, n)
    if repeats is None:
        found, most, leverage = Scatter.of_blocks(rows.blocks(), moments, rows.flags())
        if _is_safe(found.unbiased[0], most, leverage, len(rows.y), rules):
            return found
    Z, t = rows.all_rows()
    if _discloses(Z[:, 1:], t, rules):
        return None
    return Scatter.of_rows(Z, t, np.ones(len(t)), np.array([0, len(t)]), repeats, moments)


def _is_safe(M: FloatArray, most: FloatArray, leverage: float, rows: int, rules: Rules) -> bool:
    """Say whether sums weighted with squared residuals surely single out no row.

    M is the matrix M2 of `models.scatter`, `most` the largest terms of its diagonal. Its weights
    are those of squared residuals over 1 - h, so a row's share of the latter is at most 1 / (1 - h)
    of its share of M, with the largest h.
    """
    total = float(M[0, 0])
    if not total > 0:
        return False
    center = M[0, 1:] / total
    products = M[1:, 1:] - np.outer(M[0, 1:], center)
    far = np.sqrt(most[1:]) + np.sqrt(most[0]) * np.abs(center)
    ends = np.sqrt(np.maximum(np.diagonal(products), 0.0))  # sizes only: columns are standardised
    sums = Sums(rows, total, float(most[0]), center, products, -ends, ends, far)
    found = sums.glance(1, rules.dominance)
    return found is not None and found.leverage < rules.dominance * (1 - leverage)


def _discloses(Z: FloatArray, t: FloatArray, rules: Rules) -> bool:
    """Say whether sums of products weighted with squared residuals single out a row.

    Columns (n, columns) and target (n,) are around their means and in their standard deviations.
    """
    left = t - Z @ (np.linalg.pinv(Z.T @ Z, rcond=COLLINEAR, hermitian=True) @ (Z.T @ t))
    return stands_alone(Z, 1, rules.dominance, left**2).leverage > rules.dominance


def scatter_to_plain(found: Scatter | None) -> dict[str, Any] | None:
    """Return the scatter of one dataset as plain values, for a file."""
    if found is None:
        return None
    return {
        "unbiased": numbers(triangle_of(found.unbiased[0])),
        "cautious": numbers(triangle_of(found.cautious[0])),
        "nu": float(found.nu[0]),
        "inflation": float(found.inflation[0]),
        "heavy": bool(found.heavy[0]),
    }
