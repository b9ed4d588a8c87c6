"""How far targets lie from predictions: quantiles of held-out scores, for prediction intervals.

Scores of held-out rows and their datasets enter; a `Spread` leaves, from which the ends of an
interval are read for any level. A score is the residual of a number, the residual of a count over
the root of its expectation, or one minus the probability of the true class.

==========  ======================================================================  ============
symbol      meaning                                                                 shape
==========  ======================================================================  ============
s_k         scale of the scores of a dataset, shrunk towards that of all            (K,)
shape       quantiles of scores over their scale, where every dataset counts alike  (L,)
own         quantiles of a dataset's own scores, with BORROWED more of shape s_k    (K, L)
unseen      quantiles of the scores of datasets that the model has not seen         (L,)
==========  ======================================================================  ============

Half a score is added beyond each end, as split conformal prediction asks: a new row is as likely to
be the farthest as any row at hand. A dataset with few rows takes the shape of its intervals from
the others and, as far as it has rows, the width from its own scores (empirical Bayes).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from conjoin._typing import FloatArray, IntArray

# Probabilities at which quantiles are kept; between them they are interpolated. Fine in the tails,
# where intervals end.
TAIL = (0.0025, 0.005, 0.01, 0.015, 0.02, 0.025, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4)
PROBABILITIES = np.array([*TAIL, 0.5, *(1 - p for p in reversed(TAIL))])
# Scores that a dataset borrows from the others. With 30 rows of its own it is half and half: that
# few say little about tails of 5 %.
BORROWED = 30.0
# Points that stand for the borrowed scores: enough for the outermost probability.
POINTS = 400


@dataclass(frozen=True, eq=False)
class Spread:
    """Quantiles at `PROBABILITIES` (L,); see the module's table.

    Parameters
    ----------
    own : array (K, L)
    unseen, shape : arrays (L,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> dataset = np.repeat([0, 1], [2000, 8])
    >>> spread = Spread.of(rng.standard_normal(2008), dataset, 2)
    >>> [end.round(1).tolist() for end in spread.ends(np.array([0, 1, -1]), 0.9)]
    [[-1.7, -1.7, -2.9], [1.6, 1.3, 2.5]]
    """

    own: FloatArray
    unseen: FloatArray
    shape: FloatArray

    @classmethod
    def of(
        cls, scores: FloatArray, dataset: IntArray, K: int, unseen: FloatArray | None = None
    ) -> "Spread":
        """Find quantiles of scores (n,) of datasets (n,) numbered from 0.

        `unseen` (n,) are the scores of the same rows under a model that has not seen their dataset;
        by default those of `scores`.
        """
        scale = shrunk_scales(scores, dataset, K)
        count = np.bincount(dataset, minlength=K)
        equal = (1 / np.maximum(count, 1))[dataset]
        points = (np.arange(POINTS) + 0.5) / POINTS
        standard = scores / scale[dataset]
        borrowed = weighted_quantiles(standard, equal, points)
        order = np.argsort(dataset, kind="stable")
        parts = np.split(scores[order], np.cumsum(count)[:-1])
        own = np.stack([_mixed(part, borrowed * s) for part, s in zip(parts, scale)])
        far = scores if unseen is None else unseen
        # A new dataset is as likely to be the farthest as any at hand.
        present = max(int(np.sum(count > 0)), 1)
        wide = 0.5 + (PROBABILITIES - 0.5) * (1 + 1 / present)
        reach = weighted_quantiles(far, equal, np.clip(wide, TAIL[0], 1 - TAIL[0]))
        return cls(own, reach, weighted_quantiles(standard, equal, PROBABILITIES))

    @classmethod
    def normal(cls, scale: FloatArray, unseen: float) -> "Spread":
        """Return the quantiles of normal scores with given scales (K,), where rows are elsewhere.

        The scales of datasets without a known one are the mean of the others.
        """
        shape = ndtri(PROBABILITIES)
        known = np.isfinite(scale)
        filled = np.where(known, scale, scale[known].mean() if known.any() else unseen)
        return cls(filled[:, None] * shape, unseen * shape, shape)

    def ends(self, dataset: IntArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the lower and the upper end (n,) of scores; dataset -1 was not seen."""
        return self.quantile(dataset, (1 - level) / 2), self.quantile(dataset, (1 + level) / 2)

    def quantile(self, dataset: IntArray, probability: float) -> FloatArray:
        """Return the quantile (n,) of the scores of each row's dataset; -1 was not seen."""
        found: FloatArray = _at(self._table, probability)[dataset]
        return found

    def of_shape(self, probability: float) -> float:
        """Return the quantile of a score over its scale."""
        return float(_at(self.shape[None], probability)[0])

    @cached_property
    def _table(self) -> FloatArray:
        """Own quantiles, with those of unseen datasets as the last line."""
        return np.concatenate([self.own, self.unseen[None]])


def _at(table: FloatArray, probability: float) -> FloatArray:
    """Return the quantiles (K,) of a table (K, L) at any probability within its range."""
    j = int(np.clip(np.searchsorted(PROBABILITIES, probability), 1, len(PROBABILITIES) - 1))
    low, high = PROBABILITIES[j - 1], PROBABILITIES[j]
    share = np.clip((probability - low) / (high - low), 0.0, 1.0)
    found: FloatArray = table[:, j - 1] * (1 - share) + table[:, j] * share
    return found


def _mixed(own: FloatArray, borrowed: FloatArray) -> FloatArray:
    """Return quantiles (L,) of a dataset's own scores (n,) with borrowed ones (POINTS,)."""
    weights = np.append(np.ones(len(own)), np.full(len(borrowed), BORROWED / len(borrowed)))
    return weighted_quantiles(np.append(own, borrowed), weights, PROBABILITIES, ends=0.5)


def weighted_quantiles(
    values: FloatArray, weights: FloatArray, at: FloatArray, ends: float = 0.0
) -> FloatArray:
    """Return quantiles (L,) of values (n,); `ends` is a weight beyond either end.

    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.ones(3), np.array([0.1, 0.5, 0.9]))
    array([1., 2., 3.])
    """
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(weights[order])
    total = sums[-1] + 2 * ends
    middle = (sums - weights[order] / 2 + ends) / total
    found: FloatArray = np.interp(at, middle, values[order])
    return found


def shrunk_scales(scores: FloatArray, dataset: IntArray, K: int) -> FloatArray:
    """Return the root mean square (K,) of scores of each dataset, shrunk towards that of all.

    Logarithms of mean squares are normal around that of all, with a variance between datasets by
    the method of moments (DerSimonian and Laird 1986).
    """
    n = np.bincount(dataset, minlength=K).astype(np.float64)
    squares = np.bincount(dataset, scores**2, minlength=K)
    known = (n > 0) & (squares > 0)
    if not known.any():
        return np.ones(K)
    mean = squares / np.maximum(n, 1)
    logs = np.log(np.where(known, mean, 1.0))
    standard = scores**2 / np.where(known, mean, 1.0)[dataset]
    # Variance of a score's square over its mean, at least that of normal scores.
    spread = max(float(np.mean(standard**2)) - 1, 2.0)
    error = spread / np.maximum(n, 1)
    weight = np.where(known, 1 / error, 0.0)
    centre = float(weight @ logs / weight.sum())
    excess = float(weight @ (logs - centre) ** 2) - (known.sum() - 1)
    free = weight.sum() - float(weight @ weight) / weight.sum()
    between = max(excess / free, 0.0) if free > 0 else 0.0
    kept = np.where(known, between / (between + error), 0.0)
    return np.exp((centre + kept * (logs - centre)) / 2)
