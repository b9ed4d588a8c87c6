"""Kill processes while they write files, and look at what is there.

    python -m scripts.faults [--kills 200] [--seed 0]

A process that has fitted a model writes a model file, a page, predictions, an updated model, the
export of a site or a step of a checkpoint over and over. It is killed (SIGKILL) at a random moment.
Each time the old file must be whole or the new one. Whoever writes the file next must leave nothing
beside it.
"""

import argparse
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import conjoin
from conjoin.datasets import make_clusters
from conjoin.sites import export, make_plan
from conjoin.sites.document import EXPORT, read_document
from conjoin.sources.checkpoints import Checkpoint
from conjoin.sources.write import write_batches

# Seconds after which a process is killed, at most: a file takes some milliseconds to write.
LONGEST = 0.05
ROWS = 100_000  # of the predictions


@dataclass(frozen=True)
class Target:
    """A file, what writes it, and what fails if it is not whole."""

    path: Path
    write: Callable[[], object]
    check: Callable[[], object]


def targets(folder: Path) -> list[Target]:
    """Return the files of one small fitted result, each in a folder of its own."""
    tables = make_clusters(sizes=(3, 3), n=30, p=3).tables()
    found = conjoin.partition(tables, target="y", learner="linear")
    model, page = folder / "model" / "model.json", folder / "page" / "page.html"
    rows = folder / "rows" / "rows.parquet"
    updated, site = folder / "updated" / "model.json", folder / "site" / "site.json"
    batch = pa.table({"prediction": pa.array(range(ROWS), pa.float64())})
    for path in (model, page, rows, updated, site):
        path.parent.mkdir()
    kept = conjoin.partition(tables, target="y", learner="linear", keep_moments=True)
    more = conjoin.update(kept, {"new": tables["d1"]}).result
    plan = make_plan({"x1": "number", "x2": "number", "x3": "number", "y": "number"}, "y")
    large = make_clusters(sizes=(1,), n=2000, p=3).tables()["d1"]
    leaving = export(large, plan, "site")
    step = _checkpoint(folder / "steps")

    def check_page() -> None:
        if not page.read_text(encoding="utf-8").rstrip().endswith("</html>"):
            raise ValueError(f"{page} has no end.")

    def check_rows() -> None:
        if pq.read_table(rows).num_rows != 2 * ROWS:
            raise ValueError(f"{rows} lacks rows.")

    return [
        Target(model, lambda: found.save(model), lambda: conjoin.load(model)),
        Target(page, lambda: found.report(page), check_page),
        Target(rows, lambda: write_batches(rows, [batch, batch]), check_rows),
        Target(updated, lambda: more.save(updated), lambda: conjoin.load(updated)),
        Target(
            site,
            lambda: leaving.save(site),
            lambda: read_document(site, EXPORT, lambda content: None),
        ),
        step,
    ]


def _checkpoint(folder: Path) -> Target:
    """Return a finished step of a run, as a checkpoint writes it."""
    folder.mkdir()
    store = Checkpoint(folder, resumed=False)
    packed = {"sums": np.arange(100_000.0)}
    store.write("moments", "key", packed)
    path = next(path for path in folder.iterdir() if path.is_file())

    def check() -> None:
        found = store.read("moments", "key")
        if found is None or len(found["sums"]) != len(packed["sums"]):
            raise ValueError(f"{path} cannot be read.")

    return Target(path, lambda: store.write("moments", "key", packed), check)


def kill_while_writing(target: Target, seconds: float) -> None:
    """Start a process that writes a file again and again, and kill it after a while."""
    process = os.fork()
    if process == 0:
        while True:
            target.write()
    time.sleep(seconds)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was found; the exit code is 1 if a file was not whole."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    rng, broken, caught = random.Random(asked.seed), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        files = targets(Path(folder))
        for target in files:
            target.write()
        for number in range(asked.kills):
            target = files[number % len(files)]
            kill_while_writing(target, LONGEST * rng.random())
            caught += len(list(target.path.parent.iterdir())) > 1
            try:
                target.check()
            except Exception as error:  # whatever it is, the file is not whole
                broken += 1
                print(f"{target.path.name}: {error}")
            target.write()
            left = [path.name for path in target.path.parent.iterdir() if path != target.path]
            if left:
                broken += 1
                print(f"{target.path.name}: {left} are left behind")
    print(
        f"{asked.kills} kills (seed {asked.seed}), {caught} of them in the middle of a file: "
        f"{broken} files were not whole"
    )
    return int(broken > 0)


if __name__ == "__main__":
    raise SystemExit(main())
