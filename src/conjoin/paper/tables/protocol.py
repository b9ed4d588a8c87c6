"""How models of real data are compared: the paper's way, and on rows that nothing has seen.

**Bootstrap**, the paper's way. The representation learns from all rows, and Algorithm 3 sees all
rows. Then, many times: n rows of each dataset are drawn with replacement, models are fitted to
them, and errors are taken on up to 1,000 of the rows not drawn. Those rows were seen before, by the
network and by the decision which datasets to join.

**Held out.** Half of the rows of each dataset are set aside; the representation and all decisions
know the other half only. Models are fitted to n of its rows, drawn without replacement, or to all
of them ("all"), and errors are taken on rows set aside.

In both, the error of a method is the mean over datasets of the mean squared error, the same rows
for all methods, and the reduction is taken against individual least-squares fits to the same rows
(of least norm in centred and scaled columns, where columns are dependent).
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from conjoin._typing import FloatArray, IntArray, Progress
from conjoin.api.pipeline import partition
from conjoin.criterion import Unit
from conjoin.errors import ConjoinWarning
from conjoin.execution import small_matrices
from conjoin.models.ols import fit_ols
from conjoin.moments import Basis, Moments
from conjoin.moments.folds import deal, fold_moments
from conjoin.moments.resample import stream
from conjoin.paper.bifactor import cluster_coefficients, validate_bifactor, validated_clusters
from conjoin.paper.greedy import greedy
from conjoin.paper.tables.sets import TARGET, GroupedRows
from conjoin.paper.tuned import Tuned
from conjoin.result.partition import Partition

OUT_OF_SAMPLES = 1000
FEW_ROWS, MANY_ROWS, MANY_COLUMNS = 50, 100, 20  # the paper: 50 rows, or 100 for many columns
BOOTSTRAP, HELD_OUT = "bootstrap", "held out"
INDIVIDUAL, POOLED, LITERAL, SIGNED = "individual", "pooled", "literal", "signed"
DEFAULT, BIFACTOR, BIFACTOR_CLUSTERS = "default", "BiFactor", "BiFactor clusters"
MANY_DATASETS = 20
RESAMPLES = {MANY_DATASETS: 200, 200: 100, 100_000: 40}  # of Algorithm 3, up to so many datasets
FOLDS = 5  # of the choice of BiFactor's settings


class Predict(Protocol):
    """Models of all datasets."""

    def __call__(self, k: int, X: FloatArray) -> FloatArray:
        """Return what the model of dataset k makes of rows X."""


@dataclass(frozen=True)
class Plan:
    """How often things are repeated.

    Parameters
    ----------
    bootstraps : int
        Draws of n rows in the paper's protocol.
    splits : int
        Splits into halves.
    draws : int
        Draws of n rows from each half.
    seed : int
    """

    bootstraps: int = 40
    splits: int = 40
    draws: int = 1
    seed: int = 0


@dataclass(frozen=True)
class Line:
    """What one method did on one set.

    Parameters
    ----------
    set, representation, protocol, method : str
    rows : int
        Rows of each dataset that a model is fitted to (0: all of the training half).
    error : float
        Mean over draws.
    reduction : float
        In percent, of the mean error, against the individual fits.
    median_reduction : float
        Median over draws of the reduction in a draw.
    datasets : int
    clusters : float
        Mean number of clusters (of individual fits, that of datasets).
    """

    set: str
    representation: str
    protocol: str
    rows: int
    method: str
    error: float
    reduction: float
    median_reduction: float
    datasets: int
    clusters: float


class Represent(Protocol):
    """A way from columns to features."""

    def __call__(self, rows: GroupedRows) -> Callable[[FloatArray], FloatArray]:
        """Learn from rows; return the map."""


def plain(rows: GroupedRows) -> Callable[[FloatArray], FloatArray]:
    """Leave columns as they are, but those with one value."""
    varies = np.ptp(rows.X, axis=0) > 0
    return lambda X: X[:, varies]


def network(
    rows: GroupedRows, hidden: int, seed: int = 0, progress: Progress | None = None
) -> Callable[[FloatArray], FloatArray]:
    """Train the paper's network on rows; units that are the same in all of them are left out."""
    from conjoin.representations.torch.mlp import MLP

    settings = MLP(hidden=hidden, random_state=seed)
    features, values = settings.fit_transform(rows.X, rows.y, progress=progress)
    varies = np.ptp(values, axis=0) > 0
    return lambda X: features.transform(X)[:, varies]


