"""Smooth curves of one column, one for each dataset, as a model that predicts rows.

A curve is a sum of kernels around common knots: g_k(x) = sum over j of weight_kj exp(-|x - u_j| /
width). This is a Gaussian process with an exponential kernel, seen through its knots: neighbouring
values of the column are alike, and a curve may turn anywhere. Rows enter, values of the curves
leave. `engine.curves` finds column, knots and weights.

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
u           knots                                                                 (M,)
Q           kernel between knots                                                  (M, M)
phi         columns kernel(x, u) Q^{-1/2}: independent weights of one variance    (n, M)
            make a Gaussian process
==========  ====================================================================  ============
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from conjoin._typing import FloatArray, IntArray

# Knots of a curve at most: months of two years and a half, or hours of a day. More cost time and
# rarely show.
MOST_KNOTS = 30
# Rows in which a value must occur to be a knot itself. Model files hold no values of single rows,
# so rarer values are replaced by quantiles.
FEWEST_ROWS = 5
# Added to the diagonal of Q, as a share of it, so that knots close to each other do no harm.
RIDGE = 1e-9


def knots_of(values: FloatArray) -> FloatArray:
    """Return the knots (M,) of a column: its values if they are few, else quantiles.

    >>> knots_of(np.repeat([1.0, 2.0, 4.0], 5)).tolist()
    [1.0, 2.0, 4.0]
    """
    found, counts = np.unique(values, return_counts=True)
    if len(found) <= MOST_KNOTS and counts.min(initial=FEWEST_ROWS) >= FEWEST_ROWS:
        return found
    shares = (np.arange(MOST_KNOTS) + 0.5) / MOST_KNOTS
    return np.unique(np.quantile(values, shares))


def kernel(x: FloatArray, knots: FloatArray, width: float) -> FloatArray:
    """Return exp(-|x - u| / width), (n, M); a missing value has no curve."""
    found: FloatArray = np.exp(-np.abs(x[:, None] - knots) / width)
    return np.where(np.isfinite(found), found, 0.0)


def whitening(knots: FloatArray, width: float) -> FloatArray:
    """Return Q^{-1/2} (M, M)."""
    Q = kernel(knots, knots, width) + RIDGE * np.eye(len(knots))
    values, vectors = np.linalg.eigh(Q)
    root: FloatArray = (vectors / np.sqrt(values)) @ vectors.T
    return root


@dataclass(frozen=True, eq=False)
class CurveModel:
    """Curves of known datasets and a curve for others.

    Parameters
    ----------
    column : int
        Position of the column among those of the learner.
    knots : array (M,)
    width : float
        Width of the kernel, in the units of the column.
    weights : array (K + 1, M)
        Weights of every dataset; the last line is for datasets that were not there at fitting.
    """

    column: int
    knots: FloatArray
    width: float
    weights: FloatArray

    def predict(self, X: FloatArray, dataset: IntArray) -> FloatArray:
        """Return the values of the curves (n, 1); a dataset may be unknown (-1)."""
        phi = kernel(X[:, self.column], self.knots, self.width)
        return np.einsum("ij,ij->i", phi, self.weights[dataset])[:, None]

    def to_plain(self, objects: list[Any]) -> dict[str, Any]:
        """Return plain values for a model file."""
        return {
            "kind": "curves",
            "column": self.column,
            "knots": self.knots.tolist(),
            "width": self.width,
            "weights": self.weights.tolist(),
        }
