"""Measure verdicts of `compare(a, b, learner=...)` on two datasets that are drawn from known laws.

    python -m benchmarks.levels.learners     # writes benchmarks/levels/learners.csv
    python -m benchmarks.levels.learners --learners neighbours --rows 50,200

Lines of other learners and numbers of rows stay in the file.

The target is a bent function of four columns, plus or minus a line times a distance, plus noise.
For classes and counts that sum is the log-odds, or the logarithm of the mean. The true gain is the
mean fall of the error on new rows over many pairs of samples, for models of four fifths of the
rows, as in cross-validation. For every learner and number of rows:

- same: both datasets have the same law; joining helps, so "apart" is wrong;
- turn: the distance where the true gain is zero, so "join" and "apart" are both wrong;
- skewed turn: the same with skewed noise (lognormal);
- far: twice the distance of the turn, or 1.5 if that is more; "apart" is right (power).

Learners: boosting with 50 rounds (also for classes and counts, and "named": as in the ledger of a
partition, where the model of both knows the dataset), a forest, nearest neighbours, boosting that
chooses its rounds ("rounds"), and `compare(..., learner="auto")`, which also chooses between trees
and lines. The turn of "auto" is that of "rounds".

To save time, the folds are dealt once for the forest and from 500 rows on.

Columns: the true gain and its standard error, shares of pairs with each verdict, the share of wrong
verdicts (the larger of the two kinds at the turn) with the limit delta + 2 standard errors, and the
share of intervals that hold the true gain (at least 1 - 2 delta).
"""

import argparse
import csv
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import poisson

import conjoin
from conjoin.criterion.paired import PairedVerdict, judge_losses
from conjoin.families import Response
from conjoin.learners.boosting import Boosting
from conjoin.learners.foreign import Foreign
from conjoin.learners.paired import (
    FOLDS,
    INNER,
    cross_validated_losses,
    deal_repeatedly,
    losses_of,
    paired_losses,
    repeats_for,
)
from conjoin.learners.rows import Learner, LearnerRows, Model

OUTPUT = Path(__file__).parent / "learners.csv"
DELTA = 0.1
COLUMNS = ("x0", "x1", "x2", "x3")
# New rows of each dataset that a true gain is measured on, for every pair of samples.
NEW_ROWS = 1000
# Size of the skewed noise's logarithm, its mean and its standard deviation.
SKEW = 1.0
SKEW_MEAN = np.exp(SKEW**2 / 2)
SKEW_SPREAD = np.sqrt((np.exp(SKEW**2) - 1) * np.exp(SKEW**2))
FAR = 1.5  # least distance of two laws that are clearly different: the line then outweighs the rest
FIELDS = (
    "learner", "rows", "repeats", "setting", "distance", "true_gain", "true_gain_error", "pairs",
    "join", "apart", "wrong", "limit", "cover",
)  # fmt: skip


def _forest() -> Learner:
    from sklearn.ensemble import RandomForestRegressor

    return Foreign.of(RandomForestRegressor(30, min_samples_leaf=3), 0)


def _neighbours() -> Learner:
    from sklearn.neighbors import KNeighborsRegressor

    return Foreign.of(KNeighborsRegressor(5), 0)


def _boosting() -> Learner:
    return Boosting(rounds=50, leaves=8, least_rows=5)


def _rounds() -> Learner:
    return Boosting(leaves=8, least_rows=5, rate=0.2)  # large steps, to save time


@dataclass(frozen=True)
class Case:
    """What is measured: a learner, its laws, and pairs as a share of those asked for.

    `named` says whether the model of both datasets knows which one a row is from.
    """

    learner: Callable[[], Learner]
    laws: tuple[str, ...] = ("numbers",)
    effort: float = 1.0
    named: bool = False


# The effort of slow learners is less: a forest takes ten times as long as the others.
LEARNERS: dict[str, Case] = {
    "boosting": Case(_boosting, ("numbers", "skewed")),
    "forest": Case(_forest, ("numbers", "skewed"), effort=0.5),
    "neighbours": Case(_neighbours, ("numbers", "skewed")),
    "classes": Case(_boosting, ("classes",)),
    "counts": Case(_boosting, ("counts",)),
    "named": Case(_boosting, named=True),
    "rounds": Case(_rounds, effort=0.5),
    "auto": Case(_rounds, effort=0.34),
}
# The same for settings in which the level is not in question, but the power.
SHARE = {"same": 0.5, "far": 0.33}
RESPONSES = {"classes": Response("logistic", ("no", "yes")), "counts": Response("poisson")}


