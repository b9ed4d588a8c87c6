"""Where a new dataset belongs: how likely its rows are under each cluster.

Rows of the new dataset with known target enter; the probability of each cluster, and a model for
the new dataset, leave. `engine.placing` makes a `Placement` from the moments of the known datasets.

==========  =================================================================  ===============
symbol      meaning                                                            shape
==========  =================================================================  ===============
centre      expected coefficients of each cluster, last of no cluster          (C + 1, p)
S           covariance of coefficients around it                               (C + 1, p, p)
G, h        moments of the new rows over the noise variance                    (p, p), (p,)
step        from a centre to the coefficients given the rows                   (C + 1, p)
==========  =================================================================  ===============

With h' = h - G centre the step is S (I + G S)^-1 h'. The log density of the rows is, up to a
constant that all clusters share, -1/2 [squared residuals at the centre / noise - h'step
+ log det(I + G S)]. For classes and counts, Newton's method repeats this with the moments at the
coefficients found so far (Laplace's approximation).
"""

from dataclasses import dataclass

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray
from conjoin.errors import DataError
from conjoin.models.glm_families import GlmFamily
from conjoin.models.padded_rows import PaddedRows
from conjoin.moments import Basis

# Newton steps at most. No step moves a coefficient by more than 1, so this many reach coefficients
# of about 20 on standardised columns; near the mode a few steps give all digits.
MOVES = 25
# Change of a coefficient at which the steps end. Newton's method squares the error in each step, so
# what is left is below rounding.
STAYS = 1e-8


@dataclass(frozen=True, eq=False)
class Placement:
    """What is needed to place a new dataset, in working coordinates.

    Parameters
    ----------
    basis : Basis
        The coordinates.
    noise : float
        Common noise variance; for counts the dispersion.
    centre : array (C + 1, p)
        Expected coefficients of each cluster, then of a dataset that belongs to none.
    covariance : array (C + 1, p, p)
        Covariance of the coefficients around `centre`.
    datasets : array (C + 1,)
        Prior weights: the number of datasets in each cluster, then 1.
    means : array (C, features)
        Mean features of each cluster; nan for clusters of very few rows.
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
        """Return the probability of each cluster and of none (C + 1,), and the average model (p,).

        X (rows, features) and y (rows,) are in the units of the data.
        """
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
        """Return the same for classes and counts, by Laplace's approximation."""
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
        """Return steps from the centres, h'step and log det(I + G S).

        G is (C + 1, p, p), h (p,) or (C + 1, p).
        """
        misfit = h - linalg.matvec(G, self.centre)
        inner = np.matmul(G, self.covariance)
        index = np.arange(inner.shape[-1])
        inner[:, index, index] += 1.0
        step = linalg.matvec(self.covariance, np.linalg.solve(inner, misfit[..., None])[..., 0])
        return step, linalg.dot(misfit, step), np.linalg.slogdet(inner)[1]

    def nearest(self, X: FloatArray) -> int:
        """Return the cluster whose mean features are nearest to those of rows (n, features).

        Raises
        ------
        DataError
            If no cluster has known mean features.
        """
        mean = np.mean(self.basis.features(X), axis=0)
        distance = np.sum((self.means - mean) ** 2, axis=1)
        if np.isnan(distance).all():
            raise DataError(
                "on_unseen='nearest' needs an intercept and a cluster of at least five rows to say "
                "which cluster is nearest; choose on_unseen='pooled'."
            )
        return int(np.nanargmin(distance))
