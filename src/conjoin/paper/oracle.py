"""Theorem 1: whether joining lowers the expected error, given the true coefficients.

Units and the truth enter; variance saved, bias added and their difference leave.

==========  ====================================================================
symbol      meaning
==========  ====================================================================
beta_k      true coefficients of dataset k
sigma2      noise variance, the same in all datasets
G_C         Gram matrix of a cluster C, sum of its datasets' G_j
b_k         E[fit of C | X] - beta_k = G_C^-1 sum_j G_j (beta_j - beta_k)
variance    sigma2 tr(W_k E[G_C^-1])
bias        E[b_k' W_k b_k]
==========  ====================================================================

For two datasets, joining saves the variance `phi = A0 sigma2` and adds the bias
`psi = delta' B0 delta`, so it helps exactly where phi > psi. The same sums apply to clusters of any
size; Theorem 1 is the case of two datasets.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray
from conjoin.checks import check_count
from conjoin.criterion.base import PairScore, Unit
from conjoin.errors import ArgumentError
from conjoin.paper.design import Gaussian, known_designs


@dataclass(frozen=True, eq=False)
class Member:
    """One dataset: possible Gram matrices (B, p, p), second moment (p, p), coefficients (p,)."""

    G: FloatArray
    W: FloatArray
    beta: FloatArray


def expected_excess(members: list[Member], sigma2: float) -> tuple[float, float]:
    """Return variance and bias of the joint fit, summed over the members."""
    G_C = np.sum([member.G for member in members], axis=0)
    inverse = linalg.inverse(G_C)
    pull = np.sum([linalg.matvec(m.G, np.broadcast_to(m.beta, m.G.shape[:-1])) for m in members], 0)
    centre = linalg.matvec(inverse, pull)
    variance = sum(sigma2 * float(np.mean(linalg.trace_product(m.W, inverse))) for m in members)
    bias = sum(float(np.mean(linalg.quadratic(centre - m.beta, m.W))) for m in members)
    return variance, bias


@dataclass(frozen=True)
class Oracle:
    """Decide with the true coefficients: a reference that no method for real data can beat.

    Parameters
    ----------
    truth : mapping of dataset name to (intercept, slopes)
        True coefficients in the units of the data.
    sigma2 : float
        Noise variance in squared units of the target.
    known : mapping of dataset name to Gaussian
        Distributions of the features.
    draws : int, default 1000
        Designs drawn for each expectation.

    Raises
    ------
    ArgumentError
        If `sigma2` is negative, `draws` is not a positive whole number, or (in `prepare`) a
        dataset has no entry in `truth` or `known`.

    Examples
    --------
    >>> from conjoin import compare
    >>> from conjoin.datasets import make_pair
    >>> pair = make_pair(p=5, n=40, d=0.0)
    >>> compare(*pair.tables().values(), target="y", method=pair.oracle()).join
    True
    """

    truth: Mapping[str, tuple[float, FloatArray]] = field(repr=False)
    sigma2: float
    known: Mapping[str, Gaussian] = field(repr=False)
    draws: int = 1000  # as many as Algorithm 2 takes resamples ("Choice of Hyperparameters")

    def __post_init__(self) -> None:
        check_count("draws", self.draws)
        if not self.sigma2 >= 0:
            raise ArgumentError(f"sigma2={self.sigma2!r} is not a variance; expected at least 0.")

    @property
    def threshold(self) -> float:
        """Join where the expected gain is positive."""
        return 0.0

    def prepare(self, unit: Unit, seed: int) -> tuple[Unit, list[Member]]:
        """Draw designs of each dataset's own size."""
        basis, members = unit.basis, []
        for name, size in zip(unit.names, unit.sizes):
            if name not in self.truth:
                raise ArgumentError(
                    f"truth has no coefficients for dataset {name!r}; pass (intercept, slopes)."
                )
            intercept, slopes = self.truth[name]
            beta = basis.from_original(np.asarray(intercept), np.asarray(slopes, dtype=float))
            alone = Unit((name,), (size,), unit.Z[:0], unit.t[:0], unit.weights[:0], basis)
            designs = known_designs(alone, self.known, size, self.draws, seed)
            members.append(Member(designs.G, designs.W, beta))
        return unit, members

    def compare(self, a: tuple[Unit, list[Member]], b: tuple[Unit, list[Member]]) -> PairScore:
        """Return the variance saved (phi), the bias added (psi) and their difference."""
        (unit, one), (_, two) = a, b
        sigma2 = self.sigma2 / unit.basis.target_scale**2
        own = np.add(expected_excess(one, sigma2), expected_excess(two, sigma2))
        joint = expected_excess([*one, *two], sigma2)
        phi, psi = float(own[0] - joint[0]), float(joint[1] - own[1])
        return PairScore(phi - psi, phi > psi, phi, psi)
