"""Moments of rows that are not in memory: they are computed by DuckDB, Dask, Spark or Polars.

A lazy frame enters; a `Reduced` with the moments of every dataset and fold leaves. One set of
narwhals expressions serves all engines. There are four groups of queries: the columns and their
types (`tables.learn`), ranges and means, standard deviations, and the sums of products by dataset
and fold. Columns are centred and scaled before they are multiplied, so that no digits are lost.
Where columns are nearly collinear the products are asked for again, in other coordinates
(`engine.coordinates`). Sums of products show directions down to a standard deviation of some 3e-7,
where rows in memory show them down to rounding. The answers grow with the number of datasets, not
of rows. Folds are those of `moments.folds` (`engine.remote_folds`).
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.engine.coordinates import second_moments, settle
from conjoin.engine.finished import finished_sums
from conjoin.engine.remote_batches import sums_in_batches
from conjoin.engine.remote_folds import RemoteFolds, kinds_of
from conjoin.engine.remote_frame import Encoded, Ranges, with_known_rows
from conjoin.engine.remote_rows import RemoteRows
from conjoin.engine.remote_wild import Column, far_columns, find_far_rows
from conjoin.moments import Basis, Moments
from conjoin.moments.collinear import directions_of_moments
from conjoin.moments.folds import LARGE_ROWS, is_balanced
from conjoin.moments.kept import Batch, KeptMoments
from conjoin.tables.checks import (
    check_names,
    check_scales,
    check_target,
    check_target_varies,
    drop_constant,
    warn_columns,
)
from conjoin.tables.dataset import limits_of
from conjoin.tables.encoding import Number
from conjoin.tables.frame import one_row
from conjoin.tables.names import SEPARATOR, check_distinct_names, name_of, natural_order
from conjoin.tables.schema import Schema
from conjoin.tables.wild import Outlier

if TYPE_CHECKING:
    from conjoin.models.remote_glm import RemoteGlmRows
    from conjoin.models.scatter import Scatter
    from conjoin.tables.roles import Roles
    from conjoin.tables.suspects import Suspects

# There is one sum for each pair of columns, asked for in blocks (`engine.remote_frame`): 126,000
# for 500 features. Their number grows with the square; with more features the rows are fetched.
MOST_FEATURES = 500
# Values (rows times columns) up to which rows of DuckDB and Polars are fetched: 400 MB as float64.
MOST_VALUES = 50_000_000


@dataclass(frozen=True, eq=False)
class Reduced:
    """The moments of a collection of datasets whose rows are elsewhere.

    Parameters
    ----------
    names : tuple of str
        Datasets, in natural order of their names.
    sizes : tuple of int
        Number of rows of each dataset.
    schema : Schema
        How columns of the frame become features.
    limits : mapping of feature to (float, float)
        Range of each feature beyond which models do not extrapolate.
    basis : Basis
        Coordinates of the moments.
    folds : Moments (K, F)
        Moments of each dataset and fold.
    copies : array (K,)
        Rows of each dataset that are exact copies of another.
    outliers : tuple of Outlier
        Gross errors.
    fewer : Reduced, optional
        The same without the rows that have gross errors, if it is wanted and there are any.
    rows : RemoteRows, optional
        The rows, as long as their source is open.
    scatter : Scatter (K,), optional
        How far residuals scatter, if it was formed where the rows are.
    cells : RemoteCells, optional
        For classes and counts: what answers the questions of a likelihood.
    kept : KeptMoments, optional
        The moments in a form that rows can be added to, if that is wanted.
    suspects : Suspects, optional
        Suspicious names and columns, if rows were there to be looked at.
    promise : str
        What differential privacy promises for which datasets; empty without it.
    noise_shares : array (K,), optional
        With differential privacy: variance that the noise adds to the error of each dataset, over
        the square of the error.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    schema: Schema
    limits: dict[str, tuple[float, float]]
    basis: Basis
    folds: Moments
    copies: IntArray
    outliers: tuple[Outlier, ...] = ()
    fewer: "Reduced | None" = None
    rows: RemoteRows | None = None
    scatter: "Scatter | None" = None
    cells: "RemoteCells | None" = None
    kept: "KeptMoments | None" = None
    suspects: "Suspects | None" = None
    promise: str = ""
    noise_shares: FloatArray | None = None


