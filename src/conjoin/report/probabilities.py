"""What is said of probabilities as plain values: scores, calibration, shares of classes."""

import math
from collections.abc import Mapping
from typing import Any

from conjoin.families import Label
from conjoin.result.partition import Partition
from conjoin.result.scores import LEVEL, Scores

MOST_SHARES = 5  # classes up to which each has a column with its shares


def section(result: Partition) -> dict[str, Any] | None:
    """Return scores averaged over datasets and the calibration; None where there are no classes.

    `known` says whether there are any; `guess` is the log loss of giving every class its share in
    the dataset.
    """
    if not result.classes:
        return None
    found = result.analysis.scored(result.strategy)
    positive = str(result.classes[1]) if len(result.classes) == 2 else None
    facts: dict[str, Any] = {
        "classes": [str(label) for label in result.classes],
        "positive": positive,
        "shown": _shown(result.classes),
        "level": round(100 * LEVEL),
        "known": found is not None,
    }
    if found is None:
        return facts
    scores = found.scores.values()
    return {
        **facts,
        "means": found.means(),
        "guess": math.fsum(_entropy(one.shares) for one in scores) / len(scores),
        "without_auc": sum(math.isnan(one.auc) for one in scores),
        "bins": [
            {
                "low": b.low,
                "high": b.high,
                "predicted": b.predicted,
                "observed": b.observed,
                "rows": b.rows,
                "interval": list(b.interval),
            }
            for b in found.calibration
        ],
        "datasets": {name: _line(one) for name, one in found.scores.items()},
    }


def of_dataset(one: Scores) -> dict[str, Any]:
    """Return the scores of a dataset as plain values."""
    return {
        "log_loss": _known(one.log_loss),
        "brier": _known(one.brier),
        "auc": _known(one.auc),
        "rows": one.rows,
        "shares": {str(label): _known(share) for label, share in one.shares.items()},
    }


def _shown(classes: tuple[Label, ...]) -> list[str]:
    """Return the classes whose shares have columns: the second of two, several, none of many."""
    if len(classes) == 2:
        return [str(classes[1])]
    return [str(label) for label in classes] if len(classes) <= MOST_SHARES else []


def _line(one: Scores) -> dict[str, Any]:
    """Return the same, and the most frequent class with its share."""
    best = max(one.shares, key=lambda label: one.shares[label])
    return {**of_dataset(one), "frequent": str(best), "share": one.shares[best]}


def _entropy(shares: Mapping[Label, float]) -> float:
    return -math.fsum(share * math.log(share) for share in shares.values() if share > 0)


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
