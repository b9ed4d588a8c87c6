"""The rows of a site as a plan reads them.

A table and a plan enter; `SiteRows` leave: features and target as numbers, sorted by dataset, after
levels were merged and folds chosen so that the disclosure rules are kept. They stay at the site.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from conjoin._typing import FloatArray, IntArray
from conjoin.errors import ArgumentError, DataError, warn_caller
from conjoin.families import check_counts, plain_label
from conjoin.moments import Dealt, deal_rows
from conjoin.sites.ledger import Identity
from conjoin.sites.mending import mend
from conjoin.sites.plan import Plan
from conjoin.sites.prediction import own_schema, with_prediction
from conjoin.sites.rules import Finding, Leaving, Rules
from conjoin.sources.read import is_source, open_source
from conjoin.tables.encoding import Number
from conjoin.tables.frame import in_memory, pieces, to_frame, with_castable_types
from conjoin.tables.names import SEPARATOR, names_and_codes
from conjoin.tables.roles import close_match
from conjoin.text import quoted

if TYPE_CHECKING:
    from conjoin.sites.fold_sums import FoldSums

# Share of values beyond the limits from which the unit is doubted: limits are meant for outliers.
MOST_BEYOND = 0.05
LONGEST_NAME = 200  # characters of a site's name; it becomes part of file names


@dataclass(frozen=True, eq=False)
class SiteRows:
    """Rows of a site's datasets, sorted by dataset.

    Parameters
    ----------
    plan : Plan
    site : str
    names : tuple of str
        Datasets.
    X : array (n, features)
    y : array (n,)
        Target; the number of the class.
    starts : array (K + 1,)
        Dataset k has rows starts[k] to starts[k+1].
    dealt : tuple of Dealt
        Folds and copies of each dataset.
    folds : tuple of int
        Number of folds of each dataset; 1 means none.
    steps : tuple of str
        What was done so that the rules are kept, in sentences.
    left_out : int
        Rows without a target.
    rules : Rules
    identity : Identity
        What tells rows apart in the site's ledger: all columns of the table.
    known_sums : tuple of FoldSums
        Sums of each dataset, where the rules have asked for them.
    """

    plan: Plan
    site: str
    names: tuple[str, ...]
    X: FloatArray
    y: FloatArray
    starts: IntArray
    dealt: tuple[Dealt, ...]
    folds: tuple[int, ...]
    steps: tuple[str, ...]
    left_out: int
    rules: Rules
    identity: Identity
    known_sums: "tuple[FoldSums, ...]" = ()

    def sums(self, k: int) -> "FoldSums":
        """Return the sums of the folds of dataset k."""
        if self.known_sums:
            return self.known_sums[k]
        from conjoin.sites.fold_sums import FoldSums

        own = self.rows(k)
        return FoldSums.of(self.X[own], self.y[own], self.dealt[k].fold, self.folds[k])

    def rows(self, k: int) -> slice:
        """Return the rows of dataset k."""
        return slice(int(self.starts[k]), int(self.starts[k + 1]))

    def leaving(self) -> Leaving:
        """Return the rows for the disclosure rules."""
        dataset = np.repeat(np.arange(len(self.names)), np.diff(self.starts))
        fold = np.concatenate([one.fold for one in self.dealt])
        return _leaving(self.plan, self.X, self.y, self.names, dataset, fold)


def read_rows(
    table: Any,
    plan: Plan,
    site: str,
    by: str | Sequence[str] | None = None,
    rules: Rules | None = None,
    *,
    i_know: bool = False,
    private: bool = False,
) -> SiteRows:
    """Read a site's table as the plan says, and make sure that its sums may leave.

    `rules` are the site's own, where they are stricter than those of the plan. Rules that allow
    more than the default need `i_know`. With `private`, noise protects rows: levels are not merged,
    there are no folds, and nothing is checked.

    Raises
    ------
    DataError
        If a column is missing or has another type, or if the rules cannot be kept.
    """
    _check_site(site)
    asked = plan.rules if rules is None else plan.rules.strictest(rules)
    asked.check(i_know)
    columns = (by,) if isinstance(by, str) else tuple(by or ())
    frame, left_out = _known(_frame(table, plan), plan, columns)
    X, y = _features(frame, plan), _target(frame, plan)
    names = [site]
    codes: IntArray = np.zeros(len(y), dtype=np.int64)
    if columns:
        wards, codes = names_and_codes([frame.get_column(name).to_native() for name in columns])
        names = [f"{site}{SEPARATOR}{ward}" for ward in wards]
    identity = Identity.of_frame(frame, _as_they_are(frame, plan, X, y))
    if columns:
        order = np.argsort(codes, kind="stable")
        X, y, codes, identity = X[order], y[order], codes[order], identity.taking(order)
    starts = np.searchsorted(codes, np.arange(len(names) + 1))
    dealt = [
        deal_rows(X[i:j], y[i:j], np.array([0, j - i]), 1 if private else plan.folds, plan.seed)
        for i, j in zip(starts[:-1], starts[1:])
    ]
    if private:
        none = (1,) * len(names)
        return SiteRows(
            plan, site, tuple(names), X, y, starts, tuple(dealt), none, (), left_out, asked,
            identity,
        )  # fmt: skip
    fold = np.concatenate([one.fold for one in dealt])
    mended = mend(_leaving(plan, X, y, names, codes, fold), asked)
    refuse(mended.findings)
    kept = mended.leaving
    folds = tuple(
        Dealt(kept.fold[i:j], one.copies, one.rank, one.repeats)
        for one, i, j in zip(dealt, starts[:-1], starts[1:])
    )
    return SiteRows(
        plan, site, tuple(names), kept.X, y, starts, folds, mended.folds, mended.steps, left_out,
        asked, identity, mended.sums,
    )  # fmt: skip


def refuse(findings: Sequence[Finding]) -> None:
    """Raise an error if sums would disclose rows."""
    if findings:
        worst, more = findings[0], len(findings) - 1
        raise DataError(
            f"Nothing was written, because it would disclose rows. {worst.sentence} Next: "
            f"{worst.advice()}.{f' ({more} more findings.)' if more else ''}"
        )


def _check_site(site: str) -> None:
    bad = not site or len(site) > LONGEST_NAME or set(site) & set("/\\|\n\r\t") or site[0] == "."
    if bad:
        raise ArgumentError(
            f"name={site!r} cannot name a site; expected a short text without slashes, such as "
            "'clinic_3'."
        )


def _leaving(
    plan: Plan,
    X: FloatArray,
    y: FloatArray,
    names: Sequence[str],
    dataset: IntArray,
    fold: IntArray,
) -> Leaving:
    features, classes = plan.schema.features, plan.schema.response.classes
    several = tuple(map(str, classes)) if len(classes) > 2 else ()
    return Leaving(
        features, plan.sources, X, plan.target, y, tuple(names), dataset, fold, plan.readings(),
        several,
    )  # fmt: skip


def _frame(table: Any, plan: Plan) -> nw.DataFrame[Any]:
    """Return a table in memory, with columns of nulls for those that the site does not have."""
    if is_source(table):
        with open_source(table) as source, source.reading():
            target = plan.schema.roles.target
            frame = in_memory(to_frame(source.with_boolean_target(target).relation))
    else:
        frame = in_memory(to_frame(table))
    known = frame.columns
    if plan.target not in known:
        raise DataError(
            f"The table lacks the target {plan.target!r}; {close_match(plan.target, known)}"
        )
    native: pa.Table = frame.to_native()
    for e in own_schema(plan).encodings:
        if e.name in known:
            continue
        if e.name in plan.complete:
            raise DataError(
                f"The table lacks column {e.name!r}, which the plan needs; "
                f"{close_match(e.name, known).rstrip('.')}. If the site never measured it, ask the "
                'coordinator for a plan with "fill" for it.'
            )
        warn_caller(f"The table lacks column {e.name!r}; it counts as missing in all rows.")
        kind = pa.float64() if isinstance(e, Number) else pa.string()
        native = native.append_column(e.name, pa.nulls(len(frame), kind))
    return nw.from_native(native, eager_only=True)


def _known(
    frame: nw.DataFrame[Any], plan: Plan, by: Sequence[str]
) -> tuple[nw.DataFrame[Any], int]:
    """Return the rows with a target and a dataset, and how many have none."""
    for name in by:
        if name not in frame.columns:
            raise DataError(f"by={name!r} is not a column; {close_match(name, frame.columns)}")
    target = frame.get_column(plan.target)
    known = ~target.is_null()
    if target.dtype.is_float():
        known = known & ~target.is_nan()
    for name in by:
        known = known & ~frame.get_column(name).is_null()
    kept = frame if known.all() else frame.filter(known)
    if not len(kept):
        raise DataError(f"No row has a value of the target {plan.target!r}; check the table.")
    return kept, len(frame) - len(kept)


def _features(frame: nw.DataFrame[Any], plan: Plan) -> FloatArray:
    """Return the features (n, features), within the limits of the plan."""
    numbers = {e.name for e in plan.schema.encodings if isinstance(e, Number)}
    frame = with_castable_types(frame, numbers & set(frame.columns))
    for name in plan.complete:
        column = frame.get_column(name)
        missing = int(column.is_null().sum())
        if column.dtype.is_float():
            missing += int(column.is_nan().sum() or 0)
        if missing:
            raise DataError(
                f"Column {name!r} lacks {missing:,} of {len(frame):,} values, but the plan has "
                'no value to fill in; ask the coordinator for a plan with "fill" for it.'
            )
    X = own_schema(plan).encode(frame, "the table")
    position = {name: j for j, name in enumerate(plan.schema.features)}
    for name, (low, high) in plan.limits.items():
        j = position[name]
        beyond = float(np.mean((X[:, j] < low) | (X[:, j] > high)))
        if beyond > MOST_BEYOND:
            unit = f" in {plan.units[name]}" if name in plan.units else ""
            raise DataError(
                f"Column {name!r} is beyond its limits {low:g} to {high:g}{unit} in "
                f"{100 * beyond:.0f} % of the rows; check its unit."
            )
        X[:, j] = np.clip(X[:, j], low, high)
    return with_prediction(X, plan)


def _as_they_are(
    frame: nw.DataFrame[Any], plan: Plan, X: FloatArray, y: FloatArray
) -> dict[str, FloatArray]:
    """Return the columns of the table that are features, or the target, without any change."""
    kinds = frame.collect_schema()
    found = {} if plan.schema.response.classes else {plan.target: y}
    for e in plan.schema.encodings:
        whole = e.name in plan.complete and e.name not in plan.limits
        if isinstance(e, Number) and whole and e.name in kinds and kinds[e.name].is_numeric():
            found[e.name] = X[:, plan.schema.features.index(e.name)]
    return found


def encode(table: Any, plan: Plan) -> FloatArray:
    """Return the features (n, features) of a table as a plan reads them, for training a model.

    Rows without a target are left out.
    """
    return _features(_known(_frame(table, plan), plan, ())[0], plan)


def _target(frame: nw.DataFrame[Any], plan: Plan) -> FloatArray:
    """Return the target as numbers."""
    response, column = plan.schema.response, frame.get_column(plan.target)
    if response.classes:
        values = column.to_numpy() if column.dtype.is_numeric() else np.array(column.to_list())
        found, codes = np.unique(values, return_inverse=True)
        labels = [plain_label(one) for one in found.tolist()]
        unknown = [one for one in labels if one not in response.classes]
        if unknown:
            raise DataError(
                f"Target {plan.target!r} has the class {unknown[0]!r}, which is not in the plan; "
                f"expected one of {quoted(response.classes)}."
            )
        return np.array([response.classes.index(one) for one in labels], dtype=np.float64)[codes]
    if not column.dtype.is_numeric() and column.dtype != nw.Boolean:
        raise DataError(
            f"Target {plan.target!r} is of type {column.dtype}, but the plan says that it is a "
            "number; check the column."
        )
    y: FloatArray = np.concatenate(pieces(column.cast(nw.Float64)))
    if not np.isfinite(y).all():
        raise DataError(f"Target {plan.target!r} is infinite in a row; correct or drop the row.")
    if response.family == "poisson":
        check_counts(y, plan.target)
    return y
