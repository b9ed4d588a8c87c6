"""Measure verdicts of `compare(a, b, learner=...)` on two datasets that are drawn from known laws.

    python -m benchmarks.levels.learners     # writes benchmarks/levels/learners.csv
    python -m benchmarks.levels.learners --learners neighbours --rows 50,200

The target is a bent function of four columns, plus or minus a line times a distance, plus noise.
The true gain is the mean fall of the squared error on new rows over many pairs of samples, for
models of four fifths of the rows, as in cross-validation. For every learner and number of rows:

- same: both datasets have the same law; joining helps, so "apart" is wrong;
- turn: the distance where the true gain is zero, so "join" and "apart" are both wrong;
- skewed turn: the same with skewed noise (lognormal);
- far: twice the distance of the turn, or 1.5 if that is more; "apart" is right (power).

To save time, the folds are dealt once for the forest and from 500 rows on.

Columns: the true gain and its standard error, shares of pairs with each verdict, the share of wrong
verdicts (the larger of the two kinds at the turn) with the limit delta + 2 standard errors, and the
share of intervals that hold the true gain (at least 1 - 2 delta).
"""

import argparse
import csv
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from conjoin.criterion.paired import PairedVerdict, judge_losses
from conjoin.learners.boosting import Boosting
from conjoin.learners.foreign import Foreign
from conjoin.learners.paired import FOLDS, deal_repeatedly, losses_of, paired_losses, repeats_for
from conjoin.learners.rows import Learner, LearnerRows

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


# Pairs as shares of those asked for: a forest takes ten times as long as the others.
EFFORT = {"boosting": 1.0, "forest": 0.5, "neighbours": 1.0}
# The same for settings in which the level is not in question, but the power.
SHARE = {"same": 0.5, "far": 0.33}
LEARNERS: dict[str, Callable[[], Learner]] = {
    "boosting": lambda: Boosting(rounds=50, leaves=8, least_rows=5),
    "forest": _forest,
    "neighbours": _neighbours,
}


@dataclass(frozen=True)
class Law:
    """Rows of two datasets: a bent function, a line of opposite sign in the two, and noise."""

    skewed: bool = False

    def draw(self, rng: np.random.Generator, n: int, distance: float) -> LearnerRows:
        """Return n rows of each dataset; the same generator draws the same noise."""
        X = rng.standard_normal((2 * n, len(COLUMNS)))
        dataset = np.repeat([0, 1], n)
        noise = rng.standard_normal(2 * n)
        if self.skewed:
            noise = (np.exp(SKEW * noise) - SKEW_MEAN) / SKEW_SPREAD
        bent = 2 * np.sin(X[:, 0]) + np.abs(X[:, 1]) + X[:, 2] * (X[:, 3] > 0)
        y = bent + distance * (2 * dataset - 1) * X[:, 0] + noise
        return LearnerRows(X, y, np.ones(2 * n), dataset, 2, COLUMNS, (), named=False)


def true_gains(
    learner: Learner, law: Law, n: int, distance: float, samples: int, seed: int
) -> np.ndarray:
    """Return the falls of the error on new rows (samples,) when pairs of samples are joined.

    `n` rows of each dataset are at hand, and models are trained on those outside one fold.
    """
    found = []
    for i in range(samples):
        rng = np.random.default_rng([seed, i])
        rows = law.draw(rng, n - n // FOLDS, distance)
        new = law.draw(rng, NEW_ROWS, distance)
        settings = learner.given_settings() or {}
        joined = losses_of(learner.fit(rows, settings), new).mean()
        own = []
        for k in (0, 1):
            model = learner.fit(rows.take(rows.dataset == k), settings)
            own.append(losses_of(model, new.take(new.dataset == k)).mean())
        found.append(np.mean(own) - joined)
    return np.array(found)


def turning_distance(learner: Learner, law: Law, n: int, samples: int, seed: int) -> float:
    """Return the distance at which the true gain is zero.

    The cost of joining grows with the square of the distance, so a line through the square is
    followed to its zero. All distances see the same draws.
    """
    gain = lambda t: float(true_gains(learner, law, n, t, samples, seed).mean())  # noqa: E731
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
    learner: Learner, law: Law, n: int, distance: float, pairs: int, seed: int, repeats: int = 3
) -> list[PairedVerdict]:
    """Return the verdicts on pairs of samples."""
    found = []
    for i in range(pairs):
        rows = law.draw(np.random.default_rng([seed, n, i]), n, distance)
        dealt = deal_repeatedly(rows.X, rows, repeats, seed + 1000 * i)
        losses = paired_losses(learner, rows, dealt)
        found.append(
            judge_losses(
                losses.separate - losses.joined,
                rows.w,
                rows.dataset,
                delta=DELTA,
                folds=FOLDS,
                unit=dealt.unit,
            )
        )
    return found


def measure(
    name: str, n: int, pairs: int, samples: int, seed: int = 0
) -> Iterator[tuple[dict[str, Any], list[PairedVerdict]]]:
    """Return the lines of one learner and number of rows, with the verdicts behind them."""
    learner = LEARNERS[name]()
    repeats = 1 if name == "forest" or n >= 500 else repeats_for(learner, 2 * n)
    for skewed in (False, True):
        law, words = Law(skewed), "skewed " if skewed else ""
        turn = turning_distance(learner, law, n, samples, seed + 1)
        settings = {f"{words}turn": turn}
        if not skewed:
            settings = {"same": 0.0, **settings, "far": max(2 * turn, FAR)}
        for setting, distance in settings.items():
            share = SHARE.get(setting, 1.0)
            gains = true_gains(learner, law, n, distance, round(share * samples), seed + 2)
            found = verdicts(learner, law, n, distance, round(share * pairs), seed + 3, repeats)
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
    with options.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for n in map(int, options.rows.split(",")):
            for name in options.learners.split(","):
                pairs = int(options.pairs * EFFORT[name] * min(1.0, np.sqrt(200 / n)))
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
