"""Boosters of several groups of rows, trained in step with each other.

LightGBM's dataset of all rows and the held-out rows of every group enter; the mean left-out loss of
every round leaves, with one booster for each group. All use the bins of the one dataset. Groups are
trained side by side in threads, a few rounds at a time, so that all of them stop soon after the
best round. After every round training looks whether it was interrupted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from conjoin._typing import FloatArray, IntArray, Progress
from conjoin.execution import in_threads, stop_if_interrupted
from conjoin.learners.rows import LARGE

# Rounds of one group before the others follow: threads then wait little for each other, and at most
# this many rounds too many are trained.
BLOCK = 10
# Rows whose values say where bins end, as in LightGBM itself. More rows are cut into bins in parts
# of CHUNK_ROWS, so that there is no second copy of all of them.
BINNED_ROWS, CHUNK_ROWS = 200_000, 65_536
# Rows from which groups are trained in threads: a round of fewer takes less time than the change
# from one thread to another.
FEWEST_FOR_THREADS = 10_000
# Counts in rows that show none: the mean of a rate given none, with Jeffreys' prior.
HALF_A_COUNT = 0.5


@dataclass(eq=False)
class Fold:
    """The booster of the rows outside one group.

    Parameters
    ----------
    rows : array
        Numbers of the held-out rows.
    booster : lightgbm.Booster
    losses : list of float
        Left-out loss after every round.
    trees : list of int
        Iterations of the booster after every round; rounds without a split add none.
    """

    rows: IntArray
    booster: Any
    losses: list[float] = field(default_factory=list)
    trees: list[int] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        whole: Any,
        parameters: dict[str, Any],
        rows: IntArray,
        others: IntArray | None = None,
    ) -> "Fold":
        """Make the booster of all rows but these, or of `others`."""
        if others is None:
            others = np.setdiff1d(np.arange(whole.num_data()), rows, assume_unique=True)
        # Making a dataset sets the number of threads of all of LightGBM, so the booster comes last.
        return cls._between(subset(whole, others), subset(whole, rows), parameters, rows)

    @classmethod
    def of_halves(
        cls, parts: Sequence[Any], parameters: dict[str, Any], rows: Sequence[IntArray]
    ) -> "list[Fold]":
        """Make the boosters of two halves: what trains one is held out from the other."""
        return [cls._between(parts[1 - g], parts[g], parameters, rows[g]) for g in (0, 1)]

    @classmethod
    def _between(
        cls, training: Any, held_out: Any, parameters: dict[str, Any], rows: IntArray
    ) -> "Fold":
        from lightgbm import Booster

        booster = Booster(parameters, training)
        booster.add_valid(held_out, "held out")
        return cls(rows, booster)

    def advance(self, rounds: int) -> None:
        """Train some rounds."""
        for _ in range(rounds):
            stop_if_interrupted()
            self.booster.update()
            self.losses.append(float(self.booster.eval_valid()[0][2]))
            self.trees.append(int(self.booster.current_iteration()))

    def scores(self, rounds: int) -> FloatArray:
        """Return the scores (n,) of the held-out rows after some rounds; later ones are undone."""
        while self.booster.current_iteration() > self.trees[rounds - 1]:
            self.booster.rollback_one_iter()
        found: list[FloatArray] = []

        def keep(scores: FloatArray, _: Any) -> tuple[str, float, bool]:
            found.append(np.array(scores, dtype=np.float64))
            return "kept", 0.0, False

        self.booster.eval_valid(keep)
        return found[0]

    def text(self, rounds: int) -> str:
        """Return LightGBM's text of the trees after some rounds."""
        return str(self.booster.model_to_string(num_iteration=self.trees[rounds - 1]))


def subset(whole: Any, rows: IntArray) -> Any:
    """Return some rows, in ascending order, of LightGBM's dataset.

    LightGBM keeps their numbers in a list of Python, which takes more memory than the rows.
    """
    part = whole.subset(())
    part.used_indices = rows.astype(np.int32)
    part.construct()
    part.used_indices = part.reference = None  # so that the bins of all rows need not be kept
    return part