class RemoteCells(NamedTuple):
    """Rows of classes or counts that are elsewhere, where to start, and what carries questions."""

    rows: "RemoteGlmRows"
    start: FloatArray
    carrier: Any


def has_rows(table: Any) -> bool:
    """Say whether a learner can be trained: rows are in memory, or can be asked for."""
    return not isinstance(table, Reduced) or table.rows is not None


def rows_stay_remote(frame: nw.LazyFrame[Any], sample_rows: int | None = None) -> bool:
    """Say whether the rows of a frame should stay where they are.

    They do if they are too many to fetch, or more than a learner is to be trained on.
    """
    if frame.implementation.is_dask() or frame.implementation.is_spark_like():
        return True
    rows = int(one_row(frame.select(nw.len().alias("rows")))["rows"])
    most = MOST_VALUES / len(frame.collect_schema().names())
    return rows > (most if sample_rows is None else min(most, sample_rows))


def reduce(
    frame: nw.LazyFrame[Any],
    roles: "Roles",
    *,
    missing: str,
    folds: int,
    seed: int,
    intercept: bool,
    keep: bool = True,
    keep_moments: bool = False,
) -> Reduced | None:
    """Return the moments of a frame's datasets and folds; None if it has too many features.

    Unless rows with gross errors are to be kept, `fewer` has the moments without them. With
    `keep_moments` the fold of a row depends on its values alone, and `kept` has its moments.
    """
    check_target(frame, roles)
    frame, schema = with_known_rows(frame, roles, missing)
    if len(schema.features) > MOST_FEATURES:
        return None
    warn_columns(schema)
    table = Encoded.of(frame, schema)
    ranges = table.ranges()
    schema, _ = drop_constant(schema, ranges.low[:-1] == ranges.high[:-1])
    kept = np.append(ranges.low[:-1] < ranges.high[:-1], True)
    check_target_varies(roles.target, float(ranges.low[-1]), float(ranges.high[-1]))
    table, ranges = Encoded.of(frame, schema), ranges.take(kept)
    check_scales((*schema.features, roles.target), ranges.low, ranges.high)
    how = _How(folds, seed, intercept, keep_moments)
    spread = table.spread(ranges.mean, ranges.cells)
    whole = _form(table, ranges, spread, schema, how)
    outliers, rest = _far_rows(table, ranges, spread[0], schema)
    if not outliers:
        return whole
    fewer = None if keep else _without(table, rest, schema, how)
    return replace(whole, outliers=outliers, fewer=fewer)


class _How(NamedTuple):
    """How moments are formed."""

    folds: int
    seed: int
    intercept: bool
    keep_moments: bool


def _far_rows(
    table: "Encoded", ranges: "Ranges", sd: FloatArray, schema: Schema
) -> tuple[tuple[Outlier, ...], nw.LazyFrame[Any]]:
    """Return the gross errors of target and number columns, and the frame without their rows."""
    numbers = {e.name for e in schema.encodings if isinstance(e, Number)}
    columns = [Column(j, name) for j, name in enumerate(schema.features) if name in numbers]
    columns.append(Column(len(schema.features), schema.roles.target))
    far = far_columns(columns, ranges.low, ranges.high, ranges.mean, sd)
    return find_far_rows(table.frame, table.by, far, ranges.rows, sd)


