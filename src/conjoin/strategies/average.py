"""Errors of strategies on held-out rows, and the weights of their average.

Losses (S, F, K) by strategy, fold and dataset enter; errors with standard errors, and weights (S,),
leave.

==========  ====================================================================
symbol      meaning
==========  ====================================================================
w           sums of row weights of the datasets, (K,)
z_s         mean paired difference to the best strategy over its standard
            error; pairs are datasets (from 8 on), else cells of dataset x fold
weight      proportional to exp(-z_s^2 / 2); 0 beyond 1.5 times the least error
==========  ====================================================================
"""

import numpy as np

from conjoin._typing import FloatArray
from conjoin.moments import Moments
from conjoin.strategies.validation import Fitted

# Separate fits have no guard against columns that hardly vary inside a dataset: one wild
# coefficient would spoil the average. They are reported beside the others, and partial pooling
# comes close to them wherever datasets are large.
NOT_AVERAGED = ("separate",)
# Strategies without a level of its own for each dataset.
WITHOUT_LEVELS = ("pooled", "mixture")
# Share of datasets with two rows below which validation cannot see levels (see `is_averaged`).
FEWEST_SEEN = 0.1
# Datasets from which differences are paired by dataset; fewer pairs would give no usable standard
# error, so cells of dataset x fold are taken instead.
FEWEST_DATASETS = 8
# Strategies whose error is more than this times the least get no weight, however wide their
# standard error is: one wild dataset makes the standard error itself wild.
FARTHEST = 1.5


def is_averaged(name: str, moments: Moments) -> bool:
    """Say whether a strategy enters the average.

    Where hardly any dataset has two rows, a held-out row leaves nothing of its dataset behind. Then
    validation cannot see that datasets differ in level, and strategies without levels look as good
    as any. They are left out.
    """
    seen = np.mean(moments.n >= 2 * moments.outputs)
    left_out = (*NOT_AVERAGED, *WITHOUT_LEVELS) if seen < FEWEST_SEEN else NOT_AVERAGED
    return name not in left_out


def average_weights(
    losses: FloatArray, averaged: list[bool], w: FloatArray, dataset_weights: FloatArray
) -> FloatArray:
    """Return the weight (S,) of each strategy in the average; 0 for those not averaged."""
    chosen = np.array(averaged)
    weights = np.zeros(len(losses))
    weights[chosen] = soft_weights(losses[chosen], w, dataset_weights)
    return weights


def average(fitted: list[Fitted], weights: FloatArray) -> Fitted:
    """Return the weighted mean of the coefficients of all strategies."""
    return Fitted(
        np.tensordot(weights, np.stack([one.coef for one in fitted]), axes=1),
        np.tensordot(weights, np.stack([one.fold_coef for one in fitted]), axes=1),
    )


def soft_weights(losses: FloatArray, w: FloatArray, dataset_weights: FloatArray) -> FloatArray:
    """Return weights (S,) that fall with the standardised distance to the best strategy."""
    mean, difference, error = summarise(losses, w, dataset_weights)
    z = np.where(difference > 0, difference / np.where(error > 0, error, np.inf), 0.0)
    z = np.where((difference > 0) & (error == 0), np.inf, z)
    weights = np.where(mean <= FARTHEST * mean.min(), np.exp(-0.5 * z**2), 0.0)
    found: FloatArray = weights / weights.sum()
    return found


def summarise(
    losses: FloatArray, w: FloatArray, dataset_weights: FloatArray, candidates: int | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return errors (S,), differences to the least and standard errors of the differences.

    The least is that of the first `candidates` strategies, by default of all.
    """
    parts = paired_parts(losses, w, dataset_weights)
    mean = parts.sum(axis=1)
    difference = parts - parts[np.argmin(mean[:candidates])]
    count = parts.shape[1]
    size = 2.0 ** np.frexp(np.abs(difference).max())[1]  # losses of 1e240 have no squares
    away = (difference - difference.mean(axis=1, keepdims=True)) / size
    error = np.sqrt(count / max(count - 1, 1) * np.sum(away**2, axis=1)) * size
    return mean, difference.sum(axis=1), error


def paired_parts(losses: FloatArray, w: FloatArray, dataset_weights: FloatArray) -> FloatArray:
    """Return parts of the mean error, by dataset or by cell; they sum to the errors (S,)."""
    parts = losses / w * dataset_weights
    if losses.shape[-1] >= FEWEST_DATASETS:
        total: FloatArray = parts.sum(axis=1)
        return total
    return parts.reshape(len(losses), -1)
