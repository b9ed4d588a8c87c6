"""Optima that are found to their last digits, so that it does not matter where the search started.

An objective with its gradient and a first point enter; the point where the gradient vanishes
leaves, with the curvature there. Both are kept (`Optimum`). When rows are added, the search goes on
from them, and takes a few steps. A search from elsewhere ends at the same point, up to rounding.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from conjoin._typing import BoolArray, FloatArray

# Last step at which the search stops, in logarithms of variances. Steps shrink faster and faster,
# so the point is then known to about 1e-12, and coefficients to 1e-8 and better.
CLOSE = 1e-9
# Steps at most. From a point nearby 5 to 10 are usual; a search that needs more began far away.
MOST_STEPS = 40
# Halvings at most of a step that leads to no lower or flatter place: a millionth of it is left.
HALVINGS = 20
# Slope along a step at its end, over that at its start, up to which the step is taken.
FLATTER = 0.9
# Change of the objective, as a share of it, that is rounding: it sums some 1e5 numbers.
ROUNDING = 1e-11
# Cosine of step and change of the gradient below which curvature is not learned: it would not stay
# positive definite.
LEAST_COSINE = 1e-8

Objective = Callable[[FloatArray], tuple[float, FloatArray]]
Bounds = Sequence[tuple[float, float]]
Starts = Mapping[str, tuple[FloatArray, FloatArray]]  # points and curvatures by name


class Optimum(NamedTuple):
    """A point (n,) where the gradient vanishes, and the curvature (n, n) there."""

    point: FloatArray
    curvature: FloatArray


@dataclass(frozen=True, eq=False)
class Optima:
    """Optima by name: those `before` are where searches start, those `after` are what they found.

    Examples
    --------
    >>> bowl = lambda x: (float(np.cosh(x - 1).sum()), np.sinh(x - 1))
    >>> first = Optima()
    >>> there = first.find("bowl", bowl, np.zeros(2), [(-5.0, 5.0), (-5.0, 0.5)], {})
    >>> np.allclose(there, [1.0, 0.5], atol=1e-9)
    True
    >>> again = Optima(first.after).find("bowl", bowl, np.zeros(2), [(-5, 5), (-5, 0.5)], {})
    >>> np.allclose(again, there, atol=1e-12)
    True
    """

    before: Mapping[str, Optimum] = field(default_factory=dict)
    after: dict[str, Optimum] = field(default_factory=dict)

    @classmethod
    def of(cls, starts: Starts) -> "Optima":
        """Start from points with their curvature."""
        return cls({name: Optimum(*one) for name, one in starts.items()})

    def find(
        self,
        name: str,
        objective: Objective,
        start: FloatArray,
        bounds: Bounds,
        options: Mapping[str, Any],
    ) -> FloatArray:
        """Return the optimum, from the one before if there is one, else from `start`.

        `options` are those of L-BFGS-B, which comes near the optimum from `start`.
        """
        known, found = self.before.get(name), None
        if known is not None and known.point.shape == start.shape:
            found = _polished(objective, known, bounds)
        if found is None:
            near = minimize(
                objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=dict(options)
            )
            inverse = np.asarray(near.hess_inv.todense(), dtype=np.float64)
            first = Optimum(near.x, np.linalg.inv(0.5 * (inverse + inverse.T)))
            found = _polished(objective, first, bounds) or first
        self.after[name] = found
        return found.point


def _polished(objective: Objective, first: Optimum, bounds: Bounds) -> Optimum | None:
    """Go on by quasi-Newton steps (BFGS) until they vanish; None if they do not."""
    low, high = np.array(bounds).T
    x, B = np.clip(first.point, low, high), first.curvature.copy()
    value, g = objective(x)
    for _ in range(MOST_STEPS):
        free = ~(((x <= low) & (g > 0)) | ((x >= high) & (g < 0)))
        step = np.clip(x + _newton_step(B, g, free), low, high) - x
        if np.abs(step).max(initial=0.0) < CLOSE:
            return Optimum(x + step, B)
        for _ in range(HALVINGS):
            there, slope = objective(x + step)
            # Near the optimum slopes have more digits than values.
            flatter = abs(slope @ step) <= FLATTER * abs(g @ step)
            if flatter or there < value - ROUNDING * abs(value):
                break
            step = step / 2
        else:
            return None
        B = _learned(B, step, slope - g)
        x, value, g = x + step, there, slope
    return None


def _newton_step(B: FloatArray, g: FloatArray, free: BoolArray) -> FloatArray:
    """Return the step (n,) to where the gradient of the free entries vanishes."""
    step = np.zeros_like(g)
    step[free] = -np.linalg.solve(B[np.ix_(free, free)], g[free])
    return step


def _learned(B: FloatArray, step: FloatArray, change: FloatArray) -> FloatArray:
    """Return the curvature after a step that changed the gradient (Broyden, Fletcher, ...)."""
    along = float(step @ change)
    if along <= LEAST_COSINE * float(np.linalg.norm(step) * np.linalg.norm(change)):
        return B
    old = B @ step
    return np.asarray(B + np.outer(change, change) / along - np.outer(old, old) / float(step @ old))
