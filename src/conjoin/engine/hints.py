"""What a request and its data say of each other: refusals and hints before the work begins."""

from conjoin.api.request import PARTITION_METHODS, Request
from conjoin.criterion import Criterion
from conjoin.engine.remote import Reduced
from conjoin.errors import ArgumentError, warn_caller
from conjoin.moments import Basis, Moments
from conjoin.tables import DatasetCollection

# Relative difference up to which the sum of squares of a target equals its sum: above
# rounding, and below what another value adds unless rows are very many.
SAME = 1e-9
ONLY_NUMBERS = ("validated",)  # methods of `partition` that know squared errors only


def check_method(
    table: DatasetCollection | Reduced, request: Request, criterion: Criterion | None
) -> None:
    """Refuse methods for numbers where the target is a class or a count."""
    family = table.schema.response.family
    if family == "gaussian" or (criterion is None and request.method not in ONLY_NUMBERS):
        return
    names = [name for name in PARTITION_METHODS if name not in ONLY_NUMBERS]
    raise ArgumentError(
        f"method={request.method_name!r} is for numbers, but the target is of family {family!r}; "
        f"leave method out, or choose one of {', '.join(names)}."
    )


def hint_at_classes(basis: Basis, moments: Moments, target: str, family: str) -> None:
    """Warn if a target of 0 and 1, which nobody called a number, may be meant as a class.

    The sum of squares equals the sum if all values are 0 or 1. y^2 - y is positive at every other
    whole number, and fractions would have to cancel by chance.
    """
    if family != "auto" or not basis.intercept:
        return
    m = moments.union()
    total, squares = basis.target_sums(float(m.h[0]), float(m.q), float(m.w))
    if total > 0 and abs(squares - total) <= SAME * total:
        warn_caller(
            f"Target {target!r} has only the values 0 and 1, and is treated as a number; "
            "family='logistic' treats it as classes, family='gaussian' stops this warning."
        )
