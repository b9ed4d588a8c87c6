"""An update with 1 % new rows against a fresh run on all rows: time and agreement.

    python -m benchmarks.speed.update [--datasets 1000] [--rows 200] [--columns 10] [--clusters 40]

Tables are those of `benchmarks.speed.scale`. One row in a hundred is new, drawn at random (seed 1).
`partition` runs with `keep_moments=True` on the old rows and on all rows; `update` adds the new
rows to the first result, with `settled=False`. "cold" is the same update without the stored
variances. All judge 200 joins, which is part of their times. Seconds are those of the processor.
Differences are the largest over coefficients of all strategies, in working coordinates.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import conjoin
from benchmarks.speed.common import write_csv
from benchmarks.speed.scale import Case, make_table

OUTPUT = Path(__file__).with_suffix(".csv")
HEAD = (*Case._fields, "what", "processor_seconds", "largest_difference", "same_clusters")
LINES = 200  # as many verdicts as an update compares
SHARE = 100  # one row in so many is new


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in zip(Case._fields, (1_000, 200, 10, 40, 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--output", type=Path, default=OUTPUT, help="CSV file to write")
    asked = parser.parse_args(arguments)
    case = Case(*(getattr(asked, name) for name in Case._fields))
    found = measure(case)
    fresh = found["fresh"][1]
    lines = []
    for what, (seconds, result) in found.items():
        same = result.labels == fresh.labels
        lines.append([*case, what, f"{seconds:.2f}", f"{_difference(result, fresh):.1e}", same])
        print(*lines[-1])
    write_csv(asked.output, HEAD, lines)
    return 0


def measure(case: Case) -> dict[str, tuple[float, Any]]:
    """Return seconds and result of a fresh run, of an update, and of one without a start."""
    table, _ = make_table(case)
    size = len(table["y"])
    new = np.zeros(size, dtype=bool)
    new[np.random.default_rng(1).choice(size, max(size // SHARE, 1), replace=False)] = True
    options = {"target": "y", "by": "store", "learner": "linear", "keep_moments": True}
    first = conjoin.partition(_rows(table, ~new), **options)
    first.ledger(LINES)  # a model file has them already
    without = replace(first.analysis, kept=first.analysis.kept.with_starts({}))
    cold = replace(first, analysis=without)
    cold.ledger(LINES)
    more = _rows(table, new)
    works: dict[str, Callable[[], Any]] = {
        "fresh": lambda: conjoin.partition(table, **options),
        "update": lambda: conjoin.update(first, more, settled=False).result,
        "update, cold": lambda: conjoin.update(cold, more, settled=False).result,
    }
    return {what: _timed(work) for what, work in works.items()}


def _rows(table: dict[str, np.ndarray], kept: np.ndarray) -> dict[str, np.ndarray]:
    return {name: np.asarray(values)[kept] for name, values in table.items()}


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    result.ledger(LINES)
    return time.process_time() - start, result


def _difference(result: Any, fresh: Any) -> float:
    """Return the largest difference of coefficients of any strategy."""
    own, other = (one.analysis.strategies.validated for one in (result, fresh))
    return max(float(np.abs(own[name].coef - other[name].coef).max()) for name in other)


if __name__ == "__main__":
    raise SystemExit(main())
