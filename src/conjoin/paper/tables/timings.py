"""Time from files to models; the paper reports 10 minutes for RSS and 3 hours for CFGSF.

The folder with the data enters; seconds for each stage, as numbers and in words, leave.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from conjoin._typing import Progress
from conjoin.paper.tables.methods import LITERAL, algorithm3, fit_default
from conjoin.paper.tables.protocol import embed, network
from conjoin.paper.tables.sets import load
from conjoin.paper.tuned import training_rows

PAPER_SECONDS = {"RSS": 600.0, "CFGSF": 10_800.0}  # from its section "Complexity Analysis"
HIDDEN = 2  # hidden layers: MLP2, the slower of the paper's two networks


@dataclass(frozen=True)
class Timing:
    """Seconds for a set: reading files, training MLP2 on all rows, deciding and fitting."""

    set: str
    rows: int
    datasets: int
    paper: float
    reading: float
    training: float
    deciding: float
    algorithm3: float | None

    @property
    def total(self) -> float:
        """Seconds from files to models with the default method."""
        return self.reading + self.training + self.deciding

    @property
    def training_share(self) -> float:
        """Share of training in the total."""
        return self.training / self.total


def run_timings(
    folder: Path, *, seed: int = 0, greedy: bool = True, progress: Progress | None = None
) -> Iterator[Timing]:
    """Time both sets; with `greedy`, also the paper's Algorithm 3 on the same features."""
    for name, paper in PAPER_SECONDS.items():
        clock = _Clock()
        rows = load(name, folder)
        reading = clock.lap()
        learned = embed(rows, network(rows, HIDDEN, seed, progress))
        training = clock.lap()
        fit_default(learned, seed)
        deciding = clock.lap()
        if greedy:
            algorithm3(learned, LITERAL, training_rows(learned.X.shape[1]), seed)
        yield Timing(
            name,
            len(rows.y),
            len(rows.names),
            paper,
            reading,
            training,
            deciding,
            clock.lap() if greedy else None,
        )


class _Clock:
    """A stopwatch with laps."""

    def __init__(self) -> None:
        self.last = perf_counter()

    def lap(self) -> float:
        """Return the seconds since the last lap."""
        now = perf_counter()
        seconds, self.last = now - self.last, now
        return seconds


TEXT_HEADER = (
    "set", "rows", "datasets", "paper", "total", "times faster", "reading", "training", "deciding",
    "training, %", "Algorithm 3",
)  # fmt: skip


def text_of(timing: Timing) -> tuple[str, ...]:
    """Return a timing as text, under TEXT_HEADER."""
    seconds = (timing.reading, timing.training, timing.deciding)
    return (
        timing.set,
        str(timing.rows),
        str(timing.datasets),
        f"{timing.paper:.0f}",
        f"{timing.total:.1f}",
        f"{timing.paper / timing.total:.0f}",
        *(f"{value:.1f}" for value in seconds),
        f"{100 * timing.training_share:.0f}",
        "" if timing.algorithm3 is None else f"{timing.algorithm3:.0f}",
    )


def in_words(timing: Timing) -> str:
    """Return a timing as one or two sentences.

    Examples
    --------
    >>> print(in_words(Timing("RSS", 844_338, 4, 600.0, 3.0, 12.0, 5.0, None)))
    RSS: 20.0 s from files to models of 844,338 rows in 4 datasets (reading 3.0 s, training
    12.0 s, deciding 5.0 s). Training takes 60 % of it. The paper reports 600 s.
    """
    words = (
        f"{timing.set}: {timing.total:.1f} s from files to models of {timing.rows:,} rows in "
        f"{timing.datasets} datasets (reading {timing.reading:.1f} s, training\n"
        f"{timing.training:.1f} s, deciding {timing.deciding:.1f} s). Training takes "
        f"{100 * timing.training_share:.0f} % of it. The paper reports {timing.paper:,.0f} s."
    )
    if timing.algorithm3 is not None:
        words += f" Algorithm 3 on the same features takes another {timing.algorithm3:.0f} s."
    return words
