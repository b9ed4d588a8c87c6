"""Priors and bounds of the variances of partial pooling, the same for every table.

Coordinates are centred and scaled over all datasets (`Basis`), so variances are of order one. The
number of spreads enters; centres, widths and bounds of their logarithms leave.
"""

import numpy as np

from conjoin._typing import FloatArray
from conjoin.moments import Moments

# --- priors: (median, standard deviation of the logarithm), in units of the target's variance ---

# Half of the target's variance is noise, give or take a factor of 4.5 (exp 1.5): weak enough that
# ten rows of residuals outweigh it.
NOISE_PRIOR = (0.5, 1.5)
# For classes the noise is one by construction (`models.glm_rows`). The narrow prior and bounds
# leave room for overdispersion of a few percent, and keep noise from absorbing a poor fit.
UNIT_NOISE_PRIOR, UNIT_NOISE_BOUNDS = (1.0, 0.05), (0.8, 1.25)
# Spread of slopes between datasets: a tenth of the target's variance, within a factor of 7 (exp 2).
SPREAD_PRIOR = (0.1, 2.0)
# Spread of the levels of datasets. Its median is that of the noise: with one row in each dataset
# nothing separates the two, and they share the variance evenly.
INTERCEPT_PRIOR = (0.5, 2.0)
# Standard deviation of log variances around their common value: of deviations in slopes, and of the
# centre's slopes. At one, variances differ by a factor of 2.7. Narrower, columns could not differ;
# wider, few datasets would overfit them. Least squares gains nothing from the second, so only
# classes use it.
SLOPE_SCATTER = CENTRE_SCATTER = 1.0
# Of p lambda: all slopes of the centre together explain about the target's variance.
CENTRE_PRIOR = (1.0, 2.0)

# --- hard bounds. Without them, cancellation in the residual sums can fake a huge likelihood. ----

# Residual sums have a relative rounding error near 1e-12; a noise of 1e-5 is far above it. Noise
# above ten times the target's variance has no meaning.
NOISE_BOUNDS = (1e-5, 10.0)
# A spread of 1e-7 of the target's variance is none in effect, 100 is no shrinkage in effect; beyond
# them the objective is flat.
SPREAD_BOUNDS = (1e-7, 100.0)
CENTRE_BOUNDS = (1e-6, 100.0)
# Of the logarithm: eight standard deviations of the prior CENTRE_SCATTER.
RATIO_BOUNDS = (-8.0, 8.0)


def variance_priors(
    moments: Moments, count: int
) -> tuple[FloatArray, FloatArray, list[tuple[float, float]]]:
    """Return prior centres, widths and bounds of (log noise, log lambda, log spreads (count,))."""
    slopes = max(moments.p // moments.outputs - 1, 1)
    spreads = [INTERCEPT_PRIOR, *[SPREAD_PRIOR] * (count - 1)][:count]  # the intercept's is first
    noise = UNIT_NOISE_PRIOR if moments.unit_noise else NOISE_PRIOR
    medians = [noise[0], CENTRE_PRIOR[0] / slopes, *(median for median, _ in spreads)]
    widths = [noise[1], CENTRE_PRIOR[1], *(width for _, width in spreads)]
    limits = [noise_bounds(moments), CENTRE_BOUNDS, *[SPREAD_BOUNDS] * count]
    bounds = [(float(np.log(low)), float(np.log(high))) for low, high in limits]
    return np.log(medians), np.array(widths), bounds


def noise_bounds(moments: Moments) -> tuple[float, float]:
    """Return the bounds of the noise variance."""
    return UNIT_NOISE_BOUNDS if moments.unit_noise else NOISE_BOUNDS
