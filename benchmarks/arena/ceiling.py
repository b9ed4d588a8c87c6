"""How much better could strategies be chosen? Answers that use the test rows.

    python -m benchmarks.arena.ceiling classification [--sets ...]

Neither answer is a method. Both look at the test rows and so bound what a better choice can bring:

- *Best contestant in hindsight*: the best one of every set and share, rivals included (from the
  stored results).
- *Weights in hindsight*: conjoin's strategies averaged with the weights that have the least error
  on the test rows of the same split.
"""

import argparse
from collections.abc import Sequence

import numpy as np
import pandas as pd

from benchmarks.arena.data import splits, task_of
from benchmarks.arena.ours import STRATEGIES, fit
from benchmarks.arena.results import read_results
from benchmarks.arena.side import Side
from benchmarks.arena.sides import add_sets, parse
from benchmarks.arena.table import score

NAME = "weights in hindsight"
SINGLE = tuple(name for name in STRATEGIES if name not in ("auto", "best"))


def hindsight(side: Side, name: str, share: float, seed: int) -> float:
    """Return the error on a split with the weights that are best on its test rows."""
    data = side.load(name)
    split = splits(data, share, seed)
    task = task_of(data, split)
    result, _ = fit(side, task, {"learner": "linear"})
    used = [s for s in SINGLE if s in (*result.weights, "clusters")]
    predictions = np.stack([side.own.predict(result, s, task) for s in used])
    return side.error(data, split, side.own.best_average(data, split, predictions))[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print relative errors and their geometric means over sets and shares."""
    description = "Print how much a better choice of strategies could bring on one side."
    side, options = parse("ceiling", description, _add_options, arguments)
    results = read_results(side.results)
    results = results[results["set"].isin(options.sets)]
    cells = results[["set", "share", "seed"]].drop_duplicates()
    errors = [hindsight(side, *cell) for cell in cells.itertuples(index=False)]
    rows = cells.assign(contestant=NAME, error=errors, seconds=0.0, note="")
    relative = score(pd.concat([results, rows], ignore_index=True)).relative
    print(relative[["conjoin-linear", NAME]].round(4).to_string())
    answers = {
        "conjoin-linear": relative["conjoin-linear"],
        "best contestant in hindsight": relative.drop(columns=NAME).min(axis=1),
        NAME: relative[NAME],
    }
    for answer, values in answers.items():
        print(f"{answer:30s} {np.exp(np.log(values).mean()):.4f}")
    return 0


def _add_options(parser: argparse.ArgumentParser, side: Side) -> None:
    add_sets(parser, side)


if __name__ == "__main__":
    raise SystemExit(main())
