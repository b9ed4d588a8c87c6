"""Synthetic collections whose true models are known: clusters, a continuum, pairs.

    python -m benchmarks.arena.synthetic [--seeds 5] [--output FILE]

Prints three results and writes the first as ``synthetic.csv``:

1. 100 datasets of 10 features and 15 or 30 rows each. They form four clusters, or every dataset has
   its own slopes (continuum). The error is the exact population error, averaged over datasets; the
   noise variance is 1.
2. Planted clusters: 30 datasets of 30 rows, 6 features, 3 clusters. The excess error over the noise
   is divided by that of least squares on the known clusters.
3. The twelve pair settings of the paper's Tables 3 and 4: regret of the default pair decision. This
   is the mean absolute gain of the pairs that were decided wrongly, summed over the settings.
"""

import argparse
import csv
from pathlib import Path

import numpy as np

import conjoin
from benchmarks.arena.regression.own import UNBIASED_RISK
from conjoin.datasets import SyntheticCollection, make_clusters, make_continuum, make_pair
from conjoin.engine.criteria import to_units
from conjoin.tables import collect

OUTPUT = Path(__file__).parent / "synthetic.csv"
STRATEGIES = (
    "pooled",
    "separate",
    "slopes",
    "partial",
    "full",
    "mixture",
    "clusters",
    "auto",
    "best",
)
# Name in the stored table, and conjoin's name of the method.
METHODS = {"kmeans": "kmeans", "bic": "bic", "mallows": UNBIASED_RISK, "chow": "chow"}
# Collections averaged in the second result. The slow test takes 8 of them.
PLANTED = 20


def population_error(truth: SyntheticCollection, models: dict[str, conjoin.LinearFit]) -> float:
    """Return the exact error of each dataset's model, averaged over datasets."""
    errors = [
        truth.population_error(name, np.array(list(m.coef.values())), m.intercept)
        for name, m in models.items()
    ]
    return float(np.mean(errors))


def known_clusters(truth: SyntheticCollection) -> float:
    """Return the error of least squares on the true clusters."""
    errors = []
    for label in sorted(set(truth.labels.values())):
        names = [name for name in truth.names if truth.labels[name] == label]
        X = np.vstack([truth.X[name] for name in names])
        A = np.column_stack([np.ones(len(X)), X])
        b = np.linalg.lstsq(A, np.concatenate([truth.y[name] for name in names]), rcond=None)[0]
        errors += [truth.population_error(name, b[1:], b[0]) for name in names]
    return float(np.mean(errors))


def contest(truth: SyntheticCollection) -> dict[str, float]:
    """Return the error of every strategy, and of the clusters that every method finds."""
    tables = truth.tables()
    result = conjoin.partition(tables, target="y")
    errors = {}
    for strategy in STRATEGIES:
        if strategy in (*result.weights, "auto", "best", "clusters"):
            errors[strategy] = population_error(truth, result.using(strategy).coefficients)
    for name, method in METHODS.items():
        found = conjoin.partition(tables, target="y", method=method, strategy="clusters")
        errors[f"{name} (clusters)"] = population_error(truth, found.coefficients)
    if len(set(truth.labels.values())) < len(truth.names):
        errors["known clusters"] = known_clusters(truth)
    return errors


def columns(seed: int) -> dict[str, SyntheticCollection]:
    """Return the four collections of the first table."""
    return {
        f"{kind} n={n}": (
            make_clusters(sizes=(25,) * 4, n=n, p=10, distance=0.8, random_state=seed)
            if kind == "clustered"
            else make_continuum(100, n=n, p=10, spread=0.5, random_state=seed)
        )
        for kind in ("clustered", "continuum")
        for n in (15, 30)
    }


def planted(seeds: int) -> float:
    """Return the excess error of "auto" divided by that of known clusters."""
    ours, known = 0.0, 0.0
    for seed in range(seeds):
        truth = make_clusters(sizes=(10, 10, 10), n=30, p=6, distance=1.0, random_state=seed)
        result = conjoin.partition(truth.tables(), target="y")
        ours += population_error(truth, result.coefficients) - 1
        known += known_clusters(truth) - 1
    return ours / known


def pair_regret(pairs: int, seed: int = 0) -> float:
    """Return the total regret of the default pair decision over the twelve settings."""
    total = 0.0
    for shift in (0, 1):
        for p in (10, 20):
            for d in (0.0, 0.1, 0.3):
                total += np.mean([_regret(p, d, shift, seed * pairs + i) for i in range(pairs)])
    return float(total)


def _regret(p: int, d: float, shift: int, seed: int) -> float:
    truth = make_pair(p=p, n=50, d=d, shift=shift, random_state=seed)
    fits = {k: np.linalg.lstsq(truth.X[k], truth.y[k], rcond=None)[0] for k in "ab"}
    X, y = (np.concatenate([part[k] for k in "ab"]) for part in (truth.X, truth.y))
    joint = np.linalg.lstsq(X, y, rcond=None)[0]
    gain = sum(truth.population_error(k, fits[k]) - truth.population_error(k, joint) for k in "ab")
    risk = conjoin.Risk()
    units = to_units(collect(truth.tables(), target="y"), intercept=False)
    join = risk.compare(*(risk.prepare(unit, 0) for unit in units)).join
    return abs(gain) if join != (gain > 0) else 0.0


def main() -> int:
    """Print the three results and write the first table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    found: dict[str, dict[str, list[float]]] = {}
    for seed in range(options.seeds):
        for column, truth in columns(seed).items():
            for name, error in contest(truth).items():
                found.setdefault(name, {}).setdefault(column, []).append(error)
    heads = list(columns(0))
    print(f"{'':22s}" + "".join(f"{head:>18s}" for head in heads))
    with options.output.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["contestant", *heads])
        for name, row in found.items():
            means = [float(np.mean(row[head])) if head in row else float("nan") for head in heads]
            print(f"{name:22s}" + "".join(f"{mean:18.3f}" for mean in means))
            writer.writerow([name, *(f"{mean:.4f}" for mean in means)])
    ours = {head: float(np.mean(found["auto"][head])) for head in heads}
    for head in heads:
        best = min(float(np.mean(row[head])) for n, row in found.items() if head in row)
        print(f"auto / best entry, {head}: {ours[head] / best:.3f}")
    print(f"planted clusters, excess error of auto / known clusters: {planted(PLANTED):.3f}")
    print(f"pairs, total regret over the 12 settings: {pair_regret(options.pairs):.3f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
