"""Synthetic datasets with a numeric target and the right answer attached.

Sizes, distances and a random seed enter; a `SyntheticCollection` with rows, true slopes and true
clusters leaves. Rows follow the paper's model: x ~ N(mean, covariance), y = x'beta + noise, without
an intercept. So the population error of any linear model is known exactly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from conjoin._typing import AnyArray, FloatArray
from conjoin.errors import ArgumentError
from conjoin.moments.resample import stream
from conjoin.paper.design import Gaussian
from conjoin.paper.oracle import Oracle
from conjoin.tables.columns import Columns


@dataclass(frozen=True, eq=False)
class SyntheticDatasets:
    """Rows of synthetic datasets; subclasses add the true models.

    Parameters
    ----------
    names : tuple of str
        Names of the datasets.
    X, y : mappings of name to array, shapes (rows, p) and (rows,)
        Features and targets of each dataset.
    """

    names: tuple[str, ...]
    X: Mapping[str, FloatArray] = field(repr=False)
    y: Mapping[str, AnyArray] = field(repr=False)

    def tables(self) -> dict[str, Columns]:
        """Return each dataset as a table, as `conjoin.partition` takes it.

        Returns
        -------
        dict of dataset name to columns
            Columns x1, x2, ... and the target y.

        Examples
        --------
        >>> list(make_pair(p=2).tables()["a"])
        ['x1', 'x2', 'y']
        """
        return {
            name: {**{f"x{j + 1}": x for j, x in enumerate(self.X[name].T)}, "y": self.y[name]}
            for name in self.names
        }


@dataclass(frozen=True, eq=False)
class SyntheticCollection(SyntheticDatasets):
    """Datasets drawn from known linear models.

    Parameters
    ----------
    names : tuple of str
        Names of the datasets.
    X, y : mappings of name to array, shapes (rows, p) and (rows,)
        Features and targets of each dataset.
    beta : mapping of name to array, shape (p,)
        True slopes; the true intercept is 0.
    design : mapping of name to Gaussian
        Distribution of the features.
    sigma : float
        Standard deviation of the noise.
    labels : mapping of name to int
        True cluster of each dataset: datasets of one cluster have equal slopes.

    Examples
    --------
    >>> stores = make_clusters(sizes=(2, 1), n=50, p=3)
    >>> stores.names, dict(stores.labels)
    (('d1', 'd2', 'd3'), {'d1': 0, 'd2': 0, 'd3': 1})
    """

    beta: Mapping[str, FloatArray] = field(repr=False)
    design: Mapping[str, Gaussian] = field(repr=False)
    sigma: float
    labels: Mapping[str, int] = field(repr=False)

    def population_error(self, name: str, slopes: FloatArray, intercept: float = 0.0) -> float:
        """Return the exact mean squared error of a linear model on new rows of a dataset.

        Parameters
        ----------
        name : str
            The dataset.
        slopes : array (p,)
            Slopes of the model.
        intercept : float, default 0.0
            Intercept of the model.

        Returns
        -------
        float
            With e = slopes - beta: `sigma^2 + e' Cov e + (intercept + mean'e)^2`.

        Examples
        --------
        >>> pair = make_pair(p=2, d=1.0, sigma=0.5)
        >>> pair.population_error("a", pair.beta["a"])
        0.25
        >>> round(pair.population_error("a", pair.beta["b"]), 9)
        2.25
        """
        design = self.design[name]
        e = np.asarray(slopes) - self.beta[name]
        shift = intercept + design.mean @ e
        return float(self.sigma**2 + e @ design.covariance @ e + shift**2)

    def oracle(self, draws: int = 1000) -> Oracle:
        """Return the criterion that decides with the true coefficients.

        Parameters
        ----------
        draws : int, default 1000
            Designs drawn for each dataset to average over.

        Returns
        -------
        Oracle

        Examples
        --------
        >>> make_pair(p=2, sigma=2.0).oracle().sigma2
        4.0
        """
        truth = {name: (0.0, self.beta[name]) for name in self.names}
        return Oracle(truth, self.sigma**2, self.design, draws)


def make_pair(
    p: int = 10,
    n: int | tuple[int, int] = 50,
    d: float = 0.0,
    shift: float = 0.0,
    sigma: float = 1.0,
    random_state: int = 0,
) -> SyntheticCollection:
    """Return the two datasets "a" and "b" of the paper's synthetic tables.

    Parameters
    ----------
    p : int, default 10
        Features.
    n : int or (int, int), default 50
        Rows of each dataset.
    d : float, default 0.0
        Difference of the slopes, the same in every coordinate: `beta_b - beta_a = d`.
    shift : float, default 0.0
        Mean of the features of "b"; those of "a" are N(0, I), those of "b" N(shift, I).
    sigma : float, default 1.0
        Standard deviation of the noise.
    random_state : int, default 0
        Random seed.

    Returns
    -------
    SyntheticCollection

    Examples
    --------
    >>> pair = make_pair(p=3, n=(40, 60), d=0.5)
    >>> {name: X.shape for name, X in pair.X.items()}
    {'a': (40, 3), 'b': (60, 3)}
    >>> (pair.beta["b"] - pair.beta["a"]).round(9).tolist()
    [0.5, 0.5, 0.5]
    """
    rng = stream(random_state, "pair")
    beta = rng.standard_normal(p)
    return _draw(
        names=("a", "b"),
        sizes=(n, n) if isinstance(n, int) else n,
        betas=[beta, beta + d],
        means=[np.zeros(p), np.full(p, shift)],
        sigma=sigma,
        labels=[0, 0 if d == 0 else 1],
        seed=random_state,
    )


def make_clusters(
    sizes: Sequence[int] = (3, 3, 3),
    n: int | Sequence[int] = 100,
    p: int = 5,
    distance: float = 1.0,
    sigma: float = 1.0,
    random_state: int = 0,
) -> SyntheticCollection:
    """Return datasets in clusters of the given sizes, named d1, d2 and so on.

    Parameters
    ----------
    sizes : sequence of int, default (3, 3, 3)
        Number of datasets in each cluster.
    n : int or sequence of int, default 100
        Rows of every dataset, or one number for each dataset.
    p : int, default 5
        Features, drawn from N(0, I).
    distance : float, default 1.0
        The slopes of a cluster are `distance` times a standard normal vector.
    sigma : float, default 1.0
        Standard deviation of the noise.
    random_state : int, default 0
        Random seed.

    Returns
    -------
    SyntheticCollection

    Raises
    ------
    ArgumentError
        If `sizes` is empty or has a number below 1, or if `n` has a wrong number of entries.

    Examples
    --------
    >>> stores = make_clusters(sizes=(2, 1), n=(30, 40, 50), p=2)
    >>> [len(stores.y[name]) for name in stores.names]
    [30, 40, 50]
    >>> bool((stores.beta["d1"] == stores.beta["d2"]).all())
    True
    """
    names, rows, labels = cluster_layout(sizes, n)
    rng = stream(random_state, "clusters")
    centres = distance * rng.standard_normal((len(sizes), p))
    return _draw(
        names=names,
        sizes=rows,
        betas=[centres[label] for label in labels],
        means=[np.zeros(p)] * len(names),
        sigma=sigma,
        labels=labels,
        seed=random_state,
    )


def make_continuum(
    datasets: int = 30,
    n: int = 30,
    p: int = 5,
    spread: float = 0.5,
    sigma: float = 1.0,
    random_state: int = 0,
) -> SyntheticCollection:
    """Return datasets that all differ, without clusters, named d1, d2 and so on.

    Parameters
    ----------
    datasets : int, default 30
        Number of datasets.
    n : int, default 30
        Rows of every dataset.
    p : int, default 5
        Features, drawn from N(0, I).
    spread : float, default 0.5
        The slopes of a dataset are common slopes plus `spread` times a standard normal vector.
    sigma : float, default 1.0
        Standard deviation of the noise.
    random_state : int, default 0
        Random seed.

    Returns
    -------
    SyntheticCollection

    Examples
    --------
    >>> shops = make_continuum(datasets=4, n=20, p=2)
    >>> dict(shops.labels)
    {'d1': 0, 'd2': 1, 'd3': 2, 'd4': 3}
    """
    rng = stream(random_state, "continuum")
    centre = rng.standard_normal(p)
    betas = centre + spread * rng.standard_normal((datasets, p))
    return _draw(
        names=tuple(f"d{k + 1}" for k in range(datasets)),
        sizes=[n] * datasets,
        betas=list(betas),
        means=[np.zeros(p)] * datasets,
        sigma=sigma,
        labels=list(range(datasets)),
        seed=random_state,
    )


def _draw(
    names: tuple[str, ...],
    sizes: Sequence[int],
    betas: Sequence[FloatArray],
    means: Sequence[FloatArray],
    sigma: float,
    labels: Sequence[int],
    seed: int,
) -> SyntheticCollection:
    """Draw the rows of each dataset; `betas` and `means` have one array (p,) for each."""
    X, y = {}, {}
    for name, size, beta, mean in zip(names, sizes, betas, means):
        # A stream for each name: more datasets do not change the rows of the first ones.
        rng = stream(seed, "rows", name)
        X[name] = mean + rng.standard_normal((size, len(beta)))
        y[name] = X[name] @ beta + sigma * rng.standard_normal(size)
    design = {name: Gaussian(mean, np.eye(len(mean))) for name, mean in zip(names, means)}
    truth = dict(zip(names, betas))
    return SyntheticCollection(names, X, y, truth, design, sigma, dict(zip(names, labels)))


def cluster_layout(
    sizes: Sequence[int], n: int | Sequence[int]
) -> tuple[tuple[str, ...], list[int], list[int]]:
    """Return names, numbers of rows and clusters of datasets in clusters of the given sizes."""
    if not sizes or min(sizes) < 1:
        raise ArgumentError(
            f"sizes={sizes!r} gives no clusters; expected numbers of datasets, each at least 1, "
            "such as (3, 3)."
        )
    total = sum(sizes)
    rows = [n] * total if isinstance(n, int) else [int(size) for size in n]
    if len(rows) != total:
        raise ArgumentError(
            f"n has {len(rows)} entries, but sizes={sizes!r} gives {total} datasets; expected one "
            "number of rows for each dataset, or one for all."
        )
    labels = [cluster for cluster, size in enumerate(sizes) for _ in range(size)]
    return tuple(f"d{k + 1}" for k in range(total)), rows, labels
