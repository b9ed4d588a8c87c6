"""Measure verdicts where rows depend on each other: in time, by person, or with unequal noise.

    python -m benchmarks.levels.order           # all settings, writes benchmarks/levels/order.csv
    python -m benchmarks.levels.order --pairs 200 --settings ar0.9

Two datasets of n rows and p columns, the first a constant. Their coefficients are equal, or differ
by so much that joining gains exactly nothing, in a random direction. For every setting a line says
how often the verdict is "apart" if they are equal (always wrong), and how often it is "join" and
"apart" at the boundary, where each should be at most delta. `right` is the verdict with `time` or
`repeat` given where the setting has it, `plain` the one without.
"""

import argparse
import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.signal import lfilter

from conjoin.criterion.judge import Judge
from conjoin.criterion.pair_tests import Geometry
from conjoin.criterion.side import Side
from conjoin.models.clustered import clustered_scatter
from conjoin.models.scatter import Scatter
from conjoin.models.serial import serial_scatter
from conjoin.moments import Moments

OUTPUT = Path(__file__).parent / "order.csv"
DELTA = 0.1
FIELDS = ("setting", "rows", "columns", "pairs", "verdict", "equal_apart", "edge_join",
          "edge_apart", "limit")  # fmt: skip
Rng = np.random.Generator


def smooth(rng: Rng, n: int, rho: float) -> np.ndarray:
    """Return a stationary series of variance one."""
    first = rng.standard_normal()
    steps = rng.standard_normal(n) * np.sqrt(1 - rho**2)
    steps[0] = first
    return lfilter([1.0], [1.0, -rho], steps)


