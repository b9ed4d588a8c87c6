"""How good probabilities of classes are: log loss, Brier score, AUC and calibration.

Probabilities of held-out rows enter (`HeldOut`), scores of every dataset and bins of calibration
leave. Row weights count in all of them.

==========  ====================================================================  ========
symbol      meaning                                                               shape
==========  ====================================================================  ========
P           probability of each class                                             (N, C)
y           position of the true class                                            (N,)
w           row weights                                                           (N,)
dataset     position of the row's dataset                                         (N,)
==========  ====================================================================  ========

**Brier score.** The mean squared difference between probability and outcome, summed over classes:
from 0 to 2. For two classes it is half of that, the squared difference for one class: from 0 to 1.

**AUC.** How often a row of a class gets a higher probability of that class than a row of another
class. Ties count half. For two classes it is that of the second class. For more it is the mean over
the classes that a dataset has, each against the rest. It is nan for a dataset with one class.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtri

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.families import Label
from conjoin.models.held_out import HeldOut

# Bins of a calibration curve, the usual number. More leave few rows in each and wide intervals;
# fewer hide at which probabilities the model is wrong.
BINS = 10
# With fewer non-empty bins, bins get equal numbers of rows instead of equal widths: probabilities
# of a rare class all lie in the first bins, and three points make no curve.
FEWEST_BINS = 4
LEVEL = 0.9  # confidence of the intervals for observed shares; that of verdicts by default
# In place of a probability of zero, whose logarithm would be infinite: the smallest normal number.
LEAST = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Scores:
    """How good the probabilities of a dataset are on held-out rows.

    Parameters
    ----------
    log_loss : float
        Mean of minus the logarithm of the probability of the true class.
    brier : float
        Brier score: for two classes the mean squared difference between probability and outcome,
        for more the sum of these over classes.
    auc : float
        Area under the ROC curve; for more than two classes the mean of one class against the rest.
        nan if the dataset has one class only.
    rows : int
        Number of rows with a weight above zero.
    shares : mapping of class to float
        Share of each class in the rows.
    """

    log_loss: float
    brier: float
    auc: float
    rows: int
    shares: Mapping[Label, float] = field(repr=False)


@dataclass(frozen=True)
class Bin:
    """Predictions of about the same probability, and how often they were right.

    Parameters
    ----------
    low, high : float
        Ends of the bin.
    predicted : float
        Mean predicted probability.
    observed : float
        Share of these predictions that were right.
    rows : int
        Number of predictions: one for each row, or with more than two classes one for each row and
        class.
    interval : (float, float)
        Wilson's confidence interval of the observed share, at 90 %.
    """

    low: float
    high: float
    predicted: float
    observed: float
    rows: int
    interval: tuple[float, float]


@dataclass(frozen=True)
class Scored:
    """Scores of every dataset, and the calibration of all rows together.

    Parameters
    ----------
    scores : dict of dataset name to Scores
        Scores of each dataset.
    calibration : tuple of Bin
        Bins of predicted probability, from low to high.
    """

    scores: dict[str, Scores]
    calibration: tuple[Bin, ...]

    def means(self) -> dict[str, float]:
        """Return log loss, Brier score and AUC averaged over datasets.

        Datasets without an AUC are left out of its average.

        >>> one = Scores(0.5, 0.1, float("nan"), 20, {})
        >>> two = Scores(0.3, 0.3, 0.8, 10, {})
        >>> Scored({"a": one, "b": two}, ()).means()
        {'log_loss': 0.4, 'brier': 0.2, 'auc': 0.8}
        """
        found = list(self.scores.values())
        areas = [one.auc for one in found if not np.isnan(one.auc)]
        return {
            "log_loss": float(np.mean([one.log_loss for one in found])),
            "brier": float(np.mean([one.brier for one in found])),
            "auc": float(np.mean(areas)) if areas else float("nan"),
        }


def score(held_out: HeldOut, names: tuple[str, ...], classes: tuple[Label, ...]) -> Scored:
    """Return the scores of datasets, by name, and the calibration of all rows."""
    h, K = held_out, len(names)
    total = np.bincount(h.dataset, h.w, minlength=K)
    rows = np.bincount(h.dataset, minlength=K)

    def mean(values: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            found: FloatArray = np.bincount(h.dataset, h.w * values, minlength=K) / total
        return found

    loss, brier = mean(log_losses(h.P, h.y)), mean(brier_scores(h.P, h.y))
    area = auc(h.P, h.y, h.w, h.dataset, K)
    shares = [mean((h.y == c).astype(np.float64)).tolist() for c in range(len(classes))]
    found = {
        name: Scores(
            float(loss[k]),
            float(brier[k]),
            float(area[k]),
            int(rows[k]),
            {label: shares[c][k] for c, label in enumerate(classes)},
        )
        for k, name in enumerate(names)
    }
    return Scored(found, calibrate(h.P, h.y, h.w))


def log_losses(P: FloatArray, y: IntArray) -> FloatArray:
    """Return minus the logarithm of the probability of the true class (N,)."""
    loss: FloatArray = -np.log(np.maximum(P[np.arange(len(y)), y], LEAST))
    return loss


def brier_scores(P: FloatArray, y: IntArray) -> FloatArray:
    """Return squared differences of probability and outcome (N,); half of that for two classes."""
    miss = P.copy()
    miss[np.arange(len(y)), y] -= 1.0
    total: FloatArray = np.sum(miss**2, axis=1)
    return total / 2 if P.shape[1] == 2 else total


def auc(P: FloatArray, y: IntArray, w: FloatArray, dataset: IntArray, K: int) -> FloatArray:
    """Return the AUC of each dataset (K,), as the module docstring defines it."""
    C = P.shape[1]
    if C == 2:
        return rank_auc(P[:, 1], y == 1, w, dataset, K)
    areas = np.stack([rank_auc(P[:, c], y == c, w, dataset, K) for c in range(C)])
    known = ~np.isnan(areas)
    found: FloatArray = np.full(K, np.nan)
    np.divide(np.where(known, areas, 0.0).sum(axis=0), known.sum(axis=0), out=found,
              where=known.any(axis=0))  # fmt: skip
    return found


def rank_auc(
    p: FloatArray, positive: BoolArray, w: FloatArray, dataset: IntArray, K: int
) -> FloatArray:
    """Return how often a positive row has a higher p than a negative one, by dataset (K,).

    >>> p, positive = np.array([0.1, 0.4, 0.4, 0.9]), np.array([False, False, True, True])
    >>> rank_auc(p, positive, np.ones(4), np.zeros(4, int), 1)
    array([0.875])
    """
    order = np.lexsort((p, dataset))
    p, positive, w, dataset = p[order], positive[order], w[order], dataset[order]
    if not len(p):
        return np.full(K, np.nan)
    new = np.concatenate([[True], (np.diff(p) > 0) | (np.diff(dataset) > 0)])
    tie = np.cumsum(new) - 1  # rows of one dataset with the same p
    won = np.bincount(tie, np.where(positive, w, 0.0))
    lost = np.bincount(tie, np.where(positive, 0.0, w))
    owner = dataset[new]
    positives, negatives = (np.bincount(owner, x, minlength=K) for x in (won, lost))
    before = np.concatenate([[0.0], np.cumsum(negatives)[:-1]])  # in datasets before
    below = np.cumsum(lost) - lost / 2 - before[owner]
    pairs = positives * negatives
    found: FloatArray = np.full(K, np.nan)
    return np.divide(
        np.bincount(owner, won * below, minlength=K), pairs, out=found, where=pairs > 0
    )


def calibrate(P: FloatArray, y: IntArray, w: FloatArray, bins: int = BINS) -> tuple[Bin, ...]:
    """Return the bins of predicted probability that have rows.

    The probabilities are those of the second of two classes, or of every class of every row. Bins
    have equal widths. If that puts nearly all rows into few bins, as for a rare class, bins have
    equal numbers of rows instead.
    """
    if P.shape[1] == 2:
        p, true = P[:, 1], y == 1
    else:
        p, true = P.ravel(), (y[:, None] == np.arange(P.shape[1])).ravel()
        w = np.repeat(w, P.shape[1])
    edges = np.linspace(0.0, 1.0, bins + 1)
    place = np.searchsorted(edges[1:-1], p)  # an edge belongs to the bin below it
    if len(np.unique(place)) < FEWEST_BINS and len(p):
        edges = np.quantile(p, edges)
        place = np.searchsorted(edges[1:-1], p)
    rows = np.bincount(place, minlength=bins)
    total, predicted, observed, squares = (
        np.bincount(place, x, minlength=bins) for x in (w, w * p, w * true, w**2)
    )
    found = []
    for i in np.flatnonzero(total > 0):
        share = float(min(observed[i] / total[i], 1.0))
        found.append(
            Bin(
                float(edges[i]),
                float(edges[i + 1]),
                float(predicted[i] / total[i]),
                share,
                int(rows[i]),
                wilson(share, float(total[i] ** 2 / squares[i])),
            )
        )
    return tuple(found)


def wilson(share: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Return Wilson's confidence interval for a share observed in n rows.

    >>> tuple(round(x, 3) for x in wilson(0.5, 10))
    (0.269, 0.731)
    """
    z = float(ndtri((1 + level) / 2))
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * float(np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)))
    return max(middle - half, 0.0), min(middle + half, 1.0)
