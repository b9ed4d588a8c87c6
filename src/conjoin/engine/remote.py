"""From a frame that lives elsewhere to moments: rows stay with DuckDB, Dask, Spark or Polars.

One set of narwhals expressions serves all engines. Four questions are asked of the rows: what the
columns are (`schema.learn`), their ranges and means, their spreads, and at last the sums of
products by dataset and fold, centred and scaled so that no digits are lost. What comes back is as
large as the datasets, not as the rows. Folds are those of `moments.folds.deal`, whose hash any
engine knows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.errors import DataError
from conjoin.moments import Basis, Moments
from conjoin.moments.folds import HALF, PRIME, TARGET, ColumnHash
from conjoin.tables.collect import (
    check_names,
    check_target,
    drop_constant,
    known_rows,
    refuse_huge,
    tell,
    tell_dropped,
    tell_unknown,
)
from conjoin.tables.dataset import limits_of, natural_order
from conjoin.tables.encoding import present
from conjoin.tables.names import SEPARATOR, name_of, refuse_twins
from conjoin.tables.schema import Roles, Schema, complete, learn, one_row

MOST_FEATURES = 64  # beyond these the sums of products are too many to ask for
MOST_VALUES = 50_000_000  # that are worth fetching from DuckDB or Polars: 400 MB


@dataclass(frozen=True, eq=False)
class Reduced:
    """A collection of which only moments are here.

    Parameters
    ----------
    names : tuple of str
        Datasets, in natural order of their names.
    sizes : tuple of int
        Their rows.
    schema : Schema
    limits : mapping of feature to (float, float)
    basis : Basis
        Coordinates of the moments.
    folds : Moments (K, F)
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    schema: Schema
    limits: dict[str, tuple[float, float]]
    basis: Basis
    folds: Moments


def stays(frame: nw.LazyFrame[Any]) -> bool:
    """Say whether the rows of a frame should stay where they are."""
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
) -> Reduced | None:
    """Form the moments of a frame's folds; None if there are too many features for that."""
    check_target(frame, roles)
    frame, schema = _known(frame, roles, missing)
    tell(schema)
    if len(schema.features) > MOST_FEATURES:
        return None
    table = _Encoded.of(frame, schema)
    ranges = table.ranges()
    schema, _ = drop_constant(schema, ranges.low[:-1] == ranges.high[:-1])
    kept = np.append(ranges.low[:-1] < ranges.high[:-1], True)
    if ranges.low[-1] == ranges.high[-1]:
        raise DataError(
            f"Target {roles.target!r} is {ranges.low[-1]:g} in every row of every dataset; there "
            "is nothing to predict. Choose another target."
        )
    table, ranges = _Encoded.of(frame, schema), ranges.take(kept)
    largest = np.maximum(np.abs(ranges.low), np.abs(ranges.high))
    refuse_huge((*schema.features, roles.target), largest)
    spread = table.spread(ranges.mean if intercept else np.zeros(len(ranges.mean)))
    basis = Basis.from_summary(ranges.low, ranges.high, ranges.mean, spread, intercept=intercept)
    cells = table.products(basis, ranges, folds, seed)
    names, moments = _assemble(cells, roles, len(schema.features), folds, ranges.weight)
    check_names(names, int(moments.n.sum()), roles)
    return Reduced(
        names=tuple(names),
        sizes=tuple(int(n) for n in moments.n.sum(axis=1)),
        schema=schema,
        limits=limits_of(schema.features, ranges.low[:-1], ranges.high[:-1]),
        basis=basis,
        folds=moments if intercept else _without_ones(moments),
    )


def _known(
    frame: nw.LazyFrame[Any], roles: Roles, missing: str
) -> tuple[nw.LazyFrame[Any], Schema]:
    """Leave out rows without target or name, and incomplete ones if so asked."""
    there = known_rows(roles)
    rows = one_row(frame.select(nw.len().alias("all"), there.cast(nw.Int64).sum().alias("known")))
    if not rows["all"]:
        raise DataError("There is no dataset: data has no rows.")
    tell_unknown(int(rows["all"]) - int(rows["known"]), int(rows["all"]), roles)
    if rows["known"] < rows["all"]:
        frame = frame.filter(there)
    schema = learn(frame, roles, missing)
    if missing == "drop":
        whole = complete(schema)
        count = int(one_row(frame.select(whole.cast(nw.Int64).sum().alias("n")))["n"])
        tell_dropped(int(rows["known"]) - count, int(rows["known"]), "a value is missing in them")
        frame = frame.filter(whole)
        schema = learn(frame, roles, missing)
    return frame, schema


@dataclass(frozen=True)
class _Ranges:
    """Ranges and weighted means of features and, last, of the target; the mean weight."""

    low: FloatArray
    high: FloatArray
    mean: FloatArray
    weight: float

    def take(self, kept: Any) -> "_Ranges":
        return _Ranges(self.low[kept], self.high[kept], self.mean[kept], self.weight)


