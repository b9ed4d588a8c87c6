"""Join, apart or undecided from losses on held-out rows, for any learner.

How much each row's loss falls if the two datasets are trained together enters, averaged over
repeated cross-validation; the gain, its confidence interval and the verdict leave.

==========  ==========================================================================
symbol      meaning
==========  ==========================================================================
d_i         loss of row i by the model of its own dataset, less that by the model
            of both, each trained without the row; the mean over repeats
g           mean of d_i over the rows of each dataset, then over the two: the gain. Where
            groups of datasets are compared, the mean over all datasets of both groups
c_i         what row i adds to g, less the mean of its dataset, or of its group of
            datasets; copies of a row are one
m           distinct rows of the dataset
v           sum(c^2 m/(m-15)): the variance of g if the d_i were independent, as
            if 15 rows of each dataset had been spent on the models
k           number of folds
(1 + k/(k-1)) v    the variance that is used
nu          2 / (sum(c^4) / sum(c^2)^2 - 1 / n): degrees of freedom of v
            (Satterthwaite); few where few rows carry the difference
==========  ==========================================================================

The central limit theorem of cross-validation (Bayle, Bayle, Janson, Mackey 2020) says that v is the
variance of g for learners whose losses hardly depend on single training rows. A difference between
two models that are nearly the same does depend on them: row i trains the models that row j is
judged by, and row j those that row i is judged by. For models that are linear in the target, d is a
quadratic form in the noise, and the two shares of every pair of rows are equal, so that the
variance is 2 v. Nadeau and Bengio (2003) correct the variance over folds by the same amount: from
1/k to 1/k + 1/(k-1), which is 1 + k/(k-1) times as much, 2.25 for five folds. With few rows trees
change even more with the rows they see: at 50 rows of each dataset and 20 rows in a leaf, the
variance of boosting's gain was 2 to 3 times that of independent rows. So a number of rows counts as
spent. Measured levels are in `benchmarks/levels/learners.csv`.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from conjoin._typing import FloatArray, IntArray
from conjoin.criterion.verdict import Answer

# Rows of each dataset that count as spent on the models. With 50 rows the factor on the variance is
# then 3.2, and boosting with 20 rows in a leaf keeps its level there: of 100 pairs with a true gain
# near zero, 6 are joined and 10 kept apart. Without it 15 and 14 were. With 500 rows it is 2.3.
SPENT = 15
# Fewest degrees of freedom that t has a quantile for: one row carries everything.
FEWEST_DEGREES = 1.0
# Degrees of freedom below which a few rows carry the difference: t's quantile at level 0.1 is then
# 8 % above the normal one, so the few rows widen the interval visibly.
FEW_DEGREES = 10.0


@dataclass(frozen=True)
class PairedVerdict:
    """What held-out rows say about joining two datasets.

    Parameters
    ----------
    verdict : "join", "apart" or "undecided"
        "join" where the lower end of the interval is above zero, "apart" where the upper end is
        below zero; each is wrong with probability at most delta.
    gain : float
        Fall of the mean loss, averaged over the two datasets.
    interval : (float, float)
        Each end holds with confidence 1 - delta.
    degrees : float
        Degrees of freedom of the variance; few where few rows carry the difference.
    standard_error : float
        Of the gain.
    """

    verdict: Answer
    gain: float
    interval: tuple[float, float]
    degrees: float
    standard_error: float

    @property
    def p_value(self) -> float:
        """P-value of the test behind the verdict: the smaller of those for "join" and "apart"."""
        if self.standard_error == 0:
            return 0.0 if self.gain else 1.0
        return float(stdtr(self.degrees, -abs(self.gain) / self.standard_error))

    @property
    def few_rows_decide(self) -> bool:
        """Whether a few rows carry most of the difference."""
        return self.degrees < FEW_DEGREES


def judge_losses(
    falls: FloatArray,
    weights: FloatArray,
    dataset: IntArray,
    *,
    delta: float,
    folds: int,
    unit: IntArray | None = None,
    share: tuple[float, float] = (0.5, 0.5),
) -> PairedVerdict:
    """Return the verdict on two datasets, or groups of datasets, from the fall of each row's loss.

    Parameters
    ----------
    falls : array (n,)
        Loss by the separate models less that by the joint one, the mean over repeats.
    weights : array (n,)
        Row weights.
    dataset : array (n,)
        0 or 1.
    delta : float
        Level of the verdict and of each end of the interval.
    folds : int
        Number of folds.
    unit : array (n,), optional
        Rows with the same number are copies of each other; by default none are.
    share : (float, float), default (0.5, 0.5)
        How much each of the two counts.

    Returns
    -------
    PairedVerdict

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> falls, dataset = rng.normal(1.0, 1.0, 100), np.arange(100) % 2
    >>> found = judge_losses(falls, np.ones(100), dataset, delta=0.1, folds=5)
    >>> found.verdict, [round(end, 2) for end in found.interval]
    ('join', [0.86, 1.3])
    """
    total = np.bincount(dataset, weights, minlength=2)
    counted = np.asarray(share)
    means = np.bincount(dataset, weights * falls, minlength=2) / total
    gain = float(counted @ means)
    parts: FloatArray = weights * (counted / total)[dataset] * (falls - means[dataset])
    owner = dataset
    if unit is not None:
        parts = np.asarray(np.bincount(unit, parts), dtype=np.float64)
        owner = np.zeros(len(parts), dtype=np.int64)
        owner[unit] = dataset
    n, counts = len(parts), np.bincount(owner, minlength=2)
    parts = parts * np.sqrt(counts / np.maximum(counts - SPENT, 1))[owner]
    size = 2.0 ** np.frexp(np.abs(parts).max())[1]  # losses of 1e240 have no squares
    parts = parts / size
    squares = float(np.sum(parts**2))
    if squares == 0:
        return PairedVerdict(_answer(gain, gain), gain, (gain, gain), float(n - 1), 0.0)
    excess = float(np.sum(parts**4)) / squares**2 - 1 / n
    degrees = n - 2.0 if excess <= 0 else min(max(2 / excess, FEWEST_DEGREES), n - 2.0)
    error = float(np.sqrt((1 + folds / (folds - 1)) * squares) * size)
    half = float(stdtrit(degrees, 1 - delta)) * error
    low, high = gain - half, gain + half
    return PairedVerdict(_answer(low, high), gain, (low, high), degrees, error)


def _answer(low: float, high: float) -> Answer:
    return "join" if low > 0 else "apart" if high < 0 else "undecided"
