"""Cautions: what a reader should know before trusting a result, and the sentences that say it.

A result enters, a list of sentences leaves. `cautions` needs errors only, and every face has them.
`data_hints` needs the details of the page, which take longer to find, so only the page has them.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from conjoin.durations import parse_duration
from conjoin.result.details import Details
from conjoin.result.scores import Scored
from conjoin.text import listed

if TYPE_CHECKING:
    from conjoin.result.partition import Partition

# Error over the target's variance below which a feature may contain the target: honest data have
# some noise, while a copied column leaves rounding errors only.
EXACT = 1e-4
# Times the median noise variance from which a dataset is named: its residuals are then three times
# as large, which a reader sees in any plot of them.
NOISY = 9.0
FEWEST_NOISES = 3  # datasets from which a median says what is usual


def cautions(result: "Partition", scored: Scored | None) -> list[str]:
    """Return cautions about errors; `scored` has the scores of classes, if there are any."""
    found = []
    least = min(e.error for e in result.errors.values())
    if least < EXACT * result.analysis.placement.basis.target_scale**2:
        found.append(_exact(result.schema.roles.target))
    if result.representation is not None and result.representation.is_optimistic:
        found.append(TAUGHT)
    features, datasets = len(result.features), len(result.labels)
    few = sum(model.rows <= features for model in result.coefficients.values())
    if few:
        found.append(_few_rows(few, datasets, features))
    if result.analysis.copies:
        found.append(_copies(result.analysis.copies, result.pooled.rows))
    found += order_cautions(result)
    one_class = 0 if scored is None else sum(math.isnan(s.auc) for s in scored.scores.values())
    if one_class:
        found.append(_one_class(one_class, datasets))
    return found


def order_cautions(result: "Partition") -> list[str]:
    """Return cautions about rows in time: a trend that is extrapolated, datasets without errors."""
    name = result.schema.roles.time
    found: list[str] = []
    if name is None:
        return found
    if any(one.name == name and one.features() for one in result.schema.encodings):
        found.append(
            f"The models use {name!r} as a trend and extrapolate it beyond the last row. To leave "
            f"it out, and keep the order of rows, add ignore=[{name!r}]."
        )
    found += _far_ahead(result.analysis.settings)
    early = [name for name, fit in result.coefficients.items() if math.isnan(fit.error)]
    if early:
        found.append(
            f"{listed(early)} {'has' if len(early) == 1 else 'have'} no rows after the first fit, "
            "so no error is known there. The models are fitted all the same."
        )
    return found


def _far_ahead(settings: Mapping[str, Any]) -> list[str]:
    """Say what a gap that is longer than the horizon means."""
    gap, horizon = settings.get("gap"), settings.get("horizon")
    if gap is None or horizon is None:
        return []
    late, ahead = parse_duration("gap", gap), parse_duration("horizon", horizon)
    if late.amount <= ahead.amount:
        return []
    unit = "days" if late.dated or ahead.dated else "days or units of the column"
    return [
        f"gap={gap!r} is longer than horizon={horizon!r}: models predict {late.amount:g} to "
        f"{late.amount + ahead.amount:g} {unit} after the last row they have seen."
    ]


def data_hints(result: "Partition", details: Details | None) -> list[str]:
    """Return hints on columns and noise, for the page; none where a model file has no details."""
    if details is None:
        return []
    found = []
    if details.dependent:
        found.append(_dependent(details.dependent))
    kinds = {e.name for e in result.schema.encodings if e.kind == "number"}
    kinds = set() if result.representation is not None else kinds
    far = {result.features[j]: x for j, x in details.far.items() if result.features[j] in kinds}
    if far:
        found.append(_far(far))
    noise = details.noise[np.isfinite(details.noise)]
    if len(noise) >= FEWEST_NOISES and not result.classes:
        names = [n for n, x in zip(result.labels, details.noise) if x > NOISY * np.median(noise)]
        if names:
            found.append(_noisy(names))
    return found


# --- sentences -----------------------------------------------------------------------------------

RELY = ("its model relies", "their models rely")


def _exact(target: str) -> str:
    """Warn that a feature may contain the target."""
    return (
        f"The features predict '{target}' almost exactly; does one of them contain it? Leave such "
        "columns out with features."
    )


TAUGHT = (
    "The representation learned from the same rows on which errors are measured, so the errors are "
    "too low; learn_share=0.5 keeps these rows apart."
)


def _few_rows(few: int, datasets: int, features: int) -> str:
    """Warn of datasets with too few rows for a model of their own."""
    have, rely = ("has", RELY[0]) if few == 1 else ("have", RELY[1])
    return (
        f"{few:,} of {datasets:,} datasets {have} no more rows than features ({features:,}); "
        f"{rely} mostly on the other datasets."
    )


def _copies(copies: int, rows: int) -> str:
    """Warn of rows that equal another one in every column, one of which has many values."""
    are, they = (
        ("is an exact copy", "It stays") if copies == 1 else ("are exact copies", "They stay")
    )
    return (
        f"{copies:,} of {rows:,} rows {are} of another row of the same dataset, target included. "
        f"{they} on the same side of every validation, and verdicts count copies as one row: drop "
        "copies that were not measured anew."
    )


def _one_class(few: int, datasets: int) -> str:
    """Warn of datasets whose rows all have the same class."""
    have, rely = ("has", RELY[0]) if few == 1 else ("have", RELY[1])
    return (
        f"{few:,} of {datasets:,} datasets {have} rows of one class only; there is no AUC, and "
        f"{rely} mostly on the other datasets."
    )


def _dependent(columns: int) -> str:
    """Warn of columns that other columns determine."""
    one = columns == 1
    return (
        f"{columns:,} {'column is a sum' if one else 'columns are sums'} of other columns. "
        f"{'Its coefficient has' if one else 'Their coefficients have'} no meaning alone; "
        "predictions are not affected."
    )


def _far(far: Mapping[str, float]) -> str:
    """Warn of features with far values; `far` has their distance in standard deviations."""
    worst = max(far, key=lambda name: far[name])
    return (
        f"{listed(list(far))}: values very far from the others (up to {far[worst]:,.0f} standard "
        f"deviations from the mean, in '{worst}'). Are they outliers?"
    )


def _noisy(names: Sequence[str]) -> str:
    """Warn of datasets with much larger residuals than others."""
    return (
        f"{listed(names)}: residuals more than three times as large as in most datasets. Check the "
        "target there."
    )


def none(*, outliers: bool, hints: bool = False) -> str:
    """Say that there is no caution; gross errors are named at the top of the page."""
    if hints:
        return (
            "None: every dataset has more rows than features, and no row is a copy of another. The "
            "hints below are on columns and noise."
        )
    far = "gross errors are named at the top" if outliers else "no value is very far from the rest"
    return (
        "None: every dataset has more rows than features, no row is a copy of another, no column "
        f"is a sum of others, and {far}."
    )
