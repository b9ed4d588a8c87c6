"""The constants of Theorem 1 that depend on the distribution of the features alone.

==========  ============================================================  ==============
symbol      meaning                                                       where
==========  ============================================================  ==============
W_k         E[x x'] of dataset k                                          Lemma 2
G_k, G_c    X'X of dataset k, and their sum                               Theorem 1
Z_k         G_c^-1 G_k                                                    Lemma 2
A0          tr(W1 E[G1^-1 - Gc^-1] + W2 E[G2^-1 - Gc^-1])                 Theorem 1
B0          E[Z1' W2 Z1] + E[Z2' W1 Z2]                                   Theorem 1
==========  ============================================================  ==============

Expectations are averages over a stack of designs. These are drawn from a known normal
distribution, or resampled from rows. Designs enter; A0 and B0 of a pair leave.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray
from conjoin.criterion.base import Unit
from conjoin.errors import ArgumentError
from conjoin.moments.resample import stream


@dataclass(frozen=True, eq=False)
class Designs:
    """Possible designs of one unit: W (p, p), Gram matrices G (B, p, p) and their mean inverse."""

    W: FloatArray
    G: FloatArray
    mean_inverse: FloatArray

    @classmethod
    def from_grams(cls, W: FloatArray, G: FloatArray) -> "Designs":
        """Take a stack of Gram matrices (B, p, p) and the second moment W (p, p)."""
        return cls(W, G, np.mean(linalg.inverse(G), axis=0))


@dataclass(frozen=True, eq=False)
class DesignConstants:
    """A0 and B0 (p, p) of a pair, with a root (p, p) of B0: root' root = B0."""

    A0: float
    B0: FloatArray
    root: FloatArray

    @classmethod
    def of(cls, A0: float, B0: FloatArray) -> "DesignConstants":
        """Compute the root of B0."""
        return cls(A0, B0, linalg.square_root(B0))


def design_constants(one: Designs, two: Designs) -> DesignConstants:
    """Return A0 and B0 as averages over paired stacks of designs."""
    Gc_inverse = linalg.inverse(one.G + two.G)
    spread_c = np.mean(Gc_inverse, axis=0)
    A0 = linalg.trace_product(one.W, one.mean_inverse - spread_c)
    A0 = A0 + linalg.trace_product(two.W, two.mean_inverse - spread_c)
    Z1 = np.matmul(Gc_inverse, one.G)
    Z2 = np.matmul(Gc_inverse, two.G)
    B0 = _mean_sandwich(Z1, two.W) + _mean_sandwich(Z2, one.W)
    return DesignConstants.of(float(A0), linalg.symmetrise(B0))


def _mean_sandwich(Z: FloatArray, W: FloatArray) -> FloatArray:
    """Return E[Z' W Z] as one product of tall matrices."""
    KZ = np.matmul(linalg.square_root(W), Z).reshape(-1, Z.shape[-1])
    product: FloatArray = KZ.T @ KZ / len(Z)
    return product


@dataclass(frozen=True, eq=False)
class Gaussian:
    """A known normal distribution of a dataset's features, in the units of the data.

    Parameters
    ----------
    mean : array, shape (p,)
    covariance : array, shape (p, p)

    Raises
    ------
    ArgumentError
        If the shapes do not fit together.

    Examples
    --------
    >>> Gaussian([0.0, 2.0], [[1.0, 0.0], [0.0, 1.0]]).second_moment.tolist()
    [[1.0, 0.0], [0.0, 5.0]]
    """

    mean: FloatArray
    covariance: FloatArray

    def __post_init__(self) -> None:
        mean = np.atleast_1d(np.asarray(self.mean, dtype=np.float64))
        covariance = np.atleast_2d(np.asarray(self.covariance, dtype=np.float64))
        if covariance.shape != (len(mean), len(mean)):
            raise ArgumentError(
                f"covariance has shape {covariance.shape}, but mean has {len(mean)} entries; "
                f"pass a {len(mean)} x {len(mean)} matrix."
            )
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "covariance", covariance)

    @property
    def second_moment(self) -> FloatArray:
        """E[x x']."""
        return self.covariance + np.outer(self.mean, self.mean)

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Draw rows, shape (*shape, features)."""
        root = linalg.square_root(self.covariance)
        return self.mean + rng.standard_normal((*shape, len(self.mean))) @ root


def known_designs(
    unit: Unit, known: Mapping[str, Gaussian], n: int, draws: int, seed: int
) -> Designs:
    """Draw `draws` designs of n rows from the known distribution of a unit.

    For datasets already joined, each gives rows in proportion to its size.
    """
    missing = [name for name in unit.names if name not in known]
    if missing:
        raise ArgumentError(
            f"known has no distribution for dataset {missing[0]!r}; pass a Gaussian for each "
            "dataset, or leave known=None to estimate the constants from rows."
        )
    shares = np.asarray(unit.sizes) / sum(unit.sizes)
    counts = np.diff(np.round(np.concatenate([[0.0], np.cumsum(shares)]) * n).astype(int))
    W, G = 0.0, 0.0
    for name, share, count in zip(unit.names, shares, counts):
        gaussian = known[name]
        W = W + share * working_second_moment(unit, gaussian)
        Z = unit.basis.design(gaussian.draw((draws, int(count)), stream(seed, "known", name)))
        G = G + np.matmul(np.swapaxes(Z, -1, -2), Z)
    return Designs.from_grams(np.asarray(W), np.asarray(G))


def working_second_moment(unit: Unit, gaussian: Gaussian) -> FloatArray:
    """Return E[z z'] (p, p) of a design row z in the coordinates of the unit's basis."""
    basis = unit.basis
    mean = (gaussian.mean - basis.center) / basis.scale
    second = gaussian.covariance / np.outer(basis.scale, basis.scale) + np.outer(mean, mean)
    if not basis.intercept:
        return second
    return np.block([[np.ones((1, 1)), mean[None, :]], [mean[:, None], second]])
