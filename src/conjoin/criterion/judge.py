"""Verdicts and gains of many merges at once, as `verdict.judge` and `judge_merge` give them singly.

A side of a comparison is made of sums over its datasets, and both tests run on stacks of sides; one
call for a hundred merges takes a few times as long as one call for one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.criterion.verdict import (
    Answer,
    Comparison,
    Side,
    cluster_noise,
    gain_ends,
    own_minus_joint,
)
from conjoin.models.likelihood import Backing, Joins
from conjoin.models.ols import fit_ols
from conjoin.moments import Moments

BATCH = 16  # comparisons at once: each batch takes as many steps as its slowest one
PAIRS = 4096  # gains of pairs at once
MOST_EXACT = 500  # gains up to which what joining costs is found by fits of its own
MOST_VALIDATED = 250  # the same where rows are too few for moments, and folds have to tell
MOST_STRETCH = 20.0
LEAN = 4.0  # rows that the pooled noise of two datasets counts for, as in `models.noise`

Pair = tuple[Sequence[int], Sequence[int]]


@dataclass(frozen=True, eq=False)
class Judge:
    """Datasets (K,) of which groups are to be compared.

    Parameters
    ----------
    moments : Moments (K,)
    rss, df : arrays (K,)
        Residual squares of the datasets' own fits and their degrees of freedom.
    backing : Backing, optional
        For a likelihood: what there is to go by. Where that is too little for coefficients to be
        close to normal, pairs are left undecided.
    joins : Joins, optional
        For a likelihood: what joining really costs. Gains and intervals are brought to that.
    validated : callable, optional
        For a likelihood: the gain of a pair as left-out rows have it. It stands where there is too
        little to go by: there moments know next to nothing of how steep the loss is.
    """

    moments: Moments
    rss: FloatArray
    df: FloatArray
    backing: Backing | None = None
    joins: Joins | None = None
    validated: Callable[[Pair], float] | None = None

    @classmethod
    def of(
        cls,
        moments: Moments,
        backing: Backing | None = None,
        joins: Joins | None = None,
        validated: Callable[[Pair], float] | None = None,
    ) -> "Judge":
        """Fit every dataset by itself."""
        fit = fit_ols(moments)
        return cls(moments, fit.rss, moments.n - fit.rank, backing, joins, validated)

    def verdicts(
        self, pairs: Sequence[Pair], *, delta: float, interval: bool
    ) -> tuple[list[Answer], FloatArray]:
        """Return the verdict on joining each pair of groups and the ends (B, 2) for its gain.

        Every dataset counts the same. Without `interval` the ends say no more than the verdict.
        """
        answers: list[Answer] = ["undecided"] * len(pairs)
        ends = np.tile([-np.inf, np.inf], (len(pairs), 1))
        nu = [min(self.df[list(a)].sum(), self.df[list(b)].sum()) for a, b in pairs]
        # Pairs with few degrees of freedom need a finer grid; like goes with like.
        order = np.argsort(nu, kind="stable")
        order = order[self.enough(pairs)[order]]
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH].tolist()
            one, two = self._sides([pairs[i] for i in some])
            tests = Comparison.of(one, two, delta, equal_noise=False)
            join, apart = tests.decide()
            if interval:
                with np.errstate(invalid="ignore"):  # of pairs of which nothing is known
                    stretch = self._stretches([pairs[i] for i in some])
                    low, high = gain_ends(tests, delta, join, apart, stretch)
            else:
                low, high = np.where(join, 0.0, -np.inf), np.where(apart, 0.0, np.inf)
            ends[some] = np.stack([low, high], axis=1)
            for i, joined, parted in zip(some, join, apart):
                answers[i] = "join" if joined else "apart" if parted else "undecided"
        return answers, ends

    def _stretches(self, pairs: Sequence[Pair]) -> FloatArray:
        """Return by what factor joining costs more than moments say, (B,)."""
        if self.joins is None:
            return np.ones(len(pairs))
        by_moments, really = self.joins.costs(pairs)
        ratio = really / np.where(by_moments > 0, by_moments, 1.0)
        return np.where(by_moments > 0, np.clip(ratio, 1 / MOST_STRETCH, MOST_STRETCH), 1.0)

    def enough(self, pairs: Sequence[Pair]) -> BoolArray:
        """Say for which pairs both sides have rows enough for a verdict, of the same classes."""
        if self.backing is None or not pairs:
            return np.ones(len(pairs), dtype=bool)
        sides = self.backing.of([side for pair in pairs for side in pair])
        both: BoolArray = sides.enough(self.moments.p // self.moments.outputs).reshape(-1, 2)
        return np.asarray(both.all(axis=1) & ~sides.lacking())

    def _sides(self, pairs: Sequence[Pair]) -> tuple[Side, Side]:
        weights = np.array([1 / (len(a) + len(b)) for a, b in pairs])
        one, two = (self._stack([pair[side] for pair in pairs], weights) for side in (0, 1))
        return one, two

    def _stack(self, groups: Sequence[Sequence[int]], weights: FloatArray) -> Side:
        """Return groups as a stack of sides, each dataset counting its group's weight."""
        m, W = self.moments, self.moments.W
        index = [np.asarray(group, dtype=int) for group in groups]

        def total(values: FloatArray) -> FloatArray:
            return np.stack([values[i].sum(axis=0) for i in index])

        G, n, nu = total(m.G), total(m.n), total(self.df)
        inverse, rank = linalg.inverse_and_rank(G)
        s2 = cluster_noise(total(np.where(self.df > 0, self.rss, 0.0)), total(m.q), nu)
        return Side(
            G=G,
            inverse=inverse,
            beta=linalg.matvec(inverse, total(m.h)),
            rank=rank.astype(float),
            n=n,
            A=weights[:, None, None] * total(W),
            s2=s2,
            nu=nu,
        )

    def gains(self, pairs: Sequence[Pair]) -> FloatArray:
        """Return the estimated fall (B,) of the error when each pair of groups is joined."""
        gains = self._gains(pairs)
        enough = self.enough(pairs)
        if self.joins is not None and len(pairs) <= MOST_EXACT:
            known = np.flatnonzero(enough)
            by_moments, really = self.joins.costs([pairs[i] for i in known.tolist()])
            gains[known] -= really - by_moments
        poor = np.flatnonzero(~enough).tolist()
        if self.validated is not None and len(poor) <= MOST_VALIDATED:
            gains[poor] = [self.validated(pairs[i]) for i in poor]
        return gains

    def _gains(self, pairs: Sequence[Pair]) -> FloatArray:
        """Return the gains by moments."""
        single = np.array([len(a) == len(b) == 1 for a, b in pairs], dtype=bool)
        gains = np.empty(len(pairs))
        if single.any():
            left, right = np.array(
                [(a[0], b[0]) for (a, b), alone in zip(pairs, single) if alone]
            ).T
            gains[single] = self.pair_gains(left, right)
        for i in np.flatnonzero(~single).tolist():
            sides = [self.moments[list(side)] for side in pairs[i]]
            count = sum(side.shape[0] for side in sides)
            gains[i] = own_minus_joint(
                sides, [np.full(side.shape[0], 1 / count) for side in sides], None
            )
        return gains

    def pair_gains(self, left: IntArray, right: IntArray) -> FloatArray:
        """Return the same for pairs of single datasets, left (B,) with right (B,)."""
        parts = [
            self._pair_gains(left[start : start + PAIRS], right[start : start + PAIRS])
            for start in range(0, len(left), PAIRS)
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def _pair_gains(self, left: IntArray, right: IntArray) -> FloatArray:
        """Return `criterion.risk.cluster_errors` of either dataset alone less those of both."""
        m = self.moments
        both = np.stack([left, right])  # (2, B)
        noise = self._pair_noise(both)
        G = m.G[left] + m.G[right]
        inverse, rank = linalg.inverse_and_rank(G)
        beta = linalg.matvec(inverse, m.h[left] + m.h[right])
        n, w, N = m.n[both], m.w[both], m.n[left] + m.n[right]
        spread = inverse @ (
            noise[0, :, None, None] * m.G[left] + noise[1, :, None, None] * m.G[right]
        )
        spread = spread @ inverse
        joint, own = np.zeros(len(left)), np.zeros(len(left))
        for side, index in enumerate(both):
            s2, rows = noise[side], n[side]
            v = linalg.trace_product(m.G[index], spread) / rows
            h = linalg.trace_product(m.G[index], inverse) / rows
            room = np.where(h < 1 - 1e-9, (1 - h) ** 2, np.inf)
            bias = (m[index].sse(beta) / rows - s2 * (1 - 2 * h) - v) / room
            error = s2 + bias + v * _new(N, rank)
            joint += np.where(N > rank + 1, error * rows / w[side], np.inf) / 2
            own += self._own_errors(index, s2) / 2
        unknown = np.where(np.isinf(joint), np.nan, np.inf)
        known = np.isfinite(own)
        gain: FloatArray = np.where(known, own, 0.0) - np.where(known, joint, 0.0)
        return np.where(known, gain, unknown)

    def _pair_noise(self, both: IntArray) -> FloatArray:
        """Return noise variances (2, B) of pairs, as `models.noise` has them for two datasets."""
        m, df = self.moments, np.maximum(self.df[both], 0.0)
        rss, q, n = self.rss[both], m.q[both].sum(axis=0), m.n[both].sum(axis=0)
        tiny = np.finfo(float).tiny
        floor = 1e-12 * q / n + tiny
        total = df.sum(axis=0)
        pooled = np.maximum(rss.sum(axis=0) / np.where(total > 0, total, 1.0), floor)
        shrunk = np.maximum((rss + LEAN * pooled) / (df + LEAN), floor)
        return np.where(total > 0, shrunk, q / np.maximum(n, 1.0))

    def _own_errors(self, index: IntArray, noise: FloatArray) -> FloatArray:
        """Return the error of single datasets' own fits, given their noise (B,)."""
        n, w = self.moments.n[index], self.moments.w[index]
        rank = n - self.df[index]
        rows = np.maximum(n, 1.0)
        h, v = rank / rows, noise * rank / rows
        room = np.where(h < 1 - 1e-9, (1 - h) ** 2, np.inf)
        bias = (self.rss[index] / rows - noise * (1 - 2 * h) - v) / room
        error = (noise + bias + v * _new(n, rank)) * n / w
        return np.where(n > rank + 1, error, np.inf)


def _new(n: FloatArray, rank: FloatArray | IntArray) -> FloatArray:
    """Return n/(n - rank - 1), by how much variance is larger at new rows; 0 if unknown."""
    left = n - rank - 1
    return np.where(left > 0, n / np.where(left > 0, left, 1.0), 0.0)
