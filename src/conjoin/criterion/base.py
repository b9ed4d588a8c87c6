"""What every criterion takes and returns.

Rows of datasets enter as units; a score of each pair leaves. A unit is a dataset, or datasets that
are already joined.

A criterion gives a score to two units. The larger the score, the better it is to join them; units
are joined where it is above `threshold`. `prepare` does the work that does not depend on the
partner, such as resampling, once for each unit. `compare` takes two prepared units.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from conjoin._typing import FloatArray
from conjoin.moments import Basis, Moments


@dataclass(frozen=True, eq=False)
class Unit:
    """A dataset, or datasets already joined, in working coordinates.

    Parameters
    ----------
    names : tuple of str
        The datasets in it, sorted.
    sizes : tuple of int
        The number of rows of each, in the order of `names`.
    Z : array, shape (n, p)
        Design matrix in the coordinates of `basis`, rows of one dataset after another.
    t : array, shape (n,)
        Target in the coordinates of `basis`.
    weights : array, shape (n,)
        Row weights.
    basis : Basis
        Shared by all units of a collection.
    title : str, default ""
        What messages call it, if not by its names. Random draws depend on the names only.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    Z: FloatArray
    t: FloatArray
    weights: FloatArray
    basis: Basis
    title: str = ""

    @cached_property
    def moments(self) -> Moments:
        """Moments of all rows."""
        return Moments.from_rows(self.Z, self.t, self.weights)

    @cached_property
    def member_moments(self) -> Moments:
        """Moments of each of its datasets, (K,)."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        return Moments.by_dataset(self.Z, self.t, starts, self.weights)

    @property
    def label(self) -> str:
        """The unit's name in messages."""
        return self.title or " + ".join(self.names)

    def union(self, other: "Unit") -> "Unit":
        """Return both units as one; the order of the two does not matter."""
        parts = sorted([*self._datasets(), *other._datasets()], key=lambda part: part[0])
        return Unit(
            names=tuple(name for name, *_ in parts),
            sizes=tuple(len(t) for _, _, t, _ in parts),
            Z=np.concatenate([Z for _, Z, _, _ in parts]),
            t=np.concatenate([t for _, _, t, _ in parts]),
            weights=np.concatenate([w for *_, w in parts]),
            basis=self.basis,
        )

    def _datasets(self) -> list[tuple[str, FloatArray, FloatArray, FloatArray]]:
        """Return name, design, target and weights of each dataset."""
        cuts = np.cumsum(self.sizes)[:-1]
        return list(
            zip(
                self.names,
                np.split(self.Z, cuts),
                np.split(self.t, cuts),
                np.split(self.weights, cuts),
            )
        )


@dataclass(frozen=True)
class PairScore:
    """What a criterion says about two units.

    Parameters
    ----------
    score : float
        The larger, the better it is to join.
    join : bool
        Whether the score is above the criterion's threshold.
    phi, psi : float, default nan
        The two sides of the paper's inequality, for criteria that have them: join where
        phi >= psi.
    alpha : float, default nan
        The value used for log(1/delta) in phi and psi.
    proxy_acc : float, default nan
        Algorithm 2's proxy accuracy, whatever rule makes the decision.
    """

    score: float
    join: bool
    phi: float = float("nan")
    psi: float = float("nan")
    alpha: float = float("nan")
    proxy_acc: float = float("nan")


class Criterion(Protocol):
    """One `prepare` for each unit, one `compare` for each pair, one threshold for the score."""

    @property
    def threshold(self) -> float:
        """Units are joined where the score is above it."""

    def prepare(self, unit: Unit, seed: int) -> Any:
        """Return what `compare` needs of a unit. Random draws depend only on seed and names."""

    def compare(self, a: Any, b: Any) -> PairScore:
        """Score two prepared units."""
