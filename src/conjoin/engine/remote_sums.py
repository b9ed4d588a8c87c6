"""Sums of products by dataset and fold where the rows are, put together as moments.

An encoded frame enters (`engine.remote_frame`), with what decides folds; `Sums` leave, in
coordinates that suit the columns.
"""

from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.engine.coordinates import second_moments, settle
from conjoin.engine.finished import finished_sums
from conjoin.engine.remote_batches import sums_in_batches
from conjoin.engine.remote_folds import RemoteFolds, in_order_of_values
from conjoin.engine.remote_frame import Encoded, Ranges
from conjoin.moments import Basis, Moments
from conjoin.moments.collinear import directions_of_moments
from conjoin.moments.folds import LARGE_ROWS, is_balanced
from conjoin.moments.kept import Batch, KeptMoments, change
from conjoin.tables.names import SEPARATOR, check_distinct_names, name_of, natural_order
from conjoin.tables.roles import Roles


def kept_of(sums: "Sums", ranges: Ranges) -> KeptMoments:
    """Return the moments of an engine in the form that rows can be added to."""
    K = len(sums.names)
    center, scale = _coordinates(sums.usual)
    shape = (K, len(center))
    assert sums.marks is not None  # rows were dealt by value
    rows = [int(n) for n in sums.folds.n.sum(axis=1)]
    small = [int(one) % 2**52 for one in sums.marks]  # as in `engine.kept`
    batch = Batch(dict(zip(sums.names, rows)), dict(zip(sums.names, small)))
    return KeptMoments(
        tuple(sums.names),
        sums.folds.n,
        np.broadcast_to(center, shape).copy(),
        np.broadcast_to(scale, shape).copy(),
        sums.products * sums.weight,
        ranges.low,
        ranges.high,
        (batch,),
    )


def form_sums(
    table: Encoded,
    dealing: RemoteFolds,
    roles: Roles,
    ranges: Ranges,
    *,
    intercept: bool,
    by_value: bool,
) -> "Sums":
    """Form the moments, in coordinates that suit the columns.

    Very many rows are dealt by their hash alone, if the folds are balanced: no engine has to sort.
    """
    rough = ranges.rough_basis(intercept=intercept)

    def sums_in(given: Basis) -> Sums:
        how = (dealing.cells, dealing.kinds, dealing.folds, dealing.seed, way)
        inputs = (table.names, given, *how)
        if dealing.frame.implementation.is_duckdb():
            rows = None if way == "hash" else dealt
            found = finished_sums(inputs, lambda: sums_in_batches(dealing, given, rows))
        else:
            found = finished_sums(inputs, lambda: table.products(dealt, given))
        return _assemble(found, roles, given, dealing.folds)

    way = "value" if by_value else "hash" if ranges.rows > LARGE_ROWS else "together"
    dealt = _deal(dealing, table, way, ranges.rows)
    sums = sums_in(rough)
    if way == "value":
        marks, none = sums.copies, np.zeros_like(sums.copies)
        return replace(sums, marks=marks, copies=none, dealt=dealt)
    if way == "hash" and not is_balanced(sums.folds.n.sum(axis=0)):
        way = "together"
        dealt = _deal(dealing, table, way, ranges.rows)
        sums = sums_in(rough)
    distinct = int(sums.folds.n.sum()) - int(sums.copies.sum())
    if sums.copies.any() and not dealing.any_fine(distinct, len(sums.names)):
        way = "apart"
        dealt = _deal(dealing, table, way, ranges.rows)
        sums = replace(sums_in(rough), copies=np.zeros_like(sums.copies))
    sums = sums.centred(ranges)
    second, basis = second_moments(sums.folds, sums.basis), sums.basis
    settled = settle(
        basis, sums.folds, lambda: directions_of_moments(second, basis), lambda b: sums_in(b).folds
    )
    return replace(sums, basis=settled[0], folds=settled[1], dealt=dealt)


def _deal(dealing: RemoteFolds, table: Encoded, way: str, rows: int) -> nw.LazyFrame[Any]:
    """Return the rows with their fold: by value, by hash, or in turn.

    Rows of DuckDB come in the order of their values, unless there are very many that no step sorts.
    """
    if way == "hash":
        return dealing.by_hash()
    by_value = way == "value"
    dealt = dealing.by_value(table.names) if by_value else dealing.dealt(together=way == "together")
    if not dealt.implementation.is_duckdb() or (by_value and rows > LARGE_ROWS):
        return dealt
    return in_order_of_values(dealt, dealing.by, len(table.names))


@dataclass(frozen=True, eq=False)
class Sums:
    """Names of datasets, coordinates, moments (K, F) and copies (K,), as in `Reduced`.

    `products` are the sums with a column of ones, in the `usual` basis, over the mean `weight` of
    the rows; `dealt` are the rows with their folds; `marks` (K,) sum the hashes of rows that were
    dealt by value. `means` are those of features and target.
    """

    names: list[str]
    basis: Basis
    folds: Moments
    copies: IntArray
    products: FloatArray
    usual: Basis
    weight: float
    dealt: Any = None
    marks: IntArray | None = None

    def centred(self, ranges: Ranges) -> "Sums":
        """Return the sums around the means of the columns, in their deviations.

        Both follow from sums in rough coordinates, whose bits are known to be the same each time.
        """
        center, scale = _coordinates(self.usual)
        total = self.products.sum(axis=(0, 1)) / self.products[..., 0, 0].sum()
        shift = total[0, 1:]
        square = np.diagonal(total)[1:] - (shift**2 if self.usual.intercept else 0.0)
        mean, spread = center + scale * shift, scale * np.sqrt(np.maximum(square, 0.0))
        intercept = self.usual.intercept
        basis = Basis.from_summary(ranges.low, ranges.high, mean, spread, intercept=intercept)
        T = change(center, scale, *_coordinates(basis))
        P: FloatArray = T.T @ self.products @ T
        moments = _moments(P, self.folds.n, intercept=intercept)
        return replace(self, basis=basis, usual=basis, folds=moments, products=P)

    @property
    def means(self) -> FloatArray:
        """Weighted means of the columns."""
        center, scale = _coordinates(self.usual)
        w = self.products[..., 0, 0].sum()
        found: FloatArray = center + scale * self.products[..., 0, 1:].sum(axis=(0, 1)) / w
        return found


def _coordinates(basis: Basis) -> tuple[FloatArray, FloatArray]:
    """Return centre and scale of features and, last, the target."""
    center = np.append(basis.center, basis.target_center)
    return center, np.append(basis.scale, basis.target_scale)


def _assemble(sums: dict[str, Any], roles: Roles, basis: Basis, folds: int) -> "Sums":
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
    weight = float(P[..., 0, 0].sum() / n.sum())
    P /= weight  # weights are relative, so their unit must not matter
    copies = np.zeros(len(names), dtype=np.int64)
    np.add.at(copies, k, np.array(sums["copy"], dtype=np.int64))
    moments = _moments(P, n, intercept=basis.intercept)
    return Sums(names, basis, moments, copies, P, basis, weight)


def _moments(P: FloatArray, n: FloatArray, *, intercept: bool) -> Moments:
    """Return moments (K, F) of sums of products with a column of ones, which is the intercept's."""
    first = int(not intercept)
    return Moments.from_products(P[..., first:, first:], n, P[..., 0, 0])
