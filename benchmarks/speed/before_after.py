"""Time two source trees of conjoin in one run, in turn, and print ratios.

    python -m benchmarks.speed.before_after OLD_SRC NEW_SRC [--rounds 5] [--cases small help]

OLD_SRC and NEW_SRC are folders that contain the package `conjoin`. Every measurement has its own
process. The trees take turns, and every second round starts with the other one, so that both see
the same machine. A ratio below 1 means that the new tree is faster. On a busy machine read the
ratio of processor time: it does not count waiting for other work.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from benchmarks.speed.cases import PARTITIONS, write_parquet

ROOT = Path(__file__).resolve().parents[2]
CASES = {
    **{name: case.what for name, case in PARTITIONS.items()},
    "import": "import of conjoin.partition",
    "help": "conjoin --help",
}
# Three rounds give a median; five survive two rounds that other work disturbed.
ROUNDS = 5

Times = dict[str, float]


def environment(source: Path) -> dict[str, str]:
    """Return the environment in which `conjoin` is imported from a source tree."""
    path = os.pathsep.join([str(source), str(ROOT)])
    return {**os.environ, "PYTHONPATH": path}


def measure(name: str, source: Path, folder: Path) -> Times:
    """Run one case on one source tree; return its wall-clock and processor seconds."""
    if name == "help":
        return time_help(source)
    command = [sys.executable, "-m", "benchmarks.speed.cases", name, str(folder)]
    done = subprocess.run(
        command, env=environment(source), cwd=folder, stdout=subprocess.PIPE, text=True, check=True
    )
    answer = json.loads(done.stdout.splitlines()[-1])
    package = answer.pop("package")
    if Path(package) != (source / "conjoin").resolve():
        raise RuntimeError(f"The case {name!r} ran {package}, not the package in {source}.")
    return answer


def time_help(source: Path) -> Times:
    """Time `conjoin --help` from start to end."""
    command = [sys.executable, "-m", "conjoin.cli.main", "--help"]
    before, started = _children_seconds(), time.perf_counter()
    subprocess.run(command, env=environment(source), capture_output=True, check=True)
    wall = time.perf_counter() - started
    return {"wall": wall, "processor": _children_seconds() - before}


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compare(name: str, trees: Sequence[Path], rounds: int, folder: Path) -> list[list[Times]]:
    """Return the times of every round, old tree first, whatever the order of the measurements."""
    found: list[list[Times]] = []
    for number in range(rounds):
        order = (1, 0) if number % 2 else (0, 1)
        times = {tree: measure(name, trees[tree], folder) for tree in order}
        found.append([times[0], times[1]])
    return found


def summary(found: Sequence[Sequence[Times]], clock: str) -> tuple[float, float, float, str]:
    """Return median seconds of old and new, the median ratio, and the range of ratios.

    Examples
    --------
    >>> found = [[{"wall": 1.0}, {"wall": 1.1}], [{"wall": 2.0}, {"wall": 1.8}]]
    >>> summary(found, "wall")
    (1.5, 1.4500000000000002, 1.0, '0.90-1.10')
    """
    old, new = ([times[tree][clock] for times in found] for tree in (0, 1))
    ratios = [b / a for a, b in zip(old, new)]
    spread = f"{min(ratios):.2f}-{max(ratios):.2f}"
    return statistics.median(old), statistics.median(new), statistics.median(ratios), spread


def source_tree(text: str) -> Path:
    """Check that a folder contains the package."""
    path = Path(text).resolve()
    if not (path / "conjoin" / "__init__.py").is_file():
        raise argparse.ArgumentTypeError(
            f"{text} has no package 'conjoin'; give the folder 'src' of a source tree"
        )
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    """Time the cases and print a line for each as soon as it is measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=source_tree, metavar="OLD_SRC")
    parser.add_argument("new", type=source_tree, metavar="NEW_SRC")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    options = parser.parse_args(arguments)
    print(f"{'case':40s} {'clock':9s} {'old s':>8s} {'new s':>8s} {'new/old':>8s}  range")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "parquet" in options.cases:
            write_parquet(folder)
        for tree, case in product((options.old, options.new), ("import", "help")):
            measure(case, tree, folder)  # does not count: compiles the modules of a fresh tree
        for case in options.cases:
            found = compare(case, (options.old, options.new), options.rounds, folder)
            for clock in ("wall", "processor"):
                old, new, ratio, spread = summary(found, clock)
                line = f"{old:8.3f} {new:8.3f} {ratio:8.2f}  {spread}"
                print(f"{CASES[case]:40s} {clock:9s} {line}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
