"""The cases that `before_after` times, run in a process of their own.

    python -m benchmarks.speed.cases CASE FOLDER

The name of a case enters; one line of JSON leaves: wall-clock and processor seconds of the fastest
repeat, and the folder of the package that ran. Only defaults of `conjoin.partition` are used, so
that source trees with other names of arguments can be compared, and lines: older trees have no
other learner. Nothing here may import conjoin at the top: the import is a case too.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

CLUSTERS = 4
PARQUET = "sales.parquet"


@dataclass(frozen=True)
class Case:
    """A collection of datasets, and how often a process repeats the call.

    Attributes
    ----------
    what : str
        Name in the printed table.
    datasets, rows, columns : int
        Size: number of datasets, rows of each, predictors.
    classes : bool
        Whether the target has two classes instead of numbers.
    file : bool
        Whether the data are read from a Parquet file instead of memory.
    repeats : int
        Calls in one process; the fastest counts.
    """

    what: str
    datasets: int
    rows: int
    columns: int
    classes: bool = False
    file: bool = False
    repeats: int = 1


# A call of "small" takes a second or less and is repeated; the others take seconds, and the rounds
# of `before_after` repeat them.
PARTITIONS = {
    "regression": Case("regression, 1,000 x 200 x 10", 1000, 200, 10),
    "classes": Case("classes, 1,000 x 200 x 10", 1000, 200, 10, classes=True),
    "small": Case("regression, 30 x 100 x 5", 30, 100, 5, repeats=3),
    "parquet": Case("Parquet file, 200,000 rows, 50 datasets", 50, 4000, 10, file=True),
}
# The first call in a process loads modules; this collection makes that call.
WARM_UP = Case("warm-up", 5, 20, 2)


def make(case: Case, seed: int = 0) -> dict[str, Any]:
    """Return the columns of a table: x0, x1, ..., y and by, datasets in `CLUSTERS` clusters."""
    import numpy as np

    rng = np.random.default_rng(seed)
    beta = rng.standard_normal((CLUSTERS, case.columns))[rng.integers(CLUSTERS, size=case.datasets)]
    X = rng.standard_normal((case.datasets, case.rows, case.columns))
    score = np.einsum("kij,kj->ki", X, beta)
    if case.classes:
        y = np.where(rng.random(score.shape) < 1 / (1 + np.exp(-score)), "yes", "no").ravel()
    else:
        y = (score + rng.standard_normal(score.shape)).ravel()
    X = X.reshape(-1, case.columns)
    columns = {f"x{j}": X[:, j] for j in range(case.columns)}
    return {**columns, "y": y, "by": np.repeat(np.arange(case.datasets), case.rows)}


def write_parquet(folder: Path) -> None:
    """Write the file of the case "parquet"."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(make(PARTITIONS["parquet"])), folder / PARQUET)


def timed(run: Callable[[], object], repeats: int = 1) -> dict[str, float]:
    """Return the least wall-clock and processor seconds of some calls."""
    wall, processor = [], []
    for _ in range(repeats):
        started, used = time.perf_counter(), time.process_time()
        run()
        wall.append(time.perf_counter() - started)
        processor.append(time.process_time() - used)
    return {"wall": min(wall), "processor": min(processor)}


def time_import() -> dict[str, float]:
    """Time the import of the package with `conjoin.partition`, which loads what it needs."""

    def load() -> object:
        import conjoin

        return conjoin.partition

    return timed(load)


def time_partition(case: Case, folder: Path) -> dict[str, float]:
    """Time `conjoin.partition` with lines and its other defaults, after a small first call."""
    import inspect

    import conjoin

    options: dict[str, Any] = {"target": "y", "by": "by"}
    if "learner" in inspect.signature(conjoin.partition).parameters:
        options["learner"] = "linear"
    conjoin.partition(make(replace(WARM_UP, classes=case.classes)), **options)
    data: Any = str(folder / PARQUET) if case.file else make(case)
    return timed(lambda: conjoin.partition(data, **options), case.repeats)


def main() -> int:
    """Run one case and print its times."""
    name, folder = sys.argv[1:]
    if name == "import":
        times = time_import()
    else:
        times = time_partition(PARTITIONS[name], Path(folder))
    import conjoin

    print(json.dumps({**times, "package": str(Path(conjoin.__file__).resolve().parent)}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
