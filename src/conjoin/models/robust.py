"""Huber's weights: rows far from their model count less.

A design and a target sorted by dataset enter; a weight between 0 and 1 for every row leaves. Least
squares with these weights minimises Huber's loss, so moments with them are all that the engine
needs. Each dataset has its own model, drawn towards that of all rows as by `DRAWN` further rows, so
that small datasets have residuals too.

==========  =====================================================  ============
symbol      meaning                                                shape
==========  =====================================================  ============
Z, t        design and target                                      (N, p), (N,)
r           residuals                                              (N,)
s           robust spread of the residuals of each dataset         (K,)
u           min(1, HUBER s / |r|)                                  (N,)
==========  =====================================================  ============
"""

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.linalg import matvec
from conjoin.models.effort import works_by_rows
from conjoin.models.ols import fit_ols
from conjoin.models.outliers import medians, robust_spreads
from conjoin.models.row_space import row_shrunk
from conjoin.moments import Moments, RowMoments

# Distance in spreads from which a row counts less. With 1.345 (Huber) the fit needs 5 % more rows
# than least squares where the noise is normal.
HUBER = 1.345
STEPS = 10  # of reweighting; weights change by less than 1 % after about five
FEW_STEPS = 5  # where residuals are only looked at for values far out
DRAWN = 1.0  # rows per column by which a dataset's model is drawn towards that of all rows


def huber_weights(
    Z: FloatArray, t: FloatArray, weights: FloatArray, starts: IntArray, *, intercept: bool
) -> FloatArray:
    """Return Huber's weight of every row (N,).

    Parameters
    ----------
    Z : array (N, p)
        Design of the rows, sorted by dataset.
    t : array (N,)
        Target.
    weights : array (N,)
        Given weights of the rows.
    starts : array (K + 1,)
        Dataset k has the rows starts[k] to starts[k+1].
    intercept : bool
        Whether models have an intercept; the first residuals are then those from medians.

    Returns
    -------
    array (N,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Z = np.column_stack([np.ones(200), rng.normal(size=200)])
    >>> t = Z @ [1.0, 2.0] + 0.1 * rng.normal(size=200)
    >>> t[3] = 50.0
    >>> u = huber_weights(Z, t, np.ones(200), np.array([0, 100, 200]), intercept=True)
    >>> int(np.argmin(u)), bool(u[3] < 0.01), float(np.median(u))
    (3, True, 1.0)
    """
    return _reweight(Z, t, weights, starts, intercept, STEPS)[0]


def huber_residuals(
    Z: FloatArray, t: FloatArray, weights: FloatArray, starts: IntArray, *, intercept: bool
) -> FloatArray:
    """Return the residuals (N,) of a robust fit of every dataset; arguments as in `huber_weights`.

    >>> rng = np.random.default_rng(0)
    >>> Z = np.column_stack([np.ones(200), rng.normal(size=200)])
    >>> t = Z @ [1.0, 2.0]
    >>> t[3] += 50.0
    >>> starts = np.array([0, 100, 200])
    >>> r = huber_residuals(Z, t, np.ones(200), starts, intercept=True)
    >>> int(np.argmax(r)), bool(np.abs(np.delete(r, 3)).max() < 0.1)
    (3, True)
    """
    return _reweight(Z, t, weights, starts, intercept, FEW_STEPS)[1]


def _reweight(
    Z: FloatArray,
    t: FloatArray,
    weights: FloatArray,
    starts: IntArray,
    intercept: bool,
    steps: int,
) -> tuple[FloatArray, FloatArray]:
    """Return Huber's weights and the residuals after some steps; both (N,)."""
    sizes = np.diff(starts)
    dataset = np.repeat(np.arange(len(sizes)), sizes)
    r = t - medians(t, starts, dataset)[dataset] if intercept else t
    for _ in range(steps):
        spread = robust_spreads(np.abs(r) * np.sqrt(weights), starts, dataset)[dataset]
        distance = np.abs(r) * np.sqrt(weights)
        far = (distance > HUBER * spread) & (spread > 0)
        u: FloatArray = np.where(far, HUBER * spread / np.where(far, distance, 1.0), 1.0)
        r = t - _fitted(Z, t, weights * u, starts, dataset)
    return u, r


def _fitted(
    Z: FloatArray, t: FloatArray, w: FloatArray, starts: IntArray, dataset: IntArray
) -> FloatArray:
    """Return the fitted values of every dataset's own model (N,)."""
    p = Z.shape[1]
    all_rows = Moments.from_rows(Z, t, w)
    common = fit_ols(all_rows).beta
    prior = DRAWN * p * all_rows.G / all_rows.w
    # A little on the diagonal: columns that others determine leave the matrix singular.
    prior = prior + 1e-9 * np.trace(prior) * np.eye(p)  # far below any information in the rows
    if works_by_rows(np.diff(starts), p, folds=1):
        # In coordinates in which the prior is the identity, systems of rows are enough.
        root = np.linalg.cholesky(prior)
        Z = np.linalg.solve(root, Z.T).T
        beta = row_shrunk(RowMoments.by_dataset(Z, t, starts, w), root.T @ common)
    else:
        m = Moments.by_dataset(Z, t, starts, w)
        own = np.linalg.solve(m.G + prior, (m.h - matvec(m.G, common))[..., None])[..., 0]
        beta = common + own
    fitted: FloatArray = np.einsum("np,np->n", Z, beta[dataset])
    return fitted
