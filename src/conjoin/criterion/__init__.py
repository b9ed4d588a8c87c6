"""Criteria: what decides whether two units are better joined.

A new criterion is one file here, one test file and one line in `CRITERIA`.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any

from conjoin.criterion.base import Criterion, PairScore, Unit
from conjoin.criterion.bound import Bound
from conjoin.criterion.design import Gaussian
from conjoin.criterion.direct import Direct
from conjoin.criterion.oracle import Oracle
from conjoin.criterion.risk import Gcv, Risk
from conjoin.criterion.tuned import Tuned
from conjoin.criterion.validated import Validated
from conjoin.errors import ArgumentError

CRITERIA: dict[str, Callable[..., Criterion]] = {
    "risk": Risk,
    "gcv": Gcv,
    "validated": Validated,
    "tuned": Tuned,
    "bound": Bound,
    "direct": Direct,
    "oracle": Oracle,
}


def make_criterion(method: "str | Criterion", options: dict[str, Any]) -> Criterion:
    """Return the criterion of a name with its options, or the criterion passed."""
    if not isinstance(method, str):
        if options:
            raise ArgumentError(
                f"{sorted(options)} cannot be combined with a ready criterion; set them on "
                f"{type(method).__name__} instead."
            )
        return method
    if method not in CRITERIA:
        raise ArgumentError(
            f"method={method!r} is unknown; expected one of {', '.join(sorted(CRITERIA))}."
        )
    known = signature(CRITERIA[method]).parameters
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise ArgumentError(
            f"method={method!r} does not take {', '.join(f'{name}=...' for name in unknown)}; "
            f"expected some of {', '.join(known)}."
        )
    missing = [n for n, p in known.items() if p.default is p.empty and n not in options]
    if missing:
        raise ArgumentError(f"method={method!r} needs the options {missing}; pass them.")
    return CRITERIA[method](**options)


__all__ = [
    "CRITERIA",
    "Bound",
    "Criterion",
    "Direct",
    "Gaussian",
    "Gcv",
    "Oracle",
    "PairScore",
    "Risk",
    "Tuned",
    "Unit",
    "Validated",
    "make_criterion",
]