REPRESENTATIONS: dict[str, Represent] = {
    "columns": plain,
    "MLP1": partial(network, hidden=1),
    "MLP2": partial(network, hidden=2),
}


# --- the comparison ------------------------------------------------------------------------------


def compare_methods(
    rows: GroupedRows,
    name: str,
    representation: str,
    methods: Sequence[str],
    plan: Plan,
    progress: Progress | None = None,
) -> list[Line]:
    """Run both protocols on a set; `methods` are compared with the individual fits."""
    steps = plan.bootstraps + plan.splits * (plan.draws + 1)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress:
            progress(done, steps)

    represent = REPRESENTATIONS[representation]
    learned = embed(rows, represent(rows))
    n = rows_drawn(learned.X.shape[1])
    wanted = [INDIVIDUAL, *methods]
    small = _Tally(name, representation, BOOTSTRAP, n, len(rows.names))
    joins = found_on(learned, methods, n, plan.seed)
    for r in range(plan.bootstraps):
        rng = stream(plan.seed, "reproduce", name, BOOTSTRAP, str(r))
        drawn = [rng.choice(rows.rows(k), n) for k in range(len(rows.names))]
        left = [np.setdiff1d(rows.rows(k), drawn[k]) for k in range(len(rows.names))]
        _judge(small, learned, drawn, up_to_1000(left, rng), wanted, joins, plan.seed)
        step()
    lines = small.lines()
    small = _Tally(name, representation, HELD_OUT, n, len(rows.names))
    full = _Tally(name, representation, HELD_OUT, 0, len(rows.names))
    for s in range(plan.splits):
        train, test = halves(rows, name, s, plan.seed)
        learned = embed(rows, represent(select(rows, train)))
        joins = found_on(select(learned, train), methods, n, plan.seed)
        for r in range(plan.draws):
            drawn, rng = draw(train, n, name, s, r, plan.seed)
            _judge(small, learned, drawn, up_to_1000(test, rng), wanted, joins, plan.seed)
            step()
        _judge(full, learned, train, up_to_1000(test, rng), wanted, joins, plan.seed)
        step()
    return lines + small.lines() + full.lines()


def halves(
    rows: GroupedRows, name: str, s: int, seed: int
) -> tuple[list[IntArray], list[IntArray]]:
    """Return the rows of each dataset for training and for testing, in split s."""
    rng = stream(seed, "reproduce", name, HELD_OUT, str(s))
    parts = [np.array_split(rng.permutation(rows.rows(k)), 2) for k in range(len(rows.names))]
    return [np.sort(part[0]) for part in parts], [np.sort(part[1]) for part in parts]


def draw(
    train: Sequence[IntArray], n: int, name: str, s: int, r: int, seed: int
) -> tuple[list[IntArray], np.random.Generator]:
    """Return n training rows of each dataset, draw r of split s, and what draws test rows next."""
    rng = stream(seed, "reproduce", name, HELD_OUT, str(s), str(r))
    return [rng.choice(own, min(n, len(own)), replace=False) for own in train], rng


def rows_drawn(columns: int) -> int:
    """Return the paper's number of training rows for a number of columns."""
    return FEW_ROWS if columns <= MANY_COLUMNS else MANY_ROWS


