"""A frame whose rows are elsewhere, with the rules of a schema applied to it.

A lazy frame and a schema enter; ranges, means, standard deviations and sums of products leave, each
by one query.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from conjoin._typing import FloatArray
from conjoin.errors import DataError
from conjoin.execution import memory_bytes
from conjoin.moments import Basis
from conjoin.moments.folds import ColumnCells
from conjoin.tables.checks import (
    check_weights,
    known_rows,
    no_rows,
    warn_dropped_rows,
    warn_unknown_rows,
)
from conjoin.tables.encoding import Encoding, Number, present
from conjoin.tables.frame import one_row
from conjoin.tables.learn import learn, summarize
from conjoin.tables.roles import Roles
from conjoin.tables.schema import Schema, complete_rows

# Sums of one query: engines slow down where it has more, as they compile each of them.
MOST_SUMS = 2_000
# Times that sums of products are in memory at once: as they come, put together, and as moments.
COPIES = 3
# Distance between a mean and the number that squares were taken around, in standard deviations,
# from which they are taken again: their difference then loses two digits, or one with each ten.
MOST_SHIFT = 10.0
# Binary digits of rough coordinates, relative to the deviation. An engine adds in another order
# every time, which moves some 2^-50: twelve digits are the same but for one in 2^38 cases.
DIGITS = 12
# Binary digits of means without weights, which fill gaps of new rows where rows have weights.
FILL_DIGITS = 32


def with_known_rows(
    frame: nw.LazyFrame[Any], roles: Roles, missing: str
) -> tuple[nw.LazyFrame[Any], Schema, dict[str, Any]]:
    """Leave out rows without target or dataset name, and with missing="drop" incomplete rows.

    The facts of columns are returned too (`tables.learn`).
    """
    known = known_rows(roles)
    rows = one_row(frame.select(nw.len().alias("all"), known.cast(nw.Int64).sum().alias("known")))
    if not rows["all"]:
        raise no_rows()
    warn_unknown_rows(int(rows["all"]) - int(rows["known"]), int(rows["all"]), roles)
    if rows["known"] < rows["all"]:
        frame = frame.filter(known)
    facts = summarize(frame, roles)
    schema = learn(frame, roles, missing, facts)
    if missing == "drop":
        complete = complete_rows(schema)
        count = int(one_row(frame.select(complete.cast(nw.Int64).sum().alias("n")))["n"])
        warn_dropped_rows(int(rows["known"]) - count, int(rows["known"]), "a feature is missing")
        frame = frame.filter(complete)
        facts = summarize(frame, roles)
        schema = learn(frame, roles, missing, facts)
    return frame, schema, facts


@dataclass(frozen=True)
class Ranges:
    """Facts of each feature and, last, of the target: arrays (columns,).

    Parameters
    ----------
    low, high : arrays
        The range.
    mean, spread : arrays
        Weighted mean, and weighted root mean square of deviations from it.
    plain : array
        Mean without weights.
    rows : int
        The number of rows.
    """

    low: FloatArray
    high: FloatArray
    mean: FloatArray
    spread: FloatArray
    plain: FloatArray
    rows: int

    def take(self, kept: Any) -> "Ranges":
        """Return the ranges of some columns."""
        arrays = (self.low, self.high, self.mean, self.spread, self.plain)
        low, high, mean, spread, plain = (one[kept] for one in arrays)
        return Ranges(low, high, mean, spread, plain, self.rows)

    def rough_basis(self, *, intercept: bool) -> Basis:
        """Return coordinates whose bits do not depend on the order in which an engine adds."""
        # The root mean square around zero, if there is no intercept.
        spread = self.spread if intercept else np.hypot(self.spread, self.mean)
        mean, spread = (_rounded(one, self.spread, DIGITS) for one in (self.mean, spread))
        return Basis.from_summary(self.low, self.high, mean, spread, intercept=intercept)

    def fills(self) -> FloatArray:
        """Return means without weights, whose bits hardly ever depend on that order."""
        return _rounded(self.plain, self.spread, FILL_DIGITS)

    def places(self) -> FloatArray:
        """Return the mean places of values among the cells of their column."""
        found = [c.place(np.array([m]))[0] for c, m in zip(self.cells, self.plain)]
        return np.array(found)

    @property
    def cells(self) -> tuple[ColumnCells, ...]:
        """The cells of every column, by which rows are dealt to folds."""
        return tuple(ColumnCells.of(float(a), float(b)) for a, b in zip(self.low, self.high))


@dataclass(frozen=True, eq=False)
class Encoded:
    """A frame with columns g0.. (dataset names), x0.. (features, then the target) and w.

    `rough` are numbers near the means of most columns, `weighted` says whether w is not 1. `known`
    are facts of columns that need no query: as `ranges` asks for them.
    """

    frame: nw.LazyFrame[Any]
    by: list[str]
    names: tuple[str, ...]
    rough: FloatArray
    weighted: bool
    known: Mapping[str, float]

    @classmethod
    def of(
        cls, frame: nw.LazyFrame[Any], schema: Schema, facts: Mapping[str, Any] | None = None
    ) -> "Encoded":
        """Apply the rules of a schema, without computing anything yet; `facts` of the same rows."""
        roles = schema.roles
        by = [f"g{i}" for i in range(len(roles.by))]
        values = [*_features(schema), nw.col(roles.target).cast(nw.Float64)]
        weight = present(nw.col(roles.weights)) if roles.weights else nw.lit(1.0)
        encoded = frame.select(
            *(nw.col(name).alias(g) for name, g in zip(roles.by, by)),
            *(e.alias(f"x{j}") for j, e in enumerate(values)),
            weight.alias("w"),
        )
        if roles.weights:
            encoded = _with_positive_weights(encoded, roles)
        near = {e.features()[0]: e.fill / e.unit for e in schema.encodings if isinstance(e, Number)}
        rough = np.array([*(near.get(name, 0.0) for name in schema.features), 0.0])
        known: dict[str, float] = {}
        if facts and not roles.weights:
            complete = {e.name for e in schema.encodings if _is_complete(e)}
            kept = [name if name in complete else None for name in schema.features]
            known = _known(facts, [*kept, roles.target])
            rough[-1] = facts[f"mean {roles.target}"]
        names = (*schema.features, "")  # the target needs no name
        return cls(encoded, by, names, rough, bool(roles.weights), known)

    def of_rows(self, frame: nw.LazyFrame[Any]) -> "Encoded":
        """Return some rows of this frame."""
        return replace(self, frame=frame, known={})

    @property
    def columns(self) -> list[nw.Expr]:
        """Features and, last, the target."""
        return [nw.col(f"x{j}") for j in range(len(self.names))]

    def values(self) -> int:
        """Return the number of values: rows times columns."""
        return int(one_row(self.frame.select(nw.len().alias("rows")))["rows"]) * len(self.names)

    def sizes(self) -> tuple[int, int]:
        """Return the number of datasets, and the rows of the largest."""
        grouped: Any = self.frame.group_by(*self.by).agg(nw.len().alias("n"))
        found = one_row(grouped.select(nw.len().alias("datasets"), nw.col("n").max().alias("most")))
        return int(found["datasets"]), int(found["most"])

    def ranges(self) -> Ranges:
        """Return ranges, means, deviations and the mean weight, as a rule in one query."""
        asked = [] if self.known else [nw.len().alias("rows"), nw.col("w").sum().alias("weight")]
        for j, x in enumerate(self.columns):
            if f"low{j}" not in self.known:
                asked += [x.min().alias(f"low{j}"), x.max().alias(f"high{j}")]
                asked += [x.mean().alias(f"plain{j}")] if self.weighted else []
                asked += self._deviations(j, self.rough[j])
        found = {**self.known, **(one_row(self.frame.select(*asked)) if asked else {})}
        every = range(len(self.names))
        low, high = (_numbers(found, fact, every) for fact in ("low", "high"))
        if not np.isfinite([low, high]).all():
            raise DataError(
                f"{_first_infinite(self.names, low, high)} has an infinite value; correct or drop "
                "such rows."
            )
        rows, weight = int(found["rows"]), float(found["weight"])
        mean, square = _around(found, self.rough, weight, every)
        with np.errstate(over="ignore", invalid="ignore"):  # such columns are refused by the caller
            far = (mean - self.rough) ** 2 > MOST_SHIFT**2 * square
        if again := np.flatnonzero(far & (low < high) & np.isfinite(square)).tolist():
            asked = [one for j in again for one in self._deviations(j, mean[j])]
            found |= one_row(self.frame.select(*asked))
            mean[again], square[again] = _around(found, mean[again], weight, again)
        plain = _numbers(found, "plain", every) if self.weighted else mean
        with np.errstate(over="ignore", invalid="ignore"):
            spread = np.sqrt(np.maximum(square, 0.0))
        return Ranges(low, high, mean, spread, plain, rows)

    def _deviations(self, j: int, center: float) -> list[nw.Expr]:
        """Return weighted sums of a column's deviations from a number, and of their squares."""
        d = nw.col(f"x{j}") - float(center)
        weighted = d * nw.col("w") if self.weighted else d
        return [weighted.sum().alias(f"sum{j}"), (weighted * d).sum().alias(f"square{j}")]

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


