"""Checks and warnings on rows and columns, the same wherever the rows are.

`tables.collect` uses them for rows in memory, `engine.remote` for rows that stay in a database or
on a cluster. Frames, names and ranges enter; errors or warnings leave, each one naming the column,
the value and the next step.
"""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from conjoin._typing import AnyArray, FloatArray
from conjoin.api.request import COLUMNS, MISSING
from conjoin.checks import check_choice
from conjoin.errors import DataError, warn_caller
from conjoin.families import Response, check_counts, check_family, classify
from conjoin.tables.encoding import Date, LeftOut, present
from conjoin.tables.frame import Frame
from conjoin.tables.names import SEPARATOR
from conjoin.tables.roles import Roles
from conjoin.tables.schema import Schema
from conjoin.tables.written import refuse_written_numbers
from conjoin.text import quoted, shortened

# Up to this many datasets may all have a single row, since a small table may be so by design. More
# of them are almost surely row numbers that were given as dataset names by mistake.
MOST_SINGLE_ROWS = 2000
# Largest value of a column, and largest ratio of the target's spread to a column's, which is the
# size of a coefficient. Errors are squares of such numbers: 1e290 leaves room in float64 (up to
# 1.8e308) for sums over rows and for the coefficients of nearly collinear columns.
LARGEST = 1e145
# Least spread of a column, for the same reason: smaller squares lose digits (below 1e-308).
SMALLEST = 1 / LARGEST
# Powers of two that are doubles, and whose quotients with doubles are.
LEAST_POWER, MOST_POWER = -1022, 1023
# Largest ratio of two weights: in a sum a weight 1e15 times smaller is rounded away.
LARGEST_RATIO = 1e15
MOST_REASONS = 3  # columns that a warning lists with reasons: more do not fit on two lines


def check_choices(missing: str, columns: str | None, family: str) -> None:
    """Raise an error if an option of reading is not one of its choices."""
    check_family(family)
    check_choice("missing", missing, MISSING)
    if columns is not None:
        check_choice("columns", columns, COLUMNS)


def check_target(frame: Frame, roles: Roles) -> None:
    """Raise an error if target or weights are not numbers, or dataset names not single values."""
    types = frame.collect_schema()
    for column in roles.by:
        if types[column].is_nested():
            raise DataError(
                f"by={column!r} is of type {types[column]}; choose a column of text or numbers."
            )
    for role, name in (("target", roles.target), ("weights", roles.weights)):
        if name is None or types[name].is_numeric() or types[name] == nw.Boolean:
            continue
        values: Any = frame.select(name).drop_nulls().head(1)
        if isinstance(values, nw.LazyFrame):
            values = values.collect()
        found = values.get_column(name).to_list()
        if role == "target" and found and isinstance(frame, nw.DataFrame):
            refuse_written_numbers(frame.get_column(name).to_list(), name)
        if not found:
            raise DataError(
                f"{role}={name!r} is missing in all rows; there is nothing to learn from. Choose "
                "another column."
            )
        raise DataError(
            f"{role}={name!r} is not numeric: its type is {types[name]}, with values such as "
            f"{found[0]!r}; choose a column of numbers."
        )


def classify_target(values: AnyArray, target: str, *, text: bool) -> tuple[FloatArray, Response]:
    """Return `classify` of a target; one of `text` that holds numbers has a message of its own."""
    try:
        return classify(values, target)
    except DataError:
        if text:
            refuse_written_numbers(values.tolist(), target)
        raise


def known_rows(roles: Roles) -> nw.Expr:
    """Return an expression that is true where all columns with a role are present."""
    known = ~present(nw.col(roles.target)).is_null()
    if roles.weights:
        known = known & ~present(nw.col(roles.weights)).is_null()
    for name in (*roles.by, *_order_columns(roles)):
        known = known & ~nw.col(name).is_null()
    return known


def _order_columns(roles: Roles) -> list[str]:
    return [name for name in (roles.time, roles.repeat) if name]


def no_rows() -> DataError:
    """Return the error for a table without rows."""
    return DataError("There is no dataset: data has no rows; pass a table with rows.")