def embed(rows: GroupedRows, change: Callable[[FloatArray], FloatArray]) -> GroupedRows:
    """Return the same rows with other features."""
    X = change(rows.X)
    return replace(rows, X=X, columns=tuple(f"unit{j + 1}" for j in range(X.shape[1])))


def found_on(rows: GroupedRows, methods: Sequence[str], n: int, seed: int) -> dict[str, IntArray]:
    """Return the clusters, by labels (K,), of the methods that decide before models are fitted."""
    K = len(rows.names)
    joins = {INDIVIDUAL: np.arange(K), POOLED: np.zeros(K, dtype=int)}
    for rule in (LITERAL, SIGNED):
        if rule in methods:
            joins[rule] = algorithm3(rows, rule, n, seed)
    return joins


def algorithm3(rows: GroupedRows, rule: str, n: int, seed: int) -> IntArray:
    """Return labels (K,) of the paper's clusters; pairs of many datasets get fewer resamples."""
    resamples = next(count for most, count in RESAMPLES.items() if len(rows.names) <= most)
    criterion = Tuned(
        rule=rule,  # type: ignore[arg-type]
        n=n,
        resamples=resamples,
        overparametrised=True,
    )
    basis = Basis.from_rows(rows.X, rows.y, np.ones(len(rows.y)))
    Z, t = basis.design(rows.X), basis.response(rows.y)
    units = []
    for k, name in enumerate(rows.names):
        own = slice(rows.starts[k], rows.starts[k + 1])
        units.append(
            Unit((name,), (int(rows.sizes[k]),), Z[own], t[own], np.ones(len(t[own])), basis)
        )
    with small_matrices(Z.shape[1]):
        found = greedy(criterion, units, seed)
    label = {name: i for i, cluster in enumerate(found.clusters) for name in cluster}
    return np.array([label[name] for name in rows.names])


def _judge(
    tally: "_Tally",
    rows: GroupedRows,
    drawn: Sequence[IntArray],
    test: Sequence[IntArray],
    methods: Sequence[str],
    joins: dict[str, IntArray],
    seed: int,
) -> None:
    """Fit every method to the rows drawn, and note its error on the test rows."""
    sample = select(rows, drawn)
    for method in methods:
        if method in joins:
            predict, count = least_squares(sample, joins[method]), int(joins[method].max()) + 1
        else:
            predict, count = _FITS[method](sample, seed)
        # A bootstrap of a tiny dataset may leave none of its rows out; it then counts for nothing.
        errors = [
            np.mean((predict(k, rows.X[own]) - rows.y[own]) ** 2)
            for k, own in enumerate(test)
            if len(own)
        ]
        tally.note(method, float(np.mean(errors)), count)


class _Tally:
    """Errors of methods over draws."""

    def __init__(self, name: str, representation: str, protocol: str, rows: int, K: int) -> None:
        self.head = (name, representation, protocol, rows)
        self.K = K
        self.errors: dict[str, list[float]] = {}
        self.counts: dict[str, list[int]] = {}

    def note(self, method: str, error: float, clusters: int) -> None:
        self.errors.setdefault(method, []).append(error)
        self.counts.setdefault(method, []).append(clusters)

    def lines(self) -> list[Line]:
        own = np.array(self.errors[INDIVIDUAL])
        lines = []
        for method, errors in self.errors.items():
            error = np.array(errors)
            lines.append(
                Line(
                    *self.head,
                    method=method,
                    error=float(error.mean()),
                    reduction=float(100 * (1 - error.mean() / own.mean())),
                    median_reduction=float(np.median(100 * (1 - error / own))),
                    datasets=self.K,
                    clusters=float(np.mean(self.counts[method])),
                )
            )
        return lines


def select(rows: GroupedRows, chosen: Sequence[IntArray]) -> GroupedRows:
    """Return some rows of each dataset; a row may occur more than once."""
    order = np.concatenate(chosen)
    starts = np.cumsum([0, *map(len, chosen)])
    return replace(rows, X=rows.X[order], y=rows.y[order], starts=starts)


