"""The centred and scaled coordinates in which moments are formed.

Enters: rows, or ranges, means and spreads of the columns. Leaves: a `Basis` that turns rows into a
design and coefficients back into the units of the data.

A year or a price has a mean far from zero, and products of such columns lose digits that a
residual sum of squares needs. So columns are centred and scaled first, moments are formed from the
result, and coefficients are converted back for the user. With an intercept this is an invertible
change of features: least squares, its residuals and every decision that depends on them stay the
same.
"""

from dataclasses import dataclass, replace

import numpy as np

from conjoin._typing import FloatArray
from conjoin.moments.made import slices

# Largest entry of a scaled column, in standard deviations. Normal columns hardly reach it, so their
# scale is the standard deviation. A flag that is set in one row of a thousand would have entries of
# 30; the same prior variance of slopes would mean something else for it.
FARTHEST = 4.0
# Scaled values below it are zero. A centre rounds values to 1e-16 of the scale, so what is smaller
# comes from mixed magnitudes only, such as 1e-90 beside 1. Its own coefficient would be 1e90, and
# products of some of them overflow.
NOTHING = 2.0**-100


@dataclass(frozen=True, eq=False)
class Basis:
    """Affine coordinates for features and target.

    Parameters
    ----------
    center, scale : arrays, shape (features,)
        Feature j becomes (x_j - center_j) / scale_j.
    target_center, target_scale : float
        The same for the target.
    intercept : bool
        Whether a column of ones is put in front.
    matrix : array, shape (features, features), optional
        Row vectors of features are multiplied by it at last. It stretches directions in which
        columns are nearly collinear (`moments.collinear`).
    """

    center: FloatArray
    scale: FloatArray
    target_center: float
    target_scale: float
    intercept: bool
    matrix: FloatArray | None = None

    @classmethod
    def from_rows(
        cls,
        X: FloatArray,
        y: FloatArray,
        weights: FloatArray | None = None,
        *,
        intercept: bool = True,
    ) -> "Basis":
        """Centre (with an intercept only) and scale by mean and spread of the weighted rows.

        The scale of a column is its standard deviation or, if that is larger, a `FARTHEST`-th of
        its largest deviation. So a rare flag or a column with an outlier has no entry beyond
        `FARTHEST`, and a variance of slopes means the same for it as for any other column.
        """
        w = np.ones(len(y)) if weights is None else weights
        if intercept:
            center = _mean(X, w)
            target_center = float(_mean(y, w))
        else:
            center, target_center = np.zeros(X.shape[1]), 0.0
        farthest, square = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        for part in slices(len(X)):  # many rows in parts: the deviations take as much as rows
            deviation = X[part] - center
            low, high = (end(deviation, axis=0, initial=0.0) for end in (np.min, np.max))
            farthest = np.maximum(farthest, np.maximum(-low, high))
            np.square(deviation, out=deviation)
            square += w[part] @ deviation
        scale = np.sqrt(square / w.sum())
        target_scale = float(np.sqrt(_mean((y - target_center) ** 2, w)))
        return cls._scaled(center, scale, farthest, target_center, target_scale, intercept)

    @classmethod
    def from_summary(
        cls,
        low: FloatArray,
        high: FloatArray,
        mean: FloatArray,
        spread: FloatArray,
        *,
        intercept: bool,
    ) -> "Basis":
        """Return the same from ranges, means and spreads of the features and, last, the target.

        Spreads are root mean squares around the mean, or around zero without an intercept.
        """
        center = mean if intercept else np.zeros(len(mean))
        farthest = np.maximum(high - center, center - low)
        return cls._scaled(
            center[:-1],
            spread[:-1],
            farthest[:-1],
            float(center[-1]),
            float(spread[-1]),
            intercept,
        )

    @classmethod
    def _scaled(
        cls,
        center: FloatArray,
        spread: FloatArray,
        farthest: FloatArray,
        target_center: float,
        target_scale: float,
        intercept: bool,
    ) -> "Basis":
        """Return the basis with scales from spreads and largest deviations (features,)."""
        scale = np.maximum(spread, farthest / FARTHEST)
        return cls(
            center=center,
            scale=np.where(scale > 0, scale, 1.0),
            target_center=target_center,
            target_scale=target_scale if target_scale > 0 else 1.0,
            intercept=intercept,
        )

    @classmethod
    def raw(cls, features: int, *, intercept: bool = False) -> "Basis":
        """Return the identity, under which moments have the units of the data."""
        return cls(np.zeros(features), np.ones(features), 0.0, 1.0, intercept)

    def with_matrix(self, matrix: FloatArray | None) -> "Basis":
        """Return the same basis with another matrix."""
        return replace(self, matrix=matrix)

    def target_sums(self, h: float, q: float, w: float) -> tuple[float, float]:
        """Return the sums of the target and of its squares, in its own units.

        `h` and `q` are the same in these coordinates, `w` is the sum of weights.
        """
        center, scale = self.target_center, self.target_scale
        return scale * h + center * w, scale**2 * q + 2 * center * scale * h + center**2 * w

    def design(self, X: FloatArray) -> FloatArray:
        """Return the design matrix of rows X (n, features), intercept first."""
        Z = self.features(X)
        return np.concatenate([np.ones((*Z.shape[:-1], 1)), Z], axis=-1) if self.intercept else Z

    def features(self, X: FloatArray) -> FloatArray:
        """Return the features of rows X (n, features) in these coordinates."""
        Z: FloatArray = X - self.center
        Z /= self.scale  # in place: rows may be most of the memory
        _flush(Z)
        return Z if self.matrix is None else Z @ self.matrix

    def response(self, y: FloatArray) -> FloatArray:
        """Return the target in these coordinates."""
        t: FloatArray = (y - self.target_center) / self.target_scale
        _flush(t)
        return t

    def to_original(self, beta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return intercept (...,) and slopes (..., features) in the units of the data."""
        beta = self.to_columns(beta)
        slopes = beta[..., int(self.intercept) :] * self.target_scale / self.scale
        constant = beta[..., 0] * self.target_scale if self.intercept else 0.0
        intercept = constant + self.target_center - np.sum(slopes * self.center, axis=-1)
        return intercept, slopes

    def to_columns(self, beta: FloatArray) -> FloatArray:
        """Return coefficients (..., p) of the centred and scaled columns, without `matrix`."""
        if self.matrix is None:
            return beta
        first = int(self.intercept)
        return np.concatenate([beta[..., :first], beta[..., first:] @ self.matrix.T], axis=-1)

    def covariance_to_columns(self, covariance: FloatArray, outputs: int = 1) -> FloatArray:
        """Return covariances (..., p, p) of such coefficients.

        With several linear predictors, coordinates follow the columns of the design.
        """
        if self.matrix is None:
            return covariance
        one = np.eye(len(self.scale) + int(self.intercept))
        one[int(self.intercept) :, int(self.intercept) :] = self.matrix
        back: FloatArray = np.kron(one, np.eye(outputs))
        return back @ covariance @ back.T

    def second_of_columns(self, second: FloatArray) -> FloatArray:
        """Return second moments (features, features) of the columns without `matrix`."""
        if self.matrix is None:
            return second
        half = np.linalg.solve(self.matrix.T, second)
        return np.asarray(np.linalg.solve(self.matrix.T, half.T).T)

    def from_original(self, intercept: FloatArray, slopes: FloatArray) -> FloatArray:
        """Return the coefficients in these coordinates of a model in the units of the data."""
        beta = slopes * self.scale / self.target_scale
        if self.matrix is not None:
            beta = np.asarray(np.linalg.solve(self.matrix, beta[..., None])[..., 0], np.float64)
        if not self.intercept:
            return beta
        constant = intercept - self.target_center + np.sum(slopes * self.center, axis=-1)
        head = np.asarray(constant / self.target_scale)[..., None]
        return np.concatenate([head, beta], axis=-1)


def _flush(values: FloatArray) -> None:
    """Make scaled values below `NOTHING` zero, in place."""
    small = values < NOTHING
    small &= values > -NOTHING
    values[small] = 0.0


def _mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted mean over rows, corrected once so that a large offset costs no digits."""
    total, parts = weights.sum(), slices(len(values))
    first, correction = np.zeros(values.shape[1:]), np.zeros(values.shape[1:])
    for part in parts:
        first = first + weights[part] @ values[part]
    first = first / total
    for part in parts:
        correction = correction + weights[part] @ (values[part] - first)
    return np.asarray(first + correction / total)