def train_in_step(
    folds: Sequence[Fold], rounds: int, patience: int | None, progress: Progress | None = None
) -> FloatArray:
    """Train all folds, and return their mean left-out loss after every round.

    With `patience` training ends after so many rounds without a lower loss.
    """
    done, alone = 0, sum(len(fold.rows) for fold in folds) < FEWEST_FOR_THREADS
    while done < rounds:
        block = min(BLOCK, rounds - done)

        def advance(fold: Fold, block: int = block) -> None:
            if not alone:
                _set_up_thread(fold.booster.params)
            fold.advance(block)

        for _ in in_threads(advance, folds, alone=alone):
            pass
        done += block
        if progress is not None:
            progress(done, rounds)
        curve = np.mean([fold.losses for fold in folds], axis=0)
        end = None if patience is None else _last_round(curve, patience)
        if end is not None:
            return np.asarray(curve[:end])
    return np.asarray(np.mean([fold.losses for fold in folds], axis=0))


def _set_up_thread(parameters: dict[str, Any]) -> None:
    """Silence LightGBM in this thread: it keeps the level of its messages by thread."""
    from lightgbm import Dataset

    own = {name: parameters[name] for name in ("verbosity", "num_threads")}
    Dataset(np.zeros((1, 1)), [0.0], params=own).construct()


def _last_round(curve: FloatArray, patience: int) -> int | None:
    """Return how many rounds there are until the loss has not fallen for long; None if it has.

    >>> _last_round(np.array([3.0, 2.0, 2.5, 2.4, 1.0]), patience=2)
    4
    """
    best = 0
    for i, loss in enumerate(curve):
        if loss < curve[best]:
            best = i
        elif i - best >= patience:
            return i + 1
    return None


def binned(
    design: Callable[[Any], FloatArray],
    y: FloatArray,
    w: FloatArray,
    parts: Sequence[IntArray] = (),
    **options: Any,
) -> list[Any]:
    """Return rows, or parts of many of them, as datasets of LightGBM with the same bins.

    `design` makes some rows.
    """
    from lightgbm import Dataset

    make: Any = partial(Dataset, **options)
    n, found = len(y), []
    if n <= BINNED_ROWS:
        return [make(design(slice(None)), y, weight=w).construct()]
    some = np.linspace(0, n - 1, BINNED_ROWS).astype(np.int64)
    first = make(design(some), y[some]).construct()
    equal = n > LARGE and bool((w == 1).all())  # without weights it is quicker
    some_or_all: Sequence[Any] = parts or [slice(None)]
    for own in some_or_all:
        rows = in_chunks(partial(_some_of, design, own), len(y[own]))
        weight = None if equal else w[own]
        found.append(make(rows, y[own], weight=weight, reference=first).construct())
        found[-1].reference = found[-1].label = found[-1].weight = None  # LightGBM has its own
    return found


def _some_of(design: Callable[[Any], FloatArray], own: Any, rows: Any) -> FloatArray:
    """Return some rows of those that are meant."""
    return design(rows if isinstance(own, slice) else own[rows])


def in_chunks(design: Callable[[Any], FloatArray], n: int) -> Any:
    """Return n rows as LightGBM reads them in parts; `design` makes some of them."""
    from lightgbm import Sequence as Chunks

    class Rows(Chunks):  # what it reads is held by the object: a class is freed late
        batch_size = CHUNK_ROWS

        def __init__(self, design: Callable[[Any], FloatArray]) -> None:
            self.design = design

        def __getitem__(self, rows: Any) -> FloatArray:
            stop_if_interrupted()
            return self.design(rows)

        def __len__(self) -> int:
            return n

    return Rows(design)


def train(parameters: dict[str, Any], data: Any, rounds: int) -> Any:
    """Return a booster of all rows, trained so that it can be interrupted."""
    from lightgbm import Booster

    if parameters["objective"] == "poisson":
        _with_a_count(data)
    booster = Booster({**parameters, "num_iterations": rounds}, data)
    for _ in range(rounds):
        stop_if_interrupted()
        booster.update()
    return booster


def _with_a_count(data: Any) -> None:
    """Spread half a count over rows without any: LightGBM takes no counts that are all zero.

    Rows outside two groups may hold none where counts are rare.
    """
    label = data.get_label()
    if not label.any():
        data.set_label(np.full(len(label), HALF_A_COUNT / len(label)))
