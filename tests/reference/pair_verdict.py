"""The verdict on two datasets, one pair at a time: a slow twin of `conjoin.criterion.judge`."""

from dataclasses import dataclass

import numpy as np

from conjoin._typing import FloatArray
from conjoin.criterion.interval import gain_limits
from conjoin.criterion.pair_tests import PairTests
from conjoin.criterion.risk import joining_gain
from conjoin.criterion.side import Side
from conjoin.criterion.verdict import Answer
from conjoin.moments import Moments


@dataclass(frozen=True)
class Verdict:
    """What is known about joining two datasets or clusters.

    Attributes
    ----------
    verdict : "join", "apart" or "undecided"
        "join" when the gain given the designs is shown to be positive, "apart" when the gain
        expected over new designs is shown to be negative, each wrong with probability at most
        `delta`.
    gain : float
        Estimate of the out-of-sample gain of joining: weighted error of the separate fits minus
        that of the joint fit. Infinite where a side has too few rows for a finite error of its
        own, nan where the joint fit has too few as well. The estimated squared bias in it is
        unbiased and can be negative, so the gain can exceed the upper limit.
    interval : (float, float)
        Lower and upper one-sided confidence limit for the gain, in squared units of the target,
        each at confidence 1 - delta. The lower limit is for the gain given the designs, the upper
        one for the gain over new designs. The lower limit is >= 0 exactly for "join", the upper
        one <= 0 exactly for "apart".
    delta : float
        The level.
    """

    verdict: Answer
    gain: float
    interval: tuple[float, float]
    delta: float


def judge(
    one: Moments,
    two: Moments,
    *,
    delta: float = 0.1,
    weights: tuple[float, float] = (0.5, 0.5),
    equal_noise: bool = False,
    noise: FloatArray | None = None,
    interval: bool = True,
) -> Verdict:
    """Return the verdict on joining two datasets.

    Parameters
    ----------
    one, two : Moments
        Of one dataset each, without batch axes.
    delta : float, default 0.1
        Level of the verdict and of each limit of the interval.
    weights : two floats, default (0.5, 0.5)
        How much the error of each dataset counts.
    equal_noise : bool, default False
        Assume that both datasets have the same noise variance. This gives more power, and wrong
        verdicts where the variances differ.
    noise : array (2,), optional
        Noise variances for the estimate of the gain. The verdict always uses the residuals.
    interval : bool, default True
        Compute the confidence limits; otherwise they say only what the verdict implies.

    Returns
    -------
    Verdict
        "undecided" also where a dataset has no residual degrees of freedom, or where the two share
        no direction, so that joining changes neither fit.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2, 200, 8))
    >>> y = X.sum(axis=-1) + rng.standard_normal((2, 200))
    >>> judge(*(Moments.from_rows(X[k], y[k]) for k in range(2))).verdict
    'join'
    >>> judge(*(Moments.from_rows(X[k], y[k] * (-1) ** k) for k in range(2))).verdict
    'apart'
    """
    sides = Side.dataset(one, weights[0]), Side.dataset(two, weights[1])
    tests = PairTests.of(*sides, delta, equal_noise)
    left, right = (Moments.stack([moments]) for moments in (one, two))
    gain = joining_gain(left, right, (np.array(weights[:1]), np.array(weights[1:])), noise)
    answer, limits = single_answer(tests, delta, interval)
    return Verdict(answer, gain, limits, delta)


def single_answer(
    tests: PairTests, delta: float, interval: bool
) -> tuple[Answer, tuple[float, float]]:
    """Return the verdict and the confidence limits of one pair, without batch axes."""
    join, apart = tests.decide()
    answer: Answer = "join" if join else "apart" if apart else "undecided"
    if not interval:
        return answer, (0.0 if join else -np.inf, 0.0 if apart else np.inf)
    low, high = gain_limits(tests, delta, join, apart)
    return answer, (float(low), float(high))
