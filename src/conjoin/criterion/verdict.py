"""The three verdicts, and how many rows one would need.

The moments of two datasets enter; the factor by which both must grow for a verdict leaves. The
tests and their assumptions are in `criterion.pair_tests`. `criterion.judge` gives verdicts, with
gains and confidence limits.
"""

from typing import Literal

import numpy as np

from conjoin.criterion.pair_tests import decide
from conjoin.criterion.robust import robust_tests
from conjoin.criterion.side import Side
from conjoin.models.scatter import Scatter
from conjoin.moments import Moments

# Largest growth of the rows that `rows_to_settle` tries. Nobody collects a thousand times the data
# for one verdict, so beyond it the answer is None.
MOST_GROWTH = 1000.0
# Factors on each log grid of the search, and how often the grid is refined. A grid of 40 over a
# factor 1000 has steps of 19 %; two refinements by 39 bring them to 0.01 %.
GROWTH_GRID, REFINEMENTS = 40, 3

Answer = Literal["join", "apart", "undecided"]


def rows_to_settle(
    one: Moments,
    two: Moments,
    *,
    delta: float = 0.1,
    weights: tuple[float, float] = (0.5, 0.5),
    equal_noise: bool = False,
    scatter: Scatter | None = None,
) -> float | None:
    """Return by what factor both datasets would have to grow for a verdict.

    Coefficients, designs and noise stay as observed; only the number of rows grows.

    Parameters
    ----------
    one, two : Moments
        Of one dataset each, without batch axes.
    delta : float, default 0.1
        Level of the verdict.
    weights : two floats, default (0.5, 0.5)
        How much the error of each dataset counts.
    equal_noise : bool, default False
        Assume that both datasets have the same noise variance.
    scatter : Scatter (2,), optional
        With it, the tests are those of `criterion.robust`.

    Returns
    -------
    float or None
        1.0 for a pair already decided. None if a thousand times the rows would not suffice, or if a
        dataset has no residual degrees of freedom from which to estimate its noise.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2, 30, 3))
    >>> y = X.sum(axis=-1) + rng.standard_normal((2, 30))
    >>> round(rows_to_settle(*(Moments.from_rows(X[k], y[k]) for k in range(2))), 1)
    3.1
    """
    sides = Side.dataset(one, weights[0]), Side.dataset(two, weights[1])
    if min(side.nu for side in sides) < 1:
        return None
    low, high = 1.0, MOST_GROWTH
    for _ in range(REFINEMENTS):
        factors = np.geomspace(low, high, GROWTH_GRID)
        one_grown, two_grown = (side.grown(factors) for side in sides)
        if scatter is None:
            join, apart = decide(one_grown, two_grown, delta=delta, equal_noise=equal_noise)
        else:
            scatters = scatter[0].grown(factors), scatter[1].grown(factors)
            join, apart = robust_tests((one_grown, two_grown), scatters, delta).decide()
        settled = np.flatnonzero(join | apart)
        if not len(settled):
            return None
        first = int(settled[0])
        if first == 0:
            return float(factors[0])
        low, high = factors[first - 1], factors[first]
    return float(high)
