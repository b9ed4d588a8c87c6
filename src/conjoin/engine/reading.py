"""Step 1: tables, files or databases become rows of datasets, or moments of them.

What the user passed as data enters. A `DatasetCollection` with all rows leaves, or a `Reduced`
collection whose moments were formed where the rows live (DuckDB, Dask, Spark).
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from conjoin.api.request import Request
from conjoin.engine.finished import checkpoint_of
from conjoin.engine.from_sites import reduce_sites, refuse_row_options
from conjoin.engine.kept import reduce_rows, refuse_what_needs_rows
from conjoin.engine.remote import Reduced
from conjoin.engine.remote_reading import reduce_lazy, stay_open
from conjoin.errors import ArgumentError
from conjoin.sites.folder import as_study
from conjoin.sources.engines import engine_of, open_with, settings_of_duckdb
from conjoin.sources.read import Source, is_source, open_source, stored_columns
from conjoin.tables import DatasetCollection
from conjoin.tables.collect import collect_rows
from conjoin.tables.frame import in_memory, is_lazy, to_frame
from conjoin.tables.roles import Roles
from conjoin.tables.stack import columns_to_drop


@contextmanager
def reading(
    data: Any, request: Request, *, rows_needed: bool, alone: bool = False
) -> Iterator[DatasetCollection | Reduced]:
    """Read the datasets; a source whose rows stay where they are is open inside the block.

    `rows_needed` says that moments are not enough: a criterion of pairs or a representation reads
    rows. With `alone` a single dataset is allowed. Inside the block a checkpoint keeps finished
    steps, if the request names one.
    """
    with (
        checkpoint_of(request, data) as check,
        _opened(data, request, rows_needed=rows_needed, alone=alone) as table,
    ):
        check(table)
        yield table


@contextmanager
def _opened(
    data: Any, request: Request, *, rows_needed: bool, alone: bool
) -> Iterator[DatasetCollection | Reduced]:
    sites = as_study(data)
    if sites is not None:
        refuse_row_options(request, rows_needed=rows_needed)
        yield reduce_sites(sites, request, 1 if alone else 2)
        return
    r = request
    engine = engine_of(r.engine, master=r.master, scheduler=r.scheduler, memory=r.memory)
    if not is_source(data):
        if engine is not None:
            raise ArgumentError(
                f"engine={engine.name!r} is for files; data is a table, whose own engine computes. "
                "Leave it out."
            )
        if request.query is not None:
            raise ArgumentError("query goes with files or a database; data is a table already.")
        roles = _roles(request, request.by)
        yield _read_table(data, roles, request, request.columns, rows_needed, alone)
        return
    with ExitStack() as stack:
        if engine is not None and engine.name != "duckdb":
            frame = stack.enter_context(open_with(engine, data, request.query))
            roles = _roles(request, request.by)
            lazy = _read_table(frame, roles, request, request.columns, rows_needed, alone)
            yield lazy
            stay_open(lazy, stack)
            return
        opened = open_source(
            data,
            by=request.by or (),
            query=request.query,
            unsafe_query=request.unsafe_query,
            settings=stack.enter_context(settings_of_duckdb(engine)),
        )
        source = stack.enter_context(opened)
        stack.enter_context(source.reading())
        roles = _roles(request, source.by or request.by)
        table = _wanted_columns(source.with_boolean_target(request.target), roles, request.columns)
        blocks = bool(source.by) and not request.by
        apart = source.in_columns and not blocks
        found = _read_table(table, roles, request, None, rows_needed, alone, blocks, apart)
        if not isinstance(found, Reduced):
            stack.close()
        yield found


def _roles(request: Request, by: Any) -> Roles:
    """Return the roles that the request gives to columns; `by` names the datasets."""
    r = request
    order = (r.time, r.repeat)
    return Roles.of(r.target, by, r.features, r.weights, r.category, r.ignore, order)


def _read_table(
    data: Any,
    roles: Roles,
    request: Request,
    columns: str | None,
    rows_needed: bool,
    alone: bool,
    blocks: bool = False,
    apart: bool = False,
) -> DatasetCollection | Reduced:
    """Form moments where the rows live if they stay there, else bring the rows here.

    With `blocks` each dataset is a file, and rows are counted inside it. With `apart` columns are
    stored apart, so that a few can be read at a time.
    """
    if request.keep_moments:
        refuse_what_needs_rows(request, rows_needed=rows_needed)
    if not rows_needed and not isinstance(data, Mapping):
        reduced = reduce_lazy(data, roles, request, alone=alone)
        if reduced is not None:
            return reduced
    if request.sample_rows is not None:
        _check_sample_is_possible(data, request, rows_needed)
    rows = collect_rows(
        (stored_columns(data) if apart else None) or data,
        roles,
        missing=request.missing,
        columns=columns,
        fewest=1 if alone else 2,
        family=request.family,
        # A single dataset of classes or counts has no other to be relative to: there row weights
        # are repeats. Moments that are kept have weights as they are, so that more can be added.
        relative=not request.keep_moments and (not alone or request.family == "gaussian"),
        blocks=blocks,
    )
    return reduce_rows(rows, request) if request.keep_moments else rows


def _check_sample_is_possible(data: Any, request: Request, rows_needed: bool) -> None:
    """Refuse to sample rows that are in memory already."""
    if rows_needed or is_lazy(data):  # they are fetched for a reason, or are not more
        return
    raise ArgumentError(
        f"sample_rows={request.sample_rows} is for files, databases and lazy tables; data is in "
        "memory already. Leave it out, or pass the file."
    )


def _wanted_columns(source: Source, roles: Roles, columns: str | None) -> Any:
    """Return the rows of files without the columns that are to be left out."""
    names = list(source.relation.columns)
    dropped = columns_to_drop(source.partial_columns, roles, columns, set(names))
    if not dropped:
        return source.relation
    return source.without(dropped)


def read_one(table: Any, target: str) -> Any:
    """Return a table as it is, or read the file that it names."""
    if not is_source(table):
        return table
    with open_source(table) as source, source.reading():
        return in_memory(to_frame(source.with_boolean_target(target).relation)).to_native()


def source_names(data: Any) -> list[str]:
    """Return the names of files without their folders; nothing of a database's address."""
    sites = as_study(data)
    if sites is not None:
        return sites.names
    if not is_source(data):
        return []
    items = [data] if isinstance(data, (str, Path)) else list(data)
    texts = [str(item) for item in items]
    if any("://" in text for text in texts):
        return []
    return [Path(text).name for text in texts]
