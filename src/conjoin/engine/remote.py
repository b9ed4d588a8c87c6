"""Moments of rows that are not in memory: they are computed by DuckDB, Dask, Spark or Polars.

A lazy frame enters; a `Reduced` with the moments of every dataset and fold leaves. One set of
narwhals expressions serves all engines. There are four groups of queries: the columns and their
types (`tables.learn`), the number of datasets, ranges with means and deviations, and the sums of
products by dataset and fold. Columns are centred and scaled before they are multiplied, so that no
digits are lost. Where columns are nearly collinear the products are asked for again, in other
coordinates (`engine.coordinates`). Sums of products show directions down to a standard deviation of
some 3e-7, where rows in memory show them down to rounding. The answers grow with the number of
datasets, not of rows. Folds are those of `moments.folds` (`engine.remote_folds`).
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.engine.ordering import folds_of_passes
from conjoin.engine.remote_cells import RemoteCells, cells_of_engine
from conjoin.engine.remote_folds import RemoteFolds, kinds_of
from conjoin.engine.remote_frame import Encoded, Ranges, check_sums_fit, with_known_rows
from conjoin.engine.remote_rows import RemoteRows
from conjoin.engine.remote_sums import form_sums, kept_of
from conjoin.engine.remote_wild import Column, far_columns, find_far_rows
from conjoin.families import Response
from conjoin.moments import Basis, Moments
from conjoin.tables.checks import (
    check_names,
    check_response,
    check_scales,
    check_target,
    drop_constant,
    warn_columns,
)
from conjoin.tables.dataset import limits_of
from conjoin.tables.encoding import Number
from conjoin.tables.schema import Schema
from conjoin.tables.wild import Outlier

if TYPE_CHECKING:
    from conjoin.models.scatter import Scatter
    from conjoin.moments.kept import KeptMoments
    from conjoin.tables.roles import Roles
    from conjoin.tables.suspects import Suspects

# Features beyond which rows are fetched if they fit into memory: there is one sum for each pair of
# columns, 126,000 for 500 features, and work by rows is then quicker.
MANY_FEATURES = 500
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
    last_digits : bool
        Whether variances are found to their last digits, as they are with `kept`.
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
    cells: RemoteCells | None = None
    kept: "KeptMoments | None" = None
    suspects: "Suspects | None" = None
    promise: str = ""
    noise_shares: FloatArray | None = None
    last_digits: bool = False


def has_rows(table: Any) -> bool:
    """Say whether a learner can be trained: rows are in memory, or can be asked for."""
    return not isinstance(table, Reduced) or table.rows is not None


class How(NamedTuple):
    """How moments are formed: the number of folds, the seed, and two options of the request."""

    folds: int
    seed: int
    intercept: bool
    keep_moments: bool = False


def reduce(
    frame: nw.LazyFrame[Any],
    roles: "Roles",
    how: How,
    *,
    missing: str,
    keep: bool = True,
    response: Response = Response(),  # noqa: B008 (frozen)
) -> Reduced | None:
    """Return the moments of a frame's datasets and folds; None if rows should be fetched.

    Unless rows with gross errors are to be kept, `fewer` has the moments without them. With
    `keep_moments` the fold of a row depends on its values alone, and `kept` has its moments. For
    classes, whose numbers are in the frame, and counts the moments only choose the coordinates, and
    `cells` answer what is asked of the rows.
    """
    check_target(frame, roles)
    frame, schema, facts = with_known_rows(frame, roles, missing)
    table = Encoded.of(frame, schema, facts)
    if len(schema.features) > MANY_FEATURES and table.values() <= MOST_VALUES:
        return None
    warn_columns(schema)
    schema = replace(schema, response=response)
    datasets, largest = table.sizes()
    if response.family != "gaussian":
        how = how._replace(folds=folds_of_passes(datasets, largest, how.folds))
    check_sums_fit(len(table.names), datasets, how.folds)
    ranges = table.ranges()
    schema, _ = drop_constant(schema, ranges.low[:-1] == ranges.high[:-1])
    kept = np.append(ranges.low[:-1] < ranges.high[:-1], True)
    check_response(schema, float(ranges.low[-1]), float(ranges.high[-1]))
    table, ranges = Encoded.of(frame, schema, facts), ranges.take(kept)
    check_scales((*schema.features, roles.target), ranges.low, ranges.high)
    whole = _form(table, ranges, schema, how)
    outliers, rest = _far_rows(table, ranges, schema)
    if not outliers:
        return whole
    fewer = None if keep else _without(table, rest, schema, how)
    return replace(whole, outliers=outliers, fewer=fewer)


def _far_rows(
    table: "Encoded", ranges: "Ranges", schema: Schema
) -> tuple[tuple[Outlier, ...], nw.LazyFrame[Any]]:
    """Return the gross errors of target and number columns, and the frame without their rows."""
    numbers = {e.name for e in schema.encodings if isinstance(e, Number)}
    columns = [Column(j, name) for j, name in enumerate(schema.features) if name in numbers]
    if not schema.response.classes:
        columns.append(Column(len(schema.features), schema.roles.target))
    far = far_columns(columns, ranges.low, ranges.high, ranges.mean, ranges.spread)
    return find_far_rows(table.frame, table.by, far, ranges.rows, ranges.spread)


def _without(
    table: "Encoded", rest: nw.LazyFrame[Any], schema: Schema, how: How
) -> "Reduced | None":
    """Return the moments of the other rows; None if a column has one value in all of them."""
    table = table.of_rows(rest)
    ranges = table.ranges()
    if np.any(ranges.low == ranges.high):
        return None
    return _form(table, ranges, schema, how)


def _form(table: "Encoded", ranges: "Ranges", schema: Schema, how: How) -> Reduced:
    """Form the moments of a frame whose features all vary."""
    roles, (folds, seed, intercept, by_value) = schema.roles, how
    kinds = kinds_of(ranges.places())
    dealing = RemoteFolds(table.frame, table.by, ranges.cells, kinds, folds, seed)
    reduced = form_sums(table, dealing, roles, ranges, intercept=intercept, by_value=by_value)
    check_names(reduced.names, int(reduced.folds.n.sum()), roles)
    position = {name: k for k, name in enumerate(reduced.names)}
    width = len(schema.features)
    rows = RemoteRows(reduced.dealt, tuple(table.by), width, position, folds, reduced.weight)
    means = ranges.fills() if table.weighted else reduced.means
    found = Reduced(
        names=tuple(reduced.names),
        sizes=tuple(int(n) for n in reduced.folds.n.sum(axis=1)),
        schema=schema.with_means(means[:-1]),
        limits=limits_of(schema.features, ranges.low[:-1], ranges.high[:-1]),
        basis=reduced.basis,
        folds=reduced.folds,
        copies=reduced.copies,
        rows=None if by_value else rows,
        kept=kept_of(reduced, ranges) if by_value else None,
    )
    if schema.response.family == "gaussian":
        return found
    found = replace(found, basis=replace(found.basis, target_center=0.0, target_scale=1.0))
    return replace(found, cells=cells_of_engine(found, schema.response), rows=None)
