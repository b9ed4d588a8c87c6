"""How much lower one error is than another, with an interval, and which datasets decide it.

Losses (F, K) of two models on the same held-out rows enter, by fold and dataset; the ratio of their
mean errors leaves, with an interval, and the share of each dataset in what is compared.

==========  ======================================================================
symbol      meaning
==========  ======================================================================
a, b        parts of the two mean errors, by dataset (from 8 datasets on) or by
            cell of dataset x fold, (m,)
r           log(sum(a) / sum(b)): below 0 where the first error is lower
r_i         the same without part i (jackknife)
d_i         (m - 1) (r - r_i): what part i adds to r, times m
v           sum((d - mean(d))^2) / (m (m - 1)): the variance of r
10/3 v      the variance of the difference between r and what a check on three new
            rows for every seven will show: both have the noise of rows
nu          2 / (sum(c^4) / sum(c^2)^2 - 1 / m) with c = d - mean(d): degrees of
            freedom of v (Satterthwaite), at most m - 1
==========  ======================================================================

Mean squared errors are skewed and positive, so the interval is formed for the logarithm of their
ratio. Where one dataset carries everything, v is large and nu is near 2, so the interval is wide.
Datasets were fitted and drawn independently, so they are the units wherever there are enough. A
part holds finitely many rows; their noise is in the scatter of the parts.

Fits outside a fold have fewer rows than the fit that predicts, which costs separate models most. So
the interval is formed around the ratio of corrected errors (Burman 1989): the loss of the fit to
all rows on all rows, less the mean of the same of the fits outside the folds, is added
(`Validated.shift`). The ratio itself is that of the errors as they are shown.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from conjoin._typing import FloatArray, IntArray
from conjoin.families import LARGEST_LOG
from conjoin.strategies.average import paired_parts

# Confidence of all intervals of errors, as for those of strategies and coefficients.
LEVEL = 0.9
# Times the variance of an estimate. Intervals are for what a usual check will show: models fitted
# to 70 % of the rows, compared on the other 30 %. Those have 7/3 times the noise of the estimate,
# and it comes on top. Intervals of the estimate alone would be too narrow for anybody who looks.
NEW_ROWS = 1 + 0.7 / 0.3
# Fewest degrees of freedom: with one part that differs from the others, nothing more is known.
FEWEST_DEGREES = 1.0
# Share of an error from which the datasets that carry it are named: over half of it, and with few
# datasets over twice what as many carry on average.
CARRIED, TIMES_AVERAGE = 0.5, 2.0
# Datasets that are named together: three or more that carry half of an error are many enough for a
# mean.
MOST_CARRIERS = 2


@dataclass(frozen=True)
class Ratio:
    """The ratio of two mean errors, with the ends of its interval.

    Below 1 where the first error is lower. All are nan if one of the errors is zero or unknown.
    """

    value: float
    low: float
    high: float


UNKNOWN = Ratio(float("nan"), float("nan"), float("nan"))


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Losses of one model on held-out rows.

    Parameters
    ----------
    losses : array (F, K)
        Summed over the rows of each cell of fold and dataset.
    shift : array (K,)
        What is added to the loss of each dataset because the fit that predicts has more rows.
    """

    losses: FloatArray
    shift: FloatArray

    def corrected(self) -> FloatArray:
        """Return losses (F, K) with the shift spread over the folds, never below zero."""
        return np.maximum(self.losses + self.shift / len(self.losses), 0.0)

    def of(self, datasets: IntArray) -> "HeldOut":
        """Return the losses of some datasets."""
        return HeldOut(self.losses[:, datasets], self.shift[datasets])


def compare_errors(one: HeldOut, other: HeldOut, w: FloatArray, weights: FloatArray) -> Ratio:
    """Return the ratio of two mean errors, from losses on the same held-out rows.

    Parameters
    ----------
    one, other : HeldOut
        Losses of the first and of the second model.
    w, weights : arrays (K,)
        Row weights of the datasets, and how much each dataset counts.

    Returns
    -------
    Ratio

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> other = 10 * rng.chisquare(9, size=(10, 20))
    >>> one, other = (HeldOut(x * other, np.zeros(20)) for x in (0.8, 1.0))
    >>> found = compare_errors(one, other, np.full(20, 100.0), np.full(20, 0.05))
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.8, 0.8, 0.8)
    """
    value = ratio_of_sums(*paired_parts(np.stack([one.losses, other.losses]), w, weights)).value
    corrected = np.stack([one.corrected(), other.corrected()])
    found = ratio_of_sums(*paired_parts(corrected, w, weights))
    return Ratio(value, min(value, found.low), max(value, found.high))


