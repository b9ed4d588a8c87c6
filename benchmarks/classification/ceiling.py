"""How much better could strategies be chosen? Answers that look at the test rows.

    python -m benchmarks.classification.ceiling [--sets ...]

No method: both answers cheat, and so bound what choosing can bring.

- *The best contestant in hindsight*, rivals included, of every set and share (from the results).
- *Weights in hindsight*: conjoin's strategies averaged as in `auto`, with the weights that have the
  least error on the test rows of the very split they are judged on.
"""

import argparse
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from benchmarks.arena.data import FloatArray, splits
from benchmarks.arena.ours import STRATEGIES
from benchmarks.arena.run import _task
from benchmarks.arena.table import read_results, score
from benchmarks.classification.data import SMALLEST, load, split_error, training_classes
from benchmarks.classification.ours import fit, predict
from benchmarks.classification.run import RESULTS
from benchmarks.classification.sets import SETS

NAME = "weights in hindsight"
SINGLE = tuple(name for name in STRATEGIES if name not in ("auto", "best"))


def best_weights(logs: FloatArray, seen: FloatArray, share: FloatArray) -> FloatArray:
    """Return the weights (S,) of strategies with the least mean log loss.

    Averaging coefficients averages logarithms of probabilities, up to a constant of the row.

    Parameters
    ----------
    logs : array (S, n, C)
        Logarithms of the probabilities of rows.
    seen : array (n, C)
        One in the column of a row's class.
    share : array (n,)
        How much the loss of each row counts.

    Examples
    --------
    >>> import numpy as np
    >>> good, bad = np.log([[0.9, 0.1]]), np.log([[0.1, 0.9]])
    >>> best_weights(np.stack([good, bad]), np.array([[1.0, 0.0]]), np.ones(1)).round(2).tolist()
    [1.0, 0.0]
    """

    def objective(theta: FloatArray) -> tuple[float, FloatArray]:
        weights = softmax(theta)
        scores = np.tensordot(weights, logs, axes=1)
        total = logsumexp(scores, axis=1)
        loss = share @ (total - np.sum(seen * scores, axis=1))
        push = share[:, None] * (np.exp(scores - total[:, None]) - seen)
        by_strategy = np.tensordot(logs, push, axes=2)
        return float(loss), weights * (by_strategy - weights @ by_strategy)

    found = minimize(objective, np.zeros(len(logs)), jac=True, method="L-BFGS-B")
    return np.asarray(softmax(found.x))


def hindsight(name: str, share: float, seed: int) -> float:
    """Return the error on a split with the weights that are best there."""
    data = load(name)
    split = splits(data, share, seed)
    task = _task(data, split)
    result, _ = fit(task)
    used = [s for s in SINGLE if s in (*result.weights, "clusters")]
    P = np.stack([np.clip(predict(result, s, task), SMALLEST, 1.0) for s in used])
    classes = training_classes(data, split).astype(str)
    seen = (data.y[split.test].astype(str)[:, None] == classes).astype(np.float64)
    known = seen.any(axis=1)
    _, group = np.unique(data.groups[split.test][known].astype(str), return_inverse=True)
    counts = np.bincount(group)
    weights = best_weights(np.log(P[:, known]), seen[known], 1 / (len(counts) * counts[group]))
    scores = np.tensordot(weights, np.log(P), axes=1)
    return split_error(data, split, np.asarray(softmax(scores, axis=1)))[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print relative errors, geometric means over sets and shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS), metavar="SET")
    options = parser.parse_args(arguments)
    results = read_results(RESULTS)
    results = results[results["set"].isin(options.sets)]
    cells = results[["set", "share", "seed"]].drop_duplicates()
    errors = [hindsight(*cell) for cell in cells.itertuples(index=False)]
    rows = cells.assign(contestant=NAME, error=errors, seconds=0.0, note="")
    relative = score(pd.concat([results, rows], ignore_index=True)).relative
    print(relative[["conjoin-auto", NAME]].round(4).to_string())
    answers = {
        "conjoin-auto": relative["conjoin-auto"],
        "best contestant in hindsight": relative.drop(columns=NAME).min(axis=1),
        NAME: relative[NAME],
    }
    for answer, values in answers.items():
        print(f"{answer:30s} {np.exp(np.log(values).mean()):.4f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