def _features(schema: Schema) -> list[nw.Expr]:
    """Return an expression for each feature; complete columns need no care for missing values."""
    return [
        expression
        for e in schema.encodings
        for name, expression in zip(e.features(), _values(e))
        if name not in schema.constant
    ]


def _values(e: Encoding) -> tuple[nw.Expr, ...]:
    return (nw.col(e.name).cast(nw.Float64),) if _is_complete(e) else e.expressions()


def _is_complete(e: Encoding) -> bool:
    """Say whether a column is used as it is, since it has numbers in all rows."""
    return isinstance(e, Number) and not (e.missing or e.text or e.indicator) and e.unit == 1


def _known(facts: Mapping[str, Any], names: Sequence[str | None]) -> dict[str, float]:
    """Return facts of complete columns, by their places, as sums around their means.

    Where squares were taken far from the mean there are none.
    """
    rows = float(facts["rows"])
    known = {"rows": rows, "weight": rows}
    for j, name in enumerate(names):
        if name is None or facts[f"count {name}"] != rows:
            continue
        shift = facts[f"mean {name}"] - facts[f"near {name}"]
        square = facts[f"square {name}"] - shift * shift
        if shift * shift <= MOST_SHIFT**2 * square:
            known |= {f"low{j}": facts[f"min {name}"], f"high{j}": facts[f"max {name}"]}
            known |= {f"sum{j}": 0.0, f"square{j}": square * rows}
    return known


