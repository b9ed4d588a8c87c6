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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.engine.coordinates import second_moments, settle
from conjoin.engine.remote_folds import RemoteFolds, kinds_of, place
from conjoin.engine.remote_wild import Column, far_columns, find_far_rows
from conjoin.errors import DataError
from conjoin.moments import Basis, Moments
from conjoin.moments.collinear import directions_of_moments
from conjoin.moments.folds import ColumnCells
from conjoin.tables.checks import (
    check_magnitude,
    check_names,
    check_target,
    check_target_varies,
    drop_constant,
    known_rows,
    no_rows,
    warn_columns,
    warn_dropped_rows,
    warn_unknown_rows,
)
from conjoin.tables.dataset import limits_of
from conjoin.tables.encoding import Number, present
from conjoin.tables.frame import one_row
from conjoin.tables.learn import learn
from conjoin.tables.names import SEPARATOR, check_distinct_names, name_of, natural_order
from conjoin.tables.roles import Roles
from conjoin.tables.schema import Schema, complete_rows
from conjoin.tables.wild import Outlier

# The query has one sum for each pair of columns: 2,145 for 64 features and the target. Their number
# grows with the square; with more features the rows are fetched.
MOST_FEATURES = 64
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


def rows_stay_remote(frame: nw.LazyFrame[Any]) -> bool:
    """Say whether the rows of a frame should stay where they are: they are too many to fetch."""
    if frame.implementation.is_dask() or frame.implementation.is_spark_like():
        return True
    rows = int(one_row(frame.select(nw.len().alias("rows")))["rows"])
    return rows * len(frame.collect_schema().names()) > MOST_VALUES


def reduce(
    frame: nw.LazyFrame[Any],
    roles: Roles,
    *,
    missing: str,
    folds: int,
    seed: int,
    intercept: bool,
    keep: bool = True,
) -> Reduced | None:
    """Return the moments of a frame's datasets and folds; None if it has too many features.

    Unless rows with gross errors are to be kept, `fewer` has the moments without them.
    """
    check_target(frame, roles)
    frame, schema = _with_known_rows(frame, roles, missing)
    if len(schema.features) > MOST_FEATURES:
        return None
    warn_columns(schema)
    table = _Encoded.of(frame, schema)
    ranges = table.ranges()
    schema, _ = drop_constant(schema, ranges.low[:-1] == ranges.high[:-1])
    kept = np.append(ranges.low[:-1] < ranges.high[:-1], True)
    check_target_varies(roles.target, float(ranges.low[-1]), float(ranges.high[-1]))
    table, ranges = _Encoded.of(frame, schema), ranges.take(kept)
    largest = np.maximum(np.abs(ranges.low), np.abs(ranges.high))
    check_magnitude((*schema.features, roles.target), largest)
    how = _How(folds, seed, intercept)
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


def _far_rows(
    table: "_Encoded", ranges: "_Ranges", sd: FloatArray, schema: Schema
) -> tuple[tuple[Outlier, ...], nw.LazyFrame[Any]]:
    """Return the gross errors of target and number columns, and the frame without their rows."""
    numbers = {e.name for e in schema.encodings if isinstance(e, Number)}
    columns = [Column(j, name) for j, name in enumerate(schema.features) if name in numbers]
    columns.append(Column(len(schema.features), schema.roles.target))
    far = far_columns(columns, ranges.low, ranges.high, ranges.mean, sd)
    return find_far_rows(table.frame, table.by, far, ranges.rows, sd)


def _without(
    table: "_Encoded", rest: nw.LazyFrame[Any], schema: Schema, how: _How
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
    table: "_Encoded",
    ranges: "_Ranges",
    around_mean: tuple[FloatArray, FloatArray],
    schema: Schema,
    how: _How,
) -> Reduced:
    """Form the moments of a frame whose features all vary.

    `around_mean` has standard deviations and mean places among the cells.
    """
    roles, (folds, seed, intercept), cells = schema.roles, how, ranges.cells
    spread, places = around_mean
    if not intercept:
        spread, _ = table.spread(np.zeros(len(ranges.mean)), cells)
    basis = Basis.from_summary(ranges.low, ranges.high, ranges.mean, spread, intercept=intercept)
    dealing = RemoteFolds(table.frame, table.by, cells, kinds_of(places), folds, seed)
    reduced = _reduce(table, dealing, basis, roles, ranges.weight)
    check_names(reduced.names, int(reduced.folds.n.sum()), roles)
    return Reduced(
        names=tuple(reduced.names),
        sizes=tuple(int(n) for n in reduced.folds.n.sum(axis=1)),
        schema=schema,
        limits=limits_of(schema.features, ranges.low[:-1], ranges.high[:-1]),
        basis=reduced.basis,
        folds=reduced.folds,
        copies=reduced.copies,
    )