@dataclass(frozen=True)
class Law:
    """Rows of two datasets: a bent function, a line of opposite sign in the two, and noise.

    `kind` is "numbers", "skewed" (numbers with lognormal noise), "classes" or "counts".
    """

    kind: str = "numbers"

    def draw(self, rng: np.random.Generator, n: int, distance: float) -> LearnerRows:
        """Return n rows of each dataset; the same generator draws the same noise."""
        X = rng.standard_normal((2 * n, len(COLUMNS)))
        dataset = np.repeat([0, 1], n)
        bent = 2 * np.sin(X[:, 0]) + np.abs(X[:, 1]) + X[:, 2] * (X[:, 3] > 0)
        mean = bent + distance * (2 * dataset - 1) * X[:, 0]
        return LearnerRows(
            X,
            self._target(rng, mean),
            np.ones(2 * n),
            dataset,
            2,
            COLUMNS,
            (),
            RESPONSES.get(self.kind, Response()),
            named=False,
        )

    def _target(self, rng: np.random.Generator, mean: np.ndarray) -> np.ndarray:
        if self.kind in RESPONSES:
            chance = rng.uniform(size=len(mean))
            if self.kind == "classes":
                return (chance < expit(mean - 1)).astype(np.float64)
            # Half of the logarithm, so that means lie between 0.1 and 10.
            return np.asarray(poisson.ppf(chance, np.exp(mean / 2)), dtype=np.float64)
        noise = rng.standard_normal(len(mean))
        if self.kind == "skewed":
            noise = (np.exp(SKEW * noise) - SKEW_MEAN) / SKEW_SPREAD
        return mean + noise


def trained(learner: Learner, rows: LearnerRows) -> Model:
    """Train a learner; what it chooses is chosen by groups inside the rows, as in `compare`."""
    settings = learner.given_settings()
    if settings is None:
        settings = learner.cross_fit(rows, np.arange(len(rows)) % INNER).settings
    return learner.fit(rows, settings)


