"""Folds of rows that are not in memory: the ones that `moments.folds` deals, as expressions.

A lazy frame with numbered columns enters; the same frame with the fold of every row leaves. The
hash uses only operations that every engine has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from conjoin._typing import FloatArray
from conjoin.moments.folds import OFFSET, PRIME, TARGET, ColumnCells, Mixing, is_fine, kind_of
from conjoin.moments.value_folds import SCALES, WRAP, hashes_of
from conjoin.tables.frame import one_row


@dataclass(frozen=True, eq=False)
class RemoteFolds:
    """Rows in columns x0.. (features, then the target), and what decides their folds.

    Parameters
    ----------
    frame : LazyFrame
        With these columns, the weights w and the columns `by`.
    by : list of str
        Columns that name the dataset.
    cells : tuple of ColumnCells
        Of each feature and, last, the target.
    kinds : tuple of int
        The kind of each.
    folds, seed : int
        Number of folds, and random seed.
    """

    frame: nw.LazyFrame[Any]
    by: list[str]
    cells: tuple[ColumnCells, ...]
    kinds: tuple[int, ...]
    folds: int
    seed: int

    def dealt(self, *, together: bool) -> nw.LazyFrame[Any]:
        """Return the rows with their fold, and `copy`: 1 for a row that equals one before.

        With `together` copies are in the same fold.
        """
        ranked = _with_rank(self._hashed(), self.by, self._order(), together)
        fold = (nw.col("rank") + nw.col("first")) % self.folds
        return ranked.with_columns(fold.cast(nw.Int64).alias("fold"))

    def by_hash(self) -> nw.LazyFrame[Any]:
        """Return the rows with the fold that their hash alone gives; no row counts as a copy."""
        fold = (nw.col("h1") % self.folds).cast(nw.Int64)
        none = (nw.lit(0).alias(name) for name in ("copy", "first"))
        # The hash stands for the rank: it depends on values alone, and runs of it have all folds.
        return self._hashed().with_columns(fold.alias("fold"), nw.col("h1").alias("rank"), *none)

    def by_value(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """Return the rows with the fold of `moments.value_folds`; `copy` is the hash of a row."""
        numbers = range(len(self.cells))
        mixed = []
        for j, name in zip(numbers, names):
            for k, one in enumerate(hashes_of(name, self.seed)):
                z = nw.col(f"x{j}") * one.scale
                u = (z - (z / WRAP).floor() * WRAP).floor().cast(nw.Int64)
                v = (u * one.mixing.multiplier + one.mixing.shift) % PRIME
                mixed.append(v.alias(f"v{j}_{k}"))
        hashed = self.frame.with_columns(*mixed)
        keys = [f"{j}_{k}" for j in numbers for k in range(len(SCALES))]
        squares = [(nw.col(f"v{key}") * nw.col(f"v{key}") % PRIME).alias(f"v{key}") for key in keys]
        hashed = hashed.with_columns(*squares)
        h = nw.lit(0)
        for key in keys:
            h = (h + nw.col(f"v{key}") * nw.col(f"v{key}") % PRIME) % PRIME
        keep = [*self.by, *(f"x{j}" for j in numbers), "w"]
        hashed = hashed.select(*keep, h.cast(nw.Int64).alias("copy"))
        return hashed.with_columns((nw.col("copy") % self.folds).cast(nw.Int64).alias("fold"))

    def _hashed(self) -> nw.LazyFrame[Any]:
        """Return the rows with both hashes."""
        mixed = []
        for j, (cells, kind) in enumerate(zip(self.cells, self.kinds)):
            c = Mixing.of(kind, self.seed)
            u = place(cells, f"x{j}").floor().cast(nw.Int64)
            mixed.append(((u * c.multiplier + c.shift) % PRIME).alias(f"v{j}"))
        hashed = self.frame.with_columns(*mixed)
        numbers = range(len(self.cells))
        squares = [(nw.col(f"v{j}") * nw.col(f"v{j}") % PRIME).alias(f"v2{j}") for j in numbers]
        hashed = hashed.with_columns(*squares)
        h1, h2 = nw.lit(0), nw.lit(0)
        for j in numbers:
            h1 = (h1 + nw.col(f"v2{j}") * nw.col(f"v2{j}") % PRIME) % PRIME
            h2 = (h2 + nw.col(f"v{j}")) % PRIME
        keep = [*self.by, *(f"x{j}" for j in numbers), "w"]
        return hashed.select(*keep, h1.alias("h1"), h2.alias("h2"))

    def _order(self) -> list[str]:
        """Return the columns by which rows are ordered: hashes, target, features by kind."""
        features = np.argsort(self.kinds[:-1], kind="stable")
        return ["h1", "h2", f"x{len(features)}", *(f"x{j}" for j in features)]

    def any_fine(self, distinct: int, datasets: int) -> bool:
        """Say whether equal rows are copies: whether a column or the target is fine."""
        return any(
            is_fine(self._values_inside(name), distinct, datasets) for name in self._order()[2:]
        )

    def _values_inside(self, name: str) -> int:
        """Return the number of different values inside each dataset, summed over datasets."""
        values = self.frame.select(*self.by, name).unique()
        return int(one_row(values.select(nw.len().alias("n")))["n"])


def in_order_of_values(dealt: nw.LazyFrame[Any], by: Sequence[str], columns: int) -> Any:
    """Return the rows of DuckDB with their folds in an order that depends on their values alone.

    So sums have the same bits, in whatever order rows come and however many threads there are. A
    hash of 64 bits orders them: two of 5 million rows share it with a probability of 1e-6.
    """
    names = [*by, "fold", *(f"x{j}" for j in range(columns)), "w"]
    native: Any = dealt.to_native()
    return nw.from_native(native.order(f"hash({', '.join(names)})"))


def place(cells: ColumnCells, name: str) -> nw.Expr:
    """Return the place of a column's values among its cells, before they are cut."""
    return (nw.col(name) * cells.factor - cells.low) * cells.cells + OFFSET


