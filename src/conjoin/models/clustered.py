"""The scatter of scores where rows come in clusters: rows of one person, or of one stretch of time.

Enters: rows sorted by dataset, and the cluster of every row. Leaves: a `Scatter`, from which
verdicts take the covariance of coefficients. Rows of one cluster may share noise in any way.

==========  ==================================================================  ============
symbol      meaning                                                             shape
==========  ==================================================================  ============
s_c         sum of the scores w_i e_i x_i over the rows of cluster c            (C, p)
G_c         sum of w_i x_i x_i' over the same rows                              (C, p, p)
A_c         G^-1/2 G_c G^-1/2, the leverage of the cluster                      (C, p, p)
r2, r3      (I - A_c)^-1/2 and (I - A_c)^-1 times G^-1/2 s_c                    (C, p)
M2, M3      G^1/2 (sum of r r') G^1/2 over the clusters of a dataset            (K, p, p)
nu          2 (sum u_c)^2 / sum u_c^2 with u_c = r2'r2, at most clusters - 1    (K,)
==========  ==================================================================  ============

G^+ M2 G^+ and G^+ M3 G^+ are the covariances CR2 (Bell and McCaffrey 2002), unbiased if rows are
independent, and CR3, the jackknife over clusters. With clusters of one row they are HC2 and HC3.
Everything is computed from moments of clusters, so no matrix has a side of rows.
"""

from collections.abc import Iterator

import numpy as np

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.models.noise import noise_variances
from conjoin.models.ols import fit_ols
from conjoin.models.scatter import EXACT_FIT, LEAST_NU, Scatter, inflation_of
from conjoin.moments import Moments

# Numbers in the Gram matrices of clusters that are worked on at a time: 32 MB.
BLOCK_VALUES = 4_000_000


def clustered_scatter(
    Z: FloatArray,
    t: FloatArray,
    w: FloatArray,
    starts: IntArray,
    cluster: IntArray,
    moments: Moments | None = None,
) -> Scatter:
    """Return the scatter of rows sorted by dataset, whose clusters (N,) are numbered in any way.

    A cluster with rows in two datasets counts as one in each.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Z, who = np.ones((200, 1)), np.repeat(np.arange(50), 4)
    >>> t = rng.standard_normal(50)[who]  # every person four times
    >>> found = clustered_scatter(Z, t, np.ones(200), np.array([0, 200]), who)
    >>> bool(3 < found.unbiased[0, 0, 0] / (200 * t.var()) < 5)  # four times that of single rows
    True
    """
    moments = Moments.by_dataset(Z, t, starts, w) if moments is None else moments
    K, p = moments.shape[0], moments.p
    sums = ClusterSums.zeros(K, p)
    for some in blocks_of_datasets(starts, p):
        place, bounds, owner = sort_by_cluster(starts, cluster, some)
        one = Moments.by_dataset(Z[place], t[place], bounds, w[place])
        sums.add(some, one, owner, moments[some])
    plain = Scatter.of_rows(Z, t, w, starts, moments=moments)
    return sums.scatter(plain.heavy, moments)


