"""The methods that the paper's tables on real data compare.

Rows of datasets enter; a function that predicts for each dataset leaves, with the number of
clusters. Two kinds of methods differ in when they decide: separate and pooled models and the
paper's Algorithm 3 have clusters before models are fitted (`clusters_before_fitting`); the others
decide and fit from the same rows (`FITS`).
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Protocol

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.api.partition import partition
from conjoin.criterion import Unit
from conjoin.errors import ConjoinWarning
from conjoin.execution import one_thread
from conjoin.models.ols import fit_ols
from conjoin.moments import Basis, Moments
from conjoin.moments.folds import deal, fold_moments
from conjoin.paper.bifactor import BiFactor, Covariances
from conjoin.paper.bifactor_choice import (
    cluster_coefficients,
    validate_bifactor,
    validated_clusters,
)
from conjoin.paper.greedy import greedy
from conjoin.paper.tables.sets import TARGET, GroupedRows
from conjoin.paper.tuned import Tuned
from conjoin.result.partition import Partition

# Names of the methods, as printed and stored.
INDIVIDUAL, POOLED, LITERAL, SIGNED = "individual", "pooled", "literal", "signed"
BIFACTOR, BIFACTOR_CLUSTERS = "BiFactor", "BiFactor clusters"
BIFACTOR_IDENTITY, IDENTITY_CLUSTERS = "BiFactor, identity", "BiFactor clusters, identity"
DEFAULT = "default, linear"  # all defaults but learner="linear": the paper has linear models only
MANY_DATASETS = 20  # sets of the paper have up to 10 datasets, or 165 and more
# Resamples of Algorithm 3, for up to so many datasets. The paper's 1,000 for each pair would take
# hours; pairs grow with the square of the datasets, so larger sets get fewer.
RESAMPLES = {MANY_DATASETS: 200, 200: 100, 100_000: 40}
FOLDS = 5  # of the cross-validation that chooses BiFactor's settings; a common number


class Predict(Protocol):
    """The models of all datasets."""

    def __call__(self, k: int, X: FloatArray) -> FloatArray:
        """Return the predictions of dataset k's model for rows X (n, p)."""


def clusters_before_fitting(
    rows: GroupedRows, methods: Sequence[str], n: int, seed: int
) -> dict[str, IntArray]:
    """Return labels (K,) of the clusters of methods that decide before models are fitted."""
    K = len(rows.names)
    labels = {INDIVIDUAL: np.arange(K), POOLED: np.zeros(K, dtype=int)}
    for rule in (LITERAL, SIGNED):
        if rule in methods:
            labels[rule] = algorithm3(rows, rule, n, seed)
    return labels


def algorithm3(rows: GroupedRows, rule: str, n: int, seed: int) -> IntArray:
    """Return labels (K,) of the paper's clusters; pairs of many datasets get fewer resamples."""
    resamples = next(count for most, count in RESAMPLES.items() if len(rows.names) <= most)
    criterion = Tuned(
        rule=rule,  # type: ignore[arg-type]
        n=n,
        resamples=resamples,
        overparametrised=True,
    )
    basis, Z, t = _design(rows)
    units = []
    for name, size, own in zip(rows.names, rows.sizes, _slices(rows)):
        units.append(Unit((name,), (int(size),), Z[own], t[own], np.ones(len(t[own])), basis))
    with one_thread():
        found = greedy(criterion, units, seed)
    label = {name: i for i, cluster in enumerate(found.clusters) for name in cluster}
    return np.array([label[name] for name in rows.names])


def least_squares(sample: GroupedRows, labels: IntArray) -> Predict:
    """Fit one least-squares model to each cluster."""
    basis, Z, t = _design(sample)
    moments = Moments.by_dataset(Z, t, sample.starts)
    return _linear(basis, fit_ols(moments.sum_by(labels)).beta[labels])


