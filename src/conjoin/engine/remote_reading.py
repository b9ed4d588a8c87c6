"""Whether rows of a lazy table stay where they are, and what is formed of them there.

A table with the roles of its columns enters, and a request; a `Reduced` leaves, or None where rows
are to be fetched.
"""

from contextlib import ExitStack
from typing import Any

import narwhals as nw
import numpy as np

from conjoin.api.request import Request
from conjoin.engine import remote
from conjoin.engine.kept import reduce_again
from conjoin.engine.learner_choice import make_learner
from conjoin.engine.remote import How, Reduced, reduce
from conjoin.engine.remote_cells import keep_open
from conjoin.errors import DataError, warn_caller
from conjoin.families import MOST_CLASSES, Response, response_of
from conjoin.tables.collect import has_classes, one_frame
from conjoin.tables.frame import is_lazy, one_row
from conjoin.tables.roles import Roles
from conjoin.tables.written import refuse_written_numbers

# Distinct values of a target that are fetched: some more than classes may be, so that the error
# for too many shows how many there are at least.
MOST_DISTINCT = 20 * MOST_CLASSES


def reduce_lazy(data: Any, roles: Roles, request: Request, *, alone: bool) -> Reduced | None:
    """Form moments where the rows live, if they should stay there.

    With `alone` a single dataset is allowed; one of classes or counts is then fetched.
    """
    if not is_lazy(data):
        return None
    frame, roles = one_frame(data, roles)
    if not isinstance(frame, nw.LazyFrame):
        return None
    if request.engine is None and not rows_stay_remote(frame, request.sample_rows):
        return None
    response, classes = (
        Response(),
        has_classes(frame.collect_schema()[roles.target], request.family),
    )
    if classes or request.family == "poisson":
        if alone or not _lines_only(frame, request):
            return None
        frame, response = (
            _with_coded_target(frame, roles) if classes else (frame, Response("poisson"))
        )
    how = How(
        int(request.folds), int(request.random_state), request.intercept, request.keep_moments
    )
    keep = request.drop_outliers is False
    found = reduce(frame, roles, how, missing=request.missing, keep=keep, response=response)
    if found is None or found.kept is None:
        return found
    return reduce_again(found, intercept=request.intercept)


def stay_open(table: Any, engine: ExitStack) -> None:
    """Keep an engine open that a table of classes or counts can ask, as long as it can."""
    if isinstance(table, Reduced):
        keep_open((table, table.fewer), engine)


def rows_stay_remote(frame: nw.LazyFrame[Any], sample_rows: int | None = None) -> bool:
    """Say whether the rows of a frame should stay where they are.

    They do if they are too many to fetch, or more than a learner is to be trained on.
    """
    if frame.implementation.is_dask() or frame.implementation.is_spark_like():
        return True
    rows = int(one_row(frame.select(nw.len().alias("rows")))["rows"])
    most = remote.MOST_VALUES / len(frame.collect_schema().names())
    return rows > (most if sample_rows is None else min(most, sample_rows))


def _lines_only(frame: nw.LazyFrame[Any], request: Request) -> bool:
    """Say whether classes or counts are to be fitted where the rows are: only lines can be.

    Trees of classes are trained on rows in memory. Where these are too many, lines stay.
    """
    if request.keep_moments or not request.intercept:
        return False
    if make_learner(request, None) is None:
        return True
    if request.learner != "auto":
        return False
    rows = int(one_row(frame.select(nw.len().alias("rows")))["rows"])
    if rows * len(frame.collect_schema().names()) <= remote.MOST_VALUES:
        return False
    warn_caller(
        f"Boosted trees of classes and counts are trained on rows in memory, and {rows:,} rows are "
        "too many; models are lines. Pass fewer rows, or learner='linear' to say so."
    )
    return True


def _with_coded_target(
    frame: nw.LazyFrame[Any], roles: Roles
) -> tuple[nw.LazyFrame[Any], Response]:
    """Return the frame with the number of the class as target, and the classes."""
    name = roles.target
    dtype = frame.collect_schema()[name]
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        frame = frame.with_columns(nw.col(name).cast(nw.String))
    values: Any = frame.select(name).drop_nulls()
    rows = int(one_row(values.select(nw.len().alias("n")))["n"])
    found = values.unique().head(MOST_DISTINCT).collect("pyarrow").get_column(name).to_list()
    plain = np.array(found) if dtype.is_numeric() else np.array(found, dtype=object)
    try:
        codes, response = response_of(plain, rows, name)
    except DataError:
        if not dtype.is_numeric():
            refuse_written_numbers(found, name, rows=False)
        raise
    number = nw.lit(None, dtype=nw.Float64)
    for value, code in zip(found, codes.tolist()):
        if code == code:  # blank text is missing
            number = nw.when(nw.col(name) == value).then(nw.lit(code)).otherwise(number)
    return frame.with_columns(number.alias(name)), response
