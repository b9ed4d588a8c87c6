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
from conjoin.engine.remote_folds import RemoteFolds
from conjoin.engine.remote_frame import Encoded, Ranges
from conjoin.moments import Basis, Moments
from conjoin.moments.collinear import directions_of_moments
from conjoin.moments.folds import LARGE_ROWS, is_balanced
from conjoin.moments.kept import Batch, KeptMoments
from conjoin.tables.names import SEPARATOR, check_distinct_names, name_of, natural_order
from conjoin.tables.roles import Roles

# Columns beyond which DuckDB's rows are summed in batches: a query would have 2,000 sums, and more
# of them come in further queries (`engine.remote_frame`).
MOST_BY_QUERY = 64


def kept_of(sums: "Sums", ranges: Ranges) -> KeptMoments:
    """Return the moments of an engine in the form that rows can be added to."""
    K, usual = len(sums.names), sums.usual
    center = np.append(usual.center, usual.target_center)
    scale = np.append(usual.scale, usual.target_scale)
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
        sums.products * ranges.weight,
        ranges.low,
        ranges.high,
        (batch,),
    )


def form_sums(
    table: Encoded,
    dealing: RemoteFolds,
    basis: Basis,
    roles: Roles,
    ranges: Ranges,
    *,
    by_value: bool,
) -> "Sums":
    """Form the moments, in coordinates that suit the columns.

    Very many rows are dealt by their hash alone, if the folds are balanced: no engine has to sort.
    """
    weight = ranges.weight

    def products(given: Basis) -> dict[str, Any]:
        how = (dealing.cells, dealing.kinds, dealing.folds, dealing.seed, way)
        inputs = (table.names, weight, given, *how)
        duckdb = dealing.frame.implementation.is_duckdb()
        if way == "hash" and duckdb:
            return finished_sums(inputs, lambda: sums_in_batches(dealing, given))
        if way != "value" and duckdb and len(table.names) > MOST_BY_QUERY:
            return finished_sums(inputs, lambda: sums_in_batches(dealing, given, dealt))
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


def _deal(dealing: RemoteFolds, table: Encoded, way: str) -> nw.LazyFrame[Any]:
    """Return the rows with their fold: by value, by hash, or in turn."""
    if way == "value":
        return dealing.by_value(table.names)
    return dealing.by_hash() if way == "hash" else dealing.dealt(together=way == "together")


@dataclass(frozen=True, eq=False)
class Sums:
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
    sums: dict[str, Any], roles: Roles, basis: Basis, folds: int, weight: float
) -> "Sums":
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
    return Sums(names, basis, moments, copies, P, basis)


def _without_ones(moments: Moments) -> Moments:
    """Return the moments without the intercept's column."""
    return Moments(moments.G[..., 1:, 1:], moments.h[..., 1:], moments.q, moments.n, moments.w)