class Setting:
    """How the columns and the noise of one dataset are drawn; `meat` is the true X' Sigma X."""

    kind = ""

    def __init__(self, n: int, p: int, rho: float = 0.0, columns: float = 0.0) -> None:
        self.n, self.p, self.rho, self.columns = n, p, rho, columns

    def design(self, rng: Rng) -> np.ndarray:
        """Return the columns (n, p)."""
        some = [smooth(rng, self.n, self.columns) for _ in range(self.p - 1)]
        return np.column_stack([np.ones(self.n), *some])

    def draw(self, rng: Rng, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return noise (n,) and the true meat (p, p)."""
        raise NotImplementedError

    def unit(self) -> np.ndarray | None:
        """Return the time or the person of every row."""
        return None


class Serial(Setting):
    """Autoregressive noise, with columns that are independent or autoregressive themselves."""

    kind = "time"

    def draw(self, rng: Rng, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return noise and the true meat."""
        lag = np.abs(np.subtract.outer(np.arange(self.n), np.arange(self.n)))
        return smooth(rng, self.n, self.rho), X.T @ self.rho**lag @ X

    def unit(self) -> np.ndarray | None:
        """Return the time of every row."""
        return np.arange(self.n, dtype=float)


class Trend(Serial):
    """The same with a trend among the columns."""

    def design(self, rng: Rng) -> np.ndarray:
        """Return the columns."""
        X = super().design(rng)
        X[:, 1] = np.linspace(-1.7, 1.7, self.n)
        return X


class Persons(Setting):
    """Five rows a person, which share half of the noise variance; some columns are a person's."""

    kind = "repeat"

    def unit(self) -> np.ndarray | None:
        """Return the person of every row."""
        return np.arange(self.n) // 5

    def design(self, rng: Rng) -> np.ndarray:
        """Return the columns; the second is constant for a person."""
        X = rng.standard_normal((self.n, self.p))
        X[:, 0] = 1.0
        X[:, 1] = rng.standard_normal(self.n // 5 + 1)[np.arange(self.n) // 5]
        return X

    def draw(self, rng: Rng, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return noise and the true meat."""
        who = np.arange(self.n) // 5
        noise = np.sqrt(self.rho) * rng.standard_normal(who.max() + 1)[who]
        noise += np.sqrt(1 - self.rho) * rng.standard_normal(self.n)
        same = (who[:, None] == who).astype(float) * self.rho + np.eye(self.n) * (1 - self.rho)
        return noise, X.T @ same @ X


class Unequal(Setting):
    """Noise that grows with a column."""

    def draw(self, rng: Rng, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return noise and the true meat."""
        spread = 0.3 + np.abs(X[:, 1])
        return spread * rng.standard_normal(self.n), (X * spread[:, None] ** 2).T @ X


class Heavy(Setting):
    """Noise from Student's t with three degrees of freedom."""

    def draw(self, rng: Rng, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return noise and the true meat."""
        return rng.standard_t(3, self.n), 3.0 * X.T @ X


class Filled(Setting):
    """A twentieth of the values of a column is missing and filled in, with an indicator column."""

    def design(self, rng: Rng) -> np.ndarray:
        """Return the columns; the last says which values of the second were missing."""
        X = super().design(rng)
        self.lost = rng.random(self.n) < 0.05
        self.true = X[:, 1].copy()
        X[:, 1] = np.where(self.lost, 0.0, X[:, 1])
        X[:, -1] = self.lost
        return X

    def draw(self, rng: Rng, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return noise and the true meat; filled-in rows miss their share of the target."""
        spread = np.where(self.lost, np.sqrt(1 + 4.0), 1.0)  # a slope of 2 on a hidden N(0, 1)
        noise = rng.standard_normal(self.n) + 2 * np.where(self.lost, self.true, 0.0)
        return noise, (X * spread[:, None] ** 2).T @ X


SETTINGS: dict[str, Callable[[], Setting]] = {
    **{f"ar{rho}": (lambda rho=rho: Serial(200, 3, rho)) for rho in (0.0, 0.3, 0.5, 0.7, 0.9)},
    **{f"ar{r}, short": (lambda rho=r: Serial(60, 3, rho)) for r in (0.0, 0.5, 0.9)},
    "ar0.5, columns too": lambda: Serial(200, 3, 0.5, 0.5),
    "ar0.9, columns too": lambda: Serial(200, 3, 0.9, 0.9),
    "ar0.5, trend": lambda: Trend(200, 3, 0.5),
    "ar0.9, trend": lambda: Trend(200, 3, 0.9),
    "persons": lambda: Persons(200, 3, 0.5),
    "persons, short": lambda: Persons(60, 3, 0.5),
    "unequal noise": lambda: Unequal(60, 3),
    "t3 noise": lambda: Heavy(60, 3),
    "filled in": lambda: Filled(150, 4),
}


def draw_pairs(make: Setting, pairs: int, rng: Rng, edge: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of pairs of datasets, one after the other; at the edge joining gains nothing."""
    Z, t = [], []
    for _ in range(pairs):
        X, e, meats = [], [], []
        for _ in range(2):
            X.append(make.design(rng))
            noise, meat = make.draw(rng, X[-1])
            e.append(noise)
            meats.append(meat)
        if edge:
            e[1] = e[1] + X[1] @ boundary(X, meats, rng)
        Z += X
        t += e
    return np.concatenate(Z), np.concatenate(t)


def boundary(X: list[np.ndarray], meats: list[np.ndarray], rng: Rng) -> np.ndarray:
    """Return the difference of coefficients at which joining gains nothing, given the columns."""
    sides = [Side.dataset(Moments.from_rows(one, np.zeros(len(one)))) for one in X]
    pair = Geometry.of(*sides)
    own = [np.trace(s.A @ s.inverse @ M @ s.inverse) for s, M in zip(sides, meats)]
    joint = [np.trace(pair.joint @ M) for M in meats]
    saved = sum(own) - sum(joint)
    direction = rng.standard_normal(X[0].shape[1])
    return direction * np.sqrt(max(saved, 0.0) / float(direction @ pair.B @ direction))


def scatters(make: Setting, Z: np.ndarray, t: np.ndarray, starts: np.ndarray) -> dict[str, Scatter]:
    """Return the scatter with the right argument and without."""
    w, unit = np.ones(len(t)), make.unit()
    found = {"plain": Scatter.of_rows(Z, t, w, starts)}
    every = None if unit is None else np.tile(unit, len(starts) - 1)
    if make.kind == "time":
        found["right"] = serial_scatter(Z, t, w, starts, every)
    elif make.kind == "repeat":
        found["right"] = clustered_scatter(Z, t, w, starts, every.astype(int))
    return found


def shares(make: Setting, pairs: int, rng: Rng, edge: bool) -> dict[str, dict[str, float]]:
    """Return how often each verdict comes, by the kind of verdict."""
    Z, t = draw_pairs(make, pairs, rng, edge)
    starts = np.arange(0, len(t) + 1, make.n)
    moments = Moments.by_dataset(Z, t, starts, np.ones(len(t)))
    sides = [((2 * i,), (2 * i + 1,)) for i in range(pairs)]
    found = {}
    for kind, scatter in scatters(make, Z, t, starts).items():
        judge = Judge.of(moments, scatter=scatter)
        answers = judge.verdicts(sides, delta=DELTA, interval=False)[0]
        found[kind] = {word: answers.count(word) / pairs for word in ("join", "apart")}
    return found


def measure(name: str, pairs: int, seed: int) -> list[dict[str, object]]:
    """Return the lines of one setting."""
    make = SETTINGS[name]()
    number = list(SETTINGS).index(name)
    equal, edge = (
        shares(make, pairs, np.random.default_rng([seed, number, int(at)]), at)
        for at in (False, True)
    )
    limit = DELTA + 2 * np.sqrt(DELTA * (1 - DELTA) / pairs)
    return [
        {
            "setting": name,
            "rows": make.n,
            "columns": make.p,
            "pairs": pairs,
            "verdict": kind,
            "equal_apart": round(equal[kind]["apart"], 4),
            "edge_join": round(edge[kind]["join"], 4),
            "edge_apart": round(edge[kind]["apart"], 4),
            "limit": round(limit, 4),
        }  # fmt: skip
        for kind in sorted(equal, reverse=True)
    ]


def main(arguments: list[str] | None = None) -> None:
    """Measure the settings that were asked for, and print and write the lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--settings", nargs="*", default=list(SETTINGS))
    asked = parser.parse_args(arguments)
    lines = []
    for name in asked.settings:
        lines += measure(name, asked.pairs, asked.seed)
        for line in lines[-2:]:
            print(*line.values(), sep="\t", flush=True)
    if set(asked.settings) == set(SETTINGS):
        with OUTPUT.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(lines)


if __name__ == "__main__":
    main()