def warn_unknown_rows(dropped: int, rows: int, roles: Roles, lost: str = "") -> None:
    """Warn of rows without target, dataset name or weight; raise an error if all rows are so."""
    weights = [roles.weights] if roles.weights else []
    needed = (roles.target, *roles.by, *weights, *_order_columns(roles))
    columns = " or ".join(repr(name) for name in needed)
    if dropped == rows:
        every = "the only row" if rows == 1 else f"all {rows:,} rows"
        raise DataError(
            f"{columns} is missing in {every}; there is nothing to learn from. Check these columns."
        )
    warn_dropped_rows(dropped, rows, f"{columns} is missing", lost)


def warn_dropped_rows(dropped: int, rows: int, reason: str, lost: str = "") -> None:
    """Warn of the number of rows that are left out, the reason, and the datasets that are lost."""
    if dropped:
        are = "is" if dropped == 1 else "are"
        warn_caller(f"{dropped:,} of {rows:,} rows {are} left out because {reason}{lost}.")


def lost_datasets(before: Sequence[str], after: Sequence[str]) -> str:
    """Return the end of a warning: the datasets that have no row left, if there are any."""
    remaining = set(after)
    lost = [name for name in before if name not in remaining]
    if not lost:
        return ""
    words = "dataset" if len(lost) == 1 else "datasets"
    return f"; no row is left of {words} {quoted(lost)}"


def warn_columns(schema: Schema) -> None:
    """Warn of columns that are left out, and how dates are used."""
    left_out = [e for e in schema.encodings if isinstance(e, LeftOut)]
    if left_out:
        reasons = "; ".join(f"{e.name!r} ({e.reason})" for e in left_out[:MOST_REASONS])
        more = len(left_out) - MOST_REASONS
        warn_caller(f"Columns left out: {reasons}{f' and {more} more' if more > 0 else ''}.")
    dates = [e for e in schema.encodings if isinstance(e, Date)]
    for e in dates:
        # One hint is enough, and a table with an order in time needs none.
        hinted = e is dates[0] and schema.roles.time is None
        hint = f" If later rows are to be predicted, add time={e.name!r}." if hinted else ""
        warn_caller(f"Column {e.name!r} is a {e.describe()}.{hint}")


def fitting_unit(ends: tuple[float, float], target: tuple[float, float]) -> float:
    """Return the power of two to divide a column by, from its ends and those of the target.

    It is 1 unless the values, or the coefficient of the column, cannot be squared.

    >>> fitting_unit((-1e6, 3e6), (0.0, 1.0))
    1.0
    >>> 0.5 < 1e200 / fitting_unit((-1e190, 1e200), (0.0, 1.0)) <= 1
    True
    """
    low, high = ends
    largest = max(abs(low), abs(high))
    if high == low:
        return 1.0
    if SMALLEST < high - low and largest <= LARGEST:
        slope = (target[1] - target[0]) / (high - low)
        if slope == 0 or SMALLEST < slope < LARGEST:
            return 1.0
    power = int(np.clip(np.frexp(largest)[1], LEAST_POWER, MOST_POWER))
    return float(2.0**power)


def check_scales(names: Sequence[str], low: FloatArray, high: FloatArray) -> None:
    """Raise an error if double precision cannot hold squares of columns or of coefficients.

    `low` and `high` are ends of each column, of which the last one is the target. Columns with one
    value in all rows have no coefficient.
    """
    largest = np.maximum(np.abs(low), np.abs(high))
    if largest.max() > LARGEST:
        name = names[int(np.argmax(largest))]
        raise DataError(
            f"Column {shortened(name)!r} has values up to {largest.max():g}, which are too large "
            f"to square; use a larger unit, so that values stay below {LARGEST:g}."
        )
    spread = high - low
    varying = np.where(spread > 0, spread, np.inf)
    if varying.min() < SMALLEST:
        name = names[int(np.argmin(varying))]
        raise DataError(
            f"Values of column {shortened(name)!r} differ by at most {varying.min():g}, which is "
            f"too small to square; use a smaller unit, so that they differ by {SMALLEST:g} or more."
        )
    _check_coefficients(names, spread)


