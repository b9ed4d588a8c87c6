"""The model and the cluster of a new dataset, from some rows with known target.

A partition, rows of features (n, features) and their targets (n,) enter; an `Assignment` leaves.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.errors import DataError, warn_caller
from conjoin.families import Response, check_counts
from conjoin.models.glm_families import family_of
from conjoin.models.row_losses import row_losses
from conjoin.result.fits import Fit, fit_of_lines, linear_predictors
from conjoin.result.values import Assignment
from conjoin.tables.checks import check_scales, check_squares
from conjoin.tables.frame import as_doubles
from conjoin.tables.schema import Schema

if TYPE_CHECKING:
    from conjoin.result.partition import Partition

# Predictions beyond it count as it. Targets stay below 1e145, so it is far from all, and its
# square is a double.
FARTHEST = 1e150
NO_PRIOR = (
    "The model file has no learned prior, because an older version of conjoin wrote it. The model "
    "of the new dataset is an average over clusters. Fit the model again for a better one."
)


def assign(result: "Partition", rows: FloatArray, target: FloatArray) -> Assignment:
    """Return the model of a new dataset, its errors and the most likely cluster."""
    response, placement = result.schema.response, result.analysis.placement
    family, strategy = family_of(response), result.strategy
    if not placement.priors and len(result.labels) > 1:
        warn_caller(NO_PRIOR)
    probability = placement.place(rows, target, family)[0]
    beta = placement.fit(rows, target, strategy, family)
    best, nearest = int(np.argmax(probability)), int(np.argmax(probability[:-1]))
    own = placement.losses(rows, target, strategy, family)
    others = {"pooled": result.pooled, "cluster": result.models[nearest]}
    errors = {
        "own": _mean(own),
        **{name: _mean(losses_of(fit, rows, target, response)) for name, fit in others.items()},
    }
    limits, n = result.pooled.limits, len(rows)
    lines = placement.lines(beta, response, len(result.features))
    model = fit_of_lines(*lines, response, result.features, n, errors["own"], limits)
    return Assignment(
        cluster=None if best == len(result.clusters) else best,
        probability=float(probability[best]),
        probabilities=tuple(map(float, probability[:-1])),
        probability_new=float(probability[-1]),
        model=model,
        errors=errors,
        standard_error=_standard_error(own),
    )


def _standard_error(losses: FloatArray) -> float:
    """Return the standard error of a mean of losses (n,); nan if it is not known.

    They are divided by the largest first: squared errors of 1e280 cannot be squared again.
    """
    largest = float(np.abs(losses).max(initial=0.0))
    if len(losses) < 2 or not np.isfinite(largest):
        return float("nan")
    scale = largest or 1.0
    return float((losses / scale).std(ddof=1) / np.sqrt(len(losses)) * scale)


def _mean(losses: FloatArray) -> float:
    return float(losses.mean()) if len(losses) else float("nan")


def losses_of(fit: Fit, rows: FloatArray, target: FloatArray, response: Response) -> FloatArray:
    """Return the loss (n,) of a model in the units of the data on rows of features.

    It is the squared error, the log loss of classes, or half the deviance of counts.
    """
    linear = np.clip(linear_predictors(fit, rows), -FARTHEST, FARTHEST)
    return row_losses(linear, target, response)


def check_held(rows: FloatArray, target: FloatArray, schema: Schema) -> None:
    """Raise an error if squares of new rows (n, features) are no doubles."""
    table, names = np.column_stack([rows, target]), (*schema.features, schema.roles.target)
    check_scales(names, table.min(axis=0), table.max(axis=0))


def known_target(y: Any, rows: int, response: Response) -> FloatArray:
    """Return the target of rows as numbers; classes as their positions."""
    values = y.to_list() if hasattr(y, "to_list") else np.asarray(y).tolist()
    if np.ndim(values) != 1 or len(values) != rows:
        what = "label" if response.classes else "finite number"
        raise DataError(
            f"y must hold one {what} for each of the {rows} rows of X; got shape "
            f"{np.shape(values)}."
        )
    if response.classes:
        return response.codes(values)
    try:
        target = as_doubles(values)
    except (TypeError, ValueError):
        odd = next((v for v in values if isinstance(v, str) or not np.isscalar(v)), values[0])
        raise DataError(f"y holds {odd!r}, but the target is a number; pass numbers.") from None
    if not np.isfinite(target).all():
        raise DataError(f"y must hold one finite number for each of the {rows} rows of X.")
    if response.family == "poisson":
        check_counts(target, "y")
    else:
        check_squares(target, "y")
    return target
