"""Moments of rows that are not in memory: they are computed by DuckDB, Dask, Spark or Polars.

A lazy frame enters; a `Reduced` with the moments of every dataset and fold leaves. One set of
narwhals expressions serves all engines. There are four groups of queries: the columns and their
types (`tables.learn`), ranges and means, standard deviations, and the sums of products by dataset
and fold. Columns are centred and scaled before they are multiplied, so that no digits are lost. The
answers grow with the number of datasets, not of rows. Folds are those of `moments.folds.deal`,
whose hash uses only operations that every engine has.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.engine.remote_wild import Column, far_columns, find_far_rows
from conjoin.errors import DataError
from conjoin.moments import Basis, Moments
from conjoin.moments.folds import HALF, PRIME, TARGET, ColumnHash
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
    sd = table.spread(ranges.mean)
    whole = _form(table, ranges, sd, schema, folds, seed, intercept)
    outliers, rest = _far_rows(table, ranges, sd, schema)
    if not outliers:
        return whole
    fewer = None if keep else _without(table, rest, schema, folds, seed, intercept)
    return replace(whole, outliers=outliers, fewer=fewer)


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
    table: "_Encoded",
    rest: nw.LazyFrame[Any],
    schema: Schema,
    folds: int,
    seed: int,
    intercept: bool,
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
    schema, sd = replace(schema, encodings=encodings), table.spread(ranges.mean)
    return _form(table, ranges, sd, schema, folds, seed, intercept)


def _form(
    table: "_Encoded",
    ranges: "_Ranges",
    sd: FloatArray,
    schema: Schema,
    folds: int,
    seed: int,
    intercept: bool,
) -> Reduced:
    """Form the moments of a frame whose features all vary."""
    roles = schema.roles
    spread = sd if intercept else table.spread(np.zeros(len(ranges.mean)))
    basis = Basis.from_summary(ranges.low, ranges.high, ranges.mean, spread, intercept=intercept)
    sums = table.products(basis, ranges, folds, seed)
    names, moments = _assemble(sums, roles, len(schema.features), folds, ranges.weight)
    check_names(names, int(moments.n.sum()), roles)
    return Reduced(
        names=tuple(names),
        sizes=tuple(int(n) for n in moments.n.sum(axis=1)),
        schema=schema,
        limits=limits_of(schema.features, ranges.low[:-1], ranges.high[:-1]),
        basis=basis,
        folds=moments if intercept else _without_ones(moments),
    )


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
        return cls(encoded, by, (*schema.features, TARGET))

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

    def spread(self, center: FloatArray) -> FloatArray:
        """Return the weighted root mean square deviation from `center`; both (columns,)."""
        w = nw.col("w")
        squares = [
            (w * (x - float(c)) * (x - float(c))).sum().alias(f"s{j}")
            for j, (x, c) in enumerate(zip(self.columns, center))
        ]
        found = one_row(self.frame.select(w.sum().alias("weight"), *squares))
        totals = np.array([float(found[f"s{j}"]) for j in range(len(self.names))])
        return np.sqrt(totals / float(found["weight"]))

    def products(self, basis: Basis, ranges: _Ranges, folds: int, seed: int) -> dict[str, Any]:
        """Return sums of products by dataset and fold, as columns of plain values."""
        dealt = self._with_fold(ranges, folds, seed)
        center = np.append(basis.center, basis.target_center)
        scale = np.append(basis.scale, basis.target_scale)
        scaled = dealt.select(
            *self.by,
            "fold",
            "w",
            *(
                ((x - float(c)) / float(s)).alias(f"x{j}")
                for j, (x, c, s) in enumerate(zip(self.columns, center, scale))
            ),
        )
        w, columns = nw.col("w"), self.columns
        pairs = [(i, j) for i in range(len(columns)) for j in range(i, len(columns))]
        products = scaled.select(
            *self.by,
            "fold",
            "w",
            *((x * w).alias(f"s{j}") for j, x in enumerate(columns)),
            *((columns[i] * columns[j] * w).alias(f"p{i}_{j}") for i, j in pairs),
        )
        sums = ["w", *(f"s{j}" for j in range(len(columns))), *(f"p{i}_{j}" for i, j in pairs)]
        grouped: Any = products.group_by(*self.by, "fold").agg(
            nw.len().alias("n"), *(nw.col(name).sum().alias(name) for name in sums)
        )
        table: dict[str, Any] = grouped.collect("pyarrow").to_dict(as_series=False)
        return table

    def _with_fold(self, ranges: _Ranges, folds: int, seed: int) -> nw.LazyFrame[Any]:
        """Return the frame with the fold of every row; see `moments.folds`."""
        largest = np.maximum(np.abs(ranges.low), np.abs(ranges.high))
        h1, h2 = nw.lit(0), nw.lit(0)
        mixed = []
        for j, (name, most) in enumerate(zip(self.names, largest)):
            c = ColumnHash.of(name, float(most), seed)
            u = (nw.col(f"x{j}") * c.factor).floor().cast(nw.Int64) + HALF
            mixed.append(((u * c.multiplier + c.shift) % PRIME).alias(f"v{j}"))
        hashed = self.frame.with_columns(*mixed)
        squares = [
            (nw.col(f"v{j}") * nw.col(f"v{j}") % PRIME).alias(f"v2{j}")
            for j in range(len(self.names))
        ]
        hashed = hashed.with_columns(*squares)
        for j in range(len(self.names)):
            h1 = (h1 + nw.col(f"v2{j}") * nw.col(f"v2{j}") % PRIME) % PRIME
            h2 = (h2 + nw.col(f"v{j}")) % PRIME
        keep = [*self.by, *(f"x{j}" for j in range(len(self.names))), "w"]
        hashed = hashed.select(*keep, h1.alias("h1"), h2.alias("h2"))
        fold = (nw.col("rank") + nw.col("first")) % folds
        return _with_rank(hashed, self.by).with_columns(fold.cast(nw.Int64).alias("fold"))


def _with_rank(frame: nw.LazyFrame[Any], by: Sequence[str]) -> nw.LazyFrame[Any]:
    """Return the frame with each row's rank by hash in its dataset, and the smallest hash there."""
    if not frame.implementation.is_dask():
        number = nw.col("h1").cum_count().over(*by, order_by=["h1", "h2"])
        first = nw.col("h1").min().over(*by)
        return frame.with_columns((number - 1).alias("rank"), first.alias("first"))
    # Dask has no ordered windows: all rows of a dataset are moved to one partition instead.
    native: Any = frame.to_native()
    names, none = list(by), np.array([], dtype=np.int64)
    meta = native._meta.assign(rank=none, first=none)
    ranked = native.shuffle(on=names).map_partitions(_ranked_partition, names, meta=meta)
    result: nw.LazyFrame[Any] = nw.from_native(ranked)
    return result


def _ranked_partition(rows: Any, by: list[str]) -> Any:
    """Return the rows of one Dask partition with their rank and the smallest hash."""
    ordered = rows.sort_values([*by, "h1", "h2"], kind="stable", ignore_index=True)
    groups = ordered.groupby(by, observed=True, sort=False)
    first = groups["h1"].transform("min").astype("int64")
    return ordered.assign(rank=groups.cumcount().astype("int64"), first=first)


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
    return f"Column {names[j]!r}" if names[j] != TARGET else "The target"


def _assemble(
    sums: dict[str, Any], roles: Roles, features: int, folds: int, weight: float
) -> tuple[list[str], Moments]:
    """Return dataset names and moments (K, F) from sums of products; the first column is ones."""
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
    return names, Moments.from_products(P, n, P[..., 0, 0])


def _without_ones(moments: Moments) -> Moments:
    """Return the moments without the intercept's column."""
    return Moments(moments.G[..., 1:, 1:], moments.h[..., 1:], moments.q, moments.n, moments.w)