def _without(
    table: "Encoded", rest: nw.LazyFrame[Any], schema: Schema, how: _How
) -> "Reduced | None":
    """Return the moments of the other rows; None if a column has one value in all of them."""
    table = replace(table, frame=rest)
    ranges = table.ranges()
    if np.any(ranges.low == ranges.high):
        return None
    mean = dict(zip(schema.features, ranges.mean.tolist()))
    encodings = tuple(
        replace(e, fill=mean[e.name])
        if isinstance(e, Number) and not e.missing and e.name in mean
        else e
        for e in schema.encodings
    )
    spread = table.spread(ranges.mean, ranges.cells)
    return _form(table, ranges, spread, replace(schema, encodings=encodings), how)


def _form(
    table: "Encoded",
    ranges: "Ranges",
    around_mean: tuple[FloatArray, FloatArray],
    schema: Schema,
    how: _How,
) -> Reduced:
    """Form the moments of a frame whose features all vary.

    `around_mean` has standard deviations and mean places among the cells.
    """
    roles, (folds, seed, intercept, by_value), cells = schema.roles, how, ranges.cells
    spread, places = around_mean
    if not intercept:
        spread, _ = table.spread(np.zeros(len(ranges.mean)), cells)
    basis = Basis.from_summary(ranges.low, ranges.high, ranges.mean, spread, intercept=intercept)
    dealing = RemoteFolds(table.frame, table.by, cells, kinds_of(places), folds, seed)
    reduced = _reduce(table, dealing, basis, roles, ranges, by_value=by_value)
    check_names(reduced.names, int(reduced.folds.n.sum()), roles)
    position = {name: k for k, name in enumerate(reduced.names)}
    width = len(schema.features)
    rows = RemoteRows(reduced.dealt, tuple(table.by), width, position, folds, ranges.weight)
    return Reduced(
        names=tuple(reduced.names),
        sizes=tuple(int(n) for n in reduced.folds.n.sum(axis=1)),
        schema=schema,
        limits=limits_of(schema.features, ranges.low[:-1], ranges.high[:-1]),
        basis=reduced.basis,
        folds=reduced.folds,
        copies=reduced.copies,
        rows=None if by_value else rows,
        kept=_kept(reduced, ranges) if by_value else None,
    )


def _kept(sums: "_Sums", ranges: "Ranges") -> KeptMoments:
    """Return the moments of an engine in the form that rows can be added to."""
    K, usual = len(sums.names), sums.usual
    center = np.append(usual.center, usual.target_center)
    scale = np.append(usual.scale, usual.target_scale)
    shape = (K, len(center))
    rows = [int(n) for n in sums.folds.n.sum(axis=1)]
    small = [int(one) % 2**52 for one in sums.marks]  # as in `engine.kept`
    batch = Batch(dict(zip(sums.names, rows)), dict(zip(sums.names, small)))
    return KeptMoments(
        tuple(sums.names),
        sums.folds.n,
        np.broadcast_to(center, shape).copy(),
        np.broadcast_to(scale, shape).copy(),
        sums.products * ranges.weight,
        ranges.low,
        ranges.high,
        (batch,),
    )


def _reduce(
    table: "Encoded",
    dealing: RemoteFolds,
    basis: Basis,
    roles: "Roles",
    ranges: "Ranges",
    *,
    by_value: bool,
) -> "_Sums":
    """Form the moments, in coordinates that suit the columns.

    Very many rows are dealt by their hash alone, if the folds are balanced: no engine has to sort.
    """
    weight = ranges.weight

    def products(given: Basis) -> dict[str, Any]:
        how = (dealing.cells, dealing.kinds, dealing.folds, dealing.seed, way)
        inputs = (table.names, weight, given, *how)
        if way == "hash" and dealing.frame.implementation.is_duckdb():
            return finished_sums(inputs, lambda: sums_in_batches(dealing, given))
        return finished_sums(inputs, lambda: table.products(dealt, given))

    def form(given: Basis) -> Moments:
        return _assemble(products(given), roles, given, dealing.folds, weight).folds

    way = "value" if by_value else "hash" if ranges.rows > LARGE_ROWS else "together"
    dealt = _deal(dealing, table, way)
    sums = _assemble(products(basis), roles, basis, dealing.folds, weight)
    if way == "value":
        marks, none = sums.copies, np.zeros_like(sums.copies)
        return replace(sums, usual=basis, marks=marks, copies=none, dealt=dealt)
    if way == "hash" and not is_balanced(sums.folds.n.sum(axis=0)):
        way = "together"
        dealt = _deal(dealing, table, way)
        sums = _assemble(products(basis), roles, basis, dealing.folds, weight)
    distinct = int(sums.folds.n.sum()) - int(sums.copies.sum())
    if sums.copies.any() and not dealing.any_fine(distinct, len(sums.names)):
        way = "apart"
        dealt = _deal(dealing, table, way)
        sums = replace(sums, folds=form(basis), copies=np.zeros_like(sums.copies))
    second = second_moments(sums.folds, basis)
    settled = settle(basis, sums.folds, lambda: directions_of_moments(second, basis), form)
    return replace(sums, basis=settled[0], folds=settled[1], dealt=dealt)


