"""What the low-rank strategy does to 'auto': on planted structure, and on sets of the arena.

    python -m scripts.low_rank [--sets NAME...] [--shares 0.1 0.5] [--seed 0] [--draws 3]

Prints the error of 'auto' with the strategy over its error without it. Planted: 30 datasets of 30
rows and 20 columns, whose coefficients differ in 0 to 3 directions and a little beside; errors are
those of the expected target. Arena: mean squared errors on the test rows.
"""

import argparse
import time
from collections.abc import Sequence
from unittest import mock

import numpy as np

import conjoin
from benchmarks.arena.data import splits, task_of
from benchmarks.arena.ours import fit
from benchmarks.arena.sides import SIDES
from conjoin.strategies import plan

SETS = ("sleepstudy", "bb", "ppge", "cfgsf_guayas", "wdaf_store", "radon", "parkinsons_total",
        "diamonds_clarity", "sbsd_hour", "school")  # fmt: skip
RANKS = (0, 1, 2, 3)  # planted directions
DATASETS, ROWS, COLUMNS = 30, 30, 20  # of the planted tables, as the work order asks
LENGTH, REST = 0.5, 0.05  # spread of a coefficient along all directions, and beside them


def planted(rank: int, seed: int) -> tuple[dict[str, dict[str, object]], np.ndarray]:
    """Return tables whose coefficients (K, p + 1) lie near a subspace, and the coefficients."""
    rng = np.random.default_rng([rank, seed])
    U = rng.normal(0, LENGTH / np.sqrt(max(rank, 1)), (COLUMNS + 1, rank))
    beta = rng.normal(0, 0.3, COLUMNS + 1) + rng.standard_normal((DATASETS, rank)) @ U.T
    beta = beta + REST * rng.standard_normal(beta.shape)
    tables = {}
    for k, b in enumerate(beta):
        X = rng.standard_normal((ROWS, COLUMNS))
        y = b[0] + X @ b[1:] + rng.standard_normal(ROWS)
        tables[f"d{k}"] = {**{f"x{j}": X[:, j] for j in range(COLUMNS)}, "y": y}
    return tables, beta


def both(make: object) -> tuple[conjoin.Partition, conjoin.Partition]:
    """Return the result with and without the strategy."""
    assert callable(make)
    with mock.patch.object(plan, "fit_low_rank", lambda *given: None):
        without = make()
    return make(), without


def on_planted(rank: int, draws: int) -> None:
    """Print the ratio on planted tables of one rank."""
    errors = []
    weight = []
    for seed in range(draws):
        tables, beta = planted(rank, seed)
        pair = both(lambda tables=tables: conjoin.partition(tables, target="y"))
        line = []
        for result in pair:
            found = [
                [result.coefficients[n].intercept, *result.coefficients[n].coef.values()]
                for n in tables
            ]
            line.append(np.mean(np.sum((np.array(found) - beta) ** 2, axis=1)))
        errors.append(line)
        weight.append(pair[0].weights.get("lowrank", 0.0))
    one, two = np.mean(errors, axis=0)
    print(f"planted rank {rank}: {one / two:.3f}  (error {one:.4f} with, {two:.4f} without; "
          f"weight {np.mean(weight):.2f})", flush=True)  # fmt: skip


def on_set(name: str, shares: Sequence[float], seed: int) -> None:
    """Print the ratios on one set of the arena."""
    side = SIDES["regression"]
    data = side.load(name)
    words = []
    for share in shares:
        split = splits(data, share, seed)
        task = task_of(data, split)
        start = time.perf_counter()
        pair = both(lambda task=task: fit(side, task)[0])
        errors = [
            side.error(data, split, side.own.predict(result, "auto", task))[0] for result in pair
        ]
        weight = pair[0].weights.get("lowrank", 0.0)
        words.append(f"{errors[0] / errors[1]:.4f} (weight {weight:.2f}, "
                     f"{time.perf_counter() - start:.0f} s)")  # fmt: skip
    print(f"{name:20s} " + "  ".join(words), flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both comparisons; return the exit code 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--shares", nargs="+", type=float, default=[0.1, 0.5])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=3, help="planted tables of each rank")
    options = parser.parse_args(arguments)
    for rank in RANKS if options.draws else ():
        on_planted(rank, options.draws)
    for name in options.sets:
        on_set(name, options.shares, options.seed)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
