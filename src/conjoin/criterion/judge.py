"""Verdicts and gains of many pairs of clusters at once.

Moments of datasets (K,) and pairs of groups of them (by number) enter; verdicts, confidence limits
and estimated gains leave. `tests/reference/pair_verdict.py` does the same for one pair of datasets.

A side of a comparison is made of sums over its datasets, and both tests run on stacks of sides. So
a hundred pairs take only a few times as long as one.

A cluster enters by its joint fit. Its noise is one variance, from the residuals of its datasets'
own fits. The level of a verdict is exact where the datasets inside a cluster have the same
coefficients, or where weights are proportional to rows. Otherwise the gain also depends on how far
the joint fit of a cluster is from its datasets, which is neglected. The level holds for a pair
chosen beforehand: for the best of many pairs, false joins are more frequent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.criterion.interval import gain_limits
from conjoin.criterion.pair_tests import PairTests
from conjoin.criterion.risk import cluster_errors, joining_gain, own_errors, weighted_gain
from conjoin.criterion.robust import heavy_tailed, robust_tests, without_exact_rows
from conjoin.criterion.side import Side, residual_variance
from conjoin.criterion.verdict import Answer
from conjoin.models.backing import Backing
from conjoin.models.likelihood import Joins
from conjoin.models.noise import noise_variances, pair_noise
from conjoin.models.ols import fit_ols
from conjoin.models.scatter import Scatter
from conjoin.moments import Moments

# Comparisons tested together. Larger batches save calls, but each batch takes as many grid points
# and search steps as its hardest pair.
BATCH = 16
# Gains of pairs of datasets computed together. It bounds the memory for stacks of Gram matrices: at
# 50 columns one stack of 4,096 takes 80 MB. The result does not depend on it.
PAIRS = 4096
# Most pairs for which a likelihood is fitted again to find the exact cost of joining. It bounds the
# time, since each pair needs a fit to its rows; beyond it the gains by moments are used.
MOST_EXACT = 500
# The same for gains by cross-validation, which need one fit for each fold.
MOST_VALIDATED = 250
# Largest factor between the exact cost of joining and its estimate by moments, and its inverse. It
# keeps an estimate near zero from moving a confidence limit to infinity or to nothing.
MOST_STRETCH = 20.0

Pair = tuple[Sequence[int], Sequence[int]]


@dataclass(frozen=True, eq=False)
class Judged:
    """Verdicts on pairs of groups (B,).

    Parameters
    ----------
    answers : tuple of "join", "apart" or "undecided"
    limits : array (B, 2)
        Confidence limits of the gain.
    p_values : array (B,)
        Of the test behind the answer: the smaller one of the two tests, for "join" and for
        "apart". Exactly one of their null hypotheses is true, so the smaller one needs no
        correction. One where nothing could be tested.
    heavy : array of bool (B,)
        Where a few rows carry the fits, so that the upper limit is unknown.
    """

    answers: tuple[Answer, ...]
    limits: FloatArray
    p_values: FloatArray
    heavy: BoolArray


@dataclass(frozen=True, eq=False)
class Judge:
    """Datasets (K,) of which groups are to be compared.

    Parameters
    ----------
    moments : Moments (K,)
    rss, df : arrays (K,)
        Residual sums of squares of the datasets' own fits and their degrees of freedom.
    backing : Backing, optional
        For a likelihood: the rows and the information behind each dataset. Where these are too few
        for coefficients to be close to normal, pairs are left undecided.
    joins : Joins, optional
        For a likelihood: the exact cost of joining. It corrects gains and confidence limits.
    validated : callable, optional
        For a likelihood: the gain of a pair on held-out rows. It is used where `backing` is too
        small, since moments then describe the loss badly.
    scatter : Scatter (K,), optional
        How far the scores of rows scatter. With it verdicts and gains allow noise that depends on
        the columns; without it all rows of a dataset have the same normal noise.
    """

    moments: Moments
    rss: FloatArray
    df: FloatArray
    backing: Backing | None = None
    joins: Joins | None = None
    validated: Callable[[Pair], float] | None = None
    scatter: Scatter | None = None

    @classmethod
    def of(
        cls,
        moments: Moments,
        backing: Backing | None = None,
        joins: Joins | None = None,
        validated: Callable[[Pair], float] | None = None,
        scatter: Scatter | None = None,
    ) -> "Judge":
        """Fit every dataset by itself."""
        fit = fit_ols(moments)
        return cls(moments, fit.rss, moments.n - fit.rank, backing, joins, validated, scatter)

    def verdicts(
        self, pairs: Sequence[Pair], *, delta: float, interval: bool
    ) -> tuple[list[Answer], FloatArray]:
        """Return the verdict on joining each pair of groups and the limits (B, 2) for its gain."""
        found = self.judge(pairs, delta=delta, interval=interval)
        return list(found.answers), found.limits

    def judge(self, pairs: Sequence[Pair], *, delta: float, interval: bool) -> Judged:
        """Judge the joins of pairs of groups.

        Every dataset counts the same. Without `interval` the limits say no more than the verdict.
        """
        found = self._tested(pairs, delta=delta, interval=interval)
        answers, p_values = list(found.answers), found.p_values.copy()
        decided = [i for i, answer in enumerate(answers) if answer != "undecided"]
        for i in self._contradicted(pairs, answers, decided):
            answers[i], p_values[i] = "undecided", 1.0
        return replace(found, answers=tuple(answers), p_values=p_values)

    def are_apart(self, pairs: Sequence[Pair], *, delta: float) -> BoolArray:
        """Say which pairs of groups have the verdict "apart" (B,); it takes less time."""
        answers = self._tested(pairs, delta=delta, interval=False).answers
        apart = np.array([answer == "apart" for answer in answers], dtype=bool)
        apart[self._contradicted(pairs, answers, np.flatnonzero(apart).tolist())] = False
        return apart

    def _tested(self, pairs: Sequence[Pair], *, delta: float, interval: bool) -> Judged:
        """Return what the tests alone say."""
        answers: list[Answer] = ["undecided"] * len(pairs)
        limits = np.tile([-np.inf, np.inf], (len(pairs), 1))
        p_values, heavy = np.ones(len(pairs)), np.zeros(len(pairs), dtype=bool)
        nu = [min(self.df[list(a)].sum(), self.df[list(b)].sum()) for a, b in pairs]
        # Pairs with few degrees of freedom need a finer grid: batches hold pairs of like size.
        order = np.argsort(nu, kind="stable")
        order = order[self.enough(pairs)[order]]
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH].tolist()
            asked = [pairs[i] for i in some]
            tests, heavy[some] = self._tests(asked, delta)
            p = tests.p_values()
            alone = self._p_without_exact_rows(asked, p[1], delta)
            # Without a verdict, such rows leave the upper limit open.
            heavy[some] |= (p[1] <= delta) & (alone > delta)
            p[1] = alone
            p_values[some] = p.min(axis=0)
            join, apart = tests.decide_by(p)
            if interval:
                with np.errstate(invalid="ignore"):  # inf - inf of pairs that cannot be tested
                    stretch = self._stretches(asked)
                    low, high = gain_limits(tests, delta, join, apart, stretch)
            else:
                low, high = np.where(join, 0.0, -np.inf), np.where(apart, 0.0, np.inf)
            high = np.where(heavy[some] & ~apart, np.inf, high)
            limits[some] = np.stack([low, high], axis=1)
            for i, joined, parted in zip(some, join, apart):
                answers[i] = "join" if joined else "apart" if parted else "undecided"
        return Judged(tuple(answers), limits, p_values, heavy)

    def _contradicted(
        self, pairs: Sequence[Pair], answers: Sequence[Answer], decided: Sequence[int]
    ) -> list[int]:
        """Return those decided verdicts on numbers whose estimated gain has the other sign.

        The robust test and the unbiased estimate see the noise in different ways. Where they point
        in different directions, an interval around both has zero inside. So nothing is decided.
        """
        if self.scatter is None or self.joins is not None or not decided:
            return []
        gains = self._gains([pairs[i] for i in decided])
        signs = np.array([1.0 if answers[i] == "join" else -1.0 for i in decided])
        return [i for i, against in zip(decided, signs * gains < 0) if against]

    def _tests(self, pairs: Sequence[Pair], delta: float) -> tuple[PairTests, BoolArray]:
        """Return the tests of pairs, and where a few rows carry the fits (B,)."""
        sides = self._sides(pairs)
        if self.scatter is None:
            tests = PairTests.of(*sides, delta=delta, equal_noise=False)
            return tests, np.zeros(len(pairs), dtype=bool)
        scatters = self._scatters(pairs)
        return robust_tests(sides, scatters, delta), heavy_tailed(scatters)

    def _p_without_exact_rows(
        self, pairs: Sequence[Pair], p: FloatArray, delta: float
    ) -> FloatArray:
        """Return the p-values (B,) for "apart", no less than without rows that are fitted exactly.

        Nothing is known of the noise of such a row. Pairs that are not apart anyway keep theirs.
        """
        found = p.copy()
        if self.scatter is None or self.scatter.alone is None:
            return found
        known = np.abs(self.scatter.alone).sum(axis=(1, 2, 3)) > 0
        some = [
            i
            for i, pair in enumerate(pairs)
            if p[i] <= delta and any(len(side) == 1 and known[side[0]] for side in pair)
        ]
        if some:
            asked = [pairs[i] for i in some]
            rest = without_exact_rows(self._sides(asked), self._scatters(asked))
            found[some] = np.maximum(p[some], robust_tests(*rest, delta).p_values()[1])
        return found

    def _scatters(self, pairs: Sequence[Pair]) -> tuple[Scatter, Scatter]:
        """Return the scatter of both sides of pairs, as stacks (B,)."""
        assert self.scatter is not None
        n = self.moments.n
        one, two = (
            self.scatter.stack([np.asarray(pair[side], dtype=int) for pair in pairs], n)
            for side in (0, 1)
        )
        return one, two

    def _stretches(self, pairs: Sequence[Pair]) -> FloatArray:
        """Return the exact cost of joining over its estimate by moments, (B,)."""
        if self.joins is None:
            return np.ones(len(pairs))
        by_moments, exact = self.joins.costs(pairs)
        ratio = exact / np.where(by_moments > 0, by_moments, 1.0)
        return np.where(by_moments > 0, np.clip(ratio, 1 / MOST_STRETCH, MOST_STRETCH), 1.0)

    def enough(self, pairs: Sequence[Pair]) -> BoolArray:
        """Say for which pairs (B,) both sides have enough rows for a verdict, in all classes."""
        if self.backing is None or not pairs:
            return np.ones(len(pairs), dtype=bool)
        sides = self.backing.of([side for pair in pairs for side in pair])
        both: BoolArray = sides.enough(self.moments.p // self.moments.outputs).reshape(-1, 2)
        return np.asarray(both.all(axis=1) & ~sides.lacking())

    def _sides(self, pairs: Sequence[Pair]) -> tuple[Side, Side]:
        """Return both sides of pairs as stacks (B,)."""
        weights = np.array([1 / (len(a) + len(b)) for a, b in pairs])
        one, two = (self._stack([pair[side] for pair in pairs], weights) for side in (0, 1))
        return one, two

    def _stack(self, groups: Sequence[Sequence[int]], weights: FloatArray) -> Side:
        """Return groups as a stack of sides (B,); each dataset has its group's weight."""
        m = self.moments
        index = [np.asarray(group, dtype=int) for group in groups]

        alone = np.array([i[0] for i in index]) if all(len(i) == 1 for i in index) else None

        def total(values: FloatArray) -> FloatArray:
            if alone is not None:
                return values[alone]
            return np.stack([values[i].sum(axis=0) for i in index])

        G, n, nu = total(m.G), total(m.n), total(self.df)
        scales = 1 / m.w
        if alone is not None:
            second = m.G[alone] * scales[alone, None, None]
        else:
            second = np.stack([np.tensordot(scales[i], m.G[i], axes=1) for i in index])
        inverse, rank = linalg.inverse_and_rank(G)
        s2 = residual_variance(total(self._known_rss), total(m.q), nu)
        return Side(
            G=G,
            inverse=inverse,
            beta=linalg.matvec(inverse, total(m.h)),
            rank=rank.astype(float),
            n=n,
            A=weights[:, None, None] * second,
            s2=s2,
            nu=nu,
        )

    @cached_property
    def _known_rss(self) -> FloatArray:
        """Residual sums of squares (K,) of datasets that have degrees of freedom, else 0."""
        return np.where(self.df > 0, self.rss, 0.0)

    def gains(self, pairs: Sequence[Pair]) -> FloatArray:
        """Return the estimated fall (B,) of the error when each pair of groups is joined."""
        gains = self._gains(pairs)
        enough = self.enough(pairs)
        if self.joins is not None and len(pairs) <= MOST_EXACT:
            known = np.flatnonzero(enough)
            by_moments, exact = self.joins.costs([pairs[i] for i in known.tolist()])
            gains[known] -= exact - by_moments
        poor = np.flatnonzero(~enough).tolist()
        if self.validated is not None and len(poor) <= MOST_VALIDATED:
            gains[poor] = [self.validated(pairs[i]) for i in poor]
        return gains

    def _gains(self, pairs: Sequence[Pair]) -> FloatArray:
        """Return the gains (B,) by moments."""
        single = np.array([len(a) == len(b) == 1 for a, b in pairs], dtype=bool)
        gains = np.empty(len(pairs))
        if single.any():
            left, right = np.array(
                [(a[0], b[0]) for (a, b), alone in zip(pairs, single) if alone]
            ).T
            gains[single] = self.pair_gains(left, right)
        for i in np.flatnonzero(~single).tolist():
            one, two = (self.moments[list(side)] for side in pairs[i])
            K1, K2 = one.shape[0], two.shape[0]
            weights = np.full(K1, 1 / (K1 + K2)), np.full(K2, 1 / (K1 + K2))
            gains[i] = joining_gain(one, two, weights, self._group_noise(pairs[i]))
        return gains

    def pair_gains(self, left: IntArray, right: IntArray) -> FloatArray:
        """Return the same for pairs of single datasets, left (B,) with right (B,)."""
        parts = [
            self._pair_gains(np.stack([left[start : start + PAIRS], right[start : start + PAIRS]]))
            for start in range(0, len(left), PAIRS)
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def _pair_gains(self, both: IntArray) -> FloatArray:
        """Return the gains (B,) of pairs of datasets `both` (2, B)."""
        pairs = np.ascontiguousarray(both.T)
        m, noise = self.moments[pairs], self._pair_noise(both).T
        own = own_errors(m, noise, self.rss[pairs], m.n - self.df[pairs])
        return weighted_gain(own, cluster_errors(m, noise), np.array([0.5, 0.5]))

    def _pair_noise(self, both: IntArray) -> FloatArray:
        """Return noise variances (2, B) of pairs, as `models.noise` has them for two datasets."""
        m = self.moments
        noise = pair_noise(self.rss[both], self.df[both], m.q[both], m.n[both])
        return noise if self.scatter is None else noise * self.scatter.inflation[both]

    def _group_noise(self, pair: Pair) -> FloatArray:
        """Return the noise variances of the datasets of two groups, one group after the other."""
        index = np.concatenate([np.asarray(side, dtype=int) for side in pair])
        noise = noise_variances(self.moments[index])
        return noise if self.scatter is None else noise * self.scatter.inflation[index]
