"""Criteria by name, those of the paper among them, which are loaded when asked for."""

from collections.abc import Callable
from inspect import signature
from typing import Any

from conjoin.criterion import Criterion, Gcv, Risk, Validated
from conjoin.errors import ArgumentError

OWN: dict[str, Callable[..., Criterion]] = {"risk": Risk, "gcv": Gcv, "validated": Validated}
OF_PAPER = ("tuned", "bound", "direct", "oracle")
CRITERIA = (*OWN, *OF_PAPER)


def criterion_class(name: str) -> Callable[..., Criterion]:
    """Return what makes the criterion of a name."""
    if name in OWN:
        return OWN[name]
    # Here, since the product does without the paper's criteria.
    from conjoin.paper.bound import Bound
    from conjoin.paper.direct import Direct
    from conjoin.paper.oracle import Oracle
    from conjoin.paper.tuned import Tuned

    found: dict[str, Callable[..., Criterion]]
    found = {"tuned": Tuned, "bound": Bound, "direct": Direct, "oracle": Oracle}
    return found[name]


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
    make = criterion_class(method)
    known = signature(make).parameters
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise ArgumentError(
            f"method={method!r} does not take {', '.join(f'{name}=...' for name in unknown)}; "
            f"expected some of {', '.join(known)}."
        )
    missing = [n for n, p in known.items() if p.default is p.empty and n not in options]
    if missing:
        raise ArgumentError(f"method={method!r} needs the options {missing}; pass them.")
    return make(**options)
