"""Do claims of improvement come true? Real tables, split 70/30 inside every dataset.

    python -m scripts.claims                      # the ten tables, seed 0; about half a minute
    python -m scripts.claims --seeds 3 --store    # three splits each, into experiments/claims
    python -m scripts.claims --tables ames,radon
    python -m scripts.claims --learner auto       # with boosted trees; takes some minutes

Fits `conjoin.partition` to 70 % of the rows of every dataset. Prints by how many percent the mean
squared error of 'auto' changes against separate models and against one model for all: as claimed,
with the claimed 90 % interval, and as realised on the other 30 %. Tables are those of the arena
(`benchmarks/arena/regression/sets.py`); CONJOIN_SHARED names the folder with the data.
"""

import argparse
import csv
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import pandas as pd

import conjoin
from benchmarks.arena.data import splits
from benchmarks.arena.regression.measure import load
from conjoin.strategies import reference

# One table of each source that has at least ten datasets, and three with fewer: few and many
# datasets, few and many rows, with and without wild fits.
TABLES = ("sleepstudy", "radon", "sbsd_hour", "dfoip", "wdaf_store", "ppge", "diamonds_clarity",
          "parkinsons_motor", "nycflights_carrier", "bikeshare_weather")  # fmt: skip
SHARE = 0.7  # of the rows of every dataset to fit to, as the claim is about
REFERENCES = ("separate", "pooled")
STORED = Path(__file__).parent.parent / "experiments" / "claims" / "results.csv"


@dataclass(frozen=True)
class Claim:
    """Change of the mean squared error against a reference in percent, claimed and realised."""

    table: str
    seed: int
    datasets: int
    rows: int
    over: str
    claimed: float
    low: float
    high: float
    realised: float
    inside: bool
    carriers: str
    claimed_without: float


def claims(name: str, seed: int, learner: str = "linear") -> Iterator[Claim]:
    """Yield the claims of one table and split."""
    data = load(name)
    train, test = splits(data, SHARE, seed=seed)
    names = [f"x{j}" for j in range(data.X.shape[1])]
    table = pd.DataFrame(data.X, columns=names).assign(dataset=data.groups, y=data.y)
    result = conjoin.partition(table.iloc[train], target="y", by="dataset", learner=learner)
    new = table.iloc[test]

    def realised_error(strategy: str) -> float:
        squares = (result.using(strategy).predict(new) - new["y"]) ** 2
        return float(squares.groupby(new["dataset"]).mean().mean())

    found = result.improvements("auto")
    for over in REFERENCES:
        one = found.over[over]
        percent = [100 * x for x in (one.change, *one.interval, one.change_without)]
        known = {key: one.error for key, one in result.errors.items()}
        realised = 100 * (realised_error("auto") / realised_error(reference(known, over)) - 1)
        yield Claim(
            name, seed, len(result.labels), len(train), over, *np.round(percent[:3], 2).tolist(),
            round(realised, 2), bool(percent[1] <= realised <= percent[2]),
            "; ".join(one.carriers), round(percent[3], 2),
        )  # fmt: skip


def show(claim: Claim) -> str:
    """Return a claim as one line."""
    mark = "inside" if claim.inside else "OUTSIDE"
    without = f"; without {claim.carriers}: {claim.claimed_without:+.1f}" if claim.carriers else ""
    return (
        f"{claim.table:<19}{claim.seed:>2}{claim.datasets:>5}{claim.rows:>7}  {claim.over:<9}"
        f"{claim.claimed:>+7.1f} ({claim.low:+.1f} to {claim.high:+.1f})  "
        f"{claim.realised:>+7.1f}  {mark}{without}"
    )


def main() -> None:
    """Print the table, and store it if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="the first split")
    parser.add_argument("--seeds", type=int, default=1, help="number of splits")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--learner", default="linear", choices=("linear", "auto"))
    parser.add_argument("--store", action="store_true", help=f"write {STORED.name}")
    asked = parser.parse_args()
    found = []
    print("table            seed sets   rows  over      claimed, interval (%)     realised")
    for seed in range(asked.seed, asked.seed + asked.seeds):
        for name in asked.tables.split(","):
            for claim in claims(name, seed, asked.learner):
                found.append(claim)
                print(show(claim), flush=True)
    for over in REFERENCES:
        inside = [claim.inside for claim in found if claim.over == over]
        print(
            f"Over {over}: realised inside the claimed interval in {sum(inside)} of {len(inside)}."
        )
    if asked.store:
        STORED.parent.mkdir(parents=True, exist_ok=True)
        with STORED.open("w", newline="") as file:
            writer = csv.DictWriter(file, [f.name for f in fields(Claim)], lineterminator="\n")
            writer.writeheader()
            writer.writerows(asdict(claim) for claim in found)


if __name__ == "__main__":
    main()
