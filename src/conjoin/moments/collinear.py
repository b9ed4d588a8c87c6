"""Nearly collinear columns: the directions in which they hardly differ, and how to stretch them.

Enters: second moments of all rows together, or the rows. Leaves: `Directions`, and from them the
matrix of a `Basis` that stretches these directions.

A year and its square, or two sensors side by side, differ in a direction that has little variance.
What is in that direction can still be the whole signal, with large coefficients of opposite sign.
Two things would lose it. A Gram matrix squares small numbers, so that rounding hides the direction.
And a prior with the same variance for all slopes takes large coefficients for unlikely. Both are
mended by coordinates in which the direction is as wide as an ordinary column: numbers are then well
conditioned, and the prior is on what the direction does to the target.

==========  ==================================================================  ===========
symbol      meaning                                                             shape
==========  ==================================================================  ===========
R           second moments of the columns, scaled to unit diagonal              (p, p)
V, e        eigenvectors and eigenvalues of R with e < `NEARLY`                 (p, s), (s,)
c           factors sqrt(to / e), at least 1                                    (s,)
M           I + V (c - 1) V', between columns scaled to unit length             (p, p)
==========  ==================================================================  ===========

Columns that are exact sums of others have an eigenvalue of zero up to rounding. They are left as
they are: nothing can be known of them. M is symmetric in the columns, so their order, their names
and their units do not matter.
"""

from dataclasses import dataclass

import numpy as np

from conjoin._typing import FloatArray
from conjoin.moments.basis import FARTHEST, Basis

# Eigenvalue below which a direction is nearly collinear. If it carries all of the target's variance
# its coefficient has a square of one over it, 1,000 here. The prior on slopes allows variances up
# to 100 (`models.partial`), so 1,000 is three standard deviations away: above the limit the prior
# can follow such a signal.
NEARLY = 1e-3
# Eigenvalue to which a direction is stretched for the sake of rounding alone. Relative errors of
# least squares are then below 1e-10. The prior sees nothing of it: a direction so narrow explains
# at most 1e-4 of the target's variance with the largest variance that the prior on slopes has.
PRECISE = 1e-6
# Eigenvalue to which a direction is stretched so that the prior treats it like a column: the mean
# eigenvalue of columns of unit length.
LIKE_A_COLUMN = 1.0
# Eigenvalue below which a Gram matrix of columns of unit length does not show whether a direction
# exists: rounding leaves 1e-16 times the number of columns and more, and 1e-13 is far above it.
VISIBLE = 1e-13
# Times the rounding of the values themselves that a direction must have to exist. A column that
# others determine has a few roundings, from its own arithmetic and from centring. numpy's `lstsq`
# multiplies the rounding of the largest value by the number of rows, so from some 64 rows on it
# drops a direction earlier.
ABOVE_ROUNDING = 16.0


@dataclass(frozen=True, eq=False)
class Directions:
    """Nearly collinear directions of columns.

    Parameters
    ----------
    length : array (p,)
        Root mean squares of the columns.
    vectors : array (p, s)
        Directions, in columns divided by `length`.
    squares : array (s,)
        Mean squares of the rows along them.
    """

    length: FloatArray
    vectors: FloatArray
    squares: FloatArray

    def matrix(self, to: float) -> FloatArray | None:
        """Return M (p, p) that stretches each direction to the mean square `to`, if it is below.

        It is None where nothing is to be stretched.
        """
        if not np.any(self.squares < to):
            return None
        factor = np.sqrt(np.maximum(to / self.squares, 1.0))
        inner = np.eye(len(self.length)) + (self.vectors * (factor - 1)) @ self.vectors.T
        return inner * (self.length / self.length[:, None])


def is_nearly_collinear(second: FloatArray) -> bool:
    """Say whether columns with second moments (p, p) have a nearly collinear direction."""
    if len(second) < 2:
        return False
    return bool(np.linalg.eigvalsh(_unit(second)[0])[0] < NEARLY)


def directions_of_moments(second: FloatArray, basis: Basis) -> Directions | None:
    """Return the nearly collinear directions that second moments (p, p) show; None without any."""
    R, length = _unit(second)
    squares, vectors = np.linalg.eigh(R)
    return _between(Directions(length, vectors, squares), basis, VISIBLE)


def directions_of_rows(X: FloatArray, weights: FloatArray, basis: Basis) -> Directions | None:
    """Return the nearly collinear directions of columns of rows (n, p); None without any."""
    Z = basis.features(X)
    share = weights / weights.sum()
    length = np.sqrt(share @ Z**2)
    length = np.where(length > 0, length, 1.0)
    triangle = np.linalg.qr(Z * (np.sqrt(share)[:, None] / length), mode="r")
    _, singular, rows = np.linalg.svd(triangle)
    squares = np.zeros(len(length))
    squares[: len(singular)] = singular**2
    return _between(Directions(length, rows.T, squares), basis, 0.0)


def precise(X: FloatArray, weights: FloatArray, basis: Basis) -> Basis:
    """Return the basis with directions stretched that rounding would hide from least squares."""
    Z = basis.features(X)
    second = (Z * weights[:, None]).T @ Z / weights.sum()
    directions = directions_of_rows(X, weights, basis) if is_nearly_collinear(second) else None
    return basis if directions is None else stretched(basis, directions, PRECISE)


def stretched(basis: Basis, directions: Directions, to: float) -> Basis:
    """Return the basis with each direction stretched to the mean square `to`, if it is below."""
    return basis.with_matrix(directions.matrix(to))


def _unit(second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return second moments scaled to unit diagonal, and the columns' root mean squares."""
    diagonal = np.diagonal(second)
    length = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    return second / length / length[:, None], length


def _between(found: Directions, basis: Basis, least: float) -> Directions | None:
    """Keep the directions that are nearly collinear and exist: above `least` and above rounding."""
    largest = (np.abs(basis.center) / basis.scale + FARTHEST) / found.length
    rounding = np.finfo(float).eps * np.sqrt(largest**2 @ found.vectors**2)
    exists = found.squares > np.maximum((ABOVE_ROUNDING * rounding) ** 2, least)
    kept = exists & (found.squares < NEARLY)
    if not kept.any():
        return None
    return Directions(found.length, found.vectors[:, kept], found.squares[kept])
