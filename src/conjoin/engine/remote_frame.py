"""A frame whose rows are elsewhere, with the rules of a schema applied to it.

A lazy frame and a schema enter; ranges, means, standard deviations and sums of products leave, each
by one query.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from conjoin._typing import FloatArray
from conjoin.engine.remote_folds import place
from conjoin.errors import DataError
from conjoin.moments import Basis
from conjoin.moments.folds import ColumnCells
from conjoin.tables.checks import (
    check_weights,
    known_rows,
    no_rows,
    warn_dropped_rows,
    warn_unknown_rows,
)
from conjoin.tables.encoding import present
from conjoin.tables.frame import one_row
from conjoin.tables.learn import learn
from conjoin.tables.roles import Roles
from conjoin.tables.schema import Schema, complete_rows

# Sums of one query: engines slow down where it has more, as they compile each of them.
MOST_SUMS = 2_000


def with_known_rows(
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
class Ranges:
    """Range and weighted mean of each feature and, last, of the target; the mean weight."""

    low: FloatArray
    high: FloatArray
    mean: FloatArray
    weight: float
    rows: int

    def take(self, kept: Any) -> "Ranges":
        """Return the ranges of some columns."""
        return Ranges(self.low[kept], self.high[kept], self.mean[kept], self.weight, self.rows)

    @property
    def cells(self) -> tuple[ColumnCells, ...]:
        """The cells of every column, by which rows are dealt to folds."""
        return tuple(ColumnCells.of(float(a), float(b)) for a, b in zip(self.low, self.high))


@dataclass(frozen=True, eq=False)
class Encoded:
    """A frame with columns g0.. (dataset names), x0.. (features, then the target) and w."""

    frame: nw.LazyFrame[Any]
    by: list[str]
    names: tuple[str, ...]

    @classmethod
    def of(cls, frame: nw.LazyFrame[Any], schema: Schema) -> "Encoded":
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

    def sizes(self) -> tuple[int, int]:
        """Return the number of datasets, and the rows of the largest."""
        grouped: Any = self.frame.group_by(*self.by).agg(nw.len().alias("n"))
        found = one_row(grouped.select(nw.len().alias("datasets"), nw.col("n").max().alias("most")))
        return int(found["datasets"]), int(found["most"])

    def ranges(self) -> Ranges:
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
        return Ranges(low, high, total / weight, weight / rows, rows)

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
        first = {"w": w, "copy": nw.col("copy")}
        first |= {f"s{j}": x * w for j, x in enumerate(columns)}
        table: dict[str, Any] = {}
        for begin in range(0, len(pairs), MOST_SUMS):
            block = pairs[begin : begin + MOST_SUMS]
            asked = {f"p{i}_{j}": columns[i] * columns[j] * w for i, j in block}
            self._sum(scaled, {**({} if table else first), **asked}, table)
        return table

    def _sum(
        self, rows: nw.LazyFrame[Any], asked: dict[str, nw.Expr], table: dict[str, Any]
    ) -> None:
        """Add sums of expressions by dataset and fold to a table, in the order of its lines."""
        keys = [*self.by, "fold"]
        values = rows.select(*keys, *(one.alias(name) for name, one in asked.items()))
        grouped: Any = values.group_by(*keys).agg(
            nw.len().alias("n"), *(nw.col(name).sum().alias(name) for name in asked)
        )
        found: dict[str, Any] = grouped.collect("pyarrow").to_dict(as_series=False)
        if not table:
            table.update(found)
            return
        place = {key: k for k, key in enumerate(zip(*(found[name] for name in keys)))}
        order = [place[key] for key in zip(*(table[name] for name in keys))]
        for name in asked:
            table[name] = [found[name][k] for k in order]

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
    frame, w = frame.filter(nw.col("w") > 0), nw.col("w")
    ends = one_row(frame.select(w.min().alias("least"), w.max().alias("most")))
    if ends["least"] is not None:
        check_weights(str(roles.weights), float(ends["least"]), float(ends["most"]))
    return frame


def _first_infinite(names: Sequence[str], low: FloatArray, high: FloatArray) -> str:
    """Return the first column with an infinite end of its range, in words."""
    j = int(np.argmin(np.isfinite(low) & np.isfinite(high)))
    return f"Column {names[j]!r}" if names[j] else "The target"