def _reduce(
    table: "_Encoded", dealing: RemoteFolds, basis: Basis, roles: Roles, weight: float
) -> "_Sums":
    """Form the moments, in coordinates that suit the columns; `weight` is the mean one."""

    def form(given: Basis) -> Moments:
        return _assemble(table.products(dealt, given), roles, given, dealing.folds, weight).folds

    dealt = dealing.dealt(together=True)
    sums = _assemble(table.products(dealt, basis), roles, basis, dealing.folds, weight)
    distinct = int(sums.folds.n.sum()) - int(sums.copies.sum())
    if sums.copies.any() and not dealing.any_fine(distinct, len(sums.names)):
        dealt = dealing.dealt(together=False)
        sums = replace(sums, folds=form(basis), copies=np.zeros_like(sums.copies))
    second = second_moments(sums.folds, basis)
    settled = settle(basis, sums.folds, lambda: directions_of_moments(second, basis), form)
    return replace(sums, basis=settled[0], folds=settled[1])


def _with_known_rows(
    frame: nw.LazyFrame[Any], roles: Roles, missing: str
) -> tuple[nw.LazyFrame[Any], Schema]:
    """Leave out rows without target or dataset name, and with missing="drop" incomplete rows."""
    known = known_rows(roles)
    rows = one_row(frame.select(nw.len().alias("all"), known.cast(nw.Int64).sum().alias("known")))
    if not rows["all"]:
        raise no_rows()
    warn_unknown_rows(int(rows["all"]) - int(rows["known"]), int(rows["all"]), roles)
    if rows["known"] < rows["all"]:
        frame = frame.filter(known)
    schema = learn(frame, roles, missing)
    if missing == "drop":
        complete = complete_rows(schema)
        count = int(one_row(frame.select(complete.cast(nw.Int64).sum().alias("n")))["n"])
        warn_dropped_rows(int(rows["known"]) - count, int(rows["known"]), "a feature is missing")
        frame = frame.filter(complete)
        schema = learn(frame, roles, missing)
    return frame, schema


@dataclass(frozen=True)
class _Ranges:
    """Range and weighted mean of each feature and, last, of the target; the mean weight."""

    low: FloatArray
    high: FloatArray
    mean: FloatArray
    weight: float
    rows: int

    def take(self, kept: Any) -> "_Ranges":
        """Return the ranges of some columns."""
        return _Ranges(self.low[kept], self.high[kept], self.mean[kept], self.weight, self.rows)

    @property
    def cells(self) -> tuple[ColumnCells, ...]:
        """The cells of every column, by which rows are dealt to folds."""
        return tuple(ColumnCells.of(float(a), float(b)) for a, b in zip(self.low, self.high))


