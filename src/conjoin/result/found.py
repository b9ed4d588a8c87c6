"""What was found about improvement and stability, to a model file and back.

Frozen values of `result.improvement` and `result.stability` enter and plain values leave, or the
other way round.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.models.spread import PROBABILITIES, Spread
from conjoin.result.arrays import array_to_plain, plain_to_array
from conjoin.result.course import Course
from conjoin.result.improvement import Improvement, Improvements
from conjoin.result.stability import Stability
from conjoin.result.values import Estimate, first_joins
from conjoin.strategies import SEARCHED

if TYPE_CHECKING:
    from conjoin.result.details import Details
    from conjoin.result.partition import Partition

# Methods whose partition is searched for again in every fold, as older versions knew them.
SEARCHES = ("auto", "risk", "evidence", "chow", "bic", "kmeans")

# Joins up to which changes of the error are computed, as many as there are intervals of gains for:
# a change takes some milliseconds, more in large groups.
MOST_CHANGES = 200

Sides = tuple[tuple[str, ...], tuple[str, ...]]


def sides_shown(result: "Partition", details: "Details | None") -> list[Sides]:
    """Return the joins whose change of the error is shown: the ledger, the tree, each dataset's."""
    ledger = result.ledger()
    lines = [*ledger, *(details.upper if details else ())][:MOST_CHANGES]
    joins = first_joins(ledger)
    lines += [joins[name] for name in list(result.labels)[:MOST_CHANGES] if name in joins]
    return list(dict.fromkeys((line.left, line.right) for line in lines))


def changes_to_plain(result: "Partition", details: "Details | None") -> list[list[Any]]:
    """Return what each join shown does to the held-out error, with its standard error."""
    position = {name: k for k, name in enumerate(result.labels)}
    return [
        [[position[n] for n in left], [position[n] for n in right], str(change), str(spread)]
        for left, right in sides_shown(result, details)
        for change, spread in [result.analysis.join_change(left, right)]
    ]


def changes_from_plain(
    values: Sequence[Any], names: Sequence[str]
) -> dict[Sides, tuple[float, float]]:
    """Return what joins do to the held-out error, by their sides; none in older files."""
    return {
        (tuple(names[k] for k in left), tuple(names[k] for k in right)): (
            float(change),
            float(spread),
        )
        for left, right, change, spread in values
    }


def improvements_to_plain(result: "Partition") -> dict[str, Any]:
    """Return the comparisons of the strategy in use and of the clusters."""
    found = {}
    for name in dict.fromkeys((result.strategy, "clusters", SEARCHED)):
        known = result.analysis.improvements(name) if name in result.errors else None
        if known is not None:
            found[name] = {
                "over": {over: _improvement(one) for over, one in known.over.items()},
                "lower": known.lower,
                "higher": known.higher,
                "winner": None if known.winner is None else list(known.winner),
                "loser": None if known.loser is None else list(known.loser),
                "loser_separate": str(known.loser_separate),
            }
    return found


def _improvement(one: Improvement) -> dict[str, Any]:
    numbers = (one.change, *one.interval, one.share, one.change_without, *one.interval_without)
    found = {"numbers": [str(float(x)) for x in numbers], "carriers": list(one.carriers)}
    return {**found, "typical": str(float(one.typical))}


def improvements_from_plain(values: Mapping[str, Any]) -> dict[str, Improvements]:
    """Return the comparisons that a file has, by strategy; none in files of older versions."""
    return {
        name: Improvements(
            {over: _from_plain(one) for over, one in found["over"].items()},
            found["lower"],
            found["higher"],
            None if found["winner"] is None else tuple(found["winner"]),
            None if found["loser"] is None else tuple(found["loser"]),
            float(found.get("loser_separate", "nan")),  # older files have none
        )
        for name, found in values.items()
    }


def _from_plain(one: Mapping[str, Any]) -> Improvement:
    change, low, high, share, without, least, most = map(float, one["numbers"])
    typical = float(one.get("typical", "nan"))  # older files have none
    who = tuple(one["carriers"])
    return Improvement(change, (low, high), who, share, without, (least, most), typical)


def stability_to_plain(found: Stability | None) -> dict[str, Any] | None:
    """Return the partitions of resamples and how much they agree."""
    if found is None:
        return None
    return {"labels": array_to_plain(found.labels, "<i4"), "agreement": float(found.agreement)}


def stability_from_plain(
    values: Mapping[str, Any] | None, names: Sequence[str], shown: Sequence[int] | None = None
) -> Stability | None:
    """Return the partitions of resamples, beside the clusters in use; None if the file has none."""
    if values is None:
        return None
    labels = plain_to_array(values["labels"]).astype(np.int64)
    used = None if shown is None else np.array(shown, dtype=np.int64)
    return Stability(tuple(names), labels, values["agreement"], used)


def errors_from_plain(
    content: Mapping[str, Any], errors_by_cluster: FloatArray | None
) -> dict[str, Estimate]:
    """Return the errors of all strategies.

    In files of older versions "clusters" is the error with the partition searched again, wherever
    the method could do that. The error of the models themselves is the mean over the datasets of
    `errors_by_cluster`, if it is known.
    """
    found = {name: _estimate(values) for name, values in content["errors"].items()}
    searches = content["grouping"] == "agglomerative" and content["method"] in SEARCHES
    if "improvements" in content or not searches or max(content["labels"]) == 0:
        return found
    found[SEARCHED] = found.pop("clusters")
    if errors_by_cluster is not None:
        unknown = float("nan")
        found["clusters"] = Estimate(float(np.mean(errors_by_cluster)), unknown, unknown)
    return found


def _estimate(values: Sequence[Any]) -> Estimate:
    """Return the error of a strategy; files of older versions have no interval."""
    error, behind, spread, *interval = map(float, values)
    if len(interval) != 2:
        return Estimate(error, behind, spread)
    return Estimate(error, behind, spread, (interval[0], interval[1]))


def spread_from_plain(values: Mapping[str, Any] | None, datasets: int) -> Spread | None:
    """Return what `intervals.spread_to_plain` has written; None in files of earlier versions."""
    if values is None:
        return None
    own, unseen, shape = (plain_to_array(values[name]) for name in ("own", "unseen", "shape"))
    L = len(PROBABILITIES)
    return Spread(own.reshape(datasets, L), unseen.reshape(L), shape.reshape(L))


def course_from_plain(values: Mapping[str, Any] | None) -> Course | None:
    """Return errors over time; None where rows have no order."""
    return Course.from_plain(values)
