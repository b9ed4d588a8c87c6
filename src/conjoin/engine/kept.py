"""Rows that become kept moments (`keep_moments`), and kept moments as a source of the engine.

A collection of rows enters, or kept moments with their schema; a `Reduced` leaves, as from a
database. First runs and updates take the same way, so that they give the same answer.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from conjoin._typing import IntArray
from conjoin.api.request import Request
from conjoin.engine.coordinates import second_moments, settle
from conjoin.engine.remote import Reduced
from conjoin.engine.wild import without_wild_rows
from conjoin.errors import ArgumentError, DataError
from conjoin.moments import Basis, Moments
from conjoin.moments.collinear import directions_of_moments
from conjoin.moments.folds import is_fine
from conjoin.moments.kept import Batch, KeptMoments
from conjoin.moments.value_folds import hash_rows
from conjoin.tables import DatasetCollection
from conjoin.tables.dataset import limits_of
from conjoin.tables.suspects import find_suspects

if TYPE_CHECKING:
    from conjoin.tables.schema import Schema

# Largest part of a model file that moments may take. Files of more than 1 GiB are not read, and
# base64 makes bytes a third longer.
MOST_BYTES = 500_000_000
AGAIN = "leave keep_moments out, and fit all rows again when new ones arrive"


def refuse_what_needs_rows(request: Request, *, rows_needed: bool) -> None:
    """Refuse options whose answer cannot be updated from moments."""
    reasons = {
        "time": "validates forward in time, so new rows change every fold",
        "repeat": "keeps the rows of a person together, whom moments do not know",
        "robust": "weighs rows by their residuals, which new rows change",
        "representation": "trains a network on rows",
    }
    for name, reason in reasons.items():
        value = getattr(request, name)
        if value:
            shown = value if isinstance(value, (str, bool)) else type(value).__name__
            raise ArgumentError(f"keep_moments=True: {name}={shown!r} {reason}; {AGAIN}.")
    if rows_needed:
        raise ArgumentError(
            f"keep_moments=True: method={request.method_name!r} reads rows, which are gone at an "
            f"update; choose method='auto', or {AGAIN}."
        )
    if request.learner_name != "linear":
        raise ArgumentError(
            f"keep_moments=True: learner={request.learner_name!r} trains on rows, which are gone "
            f"at an update; choose learner='linear', or {AGAIN}."
        )
    if request.family not in ("auto", "gaussian"):
        raise _needs_numbers(request.target, request.family)


def refuse_classes(target: str, family: str) -> None:
    """Refuse a target that is no number: its models need rows at every step."""
    if family != "gaussian":
        raise _needs_numbers(target, family)


def _needs_numbers(target: str, family: str) -> ArgumentError:
    what = "classes" if family == "logistic" else "counts"
    return ArgumentError(
        f"keep_moments=True is for numbers, but the target {target!r} has {what}, whose models "
        f"read all rows at every step; {AGAIN}."
    )


def reduce_rows(table: DatasetCollection, request: Request) -> Reduced:
    """Return the moments of rows, to be kept; `fewer` are those without gross errors."""
    refuse_classes(request.target, table.response.family)
    _check_size(len(table.names), int(request.folds), table.X.shape[1] + 2)
    whole = _reduce(table, request)
    outliers, rest = without_wild_rows(table)
    fewer = None
    if outliers and request.drop_outliers is not False and isinstance(rest, DatasetCollection):
        fewer = _reduce(rest, request)
    return replace(whole, outliers=outliers, fewer=fewer, suspects=find_suspects(table))


def _reduce(table: DatasetCollection, request: Request) -> Reduced:
    kept = keep(table, int(request.folds), int(request.random_state))
    return reduce_kept(kept, table.schema, intercept=request.intercept)


def keep(table: DatasetCollection, folds: int, seed: int, *, few: bool = False) -> KeptMoments:
    """Form the moments of rows that can be added to; `few` rows need not differ much."""
    h = hash_rows(table.X, table.y, table.features, seed)
    dataset = np.repeat(np.arange(len(table.names)), table.sizes)
    if not few:
        _check_distinct(h, dataset, len(table.names))
    sums = np.zeros(len(table.names), dtype=np.int64)
    np.add.at(sums, dataset, h)
    kept = KeptMoments.of_rows(
        table.names, table.X, table.y, table.weights, table.starts, h % folds, folds
    )
    return kept.with_batch(batch_of(table.names, table.sizes, sums))


def batch_of(names: Sequence[str], rows: Sequence[int], sums: IntArray) -> Batch:
    """Return the note of rows that were added together."""
    small = sums % 2**52  # what JSON holds exactly
    return Batch(dict(zip(names, map(int, rows))), dict(zip(names, map(int, small))))


def _check_distinct(h: IntArray, dataset: IntArray, datasets: int) -> None:
    """Refuse rows of few different values: a fold by value would hold out whole groups of them."""
    distinct = len(np.unique(np.column_stack([dataset, h]), axis=0))
    if not is_fine(distinct, len(h), datasets):
        raise DataError(
            f"keep_moments=True deals rows to folds by their values, and the {len(h):,} rows have "
            f"only {distinct:,} different ones inside datasets; {AGAIN}."
        )


def _check_size(datasets: int, folds: int, size: int) -> None:
    """Refuse moments that make a model file too large."""
    needed = 8 * datasets * folds * size * (size + 1) // 2
    if needed > MOST_BYTES:
        raise ArgumentError(
            f"keep_moments=True would add {needed / 1e9:.1f} GB to the model file, more than "
            f"{MOST_BYTES / 1e9:.1f} GB; name fewer columns with features=[...], fewer folds, or "
            "leave keep_moments out."
        )


def reduce_kept(kept: KeptMoments, schema: "Schema", *, intercept: bool) -> Reduced:
    """Return kept moments as a source whose rows are elsewhere."""
    usual = kept.basis(intercept=intercept)
    folds = kept.moments(usual)
    second = second_moments(folds, usual)

    def form(basis: Basis) -> Moments:
        return kept.moments(basis)

    basis, folds = settle(usual, folds, lambda: directions_of_moments(second, usual), form)
    return Reduced(
        names=kept.names,
        sizes=kept.sizes,
        schema=schema.with_means(kept.mean[: len(schema.features)]),
        limits=limits_of(schema.features, kept.low[:-1], kept.high[:-1]),
        basis=basis,
        folds=folds,
        copies=np.zeros(len(kept.names), dtype=np.int64),
        kept=kept,
    )


def reduce_again(found: Reduced, *, intercept: bool) -> Reduced:
    """Return moments that an engine formed, by the same way as those of rows in memory."""
    assert found.kept is not None
    whole = reduce_kept(found.kept, found.schema, intercept=intercept)
    fewer = None if found.fewer is None else reduce_again(found.fewer, intercept=intercept)
    return replace(whole, outliers=found.outliers, fewer=fewer)