@dataclass(frozen=True, eq=False)
class _Encoded:
    """A frame with columns g0.. (dataset names), x0.. (features, then the target) and w."""

    frame: nw.LazyFrame[Any]
    by: list[str]
    names: tuple[str, ...]

    @classmethod
    def of(cls, frame: nw.LazyFrame[Any], schema: Schema) -> "_Encoded":
        """Apply the rules of a schema, without computing anything yet."""
        roles = schema.roles
        by = [f"g{i}" for i in range(len(roles.by))]
        values = [*schema.expressions(), present(nw.col(roles.target))]
        weight = present(nw.col(roles.weights)) if roles.weights else nw.lit(1.0)
        encoded = frame.select(
            *(nw.col(name).alias(g) for name, g in zip(roles.by, by)),
            *(e.alias(f"x{j}") for j, e in enumerate(values)),
            weight.alias("w"),
        )
        if roles.weights:
            encoded = _with_positive_weights(encoded, roles)
        return cls(encoded, by, (*schema.features, ""))  # the target needs no name

    @property
    def columns(self) -> list[nw.Expr]:
        """Features and, last, the target."""
        return [nw.col(f"x{j}") for j in range(len(self.names))]

    def ranges(self) -> _Ranges:
        """Return ranges, means and the mean weight, in one query."""
        w = nw.col("w")
        asked = [nw.len().alias("rows"), w.sum().alias("weight")]
        for j, x in enumerate(self.columns):
            asked += [x.min().alias(f"low{j}"), x.max().alias(f"high{j}")]
            asked.append((x * w).sum().alias(f"sum{j}"))
        found = one_row(self.frame.select(*asked))
        low, high, total = (
            np.array([float(found[f"{fact}{j}"]) for j in range(len(self.names))])
            for fact in ("low", "high", "sum")
        )
        if not np.isfinite([low, high]).all():
            raise DataError(
                f"{_first_infinite(self.names, low, high)} has an infinite value; correct or drop "
                "such rows."
            )
        rows, weight = int(found["rows"]), float(found["weight"])
        return _Ranges(low, high, total / weight, weight / rows, rows)

    def spread(
        self, center: FloatArray, cells: Sequence[ColumnCells]
    ) -> tuple[FloatArray, FloatArray]:
        """Return weighted root mean square deviations from `center`, and mean places among cells.

        All are (columns,).
        """
        w = nw.col("w")
        squares = [
            (w * (x - float(c)) * (x - float(c))).sum().alias(f"s{j}")
            for j, (x, c) in enumerate(zip(self.columns, center))
        ]
        means = [place(c, f"x{j}").mean().alias(f"m{j}") for j, c in enumerate(cells)]
        found = one_row(self.frame.select(w.sum().alias("weight"), *squares, *means))
        totals, places = (
            np.array([float(found[f"{fact}{j}"]) for j in range(len(self.names))])
            for fact in ("s", "m")
        )
        return np.sqrt(totals / float(found["weight"])), places

    def products(self, dealt: nw.LazyFrame[Any], basis: Basis) -> dict[str, Any]:
        """Return sums of products by dataset and fold, as columns of plain values.

        `dealt` are the rows with their fold.
        """
        center = np.append(basis.center, basis.target_center)
        scale = np.append(basis.scale, basis.target_scale)
        scaled = dealt.select(
            *self.by,
            "fold",
            "copy",
            "w",
            *(
                ((x - float(c)) / float(s)).alias(f"x{j}")
                for j, (x, c, s) in enumerate(zip(self.columns, center, scale))
            ),
        )
        if basis.matrix is not None:
            scaled = self._stretched(scaled, basis.matrix)
        w, columns = nw.col("w"), self.columns
        pairs = [(i, j) for i in range(len(columns)) for j in range(i, len(columns))]
        products = scaled.select(
            *self.by,
            "fold",
            "copy",
            "w",
            *((x * w).alias(f"s{j}") for j, x in enumerate(columns)),
            *((columns[i] * columns[j] * w).alias(f"p{i}_{j}") for i, j in pairs),
        )
        sums = [
            "w",
            "copy",
            *(f"s{j}" for j in range(len(columns))),
            *(f"p{i}_{j}" for i, j in pairs),
        ]
        grouped: Any = products.group_by(*self.by, "fold").agg(
            nw.len().alias("n"), *(nw.col(name).sum().alias(name) for name in sums)
        )
        table: dict[str, Any] = grouped.collect("pyarrow").to_dict(as_series=False)
        return table

    def _stretched(self, scaled: nw.LazyFrame[Any], matrix: FloatArray) -> nw.LazyFrame[Any]:
        """Return the rows with their features multiplied by a matrix (features, features)."""
        features = self.columns[:-1]
        mixed = []
        for column in matrix.T:
            total = nw.lit(0.0)
            for x, m in zip(features, column):
                total = total + x * float(m)
            mixed.append(total)
        return scaled.with_columns(*(x.alias(f"x{j}") for j, x in enumerate(mixed)))


def _with_positive_weights(frame: nw.LazyFrame[Any], roles: Roles) -> nw.LazyFrame[Any]:
    """Return the rows with a weight above zero; raise an error if a weight is negative."""
    least = one_row(frame.select(nw.col("w").min().alias("w")))["w"]
    if least is None or not least >= 0:
        raise DataError(
            f"Weights {roles.weights!r} must be >= 0; the smallest is {least}; correct or drop "
            "such rows."
        )
    return frame.filter(nw.col("w") > 0)


def _first_infinite(names: Sequence[str], low: FloatArray, high: FloatArray) -> str:
    """Return the first column with an infinite end of its range, in words."""
    j = int(np.argmin(np.isfinite(low) & np.isfinite(high)))
    return f"Column {names[j]!r}" if names[j] else "The target"


@dataclass(frozen=True, eq=False)
class _Sums:
    """Names of datasets, coordinates, moments (K, F) and copies (K,), as in `Reduced`."""

    names: list[str]
    basis: Basis
    folds: Moments
    copies: IntArray


def _assemble(
    sums: dict[str, Any], roles: Roles, basis: Basis, folds: int, weight: float
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
    return _Sums(names, basis, moments if basis.intercept else _without_ones(moments), copies)


def _without_ones(moments: Moments) -> Moments:
    """Return the moments without the intercept's column."""
    return Moments(moments.G[..., 1:, 1:], moments.h[..., 1:], moments.q, moments.n, moments.w)
