"""Objectives of a collection with known truth, for tests of groupings."""

import numpy as np

from conjoin.grouping import agglomerative as ag
from conjoin.grouping.objective import RiskObjective, ValidatedObjective
from conjoin.grouping.search import evidence
from conjoin.models.noise import noise_variances
from conjoin.models.partial import SLOPES, fit_variances

NAMES = ["risk", "evidence", "validated"]


def same_partition(a, b):
    """Whether two labellings make the same clusters."""
    return (ag.relabel(np.asarray(a)) == ag.relabel(np.asarray(b))).all()


def objectives(truth):
    """Every objective, with equal weights of the datasets."""
    K = len(truth.beta)
    w = np.full(K, 1 / K)
    return {
        "risk": RiskObjective.of(truth.moments, noise_variances(truth.moments), w),
        "evidence": evidence(truth.moments, fit_variances(truth.moments, SLOPES))[1],
        "validated": ValidatedObjective.of(truth.folds, w),
    }
