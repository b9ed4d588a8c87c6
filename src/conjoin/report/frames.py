"""Parts of a result as tidy tables, as files of comma-separated values, and as flat numbers.

A `Partition` enters; a pandas frame (an Arrow table without pandas), CSV files or a dict of numbers
leave. All values come from the dicts of the report, so that one number has one name everywhere.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from conjoin.checks import check_choice
from conjoin.errors import ArgumentError
from conjoin.files import write_together
from conjoin.report.coefficients import spreads
from conjoin.report.joins import ledger_facts
from conjoin.report.measure import measure_of
from conjoin.report.numbers import finite
from conjoin.report.probabilities import dataset_scores, score_facts
from conjoin.report.strategies import improvement_facts, strategy_facts
from conjoin.report.view import LEVEL, LEVEL_NAME, View

if TYPE_CHECKING:
    from conjoin.result.partition import Partition

Row = dict[str, Any]

BETWEEN = ", "  # between the names of several datasets in one cell


def frame_of(result: "Partition", what: str, level: float) -> Any:
    """Return one of `TABLES` as a pandas frame, or as an Arrow table if pandas is not there."""
    table = table_of(result, what, level)
    try:
        import_module("pandas")
    except ImportError:
        return table
    return table.to_pandas()


def table_of(result: "Partition", what: str, level: float = LEVEL) -> pa.Table:
    """Return one of `TABLES` as an Arrow table."""
    check_choice("what", what, tuple(TABLES))
    if isinstance(level, bool) or not (isinstance(level, Real) and 0 < level < 1):
        raise ArgumentError(f"level={level!r} is no confidence; expected a number such as 0.95.")
    rows = TABLES[what](result, level)
    columns = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: [row.get(name) for row in rows] for name in columns})


def write_csv(result: "Partition", folder: Path) -> list[Path]:
    """Write all tables to a folder, completely or not at all; return the files."""
    folder.mkdir(exist_ok=True)
    files = {}
    for what in TABLES:
        buffer = pa.BufferOutputStream()
        csv.write_csv(table_of(result, what), buffer)
        files[folder / f"{what}.csv"] = buffer.getvalue().to_pybytes()
    write_together(files)
    return list(files)


def metrics_of(result: "Partition") -> dict[str, float]:
    """Return flat numbers for experiment trackers; their names have no commas."""
    errors, shown = strategy_facts(result), measure_of(result.family).shown
    in_use = errors[result.strategy]
    found: dict[str, float | None] = {
        "error": in_use["error"],
        "shown": in_use["shown"],
        "shown_low": in_use["interval"][0],
        "shown_high": in_use["interval"][1],
        "datasets": len(result.labels),
        "clusters": len(result.clusters),
        "rows": result.pooled.rows,
        "features": len(result.features),
    }
    for name, one in errors.items():
        found[f"error.{_key(name)}"] = one["error"]
        found[f"shown.{_key(name)}"] = shown(one["error"]) if one["error"] is not None else None
    for over, one in improvement_facts(result).get(result.strategy, {"over": {}})["over"].items():
        found[f"percent_against.{_key(over)}"] = one["percent"]
    scored = result.analysis.scored(result.strategy) if result.classes else None
    if scored is not None:
        found |= score_facts(scored)["scores"]
    return {name: float(x) for name, x in found.items() if x is not None and math.isfinite(x)}


def _key(name: str) -> str:
    """Return a name that experiment trackers take.

    >>> _key("clusters, searched again")
    'clusters_searched_again'
    """
    return name.replace(",", "").replace(" ", "_")


# --- the tables ----------------------------------------------------------------------------------


def _clusters(result: "Partition", level: float) -> list[Row]:
    shown = measure_of(result.family).shown
    return [
        {
            "cluster": c + 1,
            "datasets": len(members),
            "members": BETWEEN.join(members),
            "rows": model.rows,
            "error": finite(model.error),
            "shown": shown(model.error),
        }
        for c, (members, model) in enumerate(zip(result.clusters, result.models))
    ]


def _datasets(result: "Partition", level: float) -> list[Row]:
    shown, events = measure_of(result.family).shown, _events(result)
    scored = result.analysis.scored(result.strategy) if result.classes else None
    rows = []
    for name, model in result.coefficients.items():
        row = {
            "dataset": name,
            "cluster": result.labels[name] + 1,
            "rows": model.rows,
            "error": finite(model.error),
            "shown": shown(model.error),
        }
        if events:
            row["events"] = events[name][1]
        if scored is not None:
            scores = dataset_scores(scored.scores[name])
            row |= {key: scores[key] for key in ("log_loss", "brier", "auc")}
        rows.append(row)
    return rows


def _strategies(result: "Partition", level: float) -> list[Row]:
    return [
        {
            "strategy": name,
            "error": one["error"],
            "shown": one["shown"],
            "low": one["interval"][0],
            "high": one["interval"][1],
            "behind": one["behind"],
            "standard_error": one["standard_error"],
            "percent": one["percent"],
            "percent_standard_error": one["percent_standard_error"],
            "weight": one["weight"],
            "in_use": one["in_use"],
        }
        for name, one in strategy_facts(result).items()
    ]


def _verdicts(result: "Partition", level: float) -> list[Row]:
    lines = result.ledger()
    return [
        {
            "left": BETWEEN.join(line.left),
            "right": BETWEEN.join(line.right),
            "joined": line.joined,
            "verdict": line.verdict,
            "gain": finite(line.gain),
            "low": finite(line.interval[0]),
            "high": finite(line.interval[1]),
            "p_value": finite(line.p_value),
            "adjusted_p": finite(line.adjusted_p),
            "change": why["change"],
            "change_standard_error": why["change_standard_error"],
            "why": why["why"],
        }
        for line, why in zip(lines, ledger_facts(View(result), lines))
    ]


def _coefficients(result: "Partition", level: float) -> list[Row]:
    view, events = View(result), _events(result)
    found = spreads(view, level)
    if found is None:
        raise ArgumentError(
            "The model file was written without coefficients and their errors; write it with "
            "save(path, evidence=True), or fit the model again."
        )
    own, clusters = found
    in_use = {name: view.coef(fit) for name, fit in result.coefficients.items()}
    rows: list[Row] = []
    for k, name in enumerate(view.names):
        lines = _lines(view, "dataset", name, own.row(k), result.coefficients[name].rows)
        for row, used in zip(lines, in_use[name]):
            rows.append({**row, "in_use": finite(float(used))})
    for c, model in enumerate(result.models):
        for row in _lines(view, "cluster", str(c + 1), clusters.row(c), model.rows):
            rows.append({**row, "in_use": None})
    for row in rows if events else ():
        members = [row["name"]] if row["of"] == "dataset" else result.clusters[int(row["name"]) - 1]
        position = 1 if row["class"] is None else list(map(str, result.classes)).index(row["class"])
        row["events"] = sum(events[name][position] for name in members)
        if row["class"] is None:
            row["class"] = str(result.classes[1])
    return rows


def _lines(
    view: View, of: str, name: str, numbers: Sequence[Sequence[float]], rows: int
) -> list[Row]:
    """Return a row for each coefficient of one model: (estimate, standard error, low, high)."""
    ratio = {"logistic": "odds_ratio", "poisson": "rate_ratio"}.get(view.result.family)
    size, found = len(view.line_columns), []
    for j, (estimate, spread, low, high) in enumerate(numbers):
        term = view.line_columns[j % size]
        row: Row = {
            "of": of,
            "name": name,
            "term": term,
            "estimate": finite(estimate),
            "standard_error": finite(spread),
            "low": finite(low),
            "high": finite(high),
        }
        if view.result.classes:
            row["class"] = view.classes[j // size] if view.classes else None
        if ratio and not view.classes:
            ends = (estimate, low, high) if term != LEVEL_NAME else (math.nan,) * 3
            for key, value in zip((ratio, f"{ratio}_low", f"{ratio}_high"), ends):
                row[key] = finite(float(np.exp(np.clip(value, -700.0, 700.0))))
        found.append({**row, "rows": rows})
    return found


def _events(result: "Partition") -> Mapping[str, list[int]]:
    """Return the number of rows of each class, by dataset; empty if there are no classes."""
    scored = result.analysis.scored(result.strategy) if result.classes else None
    if scored is None:
        return {}
    return {
        name: [round(one.shares[label] * one.rows) if one.rows else 0 for label in one.shares]
        for name, one in scored.scores.items()
    }


TABLES: dict[str, Callable[["Partition", float], list[Row]]] = {
    "clusters": _clusters,
    "datasets": _datasets,
    "strategies": _strategies,
    "verdicts": _verdicts,
    "coefficients": _coefficients,
}
