"""Decisions kept against epsilon: partitions from noisy files beside the one from exact files.

    python -m benchmarks.sites.privacy       # some minutes, writes benchmarks/sites/privacy.csv

Four studies of nine sites. `bikes`: Seoul's bike rentals, the hours of the day in nine blocks, 700
to 1,060 rows each. `clinics`: made-up sites of 3,000 and of 30,000 rows, five with one model and
four with another. `same`: made-up sites of 3,000 rows that all have one model. Every epsilon has
three draws of the noise, with a random seed (exports of users draw with OpenDP, without one).

`pairs_kept` is the share of the 36 pairs of sites that are in one cluster, or in two, as they are
with exact sums. `apart` is the share of merges in the search that have the verdict "apart". `error`
is the root mean squared error of all models on the rows of their sites, over that of the models
from exact sums.
"""

import csv
import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import conjoin
from conjoin.datasets import load_seoul_bikes
from conjoin.sites import Plan, export, make_plan

OUTPUT = Path(__file__).parent / "privacy.csv"
FIELDS = ("study", "epsilon", "draws", "clusters", "pairs_kept", "apart", "error")
EPSILONS = (8.0, 4.0, 2.0, 1.0)
DRAWS = 3
Tables = dict[str, dict[str, Any]]
Bounds = dict[str, tuple[float, float]]


def bikes() -> tuple[Tables, Plan, Bounds]:
    """Return Seoul's hours in nine blocks."""
    table = load_seoul_bikes()
    columns = ("temperature", "humidity", "wind_speed")
    found = {}
    for hours in np.array_split(np.arange(24), 9):
        rows = np.isin(np.asarray(table["hour"]).astype(int), hours)
        found[f"hours {hours[0]} to {hours[-1]}"] = {
            name: np.asarray(table[name], float)[rows] for name in (*columns, "rented_bikes")
        }
    plan = make_plan({name: "number" for name in (*columns, "rented_bikes")}, "rented_bikes")
    bounds = {"temperature": (-20.0, 40.0), "humidity": (0.0, 100.0), "wind_speed": (0.0, 8.0),
              "rented_bikes": (0.0, 4000.0)}  # fmt: skip
    return found, plan, bounds


def clinics(rows: int, same: bool = False) -> tuple[Tables, Plan, Bounds]:
    """Return made-up sites: five with one model and four with another, or all with the same."""
    rng = np.random.default_rng(rows)
    found = {}
    for k in range(9):
        age, dose = rng.uniform(20, 80, rows), rng.uniform(0, 1, rows)
        a, b = (0.03, 1.5) if same or k < 5 else (-0.02, -1.5)
        y = a * (age - 50) + b * (dose - 0.5) + 0.5 * rng.standard_normal(rows)
        found[f"clinic {k + 1}"] = {"age": age, "dose": dose, "y": y}
    plan = make_plan({"age": "number", "dose": "number", "y": "number"}, "y")
    return found, plan, {"age": (0.0, 100.0), "dose": (0.0, 1.0), "y": (-5.0, 5.0)}


def decide(tables: Tables, plan: Plan, **options: Any) -> Any:
    """Return the partition from files of all sites."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, (name, table) in enumerate(tables.items()):
            paths.append(Path(folder) / f"{number}.json")
            export(table, plan, name, **options).save(paths[-1])
        return conjoin.partition(paths)


def together(found: Any, names: list[str]) -> np.ndarray:
    """Return which pairs of sites are in one cluster."""
    label = {name: k for k, cluster in enumerate(found.clusters) for name in cluster}
    return np.array([label[a] == label[b] for a, b in itertools.combinations(names, 2)])


def error(found: Any, tables: Tables, target: str) -> float:
    """Return the root mean squared error of all models on the rows of their sites."""
    squares = []
    for name, table in tables.items():
        fit = found.coefficients[name]
        line = fit.intercept + sum(c * table[column] for column, c in fit.coef.items())
        squares.append((table[target] - line) ** 2)
    return float(np.sqrt(np.mean(np.concatenate(squares))))


def study(name: str, tables: Tables, plan: Plan, bounds: Bounds) -> Iterator[dict[str, Any]]:
    """Yield the lines of one study."""
    names = list(tables)
    exact = decide(tables, plan)
    pairs, base = together(exact, names), error(exact, tables, plan.target)
    yield dict(zip(FIELDS, (name, "exact", 1, len(exact.clusters), 1.0, apart(exact), 1.0)))
    for epsilon in EPSILONS:
        found = []
        for seed in range(DRAWS):
            rng = np.random.default_rng([seed, int(10 * epsilon)])

            def draw(values: np.ndarray, scale: float) -> np.ndarray:
                return values + rng.normal(0.0, scale, len(values))  # noqa: B023 (used at once)

            with mock.patch("conjoin.sites.privacy.add_noise", draw):
                noisy = decide(tables, plan, epsilon=epsilon, bounds=bounds)
            kept = float(np.mean(together(noisy, names) == pairs))
            found.append(
                (len(noisy.clusters), kept, apart(noisy), error(noisy, tables, plan.target) / base)
            )
        mean = np.mean(found, axis=0)
        yield dict(zip(FIELDS, (name, epsilon, DRAWS, *np.round(mean, 3))))


def apart(found: Any) -> float:
    """Return the share of merges that were looked at with the verdict "apart"."""
    return round(float(np.mean([line.verdict == "apart" for line in found.ledger()])), 3)


def main() -> None:
    """Run all studies, and write the results."""
    studies = {
        "bikes": bikes(),
        "clinics, 3,000 rows": clinics(3_000),
        "same, 3,000 rows": clinics(3_000, same=True),
        "clinics, 30,000 rows": clinics(30_000),
    }
    with OUTPUT.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for name, given in studies.items():
            for line in study(name, *given):
                writer.writerow(line)
                file.flush()
                print(line, flush=True)


if __name__ == "__main__":
    main()