def up_to_1000(rows: Sequence[IntArray], rng: np.random.Generator) -> list[IntArray]:
    """Return up to 1,000 rows of each dataset."""
    return [
        own if len(own) <= OUT_OF_SAMPLES else np.sort(rng.choice(own, OUT_OF_SAMPLES, False))
        for own in rows
    ]


# --- fits ----------------------------------------------------------------------------------------


def least_squares(sample: GroupedRows, labels: IntArray) -> Predict:
    """Fit one least-squares model to each cluster."""
    basis, moments = _moments(sample)
    return _linear(basis, fit_ols(moments.sum_by(labels)).beta[labels])


def decide(sample: GroupedRows, seed: int) -> Partition:
    """Let `conjoin.partition` decide and fit, with nothing but its defaults."""
    tables = {
        name: {**dict(zip(sample.columns, sample.X[own].T)), TARGET: sample.y[own]}
        for name, own in zip(sample.names, _slices(sample))
    }
    with quietly():
        return partition(tables, target=TARGET, random_state=seed)


def fit_default(sample: GroupedRows, seed: int) -> tuple[Predict, int]:
    """Fit the models that users get."""
    result = decide(sample, seed)

    def predict(k: int, X: FloatArray) -> FloatArray:
        with quietly():
            values: FloatArray = result.predict(dict(zip(sample.columns, X.T)), sample.names[k])
            return values

    return predict, len(result.clusters)


@contextmanager
def quietly() -> Iterator[None]:
    """Keep notes on the data to ourselves: here they are the same in every draw."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjoinWarning)
        yield


def fit_bifactor(sample: GroupedRows, seed: int) -> tuple[Predict, int]:
    """Fit BiFactor with the rank and ridge of least error in folds."""
    basis, folds = _folds(sample, seed)
    return _linear(basis, validate_bifactor(folds).fit.beta), len(sample.names)


def fit_bifactor_clusters(sample: GroupedRows, seed: int) -> tuple[Predict, int]:
    """Fit one least-squares model to each cluster that BiFactor's task factor shows."""
    basis, folds = _folds(sample, seed)
    labels = validated_clusters(folds, validate_bifactor(folds).fit).labels
    beta = cluster_coefficients(folds.union(1), labels)
    return _linear(basis, beta), int(labels.max()) + 1


_FITS: dict[str, Callable[[GroupedRows, int], tuple[Predict, int]]] = {
    DEFAULT: fit_default,
    BIFACTOR: fit_bifactor,
    BIFACTOR_CLUSTERS: fit_bifactor_clusters,
}


def _linear(basis: Basis, beta: FloatArray) -> Predict:
    intercept, slopes = basis.to_original(beta)

    def predict(k: int, X: FloatArray) -> FloatArray:
        values: FloatArray = intercept[k] + X @ slopes[k]
        return values

    return predict


def _moments(sample: GroupedRows) -> tuple[Basis, Moments]:
    basis = Basis.from_rows(sample.X, sample.y, np.ones(len(sample.y)))
    Z, t = basis.design(sample.X), basis.response(sample.y)
    return basis, Moments.by_dataset(Z, t, sample.starts)


def _folds(sample: GroupedRows, seed: int) -> tuple[Basis, Moments]:
    basis = Basis.from_rows(sample.X, sample.y, np.ones(len(sample.y)))
    Z, t = basis.design(sample.X), basis.response(sample.y)
    fold = deal(sample.X, sample.y, sample.starts, sample.columns, FOLDS, seed)
    return basis, fold_moments(Z, t, np.ones(len(t)), sample.starts, fold, FOLDS)


def _slices(sample: GroupedRows) -> Iterator[slice]:
    for start, end in zip(sample.starts[:-1], sample.starts[1:]):
        yield slice(int(start), int(end))
