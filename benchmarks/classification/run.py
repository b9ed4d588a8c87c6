"""Run contestants over sets, shares and seeds; append one row a fit to a CSV file.

``python -m benchmarks.classification.run --help`` lists the options; the runner is that of the
regression arena, see `benchmarks.arena.run`.
"""

from pathlib import Path

from benchmarks.arena.data import Split
from benchmarks.arena.run import Arena, main
from benchmarks.classification.contestants import CONTESTANTS
from benchmarks.classification.data import ClassSet, load, split_error, training_classes
from benchmarks.classification.sets import SETS

RESULTS = Path(__file__).with_name("results.csv")


def shape(data: ClassSet, split: Split) -> tuple[int, ...]:
    """Return the shape that predictions must have: test rows, classes of the training rows."""
    return len(split.test), len(training_classes(data, split))


ARENA = Arena(
    command="python -m benchmarks.classification.run",
    sets=tuple(SETS),
    load=load,
    contestants=CONTESTANTS,
    shape=shape,
    error=split_error,
    results=RESULTS,
)

if __name__ == "__main__":
    raise SystemExit(main(arena=ARENA))