def blocks_of_datasets(starts: IntArray, p: int) -> Iterator[slice]:
    """Return datasets whose clusters are worked on together, with p columns."""
    first, K, sizes = 0, len(starts) - 1, np.diff(starts)
    while first < K:
        room = max(BLOCK_VALUES // p**2, 1)
        last = int(np.searchsorted(np.cumsum(sizes[first:]), room, side="right")) + first
        last = max(last, first + 1)
        yield slice(first, last)
        first = last


def sort_by_cluster(
    starts: IntArray, cluster: IntArray, some: slice
) -> tuple[IntArray, IntArray, IntArray]:
    """Return rows of some datasets by cluster, where each cluster starts, and its dataset (C,).

    Datasets are numbered from 0 in `some`. The starts are C + 1 numbers, like those of datasets.
    """
    bounds = starts[some.start : some.stop + 1]
    dataset = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    rows = np.arange(bounds[0], bounds[-1])
    order = np.lexsort((cluster[rows], dataset))
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.diff(cluster[rows][order]) != 0
    new[1:] |= np.diff(dataset[order]) != 0
    begins = np.flatnonzero(new)
    return rows[order], np.append(begins, len(order)), dataset[order][begins]


class ClusterSums:
    """Sums over the clusters of every dataset; see the module's table."""

    def __init__(self, meat: FloatArray, total: FloatArray, squares: FloatArray) -> None:
        self.meat, self.total, self.squares = meat, total, squares
        self.clusters = np.zeros(len(total))

    @classmethod
    def zeros(cls, K: int, p: int) -> "ClusterSums":
        """Return sums over no clusters yet."""
        return cls(np.zeros((2, K, p, p)), np.zeros(K), np.zeros(K))

    def add(self, some: slice, one: Moments, owner: IntArray, whole: Moments) -> None:
        """Add the clusters of some datasets: their moments (C,) and their dataset (C,) in `some`.

        `whole` are the moments of these datasets.
        """
        root, inverse_root = _roots(whole.G)
        beta = fit_ols(whole).beta
        A = inverse_root[owner] @ one.G @ inverse_root[owner]
        score = linalg.matvec(inverse_root[owner], one.h - linalg.matvec(one.G, beta[owner]))
        noise = noise_variances(whole)[owner]
        # A cluster that is fitted exactly shows nothing of the noise that its rows share. It may be
        # nothing, which is cautious for "join", or all of it, which is cautious for "apart".
        noises = noise, noise * np.maximum(one.n, 1.0)
        r2, r3 = _corrected(linalg.symmetrise(A), score, noises)
        K = whole.shape[0]
        for kind, r in enumerate((r2, r3)):
            meat = linalg.sum_by(r[:, :, None] * r[:, None, :], owner, K)
            self.meat[kind, some] = linalg.symmetrise(root @ meat @ root)
        u = np.sum(r2**2, axis=1)
        self.total[some] = np.bincount(owner, u, minlength=K)
        self.squares[some] = np.bincount(owner, u**2, minlength=K)
        self.clusters[some] = np.bincount(owner, minlength=K)

    def scatter(self, heavy: BoolArray, moments: Moments) -> Scatter:
        """Return the scatter of datasets with given moments (K,)."""
        fit = fit_ols(moments)
        most = np.maximum(self.clusters - 1, LEAST_NU)
        nu = 2 * self.total**2 / np.where(self.squares > 0, self.squares, 1.0)
        nu = np.clip(nu, LEAST_NU, most)
        df = moments.n - fit.rank
        inflation = inflation_of(self.total, fit.rss, df, fit.rank, nu)
        return Scatter(self.meat[0], self.meat[1], nu, heavy, inflation)


def _roots(G: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return G^1/2 and G^-1/2 (K, p, p); directions without information have zero in both."""
    values, vectors = np.linalg.eigh(G)
    least = values[:, -1:] * values.shape[1] * np.finfo(float).eps
    known = values > np.maximum(least, np.finfo(float).tiny)
    root = np.sqrt(np.where(known, values, 0.0))
    inverse = np.where(known, 1 / np.where(known, root, 1.0), 0.0)
    turned = np.swapaxes(vectors, 1, 2)
    return (vectors * root[:, None]) @ turned, (vectors * inverse[:, None]) @ turned


def _corrected(
    A: FloatArray, score: FloatArray, noises: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return r2 and r3 (C, p); `noises` (C,) stand in where a cluster is fitted exactly."""
    values, vectors = np.linalg.eigh(A)
    left = np.maximum(1 - values, 0.0)
    exact = left < EXACT_FIT
    along = np.einsum("cij,ci->cj", vectors, score)
    safe = np.where(exact, 1.0, left)
    r2, r3 = (
        np.einsum(
            "cij,cj->ci",
            vectors,
            np.where(exact, np.sqrt(np.maximum(values, 0.0) * noise[:, None]), along / safe**power),
        )
        for power, noise in zip((0.5, 1.0), noises)
    )
    return r2, r3
