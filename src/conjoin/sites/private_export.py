"""What a site sends with differential privacy, and how the receiver reads it.

Rows of a site enter with a budget; the content of a file leaves, which has the form of any other
export. Nothing in it depends on rows except the noisy sums: centre and scale are those of the
declared bounds, the number of rows is the noisy one, and counts of levels are left out.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.errors import ArgumentError
from conjoin.result.checked import Fault
from conjoin.sites.document import numbers, triangle_of
from conjoin.sites.noisy import usable
from conjoin.sites.plan import Plan
from conjoin.sites.privacy import Bounds, Budget, private_products
from conjoin.text import quoted

BUDGET = (
    "All sums of a dataset are released at once and share one budget, with the same noise on each. "
    "There are no folds, which would need a budget each. Datasets of the site have different rows, "
    "so each has the whole budget. Exports add up; 'spent' is what all of them cost."
)


def bounds_of(plan: Plan, given: Mapping[str, tuple[float, float]]) -> Bounds:
    """Return the bounds of features and target: those given, else what the plan fixes.

    Raises
    ------
    ArgumentError
        If a column has no bounds, or bounds are given for a column that is not there.
    """
    if plan.family != "gaussian":
        raise ArgumentError(
            f"Differential privacy is offered for targets that are numbers; {plan.target!r} is "
            "not one. Leave epsilon out: the disclosure rules then protect the rows."
        )
    names = plan.schema.features
    low, high = (np.append(ends, end) for ends, end in zip(plan.known_ranges(), (-np.inf, np.inf)))
    unknown = sorted(set(given) - {*names, plan.target})
    if unknown:
        free = [one for one, end in zip((*names, plan.target), high) if not np.isfinite(end)]
        raise ArgumentError(
            f"A bound is given for {unknown[0]!r}, which is no column of numbers; bounds are "
            f"needed for {quoted(free)}."
        )
    for j, name in enumerate((*names, plan.target)):
        if name in given:
            low[j], high[j] = given[name]
        elif " season " in name or " hour " in name:  # sines and cosines
            low[j], high[j] = -1.0, 1.0
    return Bounds.of(names, plan.sources, plan.target, low, high)


def private_dataset(
    name: str, X: FloatArray, y: FloatArray, bounds: Bounds, budget: Budget
) -> tuple[dict[str, Any], float, float]:
    """Return what leaves of one dataset, its noise, and what was added to its slopes' squares."""
    noisy, t = private_products(X, y, bounds, budget)
    products, n, added = usable(noisy, t)
    content = {
        "name": name,
        "n": [int(n)],
        "center": numbers(bounds.center),
        "scale": numbers(bounds.scale),
        "levels": {},
        "classes": [],
        "products": numbers(triangle_of(products[None])),
        "copies": 0,
        "scatter": None,
    }
    return content, t, added


def describe_privacy(
    budget: Budget, spent: tuple[float, float], noise: float, added: Mapping[str, float]
) -> dict[str, Any]:
    """Return the part of a file that states the promise."""
    return {
        "promise": budget.describe(),
        "neighbours": "tables that differ by one row",
        "mechanism": "Gaussian noise on all sums of products, by OpenDP",
        "budget": BUDGET,
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "spent": list(spent),
        "noise": noise,
        "added": dict(added),
    }


def noise_in(privacy: Mapping[str, Any] | None, dataset: str) -> tuple[float, float] | None:
    """Return noise and addition of a dataset, from the part of a file that states the promise.

    Raises
    ------
    Fault
        If a number is missing or impossible.
    """
    if privacy is None:
        return None
    try:
        pair = float(privacy["noise"]), float(privacy["added"][dataset])
        Budget(float(privacy["epsilon"]), float(privacy["delta"]))
    except (KeyError, TypeError, ValueError):
        raise Fault("its statement of privacy is not complete") from None
    if not (np.isfinite(pair).all() and pair[0] > 0 and pair[1] >= 0):
        raise Fault("its noise is not above zero")
    return pair