def true_gains(
    case: Case, law: Law, n: int, distance: float, samples: int, seed: int
) -> np.ndarray:
    """Return the falls of the error on new rows (samples,) when pairs of samples are joined.

    `n` rows of each dataset are at hand, and models are trained on those outside one fold.
    """
    found, learner = [], case.learner()
    for i in range(samples):
        rng = np.random.default_rng([seed, i])
        rows = law.draw(rng, n - n // FOLDS, distance)
        new = law.draw(rng, NEW_ROWS, distance)
        joined = losses_of(trained(learner, replace(rows, named=case.named)), new).mean()
        own = []
        for k in (0, 1):
            model = trained(learner, rows.take(rows.dataset == k))
            own.append(losses_of(model, new.take(new.dataset == k)).mean())
        found.append(np.mean(own) - joined)
    return np.array(found)


def turning_distance(case: Case, law: Law, n: int, samples: int, seed: int) -> float:
    """Return the distance at which the true gain is zero.

    The cost of joining grows with the square of the distance, so a line through the square is
    followed to its zero. All distances see the same draws.
    """
    gain = lambda t: float(true_gains(case, law, n, t, samples, seed).mean())  # noqa: E731
    low, high = 0.0, 0.5
    at_low, at_high = gain(low), gain(high)
    for _ in range(6):
        if at_high < 0:
            break
        low, at_low = high, at_high
        high *= 1.6
        at_high = gain(high)
    middle = np.sqrt((low**2 * -at_high + high**2 * at_low) / (at_low - at_high))
    at_middle = gain(middle)
    if at_middle > 0:
        low, at_low = middle, at_middle
    else:
        high, at_high = middle, at_middle
    return float(np.sqrt((low**2 * -at_high + high**2 * at_low) / (at_low - at_high)))


def verdicts(
    case: Case, law: Law, n: int, distance: float, pairs: int, seed: int, repeats: int = 3
) -> list[PairedVerdict]:
    """Return the verdicts on pairs of samples."""
    found, learner = [], case.learner()
    for i in range(pairs):
        rows = law.draw(np.random.default_rng([seed, n, i]), n, distance)
        dealt = deal_repeatedly(rows.X, rows, repeats, seed + 1000 * i)
        losses = paired_losses(learner, rows, dealt)
        joined = losses.joined
        if case.named:
            joined = cross_validated_losses(learner, replace(rows, named=True), dealt)
        found.append(
            judge_losses(
                losses.separate - joined,
                rows.w,
                rows.dataset,
                delta=DELTA,
                folds=FOLDS,
                unit=dealt.unit,
            )
        )
    return found


def auto_verdicts(law: Law, n: int, distance: float, pairs: int, seed: int) -> list[PairedVerdict]:
    """Return the verdicts of `compare(..., learner="auto")`."""
    found = []
    for i in range(pairs):
        rows = law.draw(np.random.default_rng([seed, n, i]), n, distance)
        one, two = (
            {**dict(zip(COLUMNS, part.X.T)), "y": part.y}
            for part in (rows.take(rows.dataset == k) for k in (0, 1))
        )
        asked = {"target": "y", "learner": "auto", "delta": DELTA, "drop_outliers": False}
        made = conjoin.compare(one, two, random_state=seed + i, **asked)
        nothing = float("nan")
        found.append(PairedVerdict(made.verdict, made.gain, made.interval, nothing, nothing))
    return found


def measure(
    name: str, n: int, pairs: int, samples: int, seed: int = 0
) -> Iterator[tuple[dict[str, Any], list[PairedVerdict]]]:
    """Return the lines of one learner and number of rows, with the verdicts behind them."""
    case = LEARNERS[name]
    repeats = 1 if name == "forest" or n >= 500 else repeats_for(case.learner(), 2 * n)
    for kind in case.laws:
        law, words = Law(kind), "skewed " if kind == "skewed" else ""
        turn = turning_distance(case, law, n, samples, seed + 1)
        settings = {f"{words}turn": turn}
        if kind != "skewed":
            settings = {"same": 0.0, **settings, "far": max(2 * turn, FAR)}
        for setting, distance in settings.items():
            share = SHARE.get(setting, 1.0)
            gains = true_gains(case, law, n, distance, round(share * samples), seed + 2)
            count = round(share * pairs)
            if name == "auto":
                found = auto_verdicts(law, n, distance, count, seed + 3)
            else:
                found = verdicts(case, law, n, distance, count, seed + 3, repeats)
            line = {"learner": name, "rows": n, "repeats": repeats, "setting": setting}
            line["distance"] = distance
            yield {**line, **summary(gains, found, setting)}, found


def summary(gains: np.ndarray, found: list[PairedVerdict], setting: str) -> dict[str, Any]:
    """Return the shares of verdicts in one setting."""
    pairs, truth = len(found), float(gains.mean())
    join, apart = (np.mean([v.verdict == word for v in found]) for word in ("join", "apart"))
    wrong = max(join, apart) if "turn" in setting else apart if truth > 0 else join
    held = [v.interval[0] <= truth <= v.interval[1] for v in found]
    return {
        "true_gain": truth,
        "true_gain_error": float(gains.std(ddof=1) / np.sqrt(len(gains))),
        "pairs": pairs,
        "join": float(join),
        "apart": float(apart),
        "wrong": float(wrong),
        "limit": DELTA + 2 * float(np.sqrt(DELTA * (1 - DELTA) / pairs)),
        "cover": float(np.mean(held)),
    }


def _others(path: Path, names: list[str], sizes: list[int]) -> list[dict[str, str]]:
    """Return the stored lines of other learners and numbers of rows."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    return [one for one in lines if one["learner"] not in names or int(one["rows"]) not in sizes]


def main() -> int:
    """Measure what was asked for, print and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--learners", default=",".join(LEARNERS), help="separated by commas")
    parser.add_argument("--rows", default="50,200,500,2000", help="rows of a dataset")
    parser.add_argument("--pairs", type=int, default=60, help="fewer of slow ones")
    parser.add_argument("--samples", type=int, default=80, help="true gains for 100 pairs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    names, sizes = options.learners.split(","), [int(n) for n in options.rows.split(",")]
    kept = _others(options.output, names, sizes)
    with options.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)
        for n in sizes:
            for name in names:
                pairs = int(options.pairs * LEARNERS[name].effort * min(1.0, np.sqrt(200 / n)))
                samples = max(pairs * options.samples // 100, 10)
                for line, _ in measure(name, n, pairs, samples, options.seed):
                    shown = {
                        key: f"{value:.4g}" if isinstance(value, float) else value
                        for key, value in line.items()
                    }
                    writer.writerow(shown)
                    file.flush()
                    print("  ".join(f"{shown[field]!s:>12.12}" for field in FIELDS), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
