"""A full covariance of deviations."""

import numpy as np

from conjoin.models.full import fit_full
from conjoin.models.partial import DIAGONAL, fit_variances, posterior
from conjoin.moments import Moments


def test_evidence_rises_where_deviations_are_correlated():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 20, 3))
    X[:, :, 0] = 1.0
    common = rng.standard_normal((60, 1))
    beta = np.hstack([common, common, -common]) + 0.1 * rng.standard_normal((60, 3))
    y = np.einsum("knp,kp->kn", X, beta) + rng.standard_normal((60, 20))
    moments = Moments.from_rows(X, y / y.std())
    diagonal = fit_variances(moments, DIAGONAL)
    full = fit_full(moments, diagonal)
    rise = posterior(moments, full).log_evidence - posterior(moments, diagonal).log_evidence
    assert rise > 30
    T = full.L @ full.L.T
    assert T[0, 1] > 0.5 * np.sqrt(T[0, 0] * T[1, 1])