def check_squares(values: FloatArray, name: str) -> None:
    """Raise an error if squared errors of new targets (n,) are no doubles."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest > LARGEST:
        raise DataError(
            f"{name} has values up to {largest:g}, which are too large to square; use the unit of "
            f"fitting, so that values stay below {LARGEST:g}."
        )


def _check_coefficients(names: Sequence[str], spread: FloatArray) -> None:
    """Raise an error if a coefficient, target over column, is too large or small to square."""
    *columns, target = spread.tolist()
    for name, one in zip(names, columns):
        # Each number is between SMALLEST and LARGEST, so no quotient overflows.
        if one > 0 and target > 0 and not SMALLEST <= target / one <= LARGEST:
            raise DataError(
                f"Target {shortened(names[-1])!r} varies by {target:g} and column "
                f"{shortened(name)!r} by {one:g}, so a coefficient of about {target / one:g} "
                "cannot be squared; use units in which they are closer to each other."
            )


def check_weights(name: str, least: float, most: float) -> None:
    """Raise an error if sums cannot hold the least and the largest weight together."""
    if least < SMALLEST or most > LARGEST:
        raise DataError(
            f"Weights {shortened(name)!r} go from {least:g} to {most:g}, which products cannot "
            f"hold; expected weights between {SMALLEST:g} and {LARGEST:g}. Their unit means "
            "nothing: divide them by their mean."
        )
    if most > LARGEST_RATIO * least:
        raise DataError(
            f"Weights {shortened(name)!r} go from {least:g} to {most:g}, and sums would round the "
            f"small ones away; expected weights within a factor of {LARGEST_RATIO:g}. Set small "
            "ones to 0 to leave their rows out."
        )


def check_response(schema: Schema, low: float, high: float) -> None:
    """Raise an error if counts are not counts, or if the target has one value in all rows.

    `low` and `high` are the ends of the target, which for classes has their numbers.
    """
    response, target = schema.response, schema.roles.target
    if response.family == "poisson":
        check_counts(np.array([low, high]), target)
    if response.classes and low == high:
        raise DataError(
            f"Target {target!r} has one class in all rows, {response.classes[int(low)]!r}; there "
            "is nothing to predict. Choose another target."
        )
    check_target_varies(target, low, high)


def check_target_varies(target: str, low: float, high: float) -> None:
    """Raise an error if the target has one value in all rows."""
    if low == high:
        raise DataError(
            f"Target {target!r} is {low:g} in every row of every dataset; there is nothing to "
            "predict. Choose another target."
        )


def check_names(names: Sequence[str], rows: int, roles: Roles, fewest: int = 2) -> None:
    """Raise an error if there are fewer than `fewest` datasets, or if each one is a single row."""
    by = SEPARATOR.join(roles.by)
    if len(names) < fewest:
        raise DataError(
            f"There is only one dataset ({names[0]!r}): by={by!r} has one value; joining needs at "
            "least two."
        )
    if len(names) == rows > MOST_SINGLE_ROWS:
        raise DataError(
            f"Each of the {rows:,} datasets has a single row (by={by!r}), so they cannot be "
            "compared; name the column of datasets with by, not one that numbers the rows."
        )


def drop_constant(schema: Schema, constant: AnyArray) -> tuple[Schema, AnyArray]:
    """Leave out features with one value in all rows: the intercept already has their effect.

    `constant` (features,) is true for them. The schema and the features that stay (features,) are
    returned.
    """
    features = schema.features
    if constant.all():
        raise DataError(
            f"Columns {quoted(features)} are constant over all datasets; there is no feature to "
            "learn from. Add a column that varies."
        )
    dropped = [name for name, is_constant in zip(features, constant) if is_constant]
    columns = [name for name in dropped if name in schema.columns]
    if columns:
        warn_caller(
            f"Columns left out because they have one value in all datasets: {quoted(columns)}."
        )
    return schema.without(dropped), ~constant
