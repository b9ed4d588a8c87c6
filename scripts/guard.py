"""A small arena, levels on real tables, and honesty of errors: a guard against a worse default.

python -m scripts.guard             # measures, prints, compares with the stored baseline
python -m scripts.guard --store     # writes tests/statistical/guard.json

Seeds are fixed, so a change of a number is a change of the method. The guard is small: it notices a
default that is clearly worse. `benchmarks/arena` and `benchmarks/levels` measure how good it is.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import conjoin
from benchmarks.levels.run import judged, true_gain
from conjoin import datasets
from conjoin.moments import Basis

STORED = Path(__file__).parents[1] / "tests" / "statistical" / "guard.json"
# Test rows of a dataset at most: the error is then known to a few percent.
MOST_TEST = 150
# Pairs of samples of a real table: two standard errors of a rate of 0.1 are then 0.05.
PAIRS = 150
ROWS_OF_SAMPLE = 60
# Rise of the mean logarithm of an error that is of no matter: half a percent.
NO_MATTER = 0.005
# Rise of the share of wrong verdicts, and fall of coverage, beyond two standard errors of PAIRS.
NOISE_OF_RATE = 0.05

Columns = dict[str, np.ndarray]


class Cell(NamedTuple):
    """One fit: which data, training rows of every dataset, seed, learner."""

    data: str
    rows: int
    seed: int
    learner: str = "linear"

    def __str__(self) -> str:
        return f"{self.data}, {self.rows} rows, seed {self.seed}, {self.learner}"


CELLS = (
    *(Cell("washington", rows, seed) for rows in (8, 40) for seed in (0, 1)),
    *(Cell("seoul", 8, seed) for seed in (0, 1)),
    *(Cell("clusters", rows, seed) for rows in (10, 40) for seed in (0, 1)),
    *(Cell("continuum", 15, seed) for seed in (0, 1)),
    *(Cell("classes", 30, seed) for seed in (0, 1)),
    Cell("counts", 15, 0),
    Cell("washington", 40, 0, "auto"),
)


def _synthetic(make: Callable[..., Any]) -> Callable[[int], Columns]:
    def draw(seed: int) -> Columns:
        tables = make(n=MOST_TEST + 50, random_state=seed).tables()
        heads = list(next(iter(tables.values())))
        found = {
            head: np.concatenate([np.asarray(one[head]) for one in tables.values()])
            for head in heads
        }
        return {"g": np.repeat(list(tables), MOST_TEST + 50), **found}

    return draw


def _washington(seed: int) -> Columns:
    found = datasets.load_washington_bikes()
    kept = ("temperature", "humidity", "wind", "bad_weather", "rentals")
    return {"g": found["weekday"], **{name: found[name] for name in kept}}


def _seoul(seed: int) -> Columns:
    found = datasets.load_seoul_bikes()
    noon = found["hour"] % 4 == 0  # six hours, so that it is quick
    kept = ("temperature", "humidity", "wind_speed", "rainfall", "rented_bikes")
    return {"g": found["hour"][noon], **{name: found[name][noon] for name in kept}}


def _clusters(**options: Any) -> Any:
    return datasets.make_clusters((3, 3), p=4, distance=1.0, **options)


def _continuum(**options: Any) -> Any:
    return datasets.make_continuum(6, p=4, **options)


def _classes(**options: Any) -> Any:
    return datasets.make_class_clusters((2, 2), p=3, **options)


def _counts(**options: Any) -> Any:
    return datasets.make_count_clusters((2, 2), p=3, **options)


# Data by name: how they are drawn, their target, and the family.
DATA: dict[str, tuple[Callable[[int], Columns], str, str]] = {
    "washington": (_washington, "rentals", "auto"),
    "seoul": (_seoul, "rented_bikes", "auto"),
    "clusters": (_synthetic(_clusters), "y", "auto"),
    "continuum": (_synthetic(_continuum), "y", "auto"),
    "classes": (_synthetic(_classes), "y", "auto"),
    "counts": (_synthetic(_counts), "y", "poisson"),
}


def split(columns: Columns, rows: int, seed: int) -> tuple[Columns, Columns]:
    """Return training rows and at most `MOST_TEST` test rows of every dataset."""
    rng = np.random.default_rng([seed, rows])
    train, test = [], []
    for name in np.unique(columns["g"]):
        order = rng.permutation(np.flatnonzero(columns["g"] == name))
        train.append(order[:rows])
        test.append(order[rows : rows + MOST_TEST])
    one, two = np.concatenate(train), np.concatenate(test)
    return {h: c[one] for h, c in columns.items()}, {h: c[two] for h, c in columns.items()}


def measure(cell: Cell) -> tuple[float, float]:
    """Return the logarithms of the error on test rows, and of found over claimed error."""
    draw, target, family = DATA[cell.data]
    train, test = split(draw(cell.seed), cell.rows, cell.seed)
    result = conjoin.partition(
        train, target=target, by="g", family=family, learner=cell.learner, folds=5
    )
    names = test["g"].astype(str).tolist()
    if result.classes:
        P = result.predict_proba(test, names)
        column = {str(label): j for j, label in enumerate(result.classes)}
        at = [column[str(label)] for label in test[target]]
        losses = -np.log(np.maximum(P[np.arange(len(at)), at], 1e-12))
    else:
        losses = (test[target] - np.asarray(result.predict(test, names))) ** 2
    found = float(np.mean(losses))
    if family == "poisson":  # its claim is a deviance
        return float(np.log(found)), 0.0
    return float(np.log(found)), float(np.log(found / result.errors["auto"].error))


def levels() -> dict[str, float]:
    """Return rates on two samples of one real table: wrong verdicts, and intervals that hold."""
    columns = _washington(0)
    X = np.column_stack([columns[h].astype(float) for h in columns if h not in ("g", "rentals")])
    y = columns["rentals"].astype(float)
    basis = Basis.from_rows(X, y)
    Z, t = basis.design(X), basis.response(y)
    rng = np.random.default_rng(0)
    truth = true_gain(Z, t, ROWS_OF_SAMPLE, rng)
    found = judged(Z, t, ROWS_OF_SAMPLE, PAIRS, rng)["robust"]
    low, high = found.limits.T
    answers = np.array(found.answers)
    return {
        "apart": float(np.mean(answers == "apart")),
        "join": float(np.mean(answers == "join")),
        "cover": float(np.mean((low <= truth) & (truth <= high))),
    }


def measure_all() -> dict[str, Any]:
    """Return all numbers of the guard."""
    cells = {str(cell): measure(cell) for cell in CELLS}
    return {
        "errors": {name: round(one[0], 6) for name, one in cells.items()},
        "found over claimed": {name: round(one[1], 6) for name, one in cells.items()},
        "levels": levels(),
    }


def worse(new: dict[str, Any], old: dict[str, Any]) -> list[str]:
    """Return sentences on what is worse than the baseline by more than its noise."""
    found = []
    rise = np.array([new["errors"][name] - value for name, value in old["errors"].items()])
    noise = 2 * rise.std(ddof=1) / np.sqrt(len(rise))
    if rise.mean() > NO_MATTER + noise:
        found.append(f"errors on test rows rose by {100 * rise.mean():.1f} %")
    claims = [np.array([*one["found over claimed"].values()]) for one in (new, old)]
    # The claim may be too high, or too low by chance: only its mean over cells says something.
    optimism = 2 * (claims[0] - claims[1]).std(ddof=1) / np.sqrt(len(claims[0])) + NO_MATTER
    if claims[0].mean() > max(claims[1].mean(), 0.0) + optimism:
        found.append(f"claimed errors are too low by {100 * claims[0].mean():.1f} %")
    for name, sign in (("apart", 1), ("join", -1), ("cover", -1)):
        change = sign * (new["levels"][name] - old["levels"][name])
        if change > NOISE_OF_RATE:
            found.append(f"the rate of {name!r} is {new['levels'][name]:.3f}")
    return found


def main() -> int:
    """Measure, and compare with the baseline or store it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", action="store_true")
    given = parser.parse_args()
    new = measure_all()
    text = json.dumps(new, indent=1) + "\n"
    print(text)
    if given.store:
        STORED.write_text(text)
        return 0
    sentences = worse(new, json.loads(STORED.read_text()))
    print("\n".join(sentences) or "not worse than the baseline")
    return int(bool(sentences))


if __name__ == "__main__":
    sys.exit(main())