def decide(sample: GroupedRows, seed: int) -> Partition:
    """Let `conjoin.partition` decide and fit with its default arguments."""
    tables = {
        name: {**dict(zip(sample.columns, sample.X[own].T)), TARGET: sample.y[own]}
        for name, own in zip(sample.names, _slices(sample))
    }
    with quietly():
        return partition(tables, target=TARGET, random_state=seed, learner="linear")


def fit_default(sample: GroupedRows, seed: int) -> tuple[Predict, int]:
    """Fit the models that users get by default."""
    result = decide(sample, seed)

    def predict(k: int, X: FloatArray) -> FloatArray:
        with quietly():
            values: FloatArray = result.predict(dict(zip(sample.columns, X.T)), sample.names[k])
            return values

    return predict, len(result.clusters)


@contextmanager
def quietly() -> Iterator[None]:
    """Hide conjoin's warnings about the data: they would be the same in every draw."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjoinWarning)
        yield


def fit_bifactor(
    sample: GroupedRows, seed: int, covariances: Covariances = "learned"
) -> tuple[Predict, int]:
    """Fit BiFactor with the rank and ridge that cross-validation chooses."""
    basis, _, fit = _chosen(sample, seed, covariances)
    return _linear(basis, fit.beta), len(sample.names)


def fit_bifactor_clusters(
    sample: GroupedRows, seed: int, covariances: Covariances = "learned"
) -> tuple[Predict, int]:
    """Fit one least-squares model to each cluster of BiFactor's task factor."""
    basis, folds, fit = _chosen(sample, seed, covariances)
    labels = validated_clusters(folds, fit).labels
    beta = cluster_coefficients(folds.union(1), labels)
    return _linear(basis, beta), int(labels.max()) + 1


@lru_cache(maxsize=1)  # BiFactor and its clusters are fitted to the same rows one after the other
def _chosen(
    sample: GroupedRows, seed: int, covariances: Covariances
) -> tuple[Basis, Moments, BiFactor]:
    """Return the basis, the moments of folds, and BiFactor with the settings of least error."""
    basis, folds = _folds(sample, seed)
    return basis, folds, validate_bifactor(folds, covariances=covariances).fit


FITS: dict[str, Callable[[GroupedRows, int], tuple[Predict, int]]] = {
    DEFAULT: fit_default,
    BIFACTOR_IDENTITY: partial(fit_bifactor, covariances="identity"),
    IDENTITY_CLUSTERS: partial(fit_bifactor_clusters, covariances="identity"),
    BIFACTOR: fit_bifactor,
    BIFACTOR_CLUSTERS: fit_bifactor_clusters,
}


def _linear(basis: Basis, beta: FloatArray) -> Predict:
    """Return the predictions of linear models with coefficients (K, p) in the basis."""
    intercept, slopes = basis.to_original(beta)

    def predict(k: int, X: FloatArray) -> FloatArray:
        values: FloatArray = intercept[k] + X @ slopes[k]
        return values

    return predict


def _design(sample: GroupedRows) -> tuple[Basis, FloatArray, FloatArray]:
    """Return a basis of centred and scaled columns, the design (n, p) and target (n,) in it."""
    basis = Basis.from_rows(sample.X, sample.y, np.ones(len(sample.y)))
    return basis, basis.design(sample.X), basis.response(sample.y)


def _folds(sample: GroupedRows, seed: int) -> tuple[Basis, Moments]:
    """Return the basis and the moments (K, F) of folds."""
    basis, Z, t = _design(sample)
    fold = deal(sample.X, sample.y, sample.starts, FOLDS, seed)
    return basis, fold_moments(Z, t, np.ones(len(t)), sample.starts, fold, FOLDS)


def _slices(sample: GroupedRows) -> Iterator[slice]:
    """Yield the rows of each dataset as a slice."""
    for start, end in zip(sample.starts[:-1], sample.starts[1:]):
        yield slice(int(start), int(end))
