"""Where a new dataset belongs: how likely each cluster makes its rows.

==========  =================================================================  ===============
symbol      meaning                                                            shape
==========  =================================================================  ===============
centre      expected coefficients of each cluster, last of no cluster          (C + 1, p)
S           covariance of coefficients around it                               (C + 1, p, p)
G, h        moments of the new rows over the noise variance                    (p, p), (p,)
step        from a centre to the coefficients given the rows                   (C + 1, p)
==========  =================================================================  ===============

With h' = h - G centre the step is S (I + G S)^-1 h', and the log density of the rows, up to what
all possibilities share, -1/2 [misfit of the centre - h'step + log det(I + G S)]. A likelihood is
brought into this form by moments near the coefficients found so far, until they stay.
"""

from dataclasses import dataclass

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray
from conjoin.errors import DataError
from conjoin.models.glm_families import GlmFamily
from conjoin.models.padded_rows import PaddedRows
from conjoin.moments import Basis

MOVES = 25
STAYS = 1e-8


@dataclass(frozen=True, eq=False)
class Placement:
    """What is needed to place a new dataset, in working coordinates.

    Parameters
    ----------
    basis : Basis
    noise : float
        Common noise variance (of counts: dispersion).
    centre : array (C + 1, p)
        Expected coefficients of each cluster, then of a dataset that belongs to none.
    covariance : array (C + 1, p, p)
        How far coefficients may be from that.
    datasets : array (C + 1,)
        Prior weights: datasets of each cluster, and 1.
    means : array (C, features)
        Means of the features; nan for clusters of very few rows.
    """

    basis: Basis
    noise: float
    centre: FloatArray
    covariance: FloatArray
    datasets: FloatArray
    means: FloatArray

    def place(
        self, X: FloatArray, y: FloatArray, family: GlmFamily | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the probability of each possibility (C + 1,) and the average model (p,)."""
        Z = self.basis.design(X)
        if family is None:
            beta, log = self._by_squares(Z, self.basis.response(y))
        else:
            beta, log = self._by_likelihood(Z, y, family)
        log = log + np.log(self.datasets)
        probability = np.exp(log - log.max())
        probability /= probability.sum()
        return probability, probability @ beta

    def _by_squares(self, Z: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return coefficients (C + 1, p) and log densities (C + 1,) by least squares."""
        G, h = Z.T @ Z / self.noise, Z.T @ t / self.noise
        step, drop, logdet = self._step(np.broadcast_to(G, self.covariance.shape), h)
        residual = t - self.centre @ Z.T
        distance = np.sum(residual**2, axis=-1) / self.noise - drop
        return self.centre + step, -0.5 * (distance + logdet)

    def _by_likelihood(
        self, Z: FloatArray, y: FloatArray, family: GlmFamily
    ) -> tuple[FloatArray, FloatArray]:
        """Return the same under a likelihood (Laplace's approximation)."""
        count = len(self.centre)
        rows = PaddedRows(
            np.broadcast_to(Z, (count, *Z.shape)),
            np.broadcast_to(y, (count, len(y))),
            np.ones((count, len(y))),
        )
        beta = self.centre
        for _ in range(MOVES):
            local = rows.derivatives(beta, family)
            G, s = rows.information(local) / self.noise, rows.score(local) / self.noise
            step, _, logdet = self._step(G, s + linalg.matvec(G, beta))
            moved = self.centre + step
            stays = np.max(np.abs(moved - beta)) < STAYS
            beta = moved if stays else beta + np.clip(moved - beta, -1.0, 1.0)
            if stays:
                break
        away = beta - self.centre
        pull = linalg.dot(away, linalg.matvec(linalg.inverse(self.covariance), away))
        loss = rows.loss(beta, family) / self.noise
        return beta, -(loss + 0.5 * (pull + logdet))

    def _step(self, G: FloatArray, h: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return steps from the centres, h'step and log det(I + G S), for G (C + 1, p, p)."""
        misfit = h - linalg.matvec(G, self.centre)
        inner = np.matmul(G, self.covariance)
        index = np.arange(inner.shape[-1])
        inner[:, index, index] += 1.0
        step = linalg.matvec(self.covariance, np.linalg.solve(inner, misfit[..., None])[..., 0])
        return step, linalg.dot(misfit, step), np.linalg.slogdet(inner)[1]

    def nearest(self, X: FloatArray) -> int:
        """Return the cluster whose mean features are nearest to those of the rows."""
        mean = np.mean((X - self.basis.center) / self.basis.scale, axis=0)
        distance = np.sum((self.means - mean) ** 2, axis=1)
        if np.isnan(distance).all():
            raise DataError(
                "on_unseen='nearest' needs an intercept and a cluster of at least five rows to say "
                "which cluster is nearest; choose on_unseen='pooled'."
            )
        return int(np.nanargmin(distance))
