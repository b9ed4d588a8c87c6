"""What is said of new datasets: the cluster each is closest to, and the errors of its models.

A result and its assignments enter; plain values for `--json` and the terminal leave.
"""

from collections.abc import Mapping
from typing import Any

from conjoin.report.measure import Measure, measure_of
from conjoin.report.numbers import finite
from conjoin.result.partition import Partition
from conjoin.result.values import Assignment

MODELS = {"own": "its model", "cluster": "cluster's", "pooled": "model for all"}


def assigned_note(measure: Measure) -> str:
    """Say what the errors of new datasets are."""
    return (
        f"Columns on the right: {measure.head} on the rows with a known target. 'its model' "
        "predicts each row from the others; the model of the cluster and that of all data have not "
        "seen them. In brackets: the probability of the cluster."
    )


def assignment_facts(
    result: Partition, assignments: Mapping[str, Assignment]
) -> list[dict[str, Any]]:
    """Return a dict for each new dataset; unknown numbers are None."""
    return [_facts(result, name, one) for name, one in assignments.items()]


def _facts(result: Partition, name: str, one: Assignment) -> dict[str, Any]:
    measure = measure_of(result.family)
    nearest = max(range(len(one.probabilities)), key=lambda c: one.probabilities[c])
    return {
        "dataset": name,
        "rows": one.model.rows,
        "cluster": one.cluster,
        "nearest": nearest,
        "number": nearest + 1,
        "members": list(result.clusters[nearest]),
        "probability": one.probabilities[nearest],
        "probability_new": one.probability_new,
        "errors": {
            key: {"error": finite(error), "shown": measure.shown(finite(error))}
            for key, error in one.errors.items()
        },
        "standard_error": finite(one.standard_error),
        "model": {"intercept": one.model.intercept, "coef": dict(one.model.coef)},
    }


def in_words(found: Mapping[str, Any]) -> str:
    """Say which cluster a new dataset is closest to.

    >>> line = {"cluster": None, "number": 2, "probability": 0.2, "probability_new": 0.8}
    >>> in_words(line)
    'no cluster (0.80); nearest is 2 (0.20)'
    """
    likely = f"{found['number']} ({found['probability']:.2f})"
    if found["cluster"] is None:
        return f"no cluster ({found['probability_new']:.2f}); nearest is {likely}"
    return likely
