"""Descriptions of columns for a plan: from a file, or from a first site's table.

A path enters; a mapping for `make_plan` leaves. A description made from a table holds no value of
one row: levels have as many rows as the rules ask for, missing values are filled with a rounded
mean, and there are no ranges, medians or counts.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from conjoin.errors import DataError, ReadError, warn_caller
from conjoin.families import Response, classify
from conjoin.sites.plan import TARGETS
from conjoin.sites.rules import Rules
from conjoin.sources.read import is_source, open_source
from conjoin.tables.collect import has_classes
from conjoin.tables.encoding import Category, Date, Encoding, Flag, LeftOut, Number, as_text
from conjoin.tables.frame import in_memory, to_frame, with_castable_types
from conjoin.tables.learn import learn
from conjoin.tables.roles import Roles, check_roles

# Digits of a mean that stands for missing values: enough to fill in, too few to tell one row.
DIGITS = 2


def columns_of_file(path: str | Path) -> dict[str, Any]:
    """Return the descriptions of columns in a JSON file.

    Raises
    ------
    ReadError
        If the file holds something else than a mapping of columns to descriptions.
    """
    try:
        found = json.loads(Path(path).read_text())
    except OSError as error:
        raise ReadError(f"File {str(path)!r} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise ReadError(f"File {str(path)!r} is no JSON: {error}; correct the place.") from None
    if not isinstance(found, dict):
        raise ReadError(
            f"File {str(path)!r} describes no columns; expected a mapping such as "
            '{"age": {"type": "number"}}.'
        )
    return found


def columns_of_table(
    table: Any,
    target: str,
    *,
    family: str = "auto",
    ignore: Sequence[str] | None = None,
    rules: Rules | None = None,
) -> dict[str, Any]:
    """Return descriptions of a table's columns that disclose no row, for `make_plan`.

    Parameters
    ----------
    table : frame, mapping of columns, or files
    target : str
        Column to predict.
    family : "auto" (default), "gaussian", "logistic" or "poisson"
        What the target is.
    ignore : list of str, optional
        Columns to leave out.
    rules : Rules, optional
        Disclosure rules.

    Returns
    -------
    dict of column to description

    Raises
    ------
    DataError
        If a column cannot be used.

    Examples
    --------
    >>> rows = {"age": [30.5, 41.0, 52.5, 63.0] * 10, "ill": ["no", "yes"] * 20}
    >>> columns_of_table(rows, "ill")
    {'ill': {'type': 'class', 'classes': ['no', 'yes']}, 'age': {'type': 'number'}}
    """
    if is_source(table):
        with open_source(table) as source, source.reading():
            frame = in_memory(to_frame(source.with_boolean_target(target).relation))
    else:
        frame = in_memory(to_frame(table))
    roles = Roles.of(target, None, None, None, None, ignore)
    check_roles(roles, frame.columns)
    response = _response(frame, target, family, rules or Rules())
    frame = with_castable_types(frame, set(frame.columns) - {target})
    schema = learn(frame, roles)
    kind = next(name for name, found in TARGETS.items() if found == response.family)
    described: dict[str, Any] = {target: {"type": kind}}
    if response.classes:
        described[target]["classes"] = list(response.classes)
    for e in schema.encodings:
        if isinstance(e, LeftOut):
            # Its reason may hold a value, and the plan goes to all sites: it is told here only.
            warn_caller(f"Column {e.name!r} is not in the plan: {e.reason}.")
        else:
            described[e.name] = _describe(e, frame, rules or Rules())
    return described


def _response(frame: nw.DataFrame[Any], target: str, family: str, rules: Rules) -> Response:
    column = frame.get_column(target)
    if not has_classes(column.dtype, family):
        return Response("poisson" if family == "poisson" else "gaussian")
    numeric = column.dtype.is_numeric()
    values = column.to_numpy() if numeric else np.array(column.to_list(), dtype=object)
    codes, response = classify(values, target)
    count = np.bincount(codes[~np.isnan(codes)].astype(np.int64), minlength=1)
    if count.min() < rules.rows:
        rare = response.classes[int(np.argmin(count))]
        raise DataError(
            f"Class {rare!r} of target {target!r} has fewer than {rules.rows} rows, so that its "
            "name may not leave; join it with another class in the table, or describe all columns "
            "with --columns."
        )
    return response


def _describe(e: Encoding, frame: nw.DataFrame[Any], rules: Rules) -> dict[str, Any]:
    missing = {"missing": True} if getattr(e, "indicator", False) else {}
    if isinstance(e, Category):
        return _category(e, frame, rules)
    if isinstance(e, Flag):
        return {"type": "flag", **missing}
    if isinstance(e, Date):
        written: Mapping[str, Any] = {"format": e.format} if e.format else {}
        return {"type": "date", "parts": list(e.parts), "fill": round(e.fill), **written}
    if not isinstance(e, Number):
        raise DataError(
            f"Column {e.name!r} is a {e.kind}, which plans of sites do not know; leave it out with "
            "--ignore."
        )
    values = np.asarray(frame.get_column(e.name).cast(nw.Float64).to_numpy(), dtype=np.float64)
    known = values[np.isfinite(values)]
    if set(np.unique(known).tolist()) == {0.0, 1.0}:
        return {"type": "flag", **missing}
    if len(known) == len(values):
        return {"type": "number"}
    return {"type": "number", "fill": float(f"{known.mean():.{DIGITS}g}"), **missing}


def _category(e: Category, frame: nw.DataFrame[Any], rules: Rules) -> dict[str, Any]:
    """Return the levels with rows enough; the others become "(other)"."""
    texts = frame.select(as_text(nw.col(e.name)).alias("level")).get_column("level").to_list()
    counts: dict[Any, int] = {}
    for one in texts:
        counts[one] = counts.get(one, 0) + 1
    levels = [one for one in (e.reference, *e.levels) if counts.get(one, 0) >= rules.rows]
    if len(levels) < 2:
        raise DataError(
            f"Column {e.name!r} has fewer than two levels with {rules.rows} rows; leave it out "
            "with --ignore, or describe it with --columns."
        )
    return {"type": "category", "levels": levels, "other": True}