def ratio_of_sums(a: FloatArray, b: FloatArray) -> Ratio:
    """Return sum(a) / sum(b) with its interval, from parts (m,) that belong together."""
    known = (a.sum() > 0) and (b.sum() > 0) and np.isfinite(a.sum() + b.sum())
    m = len(a)
    if not known or m < 2:
        return UNKNOWN
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(a.sum() / b.sum())
        without = np.log((a.sum() - a) / (b.sum() - b))
    value = float(np.exp(ratio))
    if not np.isfinite(without).all():  # one part has all of an error
        return Ratio(value, 0.0, float("inf"))
    half = _half_width((m - 1) * (ratio - without))
    return Ratio(value, float(np.exp(ratio - half)), float(np.exp(min(ratio + half, LARGEST_LOG))))


def error_interval(
    losses: FloatArray,
    w: FloatArray,
    dataset_weights: FloatArray,
    noise: FloatArray | None = None,
) -> tuple[float, float]:
    """Return the ends of the interval of a mean error on new rows of these datasets.

    The datasets stay the same, so only the scatter of the folds inside each counts. It is formed
    for the logarithm of the error. `noise` (K,) is what else is uncertain about each dataset's
    error: a known variance over the square of the error (differential privacy).
    """
    F, K = losses.shape
    parts = losses / w * dataset_weights
    mean = float(parts.sum())
    if not mean > 0 or not np.isfinite(mean) or F < 2:
        return float("nan"), float("nan")
    parts = parts / mean  # squares of squares of very small errors would vanish
    inside = parts - parts.mean(axis=0)
    variances = F / (F - 1) * np.sum(inside**2, axis=0)  # of the sum over the folds, by dataset
    variance = NEW_ROWS * float(variances.sum())
    if noise is not None:
        variance += float(np.sum(noise * parts.sum(axis=0) ** 2))
    if variance == 0:
        return mean, mean
    # Satterthwaite: degrees of freedom of a sum of variances with F - 1 degrees each. The variance
    # of known noise has no error.
    fourth = NEW_ROWS**2 * float(np.sum(variances**2))
    degrees = max((F - 1) * variance**2 / fourth, FEWEST_DEGREES) if fourth > 0 else np.inf
    half = float(stdtrit(degrees, (1 + LEVEL) / 2)) * np.sqrt(variance)
    return float(mean * np.exp(-half)), float(mean * np.exp(min(half, LARGEST_LOG)))


def typical_ratio(one: HeldOut, other: HeldOut) -> float:
    """Return the median over folds and datasets of the ratio of two losses; nan if none is known.

    >>> cells = np.ones((3, 3))
    >>> far = np.where(np.eye(3) > 0, 1e6, 1.25)
    >>> typical_ratio(HeldOut(cells, np.zeros(3)), HeldOut(far, np.zeros(3)))
    0.8
    """
    known = (one.losses > 0) & (other.losses > 0) & np.isfinite(one.losses + other.losses)
    if not known.any():
        return float("nan")
    return float(np.median(one.losses[known] / other.losses[known]))


def _half_width(d: FloatArray) -> float:
    """Return half the width of the interval of a mean of parts (m,)."""
    m = len(d)
    c = d - d.mean()
    squares = float(np.sum(c**2))
    if squares == 0:
        return 0.0
    excess = float(np.sum(c**4)) / squares**2 - 1 / m
    degrees = m - 1 if excess <= 0 else min(max(2 / excess, FEWEST_DEGREES), m - 1)
    variance = NEW_ROWS * squares / (m * (m - 1))
    return float(stdtrit(degrees, (1 + LEVEL) / 2) * np.sqrt(variance))


def carriers(errors: FloatArray, others: FloatArray) -> IntArray:
    """Return the datasets, at most two, that carry over half of an error or of an improvement.

    Parameters
    ----------
    errors, others : arrays (K,)
        What each dataset adds to the mean error of the model in question, and of the one that it is
        compared with.

    Returns
    -------
    array of int
        Numbers of the datasets, the largest share first; empty if no two carry half.

    Examples
    --------
    >>> carriers(np.ones(9), np.array([1.0, 40, 1, 1, 1, 1, 1, 1, 1])).tolist()
    [1]
    >>> carriers(np.full(9, 0.9), np.ones(9)).tolist()
    []
    """
    K = len(errors)
    # With four datasets or fewer, two of them carry half anyway.
    if 2 * MOST_CARRIERS >= K or not np.isfinite(errors + others).all():
        return np.zeros(0, dtype=np.intp)
    fall = others - errors
    signed = fall * np.sign(fall.sum())  # what each adds to the improvement, or to the loss
    for count in range(1, MOST_CARRIERS + 1):
        least = max(CARRIED, TIMES_AVERAGE * count / K)
        for parts, total in ((others, others.sum()), (signed, np.abs(fall).sum())):
            order = np.argsort(-parts, kind="stable")[:count]
            if total > 0 and parts[order].sum() > least * total:
                return order
    return np.zeros(0, dtype=np.intp)
