"""How good the model of a new dataset is, from 10 or 30 labelled rows, on real tables.

    python -m scripts.new_datasets [--sets NAME...] [--left-out 3] [--seed 0] [--learner linear]

Each line leaves out some datasets of a table, one at a time, and fits the others. The left-out
dataset comes back with a few labelled rows; its other rows are the test. Errors are mean squared
errors, averaged over the left-out datasets, as ratios to that of a fit to all datasets with the new
rows among them ("refit", strategy 'auto').

assign      `result.assign(X, y).model`: the prior of the other datasets, updated with the new rows
clusters    the average over clusters, as in version 0.2
pooled      one model for all other datasets, without the new rows
claimed     error that `assign` estimates from the new rows, over the realised error of `assign`
"""

import argparse
import time
import warnings
import zlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

import conjoin
from benchmarks.arena.data import ArenaSet, rows_by_group
from benchmarks.arena.regression.measure import load

FloatArray = NDArray[np.float64]
SETS = ("sbsd_hour", "sbsd_season", "parkinsons_total", "cfgsf_guayas", "cfgsf", "ssf", "dfoip",
        "diamonds_clarity", "nycflights_carrier", "rss_store", "wdaf_store", "ppge")  # fmt: skip
LABELLED = (10, 30)  # rows of the new dataset with a known target, as the issue asks
# Rows a dataset at most: enough that the known datasets are known well, few enough to be quick.
MOST_ROWS = 200
FEWEST_TEST = 20  # test rows of a left-out dataset, so that its error means something
MOST_DATASETS = 30  # of a table, drawn at random: more take long


def table(data: ArenaSet, rows: Sequence[int] | NDArray[np.intp]) -> dict[str, object]:
    """Return some rows of a set as a table."""
    columns = {f"x{j}": data.X[rows, j] for j in range(data.X.shape[1])}
    return {**columns, "y": data.y[rows], "by": data.groups[rows].astype(str)}


def fit(data: ArenaSet, rows: NDArray[np.intp], learner: str) -> conjoin.Partition:
    """Fit some rows of a set."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return conjoin.partition(
            table(data, rows), target="y", by="by", family="gaussian", learner=learner
        )


def predictions(
    result: conjoin.Partition, data: ArenaSet, few: NDArray[np.intp], test: NDArray[np.intp]
) -> tuple[dict[str, FloatArray], float]:
    """Return the predictions of test rows by each way that fits nothing again, and the claim."""
    new = table(data, test)
    known = table(data, few)
    placement, y = result.analysis.placement, data.y[few]
    X, X_test = result.predictor.encode_new(known), result.predictor.encode_new(new)

    def by(beta: FloatArray) -> FloatArray:
        lines = placement.lines(beta, result.schema.response, X.shape[1])
        return np.asarray(lines[0][0] + X_test @ lines[1][0])

    placed = result.assign(known, y)
    return {
        "assign": placed.model.predict(new, limit=False),
        "clusters": by(placement.place(X, y)[1]),
        "pooled": result.pooled.predict(new, limit=False),
    }, placed.model.error


def leave_out(
    data: ArenaSet,
    groups: Mapping[str, NDArray[np.intp]],
    name: str,
    rng: np.random.Generator,
    learner: str,
) -> dict[tuple[str, int], float]:
    """Return the errors of every way on the test rows of one dataset, by way and labelled rows."""
    others = np.concatenate([rows[:MOST_ROWS] for key, rows in groups.items() if key != name])
    own = rng.permutation(groups[name])
    test = own[max(LABELLED) :][:1000]
    result = fit(data, others, learner)
    found: dict[tuple[str, int], float] = {}
    for labelled in LABELLED:
        few = own[:labelled]
        predicted, claimed = predictions(result, data, few, test)
        again = fit(data, np.concatenate([others, few]), learner)
        predicted["refit"] = np.asarray(again.predict(table(data, test), limit=False), dtype=float)
        for way, values in predicted.items():
            found[way, labelled] = float(np.mean((values - data.y[test]) ** 2))
        found["claimed", labelled] = claimed
    return found


def run(name: str, left_out: int, seed: int, learner: str) -> dict[tuple[str, int], float]:
    """Return mean errors over the left-out datasets of a table."""
    data = load(name)
    rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
    groups = {key: rng.permutation(rows) for key, rows in rows_by_group(data.groups).items()}
    kept = sorted(groups)
    if len(kept) > MOST_DATASETS:
        kept = sorted(rng.choice(kept, MOST_DATASETS, replace=False))
    groups = {key: groups[key] for key in kept}
    large = [key for key, rows in groups.items() if len(rows) >= max(LABELLED) + FEWEST_TEST]
    chosen = rng.permutation(large)[:left_out]
    errors = [leave_out(data, groups, str(key), rng, learner) for key in chosen]
    return {key: float(np.mean([one[key] for one in errors])) for key in errors[0]}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return the exit code 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--left-out", type=int, default=3, help="datasets left out of each table")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--learner", default="linear", help="as in conjoin.partition")
    options = parser.parse_args(arguments)
    ways = ("assign", "clusters", "pooled")
    heads = [f"{way} {labelled}" for labelled in LABELLED for way in (*ways, "claimed")]
    print(f"{'table':20s} " + " ".join(f"{head:>12s}" for head in heads))
    logs = []
    for name in options.sets:
        start = time.perf_counter()
        found = run(name, options.left_out, options.seed, options.learner)
        line = []
        for labelled in LABELLED:
            line += [found[way, labelled] / found["refit", labelled] for way in ways]
            line.append(found["claimed", labelled] / found["assign", labelled])
        logs.append(np.log(line))
        words = " ".join(f"{value:12.3f}" for value in line)
        print(f"{name:20s} {words}  {time.perf_counter() - start:.0f} s", flush=True)
    means = np.exp(np.mean(logs, axis=0))
    print(f"{'geometric mean':20s} " + " ".join(f"{value:12.3f}" for value in means))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
