"""Scores and calibration of probabilities as plain values, where the target is a class.

Scores on held-out rows enter (`conjoin.result.scores`), dicts for JSON, terminal and page leave.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from conjoin.families import Label
from conjoin.report.numbers import finite
from conjoin.result.scores import LEVEL, Scored, Scores

MOST_SHARES = 5  # classes up to which each has a column: more would not fit beside the scores


def score_facts(scored: Scored) -> dict[str, Any]:
    """Return scores averaged over datasets, and the calibration of all rows together."""
    return {
        "scores": {name: finite(value) for name, value in scored.means().items()},
        "calibration": [{**asdict(b), "interval": list(b.interval)} for b in scored.calibration],
    }


def dataset_scores(one: Scores) -> dict[str, Any]:
    """Return the scores of a dataset, and the share of each class in its rows."""
    return {
        "log_loss": finite(one.log_loss),
        "brier": finite(one.brier),
        "auc": finite(one.auc),
        "rows": one.rows,
        "shares": {str(label): finite(x) for label, x in one.shares.items()},
    }


def page_scores(classes: tuple[Label, ...], scored: Scored | None) -> dict[str, Any]:
    """Return what the page says beyond that.

    `known` says whether there are scores, `shown` lists the classes whose shares have columns, and
    `guess` is the log loss of giving every class its share in the dataset.
    """
    facts: dict[str, Any] = {
        "positive": str(classes[1]) if len(classes) == 2 else None,
        "shown": _shown(classes),
        "level": round(100 * LEVEL),
        "known": scored is not None,
    }
    if scored is None:
        return facts
    scores = scored.scores.values()
    return {
        **facts,
        "guess": math.fsum(_entropy(one.shares) for one in scores) / len(scores),
        "without_auc": sum(math.isnan(one.auc) for one in scores),
        "frequent": {name: _frequent(one.shares) for name, one in scored.scores.items()},
    }


def _shown(classes: tuple[Label, ...]) -> list[str]:
    """Return the classes whose shares have columns: the second of two, several, none of many."""
    if len(classes) == 2:
        return [str(classes[1])]
    return [str(label) for label in classes] if len(classes) <= MOST_SHARES else []


def _frequent(shares: Mapping[Label, float]) -> str:
    return str(max(shares, key=lambda label: shares[label]))


def _entropy(shares: Mapping[Label, float]) -> float:
    return -math.fsum(share * math.log(share) for share in shares.values() if share > 0)
