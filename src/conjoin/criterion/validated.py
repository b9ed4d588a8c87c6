"""Validated risk of a pair: cross-validated errors from fold moments.

No assumption on noise or design: each fold of both units is predicted by separate fits and by the
joint fit to the other folds. Ten folds by default; with five the fits see so few rows that the
gain of joining is overstated.
"""

from dataclasses import dataclass

import numpy as np

from conjoin import linalg
from conjoin.checks import check_count
from conjoin.criterion.base import PairScore, Unit
from conjoin.moments import Moments
from conjoin.moments.basis import FARTHEST
from conjoin.moments.folds import deal, fold_moments

LARGEST_TARGET = 2.0**20  # standard deviations


@dataclass(frozen=True)
class Validated:
    """Join where the cross-validated error falls.

    Parameters
    ----------
    folds : int
        Number of folds.
    """

    folds: int = 10

    def __post_init__(self) -> None:
        check_count("folds", self.folds, least=2)

    @property
    def threshold(self) -> float:
        """Join where the gain is positive."""
        return 0.0

    def prepare(self, unit: Unit, seed: int) -> Moments:
        """Return the fold moments of the unit's datasets, (K, F)."""
        starts = np.concatenate([[0], np.cumsum(unit.sizes)])
        columns = unit.Z.shape[1]
        # Bounds that hold for any unit, so that a dataset's folds stay when others join it.
        largest = np.append(np.full(columns, FARTHEST), LARGEST_TARGET)
        names = [str(j) for j in range(columns)]
        fold = deal(unit.Z, unit.t, starts, names, self.folds, seed, largest)
        return fold_moments(unit.Z, unit.t, unit.weights, starts, fold, self.folds)

    def compare(self, a: Moments, b: Moments) -> PairScore:
        """Return the gain in cross-validated error, over that of separate fits."""
        both = Moments.concatenate([a, b])
        own = np.concatenate([_errors(a), _errors(b)])
        score = float(np.sum(own - _errors(both)) / max(np.sum(own), np.finfo(float).tiny))
        return PairScore(score, score > self.threshold)


def _errors(folds: Moments) -> np.ndarray:
    """Return the cross-validated error of each dataset (K,) of one cluster's joint fit."""
    joint = folds.union(0)
    whole = joint.union(0)
    rest = whole - joint
    beta = linalg.solve(rest.G, rest.h)  # (F, p)
    total: np.ndarray = folds.sse(beta).sum(axis=1) / folds.w.sum(axis=1)
    return total
