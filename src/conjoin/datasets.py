"""Data to try things on: synthetic collections with the right answer attached, one real table.

Synthetic rows follow the paper's model: x ~ N(mean, covariance), y = x'beta + noise, without an
intercept, so the population error of any linear model is known exactly
(`SyntheticCollection.population_error`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.criterion import Gaussian, Oracle
from conjoin.errors import ArgumentError
from conjoin.moments.resample import stream
from conjoin.tables.columns import Columns
from conjoin.tables.read import read_columns


@dataclass(frozen=True, eq=False)
class SyntheticCollection:
    """Datasets drawn from known linear models.

    Parameters
    ----------
    names : tuple of str
    X, y : mappings of name to array
        Rows drawn.
    beta : mapping of name to array, shape (p,)
        True slopes; the true intercept is 0.
    design : mapping of name to Gaussian
        Distribution of the features.
    sigma : float
        Standard deviation of the noise.
    labels : mapping of name to int
        True cluster: datasets with equal slopes.
    """

    names: tuple[str, ...]
    X: Mapping[str, FloatArray] = field(repr=False)
    y: Mapping[str, FloatArray] = field(repr=False)
    beta: Mapping[str, FloatArray] = field(repr=False)
    design: Mapping[str, Gaussian] = field(repr=False)
    sigma: float
    labels: Mapping[str, int] = field(repr=False)

    def tables(self) -> dict[str, Columns]:
        """Return each dataset as columns x1, x2, ..., y."""
        return {
            name: {
                **{f"x{j + 1}": column for j, column in enumerate(self.X[name].T)},
                "y": self.y[name],
            }
            for name in self.names
        }

    def population_error(self, name: str, slopes: FloatArray, intercept: float = 0.0) -> float:
        """Return the exact mean squared error of a linear model on new rows of a dataset.

        With e = slopes - beta: `sigma^2 + E[(intercept + x'e)^2]`, where
        `E[(c + x'e)^2] = e' Cov e + (c + mean'e)^2`.
        """
        design = self.design[name]
        e = np.asarray(slopes) - self.beta[name]
        shift = intercept + design.mean @ e
        return float(self.sigma**2 + e @ design.covariance @ e + shift**2)

    def oracle(self, draws: int = 1000) -> Oracle:
        """Return the criterion that decides by this truth."""
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
    """Return the two datasets of the paper's synthetic tables.

    `beta2 - beta1 = d` in every coordinate; features are N(0, I) and N(shift, I).
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
    """Return datasets in clusters of the given sizes.

    Slopes of a cluster are `distance` times a standard normal vector; datasets are named d1, d2
    and so on. `n` is the number of rows, or one number a dataset.
    """
    if not sizes or min(sizes) < 1:
        raise ArgumentError(f"sizes={sizes!r} makes no clusters; expected counts of at least 1.")
    total = sum(sizes)
    rows = [n] * total if isinstance(n, int) else [int(size) for size in n]
    if len(rows) != total:
        raise ArgumentError(f"n has {len(rows)} entries, but sizes make {total} datasets.")
    rng = stream(random_state, "clusters")
    centres = distance * rng.standard_normal((len(sizes), p))
    labels = [cluster for cluster, size in enumerate(sizes) for _ in range(size)]
    return _draw(
        names=tuple(f"d{k + 1}" for k in range(total)),
        sizes=rows,
        betas=[centres[label] for label in labels],
        means=[np.zeros(p)] * total,
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
    """Return datasets that all differ: common slopes plus `spread` times a normal vector each."""
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
    X, y = {}, {}
    for name, size, beta, mean in zip(names, sizes, betas, means):
        rng = stream(seed, "rows", name)
        X[name] = mean + rng.standard_normal((size, len(beta)))
        y[name] = X[name] @ beta + sigma * rng.standard_normal(size)
    design = {name: Gaussian(mean, np.eye(len(mean))) for name, mean in zip(names, means)}
    truth = dict(zip(names, betas))
    return SyntheticCollection(names, X, y, truth, design, sigma, dict(zip(names, labels)))


def seoul_bikes_path() -> str:
    """Return the path of the bundled table."""
    return str(resources.files("conjoin") / "data" / "seoul_bikes.csv.gz")


def load_seoul_bikes() -> dict[str, Any]:
    """Return hourly bike rentals in Seoul with the weather, 8,465 rows, as columns.

    A real table whose datasets are the hours of the day (column `hour`, 24 datasets of about 350
    days); the target is `rented_bikes`. Made from the "Seoul Bike Sharing Demand" data of the UCI
    Machine Learning Repository (CC BY 4.0); `data/README.md` in the package tells what was changed.

    Examples
    --------
    >>> bikes = load_seoul_bikes()
    >>> sorted(bikes)[:3]
    ['dew_point', 'holiday', 'hour']
    """
    return read_columns(seoul_bikes_path())