def _numbers(found: dict[str, Any], fact: str, columns: Iterable[int]) -> FloatArray:
    """Return one fact of some columns."""
    return np.array([float(found[f"{fact}{j}"]) for j in columns])


def _around(
    found: dict[str, Any], center: FloatArray, weight: float, columns: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """Return means and mean squares around them, from sums of deviations from `center`."""
    shift = _numbers(found, "sum", columns) / weight
    with np.errstate(over="ignore", invalid="ignore"):
        return center + shift, _numbers(found, "square", columns) / weight - shift**2


def _rounded(values: FloatArray, spread: FloatArray, digits: int) -> FloatArray:
    """Return values with some binary digits of their deviation, where there is one.

    >>> _rounded(np.array([0.7, 5.1, 3.1]), np.array([0.9, 7.0, 0.0]), 2).tolist()
    [0.75, 6.0, 3.1]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        unit = 2.0 ** (np.frexp(spread)[1] - digits)
        known = (spread > 0) & (unit > 0) & np.isfinite(values) & np.isfinite(unit)
        found: FloatArray = np.where(known, np.round(values / np.where(known, unit, 1.0)), values)
        return np.where(known, found * unit, values)


def check_sums_fit(columns: int, datasets: int, folds: int) -> None:
    """Refuse a table whose sums of products do not fit into the memory of this machine."""
    needed, there = COPIES * 8 * datasets * folds * (columns + 1) ** 2, memory_bytes()
    if needed > there:
        raise DataError(
            f"Sums of products of {columns:,} columns in {datasets:,} datasets and {folds} folds "
            f"take {needed / 1e9:,.1f} GB, and this machine has {there / 1e9:,.1f} GB; name fewer "
            "columns with features=[...], or choose fewer folds."
        )


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
