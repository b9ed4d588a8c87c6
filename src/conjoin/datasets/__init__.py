"""Data to try things on: synthetic collections with the right answer attached, one real table.

Synthetic rows follow the paper's model: x ~ N(mean, covariance), y = x'beta + noise, without an
intercept, so the population error of any linear model is known exactly
(`SyntheticCollection.population_error`). Classes and counts are drawn from logistic and log-linear
models with an intercept (`SyntheticOutcomes`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray
from conjoin.errors import ArgumentError
from conjoin.families import Response, expected, softmax
from conjoin.moments.resample import stream
from conjoin.paper.design import Gaussian
from conjoin.paper.oracle import Oracle
from conjoin.sources.read import read_columns
from conjoin.tables.columns import Columns

NEW_ROWS = 20_000  # of a population, where its error has no formula
ROUNDS, SETTLED = 200, 1e-6  # of the search for the intercepts that give classes their shares


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
        return {name: _columns(self.X[name], self.y[name]) for name in self.names}

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
    names, rows, labels = _layout(sizes, n)
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


# --- Classes and counts ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SyntheticOutcomes:
    """Datasets of classes or counts drawn from known models.

    A model is made of lines, as in `conjoin.LogisticFit`: for two classes one, the log-odds of the
    second; for more one a class, in sum zero; for counts one, the logarithm of the expected count.

    Parameters
    ----------
    names : tuple of str
    X, y : mappings of name to array
        Rows drawn; classes are text.
    slopes : mapping of name to array, shape (lines, p)
    intercept : mapping of name to array, shape (lines,)
        The true lines.
    design : mapping of name to Gaussian
        Distribution of the features.
    response : Response
        Family and classes.
    labels : mapping of name to int
        True cluster: datasets with equal lines.
    """

    names: tuple[str, ...]
    X: Mapping[str, FloatArray] = field(repr=False)
    y: Mapping[str, AnyArray] = field(repr=False)
    slopes: Mapping[str, FloatArray] = field(repr=False)
    intercept: Mapping[str, FloatArray] = field(repr=False)
    design: Mapping[str, Gaussian] = field(repr=False)
    response: Response
    labels: Mapping[str, int] = field(repr=False)

    def tables(self) -> dict[str, Columns]:
        """Return each dataset as columns x1, x2, ..., y."""
        return {name: _columns(self.X[name], self.y[name]) for name in self.names}

    def mean(self, name: str, X: FloatArray) -> FloatArray:
        """Return the true probabilities of classes (rows, classes), or expected counts (rows,)."""
        scores = _scores(X, self.slopes[name], self.intercept[name])
        return softmax(scores) if self.response.classes else expected(scores, self.response)

    def population_error(
        self, name: str, slopes: FloatArray, intercept: FloatArray | float = 0.0
    ) -> float:
        """Return the error of a model on new rows of a dataset: minus the mean log-likelihood.

        For classes that is the log loss, averaged over 20,000 rows, always the same, with true
        probabilities in place of outcomes: models are compared with hardly any noise. For counts
        what hangs on y alone is left out and the mean is exact: with `eta = a + x'b` and the true
        `t = a0 + x'b0`, x having mean m and covariance S,

            E[exp(eta)] = exp(a + m'b + b'S b / 2),   E[exp(t) eta] = E[exp(t)] (a + (m + S b0)'b).

        Examples
        --------
        >>> pair = make_class_pair(p=3, n=50, distance=2.0)
        >>> own = pair.population_error("a", pair.slopes["a"], pair.intercept["a"])
        >>> own < pair.population_error("a", pair.slopes["b"], pair.intercept["b"])
        True
        """
        design = self.design[name]
        b, a = np.atleast_2d(slopes), np.atleast_1d(intercept)
        if not self.response.classes:
            b0, a0 = self.slopes[name][0], self.intercept[name][0]
            at = design.mean + design.covariance @ b0
            return _mean_count(design, b[0], a[0]) - _mean_count(design, b0, a0) * float(
                a[0] + at @ b[0]
            )
        X = design.draw((NEW_ROWS,), stream(0, "population"))
        scores = _scores(X, b, a)
        if len(b) == 1:
            scores = np.concatenate([np.zeros_like(scores), scores], axis=1)
        log_total = np.logaddexp.reduce(scores, axis=1, keepdims=True)
        return float(np.mean(np.sum(self.mean(name, X) * (log_total - scores), axis=1)))


def make_class_pair(
    p: int = 5,
    n: int | tuple[int, int] = 100,
    distance: float = 0.0,
    classes: int | Sequence[float] = 2,
    strength: float = 1.0,
    shift: float = 0.0,
    random_state: int = 0,
) -> SyntheticOutcomes:
    """Return two datasets of classes whose slopes are `distance` apart.

    Slopes are `strength` times a random direction, of the second dataset plus `distance` times
    another one; features are N(0, I) and N(shift, I). `classes` is how many there are, or their
    shares: intercepts are such that classes have these shares (at features N(0, I)).

    Examples
    --------
    >>> from conjoin import compare
    >>> rare = make_class_pair(p=3, n=(400, 800), distance=3.0, classes=(0.9, 0.1))
    >>> {label: int(sum(rare.y["b"] == label)) for label in rare.response.classes}
    {'c1': 714, 'c2': 86}
    >>> compare(*rare.tables().values(), target="y").verdict
    'apart'
    """
    rng = stream(random_state, "class pair")
    share = _class_shares(classes)
    first = strength * _direction(rng, share, p)
    second = first + distance * _direction(rng, share, p)
    rows = (n, n) if isinstance(n, int) else n
    labels = [0, 0 if distance == 0 else 1]
    means = [np.zeros(p), np.full(p, shift)]
    return _draw_classes(("a", "b"), rows, [first, second], means, share, labels, random_state)


def make_class_clusters(
    sizes: Sequence[int] = (3, 3, 3),
    n: int | Sequence[int] = 200,
    p: int = 5,
    distance: float = 2.0,
    classes: int | Sequence[float] = 2,
    strength: float = 1.0,
    random_state: int = 0,
) -> SyntheticOutcomes:
    """Return datasets of classes in clusters of the given sizes.

    Slopes of a cluster are `strength` times a random direction that all share plus `distance`
    times one of its own; `n` and names are as in `make_clusters`, `classes` as in
    `make_class_pair`.

    Examples
    --------
    >>> shops = make_class_clusters(sizes=(2, 1), n=(300, 40, 300), classes=3)
    >>> shops.response.classes
    ('c1', 'c2', 'c3')
    >>> [len(shops.y[name]) for name in shops.names]
    [300, 40, 300]
    """
    names, rows, labels = _layout(sizes, n)
    share = _class_shares(classes)
    rng = stream(random_state, "class clusters")
    common = strength * _direction(rng, share, p)
    centres = [common + distance * _direction(rng, share, p) for _ in sizes]
    slopes, means = [centres[label] for label in labels], [np.zeros(p)] * len(names)
    return _draw_classes(names, rows, slopes, means, share, labels, random_state)


def make_count_clusters(
    sizes: Sequence[int] = (3, 3, 3),
    n: int | Sequence[int] = 200,
    p: int = 5,
    distance: float = 1.0,
    rate: float = 3.0,
    dispersion: float = 1.0,
    strength: float = 0.5,
    random_state: int = 0,
) -> SyntheticOutcomes:
    """Return datasets of counts in clusters; slopes and `n` are as in `make_class_clusters`.

    `rate` is the mean count of every dataset, `dispersion` (at least 1) the variance of a count
    over its expectation: 1 is a Poisson law, more a negative binomial one.

    Examples
    --------
    >>> calls = make_count_clusters(sizes=(2, 2), n=1000, p=2, rate=4.0)
    >>> {name: round(float(y.mean()), 1) for name, y in calls.y.items()}
    {'d1': 4.0, 'd2': 4.1, 'd3': 3.9, 'd4': 3.9}
    """
    if rate <= 0:
        raise ArgumentError(f"rate={rate!r} is no mean of counts; expected a positive number.")
    if dispersion < 1:
        raise ArgumentError(f"dispersion={dispersion!r} is below that of a Poisson law, 1.")
    names, rows, labels = _layout(sizes, n)
    rng = stream(random_state, "count clusters")
    one = np.ones(2)
    common = strength * _direction(rng, one, p)
    centres = [common + distance * _direction(rng, one, p) for _ in sizes]
    slopes = {name: centres[label] for name, label in zip(names, labels)}
    intercept = {name: np.log(rate) - np.sum(b**2, axis=1) / 2 for name, b in slopes.items()}
    design = {name: Gaussian(np.zeros(p), np.eye(p)) for name in names}
    X, y = {}, {}
    for name, size in zip(names, rows):
        rng = stream(random_state, "rows", name)
        X[name] = rng.standard_normal((size, p))
        mean = np.exp(_scores(X[name], slopes[name], intercept[name])[:, 0])
        if dispersion > 1:
            mean = rng.gamma(mean / (dispersion - 1), dispersion - 1)
        y[name] = rng.poisson(mean)
    response, truth = Response("poisson"), dict(zip(names, labels))
    return SyntheticOutcomes(names, X, y, slopes, intercept, design, response, truth)


def _draw_classes(
    names: tuple[str, ...],
    sizes: Sequence[int],
    slopes: Sequence[FloatArray],
    means: Sequence[FloatArray],
    share: FloatArray,
    labels: Sequence[int],
    seed: int,
) -> SyntheticOutcomes:
    digits = len(str(len(share)))
    classes = tuple(f"c{c + 1:0{digits}d}" for c in range(len(share)))
    lines = dict(zip(names, slopes))
    levels = {label: _intercepts(b, share) for label, b in zip(labels, slopes)}
    intercept = {name: levels[label] for name, label in zip(names, labels)}
    design = {name: Gaussian(mean, np.eye(len(mean))) for name, mean in zip(names, means)}
    X, y = {}, {}
    for name, size, mean in zip(names, sizes, means):
        rng = stream(seed, "rows", name)
        X[name] = mean + rng.standard_normal((size, len(mean)))
        upto = np.cumsum(softmax(_scores(X[name], lines[name], intercept[name])), axis=1)
        drawn = np.sum(rng.random((size, 1)) > upto[:, :-1], axis=1)
        y[name] = np.array(classes)[drawn]
    response, truth = Response("logistic", classes), dict(zip(names, labels))
    return SyntheticOutcomes(names, X, y, lines, intercept, design, response, truth)


def _intercepts(slopes: FloatArray, share: FloatArray) -> FloatArray:
    """Return the intercepts (lines,) at which classes have given shares, features being N(0, I)."""
    X = stream(0, "shares").standard_normal((NEW_ROWS, slopes.shape[1]))
    scores = _scores(X, slopes, np.zeros(len(slopes)))
    scores = np.concatenate([np.zeros_like(scores), scores], axis=1) if len(slopes) == 1 else scores
    level = np.log(share)
    for _ in range(ROUNDS):
        missing = np.log(share) - np.log(softmax(scores + level).mean(axis=0))
        level = level + missing
        if np.max(np.abs(missing)) < SETTLED:
            break
    return level[1:] - level[:1] if len(slopes) == 1 else level - level.mean()


def _direction(rng: np.random.Generator, share: FloatArray, p: int) -> FloatArray:
    """Return slopes (lines, p) of length one; those of more than two classes are in sum zero."""
    lines = 1 if len(share) == 2 else len(share)
    drawn = rng.standard_normal((lines, p))
    if lines > 1:
        drawn -= drawn.mean(axis=0)
    scaled: FloatArray = drawn / np.linalg.norm(drawn)
    return scaled


def _class_shares(classes: int | Sequence[float]) -> FloatArray:
    share = np.ones(classes) if isinstance(classes, int) else np.asarray(classes, dtype=np.float64)
    if len(share) < 2 or not np.all(share > 0):
        raise ArgumentError(
            f"classes={classes!r} is not understood; expected a number of at least 2, or that many "
            "positive shares."
        )
    return share / share.sum()


def _scores(X: FloatArray, slopes: FloatArray, intercept: FloatArray) -> FloatArray:
    """Return the values of lines (rows, lines)."""
    values: FloatArray = X @ slopes.T + intercept
    return values


def _mean_count(design: Gaussian, slopes: FloatArray, intercept: float) -> float:
    line = intercept + design.mean @ slopes
    return float(np.exp(line + slopes @ design.covariance @ slopes / 2))


def _layout(
    sizes: Sequence[int], n: int | Sequence[int]
) -> tuple[tuple[str, ...], list[int], list[int]]:
    """Return names, rows and clusters of datasets in clusters of the given sizes."""
    if not sizes or min(sizes) < 1:
        raise ArgumentError(f"sizes={sizes!r} makes no clusters; expected counts of at least 1.")
    total = sum(sizes)
    rows = [n] * total if isinstance(n, int) else [int(size) for size in n]
    if len(rows) != total:
        raise ArgumentError(f"n has {len(rows)} entries, but sizes make {total} datasets.")
    labels = [cluster for cluster, size in enumerate(sizes) for _ in range(size)]
    return tuple(f"d{k + 1}" for k in range(total)), rows, labels


def _columns(X: FloatArray, y: AnyArray) -> Columns:
    return {**{f"x{j + 1}": column for j, column in enumerate(X.T)}, "y": y}


# --- A real table ---------------------------------------------------------------------------------


def seoul_bikes_path() -> str:
    """Return the path of the bundled table."""
    return str(resources.files("conjoin.datasets") / "data" / "seoul_bikes.csv.gz")


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
