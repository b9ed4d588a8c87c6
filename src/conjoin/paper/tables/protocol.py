"""How methods are compared on real data: the paper's bootstrap, and rows that were held out.

Rows of a set and a plan enter; the error of each method leaves (`results.MethodResult`).

**Bootstrap**, the paper's way. The representation learns from all rows, and Algorithm 3 decides
from all rows. Then, many times: n rows of each dataset are drawn with replacement, models are
fitted to them, and errors are measured on up to 1,000 of the other rows. The network and the
decision which datasets to join have seen those rows before, so these errors are too low.

**Held out.** Half of the rows of each dataset are held out. The representation and all decisions
use the other half only. Models are fitted to n of its rows, drawn without replacement, or to all of
them, and errors are measured on held-out rows.

In both, the error of a method is the mean squared error, averaged over datasets. All methods use
the same rows. The reduction is measured against separate least-squares fits to the same rows. Where
columns are dependent, these have the smallest norm in centred and scaled columns.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import numpy as np

from conjoin._typing import FloatArray, IntArray, Progress
from conjoin.moments.resample import stream
from conjoin.paper.tables.methods import FITS, INDIVIDUAL, clusters_before_fitting, least_squares
from conjoin.paper.tables.results import MethodResult
from conjoin.paper.tables.sets import GroupedRows
from conjoin.paper.tuned import training_rows

OUT_OF_SAMPLES = 1000  # "the number of out-of-samples" in "Choice of Hyperparameters"
BOOTSTRAP, HELD_OUT = "bootstrap", "held out"
# First words of the names of random streams. The stored results depend on them: do not change them.
STREAM = "reproduce"


@dataclass(frozen=True)
class Plan:
    """How often rows are drawn.

    The default suits sets of some thousand rows; `real.plan_for` has others.

    Parameters
    ----------
    bootstraps : int, default 40
        Draws of n rows in the paper's protocol.
    splits : int, default 40
        Splits into halves.
    draws : int, default 1
        Draws of n rows from each half.
    seed : int, default 0
        Random seed.
    """

    bootstraps: int = 40
    splits: int = 40
    draws: int = 1
    seed: int = 0

    @property
    def steps(self) -> int:
        """Number of times that all methods are fitted."""
        return self.bootstraps + self.splits * (self.draws + 1)


# --- features ------------------------------------------------------------------------------------


class Represent(Protocol):
    """A way from columns to features."""

    def __call__(self, rows: GroupedRows) -> Callable[[FloatArray], FloatArray]:
        """Learn from rows; return the map from columns to features."""


def plain(rows: GroupedRows) -> Callable[[FloatArray], FloatArray]:
    """Keep columns as they are, without those that have one value only."""
    varies = np.ptp(rows.X, axis=0) > 0
    return lambda X: X[:, varies]


def network(
    rows: GroupedRows, hidden: int, seed: int = 0, progress: Progress | None = None
) -> Callable[[FloatArray], FloatArray]:
    """Train the paper's network on rows; units with the same output in all of them are dropped."""
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


def embed(rows: GroupedRows, change: Callable[[FloatArray], FloatArray]) -> GroupedRows:
    """Return the same rows with other features."""
    X = change(rows.X)
    return replace(rows, X=X, columns=tuple(f"unit{j + 1}" for j in range(X.shape[1])))


# --- the comparison ------------------------------------------------------------------------------


def compare_methods(
    rows: GroupedRows,
    name: str,
    representation: str,
    methods: Sequence[str],
    plan: Plan,
    progress: Progress | None = None,
) -> list[MethodResult]:
    """Run both protocols on a set; `methods` are compared with separate fits."""
    task = _Task(rows, name, representation, (INDIVIDUAL, *methods), plan, progress)
    learned = embed(rows, REPRESENTATIONS[representation](rows))
    n = training_rows(learned.X.shape[1])
    return [*_bootstrap(task, learned, n), *_held_out(task, n)]