def kinds_of(means: FloatArray) -> tuple[int, ...]:
    """Return the kinds of columns from their mean places; the last is the target."""
    return (*(kind_of(float(mean)) for mean in means[:-1]), TARGET)


def _with_rank(
    frame: nw.LazyFrame[Any], by: Sequence[str], order: list[str], together: bool
) -> nw.LazyFrame[Any]:
    """Return the frame with each row's rank in its dataset, the smallest hash there, and `copy`."""
    if frame.implementation.is_dask():
        return _ranked_by_dask(frame, by, order, together)
    equal = nw.lit(True)
    in_turn = [*order, "w"]  # equal rows by their weights, as in memory
    for name in order:
        equal = equal & (nw.col(name) == nw.col(name).shift(1).over(*by, order_by=in_turn))
    copy = nw.when(equal.fill_null(False)).then(nw.lit(1)).otherwise(nw.lit(0))
    frame = frame.with_columns(copy.alias("copy"), nw.col("h1").min().over(*by).alias("first"))
    frame = frame.with_columns((1 - nw.col("copy") * int(together)).alias("step"))
    # The first of equal rows must come first again.
    rank = nw.col("step").cum_sum().over(*by, order_by=[*in_turn, "copy"])
    return frame.with_columns((rank - 1).alias("rank"))


def _ranked_by_dask(
    frame: nw.LazyFrame[Any], by: Sequence[str], order: list[str], together: bool
) -> nw.LazyFrame[Any]:
    """Do the same for Dask, which has no ordered windows: a dataset is moved to one partition."""
    native: Any = frame.to_native()
    none = np.array([], dtype=np.int64)
    meta = native._meta.assign(copy=none, rank=none, first=none)
    ranked = native.shuffle(on=list(by)).map_partitions(
        _ranked_partition, list(by), order, together, meta=meta
    )
    result: nw.LazyFrame[Any] = nw.from_native(ranked)
    return result


def _ranked_partition(rows: Any, by: list[str], order: list[str], together: bool) -> Any:
    """Return the rows of one Dask partition with rank, smallest hash and `copy`."""
    ordered = rows.sort_values([*by, *order, "w"], kind="stable", ignore_index=True)
    groups = ordered.groupby(by, observed=True, sort=False)
    before = groups[order].shift(1)
    copy = (ordered[order] == before).all(axis=1).astype("int64")
    ordered = ordered.assign(copy=copy, step=1 - copy * int(together))
    groups = ordered.groupby(by, observed=True, sort=False)
    rank = groups["step"].cumsum().astype("int64") - 1
    first = groups["h1"].transform("min").astype("int64")
    return ordered.drop(columns="step").assign(rank=rank, first=first)