def _deal(dealing: RemoteFolds, table: "Encoded", way: str) -> nw.LazyFrame[Any]:
    """Return the rows with their fold: by value, by hash, or in turn."""
    if way == "value":
        return dealing.by_value(table.names)
    return dealing.by_hash() if way == "hash" else dealing.dealt(together=way == "together")


@dataclass(frozen=True, eq=False)
class _Sums:
    """Names of datasets, coordinates, moments (K, F) and copies (K,), as in `Reduced`.

    `products` are the sums with a column of ones, in the `usual` basis; `dealt` are the rows with
    their folds; `marks` (K,) sum the hashes of rows that were dealt by value.
    """

    names: list[str]
    basis: Basis
    folds: Moments
    copies: IntArray
    products: FloatArray
    usual: Basis
    dealt: Any = None
    marks: IntArray | None = None


def _assemble(
    sums: dict[str, Any], roles: "Roles", basis: Basis, folds: int, weight: float
) -> "_Sums":
    """Put sums of products in a basis together: names of datasets and moments (K, F)."""
    features = len(basis.scale)
    keys = list(zip(*(sums[f"g{i}"] for i in range(len(roles.by)))))
    name_of_key = {key: SEPARATOR.join(map(name_of, key)) for key in keys}
    check_distinct_names(list(name_of_key.values()))
    names = natural_order(list(name_of_key.values()))
    position = {name: k for k, name in enumerate(names)}
    k: IntArray = np.array([position[name_of_key[key]] for key in keys])
    f: IntArray = np.array(sums["fold"], dtype=np.int64)
    P = np.zeros((len(names), folds, features + 2, features + 2))
    w = np.array(sums["w"], dtype=np.float64)
    np.add.at(P[..., 0, 0], (k, f), w)
    for j in range(features + 1):
        total = np.array(sums[f"s{j}"], dtype=np.float64)
        np.add.at(P[..., 0, j + 1], (k, f), total)
        np.add.at(P[..., j + 1, 0], (k, f), total)
        for i in range(j + 1):
            product = np.array(sums[f"p{i}_{j}"], dtype=np.float64)
            np.add.at(P[..., i + 1, j + 1], (k, f), product)
            if i < j:
                np.add.at(P[..., j + 1, i + 1], (k, f), product)
    n = np.zeros((len(names), folds))
    np.add.at(n, (k, f), np.array(sums["n"], dtype=np.float64))
    P /= weight  # weights are relative, so their unit must not matter
    moments = Moments.from_products(P, n, P[..., 0, 0])
    copies = np.zeros(len(names), dtype=np.int64)
    np.add.at(copies, k, np.array(sums["copy"], dtype=np.int64))
    moments = moments if basis.intercept else _without_ones(moments)
    return _Sums(names, basis, moments, copies, P, basis)


def _without_ones(moments: Moments) -> Moments:
    """Return the moments without the intercept's column."""
    return Moments(moments.G[..., 1:, 1:], moments.h[..., 1:], moments.q, moments.n, moments.w)
