"""Synthetic datasets of classes and counts with the right answer attached.

Sizes, distances and a random seed enter; a `SyntheticOutcomes` with rows, true models and true
clusters leaves. Classes are drawn from logistic regressions and counts from log-linear models, both
with an intercept.

==========  ==============================================================  ============
symbol      meaning                                                         shape
==========  ==============================================================  ============
p           number of features, drawn from N(mean, I)                       scalar
outputs     linear predictors of a model: 1 for two classes and for counts  scalar
            (log-odds of the second class; logarithm of the expected
            count), one per class for more classes
b, a        slopes and intercepts of a model                                (outputs, p),
                                                                            (outputs,)
==========  ==============================================================  ============
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from conjoin._typing import FloatArray
from conjoin.datasets.synthetic import SyntheticDatasets, cluster_layout
from conjoin.errors import ArgumentError
from conjoin.families import Response, expected, softmax
from conjoin.moments.resample import stream
from conjoin.paper.design import Gaussian

# Rows drawn where a mean over the population has no formula. The standard error of such a mean is
# 0.7 % of one row's standard deviation; all models are averaged over the same rows.
NEW_ROWS = 20_000
# Limit for the iteration that finds intercepts. It converged in at most 158 rounds for slopes up to
# length 20 and two to ten classes, in at most 15 rounds for slopes up to length 2.
MOST_ROUNDS = 200
# Largest relative error of a class frequency at convergence, far below the error of NEW_ROWS rows.
TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class SyntheticOutcomes(SyntheticDatasets):
    """Datasets of classes or counts drawn from known models.

    A model has linear predictors, as in `conjoin.LogisticFit`. Two classes have one, the log-odds
    of the second class. More classes have one each, and these sum to zero. Counts have one, the
    logarithm of the expected count.

    Parameters
    ----------
    names : tuple of str
        Names of the datasets.
    X, y : mappings of name to array, shapes (rows, p) and (rows,)
        Features and targets of each dataset; classes are text.
    slopes : mapping of name to array, shape (outputs, p)
        True slopes.
    intercept : mapping of name to array, shape (outputs,)
        True intercepts.
    design : mapping of name to Gaussian
        Distribution of the features.
    response : Response
        Family and classes of the target.
    labels : mapping of name to int
        True cluster of each dataset: datasets of one cluster have equal models.

    Examples
    --------
    >>> shops = make_class_clusters(sizes=(1, 1), n=50)
    >>> shops.response
    Response(family='logistic', classes=('c1', 'c2'))
    """

    slopes: Mapping[str, FloatArray] = field(repr=False)
    intercept: Mapping[str, FloatArray] = field(repr=False)
    design: Mapping[str, Gaussian] = field(repr=False)
    response: Response
    labels: Mapping[str, int] = field(repr=False)

    def mean(self, name: str, X: FloatArray) -> FloatArray:
        """Return the true expectation of the target on rows of a dataset.

        Parameters
        ----------
        name : str
            The dataset.
        X : array (rows, p)
            Features.

        Returns
        -------
        array
            Probabilities of the classes (rows, classes), or expected counts (rows,).

        Examples
        --------
        >>> pair = make_class_pair(p=2)
        >>> pair.mean("a", pair.X["a"][:3]).sum(axis=1).round(9).tolist()
        [1.0, 1.0, 1.0]
        """
        scores = _linear_predictors(X, self.slopes[name], self.intercept[name])
        return softmax(scores) if self.response.classes else expected(scores, self.response)

    def population_error(
        self, name: str, slopes: FloatArray, intercept: FloatArray | float = 0.0
    ) -> float:
        """Return the error of a model on new rows of a dataset: minus the mean log-likelihood.

        Parameters
        ----------
        name : str
            The dataset.
        slopes : array (outputs, p) or (p,)
            Slopes of the model.
        intercept : array (outputs,) or float, default 0.0
            Intercepts of the model.

        Returns
        -------
        float
            For classes the log loss; for counts without the terms that depend on y only.

        Notes
        -----
        The log loss is a mean over 20,000 rows, with true probabilities in place of outcomes. The
        rows are always the same, so the difference between two models has hardly any noise.

        The mean for counts is exact. With `eta = a + x'b` and the true `t = a0 + x'b0`, where x has
        mean m and covariance S,

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
        scores = _class_scores(_linear_predictors(X, b, a))
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
    """Return two datasets of classes, "a" and "b", whose slopes are `distance` apart.

    Parameters
    ----------
    p : int, default 5
        Features.
    n : int or (int, int), default 100
        Rows of each dataset.
    distance : float, default 0.0
        The slopes of "b" are those of "a" plus `distance` times a random direction.
    classes : int or sequence of float, default 2
        Number of classes, or their frequencies. Intercepts are chosen so that the classes have
        these frequencies where features are N(0, I).
    strength : float, default 1.0
        Length of the slopes of "a".
    shift : float, default 0.0
        Mean of the features of "b"; those of "a" are N(0, I), those of "b" N(shift, I).
    random_state : int, default 0
        Random seed.

    Returns
    -------
    SyntheticOutcomes

    Raises
    ------
    ArgumentError
        If there are fewer than two classes, or a frequency is not positive.

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
    frequencies = _class_frequencies(classes)
    first = strength * _direction(rng, len(frequencies), p)
    second = first + distance * _direction(rng, len(frequencies), p)
    rows = (n, n) if isinstance(n, int) else n
    labels = [0, 0 if distance == 0 else 1]
    means = [np.zeros(p), np.full(p, shift)]
    return _draw_classes(
        ("a", "b"), rows, [first, second], means, frequencies, labels, random_state
    )


def make_class_clusters(
    sizes: Sequence[int] = (3, 3, 3),
    n: int | Sequence[int] = 200,
    p: int = 5,
    distance: float = 2.0,
    classes: int | Sequence[float] = 2,
    strength: float = 1.0,
    random_state: int = 0,
) -> SyntheticOutcomes:
    """Return datasets of classes in clusters of the given sizes, named d1, d2 and so on.

    Parameters
    ----------
    sizes : sequence of int, default (3, 3, 3)
        Number of datasets in each cluster.
    n : int or sequence of int, default 200
        Rows of every dataset, or one number for each dataset.
    p : int, default 5
        Features, drawn from N(0, I).
    distance : float, default 2.0
        The slopes of a cluster are the common slopes plus `distance` times a random direction.
    classes : int or sequence of float, default 2
        Number of classes, or their frequencies, which are the same in all datasets.
    strength : float, default 1.0
        Length of the slopes that all clusters have in common.
    random_state : int, default 0
        Random seed.

    Returns
    -------
    SyntheticOutcomes

    Raises
    ------
    ArgumentError
        If `sizes`, `n` or `classes` cannot be used.

    Examples
    --------
    >>> shops = make_class_clusters(sizes=(2, 1), n=(300, 40, 300), classes=3)
    >>> shops.response.classes
    ('c1', 'c2', 'c3')
    >>> [len(shops.y[name]) for name in shops.names]
    [300, 40, 300]
    """
    names, rows, labels = cluster_layout(sizes, n)
    frequencies = _class_frequencies(classes)
    rng = stream(random_state, "class clusters")
    centres = _cluster_slopes(rng, len(sizes), len(frequencies), p, strength, distance)
    slopes, means = [centres[label] for label in labels], [np.zeros(p)] * len(names)
    return _draw_classes(names, rows, slopes, means, frequencies, labels, random_state)


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
    """Return datasets of counts in clusters of the given sizes, named d1, d2 and so on.

    Parameters
    ----------
    sizes : sequence of int, default (3, 3, 3)
        Number of datasets in each cluster.
    n : int or sequence of int, default 200
        Rows of every dataset, or one number for each dataset.
    p : int, default 5
        Features, drawn from N(0, I).
    distance : float, default 1.0
        The slopes of a cluster are the common slopes plus `distance` times a random direction.
    rate : float, default 3.0
        Mean count of every dataset.
    dispersion : float, default 1.0
        Variance of a count divided by its expectation: 1 is a Poisson distribution, more a
        negative binomial one.
    strength : float, default 0.5
        Length of the slopes that all clusters have in common.
    random_state : int, default 0
        Random seed.

    Returns
    -------
    SyntheticOutcomes

    Raises
    ------
    ArgumentError
        If `rate` is not positive, `dispersion` is below 1, or `sizes` and `n` cannot be used.

    Examples
    --------
    >>> calls = make_count_clusters(sizes=(2, 2), n=1000, p=2, rate=4.0)
    >>> {name: round(float(y.mean()), 1) for name, y in calls.y.items()}
    {'d1': 4.0, 'd2': 4.1, 'd3': 3.9, 'd4': 3.9}
    """
    if rate <= 0:
        raise ArgumentError(f"rate={rate!r} is not a mean count; expected a positive number.")
    if dispersion < 1:
        raise ArgumentError(
            f"dispersion={dispersion!r} is below 1, the value of a Poisson distribution; expected "
            "a number of at least 1."
        )
    names, rows, labels = cluster_layout(sizes, n)
    rng = stream(random_state, "count clusters")
    centres = _cluster_slopes(rng, len(sizes), 2, p, strength, distance)
    slopes = {name: centres[label] for name, label in zip(names, labels)}
    # E[exp(x'b)] = exp(b'b / 2) for x ~ N(0, I), so these intercepts give the mean `rate`.
    intercept = {name: np.log(rate) - np.sum(b**2, axis=1) / 2 for name, b in slopes.items()}
    design = {name: Gaussian(np.zeros(p), np.eye(p)) for name in names}
    X, y = {}, {}
    for name, size in zip(names, rows):
        rng = stream(random_state, "rows", name)
        X[name] = rng.standard_normal((size, p))
        mean = np.exp(_linear_predictors(X[name], slopes[name], intercept[name])[:, 0])
        if dispersion > 1:
            mean = rng.gamma(mean / (dispersion - 1), dispersion - 1)
        y[name] = rng.poisson(mean)
    response, truth = Response("poisson"), dict(zip(names, labels))
    return SyntheticOutcomes(names, X, y, slopes, intercept, design, response, truth)


def _cluster_slopes(
    rng: np.random.Generator,
    clusters: int,
    classes: int,
    p: int,
    strength: float,
    distance: float,
) -> list[FloatArray]:
    """Return the slopes (outputs, p) of each cluster: common ones plus a direction of its own."""
    common = strength * _direction(rng, classes, p)
    return [common + distance * _direction(rng, classes, p) for _ in range(clusters)]


def _draw_classes(
    names: tuple[str, ...],
    sizes: Sequence[int],
    slopes: Sequence[FloatArray],
    means: Sequence[FloatArray],
    frequencies: FloatArray,
    labels: Sequence[int],
    seed: int,
) -> SyntheticOutcomes:
    """Draw the rows of each dataset; `slopes` (outputs, p) and `means` (p,) have one for each."""
    digits = len(str(len(frequencies)))
    classes = tuple(f"c{c + 1:0{digits}d}" for c in range(len(frequencies)))
    true_slopes = dict(zip(names, slopes))
    levels = {label: _intercepts(b, frequencies) for label, b in zip(labels, slopes)}
    intercept = {name: levels[label] for name, label in zip(names, labels)}
    design = {name: Gaussian(mean, np.eye(len(mean))) for name, mean in zip(names, means)}
    X, y = {}, {}
    for name, size, mean in zip(names, sizes, means):
        rng = stream(seed, "rows", name)
        X[name] = mean + rng.standard_normal((size, len(mean)))
        scores = _linear_predictors(X[name], true_slopes[name], intercept[name])
        cumulated = np.cumsum(softmax(scores), axis=1)
        drawn = np.sum(rng.random((size, 1)) > cumulated[:, :-1], axis=1)
        y[name] = np.array(classes)[drawn]
    response, truth = Response("logistic", classes), dict(zip(names, labels))
    return SyntheticOutcomes(names, X, y, true_slopes, intercept, design, response, truth)


def _intercepts(slopes: FloatArray, frequencies: FloatArray) -> FloatArray:
    """Return intercepts (outputs,) that give classes their frequencies for features N(0, I)."""
    X = stream(0, "shares").standard_normal((NEW_ROWS, slopes.shape[1]))
    scores = _class_scores(_linear_predictors(X, slopes, np.zeros(len(slopes))))
    level = np.log(frequencies)
    for _ in range(MOST_ROUNDS):
        missing = np.log(frequencies) - np.log(softmax(scores + level).mean(axis=0))
        level = level + missing
        if np.max(np.abs(missing)) < TOLERANCE:
            break
    return level[1:] - level[:1] if len(slopes) == 1 else level - level.mean()


def _direction(rng: np.random.Generator, classes: int, p: int) -> FloatArray:
    """Return slopes (outputs, p) of length one; those of more than two classes sum to zero."""
    outputs = 1 if classes == 2 else classes
    drawn = rng.standard_normal((outputs, p))
    if outputs > 1:
        drawn -= drawn.mean(axis=0)
    scaled: FloatArray = drawn / np.linalg.norm(drawn)
    return scaled


def _class_frequencies(classes: int | Sequence[float]) -> FloatArray:
    """Return the frequencies (classes,) of classes, which sum to one."""
    given = np.ones(classes) if isinstance(classes, int) else np.asarray(classes, dtype=np.float64)
    if len(given) < 2 or not np.all(given > 0):
        raise ArgumentError(
            f"classes={classes!r} cannot be used; expected a number of at least 2, or that many "
            "positive frequencies, such as (0.9, 0.1)."
        )
    return given / given.sum()


def _linear_predictors(X: FloatArray, slopes: FloatArray, intercept: FloatArray) -> FloatArray:
    """Return the linear predictors (rows, outputs) of features X (rows, p)."""
    values: FloatArray = X @ slopes.T + intercept
    return values


def _class_scores(scores: FloatArray) -> FloatArray:
    """Return one score per class (rows, classes); for two classes that of the first one is 0."""
    if scores.shape[1] > 1:
        return scores
    return np.concatenate([np.zeros_like(scores), scores], axis=1)


def _mean_count(design: Gaussian, slopes: FloatArray, intercept: float) -> float:
    """Return the mean over the features of the expected count: E[exp(intercept + x'slopes)]."""
    line = intercept + design.mean @ slopes
    return float(np.exp(line + slopes @ design.covariance @ slopes / 2))