@dataclass(frozen=True, eq=False)
class _Encoded:
    """A frame with columns g0.. (names of datasets), x0.. (features, then the target) and w."""

    frame: nw.LazyFrame[Any]
    by: list[str]
    names: tuple[str, ...]

    @classmethod
    def of(cls, frame: nw.LazyFrame[Any], schema: Schema) -> "_Encoded":
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
            encoded = _checked_weights(encoded, by, roles)
        return cls(encoded, by, (*schema.features, TARGET))

    @property
    def columns(self) -> list[nw.Expr]:
        return [nw.col(f"x{j}") for j in range(len(self.names))]

    def ranges(self) -> _Ranges:
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
                f"Target or a column is infinite ({_infinite(self.names, low, high)}); correct or "
                "drop such rows."
            )
        return _Ranges(low, high, total / float(found["weight"]), found["weight"] / found["rows"])

    def spread(self, center: FloatArray) -> FloatArray:
        """Return the weighted root mean square of the deviations from a centre."""
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
        """Add the fold of every row; see `moments.folds`."""
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
    """Add the number of each row in the order of hashes of its dataset, and the first hash."""
    if not frame.implementation.is_dask():
        number = nw.col("h1").cum_count().over(*by, order_by=["h1", "h2"])
        first = nw.col("h1").min().over(*by)
        return frame.with_columns((number - 1).alias("rank"), first.alias("first"))
    # Dask has no ordered windows: rows of a dataset are brought into one partition instead.
    native: Any = frame.to_native()
    names, none = list(by), np.array([], dtype=np.int64)
    meta = native._meta.assign(rank=none, first=none)
    ranked = native.shuffle(on=names).map_partitions(_ranked_partition, names, meta=meta)
    result: nw.LazyFrame[Any] = nw.from_native(ranked)
    return result


def _ranked_partition(rows: Any, by: list[str]) -> Any:
    ordered = rows.sort_values([*by, "h1", "h2"], kind="stable", ignore_index=True)
    groups = ordered.groupby(by, observed=True, sort=False)
    first = groups["h1"].transform("min").astype("int64")
    return ordered.assign(rank=groups.cumcount().astype("int64"), first=first)


def _checked_weights(
    frame: nw.LazyFrame[Any], by: Sequence[str], roles: Roles
) -> nw.LazyFrame[Any]:
    least = one_row(frame.select(nw.col("w").min().alias("w")))["w"]
    if least is None or not least >= 0:
        raise DataError(f"Weights {roles.weights!r} must be >= 0; the smallest is {least}.")
    return frame.filter(nw.col("w") > 0)


def _infinite(names: Sequence[str], low: FloatArray, high: FloatArray) -> str:
    j = int(np.argmin(np.isfinite(low) & np.isfinite(high)))
    return repr(names[j]) if names[j] != TARGET else "the target"


def _assemble(
    cells: dict[str, Any], roles: Roles, features: int, folds: int, weight: float
) -> tuple[list[str], Moments]:
    """Put sums of products into moments (K, F) of a design whose first column is ones."""
    keys = list(zip(*(cells[f"g{i}"] for i in range(len(roles.by)))))
    name_of_key = {key: SEPARATOR.join(map(name_of, key)) for key in keys}
    refuse_twins(list(name_of_key.values()))
    names = natural_order(list(name_of_key.values()))
    position = {name: k for k, name in enumerate(names)}
    k: IntArray = np.array([position[name_of_key[key]] for key in keys])
    f: IntArray = np.array(cells["fold"], dtype=np.int64)
    P = np.zeros((len(names), folds, features + 2, features + 2))
    w = np.array(cells["w"], dtype=np.float64)
    np.add.at(P[..., 0, 0], (k, f), w)
    for j in range(features + 1):
        total = np.array(cells[f"s{j}"], dtype=np.float64)
        np.add.at(P[..., 0, j + 1], (k, f), total)
        np.add.at(P[..., j + 1, 0], (k, f), total)
        for i in range(j + 1):
            product = np.array(cells[f"p{i}_{j}"], dtype=np.float64)
            np.add.at(P[..., i + 1, j + 1], (k, f), product)
            if i < j:
                np.add.at(P[..., j + 1, i + 1], (k, f), product)
    n = np.zeros((len(names), folds))
    np.add.at(n, (k, f), np.array(cells["n"], dtype=np.float64))
    P /= weight  # weights are relative: their unit means nothing
    return names, Moments.from_products(P, n, P[..., 0, 0])


def _without_ones(moments: Moments) -> Moments:
    return Moments(moments.G[..., 1:, 1:], moments.h[..., 1:], moments.q, moments.n, moments.w)