@dataclass
class _Task:
    """One set with its representation and methods, and how many steps of the plan are done."""

    rows: GroupedRows
    name: str
    representation: str
    methods: Sequence[str]
    plan: Plan
    progress: Progress | None
    done: int = field(default=0, init=False)

    def tally(self, protocol: str, n: int) -> "_Tally":
        return _Tally((self.name, self.representation, protocol, n), len(self.rows.names))

    def judge(
        self,
        tally: "_Tally",
        learned: GroupedRows,
        drawn: Sequence[IntArray],
        test: Sequence[IntArray],
        labels: dict[str, IntArray],
    ) -> None:
        """Fit every method to the drawn rows and note its error on the test rows."""
        sample = select(learned, drawn)
        for method in self.methods:
            if method in labels:
                own = labels[method]
                predict, count = least_squares(sample, own), int(own.max()) + 1
            else:
                predict, count = FITS[method](sample, self.plan.seed)
            # A bootstrap of a tiny dataset may draw all of its rows; it then has no error.
            errors = [
                np.mean((predict(k, learned.X[rows]) - learned.y[rows]) ** 2)
                for k, rows in enumerate(test)
                if len(rows)
            ]
            tally.note(method, float(np.mean(errors)), count)
        self.done += 1
        if self.progress:
            self.progress(self.done, self.plan.steps)


def _bootstrap(task: _Task, learned: GroupedRows, n: int) -> list[MethodResult]:
    """Run the paper's protocol; `learned` has features that were learned from all rows."""
    rows, seed = task.rows, task.plan.seed
    tally = task.tally(BOOTSTRAP, n)
    labels = clusters_before_fitting(learned, task.methods, n, seed)
    for r in range(task.plan.bootstraps):
        rng = stream(seed, STREAM, task.name, BOOTSTRAP, str(r))
        drawn = [rng.choice(rows.rows(k), n) for k in range(len(rows.names))]
        others = [np.setdiff1d(rows.rows(k), drawn[k]) for k in range(len(rows.names))]
        task.judge(tally, learned, drawn, up_to_1000(others, rng), labels)
    return tally.results()


def _held_out(task: _Task, n: int) -> list[MethodResult]:
    """Run the protocol with held-out rows, for models of n rows and of all training rows."""
    rows, seed = task.rows, task.plan.seed
    represent = REPRESENTATIONS[task.representation]
    small, full = task.tally(HELD_OUT, n), task.tally(HELD_OUT, 0)
    for s in range(task.plan.splits):
        train, test = halves(rows, task.name, s, seed)
        learned = embed(rows, represent(select(rows, train)))
        labels = clusters_before_fitting(select(learned, train), task.methods, n, seed)
        for r in range(task.plan.draws):
            drawn, rng = draw(train, n, task.name, s, r, seed)
            task.judge(small, learned, drawn, up_to_1000(test, rng), labels)
        task.judge(full, learned, train, up_to_1000(test, rng), labels)
    return [*small.results(), *full.results()]


def halves(
    rows: GroupedRows, name: str, s: int, seed: int
) -> tuple[list[IntArray], list[IntArray]]:
    """Return the training rows and the test rows of each dataset in split s."""
    rng = stream(seed, STREAM, name, HELD_OUT, str(s))
    parts = [np.array_split(rng.permutation(rows.rows(k)), 2) for k in range(len(rows.names))]
    return [np.sort(part[0]) for part in parts], [np.sort(part[1]) for part in parts]


def draw(
    train: Sequence[IntArray], n: int, name: str, s: int, r: int, seed: int
) -> tuple[list[IntArray], np.random.Generator]:
    """Return n training rows of each dataset (draw r of split s), and the stream for test rows."""
    rng = stream(seed, STREAM, name, HELD_OUT, str(s), str(r))
    return [rng.choice(own, min(n, len(own)), replace=False) for own in train], rng


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


class _Tally:
    """Errors and numbers of clusters of all methods over draws."""

    def __init__(self, head: tuple[str, str, str, int], K: int) -> None:
        self.head = head  # set, representation, protocol, rows
        self.K = K
        self.errors: dict[str, list[float]] = {}
        self.counts: dict[str, list[int]] = {}

    def note(self, method: str, error: float, clusters: int) -> None:
        self.errors.setdefault(method, []).append(error)
        self.counts.setdefault(method, []).append(clusters)

    def results(self) -> list[MethodResult]:
        own = np.array(self.errors[INDIVIDUAL])
        results = []
        for method, errors in self.errors.items():
            error = np.array(errors)
            results.append(
                MethodResult(
                    *self.head,
                    method=method,
                    error=float(error.mean()),
                    reduction=float(100 * (1 - error.mean() / own.mean())),
                    median_reduction=float(np.median(100 * (1 - error / own))),
                    datasets=self.K,
                    clusters=float(np.mean(self.counts[method])),
                )
            )
        return results
