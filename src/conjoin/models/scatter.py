"""How far the scores of a dataset's rows scatter: the robust covariance of its coefficients.

Enters: rows of datasets, or moments of their folds. Leaves: a `Scatter`, from which verdicts take
the covariance of coefficients, without assuming that all rows have the same noise or that the line
is the truth.

==========  ==================================================================  ============
symbol      meaning                                                             shape
==========  ==================================================================  ============
e_i, w_i    residual of row i from its dataset's own fit, weight of the row     (N,)
h_i         leverage w_i x_i' G_k^+ x_i                                         (N,)
M2, M3      sum of w_i^2 e_i^2 x_i x_i' / (1 - h_i)^a with a = 1 and a = 2      (K, p, p)
nu          degrees of freedom of tr(G^+ M2): 2 (sum u_i)^2 / sum u_i^2 with    (K,)
            u_i = h_i w_i e_i^2 / (1 - h_i), at most n - rank
inflation   tr(G^+ M2) / (s2 rank), drawn towards one: how much larger the variance   (K,)
            of the fit is than equal noise would make it
heavy       whether the largest leverage is beyond what normal columns          (K,)
            explain, or nu says that a handful of rows carries M2
==========  ==================================================================  ============

G^+ M2 G^+ and G^+ M3 G^+ are the covariances HC2 and HC3 of MacKinnon and White (1985). With equal
noise the first is unbiased. The second is too large by a factor of about 1/(1 - h) and stays large
enough where a few rows carry the fit.

The degrees of freedom are those of Satterthwaite's approximation. For normal residuals the fourth
power is three times the square of the second, so the formula gives two thirds of the rows. It
falls to two where one row carries everything.

Columns with a **heavy** tail may have values on new rows that no row at hand resembles, and no
covariance from the rows at hand can tell what such values cost. Flags are left out of it, because a
new row cannot go beyond 0 and 1. An extremely skewed target is the same: nu/2 is the number of rows
that carry the variance, and where that is a handful, new rows can have far larger residuals.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import fdtri

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.models.noise import noise_variances
from conjoin.models.ols import fit_ols
from conjoin.moments import Moments
from conjoin.moments.folds import parts_of
from conjoin.moments.gram import gram_by_dataset

# A row with 1 - h below this is fitted exactly: its residual is rounding, and nothing is known of
# its noise but that of its dataset. Rounding of h itself is near 1e-12.
EXACT_FIT = 1e-6
# Rows of which products are formed at a time: a few megabytes, which stay in the cache.
BLOCK = 20_000
# Rows looked at first, to see quickly that most columns have more than two values.
GLANCE = 1000
# Chance that normal columns count as heavy. Between 0.001 and 0.05 hardly any real table changes
# sides: leverages are either like those of normal columns or far beyond.
HEAVY_CHANCE = 0.01
# A handful of rows carries a variance: fewer than five, and less than a tenth of all. Normal
# residuals have a third of the rows, so small datasets do not count for being small.
HANDFUL, HANDFUL_SHARE = 5, 0.1
# Least degrees of freedom of a variance: the law of a ratio needs a positive number, and below one
# nothing is known anyway.
LEAST_NU = 1.0
# The inflation is drawn towards one by so many times its squared standard error over its squared
# distance from one (James and Stein's rule). At four it is one up to two standard errors: equal
# noise keeps the estimate that is best for it.
INFLATION_SHRINKAGE = 4.0
# Limits of the inflation: beyond them a handful of rows has decided it.
LEAST_INFLATION, MOST_INFLATION = 0.1, 10.0


@dataclass(frozen=True, eq=False)
class Scatter:
    """Robust second moments of the scores of datasets (K,); symbols as in the module's table.

    Parameters
    ----------
    unbiased, cautious : arrays (K, p, p)
        M2 and M3.
    nu, inflation : arrays (K,)
    heavy : array of bool (K,)
    alone : array (K, 2, p, p), optional
        Parts of G and M2 that belong to rows which are fitted exactly; None where no row is.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Z = np.column_stack([np.ones(400), rng.standard_normal(400)])
    >>> t = Z[:, 1] * rng.standard_normal(400)  # the noise grows with the column
    >>> found = Scatter.of_rows(Z, t, np.ones(400), np.array([0, 400]))
    >>> G = Z.T @ Z
    >>> slope = (np.linalg.inv(G) @ found.unbiased[0] @ np.linalg.inv(G))[1, 1]
    >>> bool(2 < slope / (np.var(t) / 400) < 4)  # three times what equal noise would give
    True
    """

    unbiased: FloatArray
    cautious: FloatArray
    nu: FloatArray
    heavy: BoolArray
    inflation: FloatArray
    alone: FloatArray | None = None

    @classmethod
    def of_rows(
        cls,
        Z: FloatArray,
        t: FloatArray,
        w: FloatArray,
        starts: IntArray,
        repeats: IntArray | None = None,
        moments: Moments | None = None,
    ) -> "Scatter":
        """Return the scatter of rows sorted by dataset; dataset k is starts[k]:starts[k+1].

        `repeats` (N,) say how often every row is there. Exact copies of a row are one observation:
        their scores are equal, so they add up before they are squared. `moments` (K,) are those of
        the rows, if they are known.
        """
        moments = Moments.by_dataset(Z, t, starts, w) if moments is None else moments
        noise = noise_variances(moments)
        return cls._of_part(Z, t, w, starts, repeats, moments, (noise, _is_flag(Z)))

    @classmethod
    def in_parts(
        cls,
        design: Callable[[slice], FloatArray],
        t: FloatArray,
        w: FloatArray,
        starts: IntArray,
        repeats: IntArray | None,
        moments: Moments,
    ) -> "Scatter":
        """Return the same where `design` makes some rows of Z; no more are there at once."""
        parts = [(slice(a, b), slice(int(starts[a]), int(starts[b]))) for a, b in parts_of(starts)]
        flag = _is_flag_in_parts(design, [rows for _, rows in parts])
        noise = noise_variances(moments)
        found = [
            cls._of_part(
                design(rows),
                t[rows],
                w[rows],
                starts[some.start : some.stop + 1] - starts[some.start],
                None if repeats is None else repeats[rows],
                moments[some],
                (noise[some], flag),
            )
            for some, rows in parts
        ]
        names = ("unbiased", "cautious", "nu", "heavy", "inflation")
        alone = None
        if any(one.alone is not None for one in found):
            alone = np.concatenate([one.known_alone for one in found])
        arrays = {name: np.concatenate([getattr(one, name) for one in found]) for name in names}
        return cls(**arrays, alone=alone)

    @classmethod
    def _of_part(
        cls,
        Z: FloatArray,
        t: FloatArray,
        w: FloatArray,
        starts: IntArray,
        repeats: IntArray | None,
        moments: Moments,
        known: tuple[FloatArray, BoolArray],
    ) -> "Scatter":
        """Return the scatter of some datasets (K,).

        `known` are their noise (K,) and which columns (p,) are flags, which all datasets decide.
        """
        sizes = np.diff(starts)
        dataset = np.repeat(np.arange(len(sizes)), sizes)
        inverse, rank = linalg.inverse_and_rank(moments.G)
        beta = linalg.matvec(inverse, moments.h)
        noise = known[0][dataset]
        squares = w * (t - _fitted(Z, beta, starts)) ** 2
        h = w * _quadratic_by_dataset(Z, inverse, starts)
        m = np.ones(len(t)) if repeats is None else repeats.astype(np.float64)
        unbiased, cautious = _scores(squares, h, m, noise)
        u = h * unbiased
        total, fourth = _sum_by(u, dataset, len(sizes)), _sum_by(m * u * u, dataset, len(sizes))
        df = _sum_by((w > 0) / m, dataset, len(sizes)) - rank
        nu = _degrees(total, fourth, df)
        rss = _sum_by(squares, dataset, len(sizes))
        return cls(
            unbiased=_meat(Z, w * unbiased, starts),
            cautious=_meat(Z, w * cautious, starts),
            nu=nu,
            heavy=_is_heavy(Z, w, starts, moments, (h, rank), known[1])
            | _is_carried_by_few(nu, moments.n),
            inflation=inflation_of(total, rss, df, rank, nu),
            alone=_of_exact_rows(Z, w, unbiased, m * h, dataset, len(sizes)),
        )

    @classmethod
    def of_blocks(
        cls, blocks: Iterable[tuple[FloatArray, FloatArray]], moments: Moments, flag: BoolArray
    ) -> tuple["Scatter", FloatArray, float]:
        """Return the scatter (1,) of one large dataset, whose rows come in blocks: one pass.

        A block is Z' (p, rows) and t (rows,); rows have no weights, and none is a copy. `moments`
        (1,) are those of all rows, `flag` (p,) says which columns have two values. Also returned
        are the largest term of each sum of squares of M2 (p,), and the largest leverage.
        """
        inverse, rank = linalg.inverse_and_rank(moments.G)
        beta, noise = (inverse @ moments.h[..., None])[0, :, 0], noise_variances(moments)
        wide_inverse, wide_rank = linalg.inverse_and_rank(moments.G[:, ~flag][:, :, ~flag])
        p = moments.p
        M2, M3, most, widest = np.zeros((1, p, p)), np.zeros((1, p, p)), np.zeros(p), 0.0
        sums, largest = np.zeros((3, 1)), 0.0
        for Z, t in blocks:
            squares = (t - beta @ Z) ** 2
            h = _quadratic(Z, inverse[0])
            unbiased, cautious = _scores(squares, h, np.ones(len(t)), noise)
            u = h * unbiased
            sums[:, 0] += u.sum(), u @ u, squares.sum()
            scaled = Z * np.sqrt(unbiased)
            M2[0] += scaled @ scaled.T
            most = np.maximum(most, np.square(scaled).max(axis=1))
            scaled = Z * np.sqrt(cautious)
            M3[0] += scaled @ scaled.T
            largest = max(largest, float(h.max()))
            if flag.any():
                h = _quadratic(Z[~flag], wide_inverse[0])
            widest = max(widest, float(h.max()))
        total, fourth, rss = sums
        df = moments.n - rank
        nu = _degrees(total, fourth, df)
        heavy = _beyond_normal(np.array([widest]), moments.n, wide_rank)
        heavy |= _is_carried_by_few(nu, moments.n)
        found = cls(M2, M3, nu, heavy, inflation_of(total, rss, df, rank, nu))
        return found, most, largest

    @classmethod
    def of_folds(cls, folds: Moments) -> "Scatter":
        """Return the scatter from moments of folds (K, F), where rows are elsewhere.

        The sums of scores of the folds have the same covariance as sums of independent rows, so
        their own second moments replace those of rows. They have one degree of freedom for each
        fold but one. Leverages are taken to be equal inside a dataset. No heavy tail is seen.
        """
        moments = folds.union(1)
        fit = fit_ols(moments)
        F = folds.shape[1]
        scores = folds.h - linalg.matvec(folds.G, fit.beta[:, None])
        meat = np.einsum("kfi,kfj->kij", scores, scores) * F / max(F - 1, 1)
        df = np.maximum(moments.n - fit.rank, 1.0)
        factor = np.maximum(moments.n, 1.0) / df
        # A dataset with fewer rows than folds, or hardly more rows than columns, says nothing so.
        poor = (moments.n < 2 * F) | (moments.n - fit.rank < F)
        equal = noise_variances(moments)[:, None, None] * moments.G
        unbiased = np.where(poor[:, None, None], equal, meat * factor[:, None, None])
        nu = np.clip(np.full(len(df), F - 1.0), LEAST_NU, df)
        total = linalg.trace_product(linalg.inverse(moments.G), unbiased)
        return cls(
            unbiased=unbiased,
            cautious=unbiased * factor[:, None, None],
            nu=nu,
            heavy=np.zeros(len(df), dtype=bool),
            inflation=inflation_of(total, fit.rss, moments.n - fit.rank, fit.rank, nu),
        )

    def stack(self, groups: Sequence[IntArray], n: FloatArray) -> "Scatter":
        """Return the scatter of unions of datasets, as a stack (B,); `n` (K,) are rows.

        Scores of a union add up. A dataset's share of the rows is about its share of the variance,
        and degrees of freedom are averaged accordingly. A union is heavy if datasets with half of
        its rows are.
        """
        if all(len(group) == 1 for group in groups):
            return self[np.array([group[0] for group in groups], dtype=int)]
        shares = [n[group] / n[group].sum() for group in groups]
        nu = [1 / np.sum(share**2 / self.nu[i]) for share, i in zip(shares, groups)]
        alone = None
        if self.alone is not None:  # a row of a union is hardly ever fitted exactly
            single = np.array([len(group) == 1 for group in groups])[:, None, None, None]
            alone = single * np.stack([self.alone[i[0]] for i in groups])
        return Scatter(
            np.stack([self.unbiased[i].sum(axis=0) for i in groups]),
            np.stack([self.cautious[i].sum(axis=0) for i in groups]),
            np.array(nu),
            np.array([share @ self.heavy[i] >= 0.5 for share, i in zip(shares, groups)]),
            np.array([share @ self.inflation[i] for share, i in zip(shares, groups)]),
            alone,
        )

    def __getitem__(self, index: Any) -> "Scatter":
        """Select datasets."""
        fields = (self.unbiased, self.cautious, self.nu, self.heavy, self.inflation)
        alone = None if self.alone is None else self.alone[index]
        unbiased, cautious, nu, heavy, inflation = (field[index] for field in fields)
        return Scatter(unbiased, cautious, nu, heavy, inflation, alone)

    @property
    def known_alone(self) -> FloatArray:
        """`alone`, with zeros where no row is fitted exactly."""
        K, p = self.unbiased.shape[0], self.unbiased.shape[-1]
        return np.zeros((K, 2, p, p)) if self.alone is None else self.alone

    def grown(self, factor: FloatArray) -> "Scatter":
        """Return the scatter (F,) of one dataset with `factor` (F,) times the rows."""
        by = factor[:, None, None]
        heavy = np.broadcast_to(self.heavy, factor.shape)
        inflation = np.broadcast_to(self.inflation, factor.shape)
        return Scatter(self.unbiased * by, self.cautious * by, self.nu * factor, heavy, inflation)


def _scores(
    squares: FloatArray, h: FloatArray, m: FloatArray, noise: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the squared scores (N,) of M2 and M3, over x_i x_i' and the weight of the row.

    `m` (N,) says how often every row is there, `noise` is the variance where a row fits exactly.
    """
    left = np.maximum(1 - m * h, 0.0)
    exact = left < EXACT_FIT
    left = np.where(exact, 1.0, left)
    unbiased = m * np.where(exact, noise, squares / left)
    cautious = m * np.where(exact, noise, squares / left**2)
    return unbiased, cautious


def _of_exact_rows(
    Z: FloatArray,
    w: FloatArray,
    unbiased: FloatArray,
    h: FloatArray,
    dataset: IntArray,
    count: int,
) -> FloatArray | None:
    """Return the parts of G and M2 (K, 2, p, p) of rows with leverage h (N,) one, if there are."""
    exact = 1 - h < EXACT_FIT
    if not exact.any():
        return None
    ends = np.cumsum(np.bincount(dataset[exact], minlength=count))
    starts, rows = np.concatenate([[0], ends]), np.ascontiguousarray(Z[exact])
    weights = (w[exact], (w * unbiased)[exact])
    return np.stack([_meat(rows, one, starts) for one in weights], axis=1)


def _degrees(total: FloatArray, fourth: FloatArray, df: FloatArray) -> FloatArray:
    """Return nu (K,) from sums of u_i and of their squares."""
    nu = 2 * total**2 / np.where(fourth > 0, fourth, 1.0)
    return np.clip(nu, LEAST_NU, np.maximum(df, LEAST_NU))


def _quadratic(Z: FloatArray, M: FloatArray) -> FloatArray:
    """Return z_i' M z_i (N,) for Z' (p, N)."""
    found = M @ Z
    found *= Z
    return np.maximum(found.sum(axis=0), 0.0)


def _fitted(Z: FloatArray, beta: FloatArray, starts: IntArray) -> FloatArray:
    """Return z_i' beta_k (N,) with the coefficients of each row's dataset (K, p)."""
    found = np.empty(len(Z))
    for k, (i, j) in enumerate(zip(starts[:-1], starts[1:])):
        found[i:j] = Z[i:j] @ beta[k]
    return found


def _quadratic_by_dataset(Z: FloatArray, inverse: FloatArray, starts: IntArray) -> FloatArray:
    """Return z_i' M_k z_i (N,) with the matrix of each row's dataset (K, p, p)."""
    found = np.empty(len(Z))
    for k, (i, j) in enumerate(zip(starts[:-1], starts[1:])):
        for first in range(i, j, BLOCK):
            some = slice(first, min(first + BLOCK, j))
            found[some] = np.einsum("ij,ij->i", Z[some] @ inverse[k], Z[some])
    return np.maximum(found, 0.0)


def _sum_by(values: FloatArray, dataset: IntArray, count: int) -> FloatArray:
    """Return sums (K,) of values (N,) by dataset."""
    return np.bincount(dataset, values, minlength=count).astype(np.float64)


def _meat(Z: FloatArray, a: FloatArray, starts: IntArray) -> FloatArray:
    """Return the sums of a_i z_i z_i' by dataset, (K, p, p)."""
    found = np.empty((len(starts) - 1, Z.shape[1], Z.shape[1]))
    first = 0
    while first < len(found):
        begin = starts[first]
        last = max(int(np.searchsorted(starts, begin + BLOCK, side="right")) - 1, first + 1)
        if starts[last] - begin > BLOCK:  # one large dataset: in parts that stay in the cache
            found[first] = 0.0
            for i in range(begin, starts[last], BLOCK):
                some = slice(i, min(i + BLOCK, starts[last]))
                scaled = Z[some] * np.sqrt(a[some])[:, None]
                found[first] += scaled.T @ scaled
        else:
            rows, bounds = slice(begin, starts[last]), starts[first : last + 1] - begin
            dataset = np.repeat(np.arange(last - first), np.diff(bounds))
            scaled = Z[rows] * np.sqrt(a[rows])[:, None]
            found[first:last] = gram_by_dataset(scaled, bounds, dataset)
        first = last
    return found


def inflation_of(
    total: FloatArray, rss: FloatArray, df: FloatArray, rank: IntArray, nu: FloatArray
) -> FloatArray:
    """Return the inflation (K,) from tr(G^+ M2) (K,), residual squares and degrees of freedom."""
    known = (df > 0) & (rank > 0) & (rss > 0)
    equal = np.where(known, rss * rank / np.where(known, df, 1.0), 1.0)
    distance = np.where(known, total / equal, 1.0) - 1
    variance = 2 / nu
    kept = np.maximum(1 - INFLATION_SHRINKAGE * variance / np.maximum(distance**2, variance), 0.0)
    return np.clip(1 + kept * distance, LEAST_INFLATION, MOST_INFLATION)


def _is_heavy(
    Z: FloatArray,
    w: FloatArray,
    starts: IntArray,
    moments: Moments,
    leverage: tuple[FloatArray, IntArray],
    flag: BoolArray,
) -> BoolArray:
    """Say in which datasets (K,) normal columns do not explain the largest leverage.

    `leverage` are leverages h (N,) of rows and ranks (K,), `flag` (p,) says which columns have two
    values at most.
    """
    (h, rank), wide = leverage, ~flag
    if not wide.all():
        G = moments.G[:, wide][:, :, wide]
        inverse, rank = linalg.inverse_and_rank(G)
        h = w * _quadratic_by_dataset(Z[:, wide], inverse, starts)
    largest = np.array([h[i:j].max(initial=0.0) for i, j in zip(starts[:-1], starts[1:])])
    return _beyond_normal(largest, moments.n, rank)


def _beyond_normal(largest: FloatArray, rows: FloatArray, rank: IntArray) -> BoolArray:
    """Say whether normal columns do not explain the largest leverages (K,).

    For normal columns h / (1 - h) (n - r) / r has an F distribution with r and n - r degrees of
    freedom. The largest of n such values is compared with the quantile that it exceeds with
    probability `HEAVY_CHANCE`.
    """
    n, r = np.maximum(rows, 1.0), np.maximum(rank, 1).astype(float)
    known = n - r >= 1
    rest = np.where(known, n - r, 1.0)
    ratio = largest / np.maximum(1 - largest, EXACT_FIT) * rest / r
    heavy: BoolArray = known & (ratio > fdtri(r, rest, 1 - HEAVY_CHANCE / n))
    return heavy


def _is_carried_by_few(nu: FloatArray, rows: FloatArray) -> BoolArray:
    """Say where a handful of rows carries the variance (K,).

    >>> _is_carried_by_few(np.array([9.0, 9.0, 3.0]), np.array([50.0, 20.0, 20.0])).tolist()
    [True, False, True]
    """
    few: BoolArray = nu / 2 < np.minimum(HANDFUL, HANDFUL_SHARE * rows)
    return few


def _is_flag(Z: FloatArray) -> BoolArray:
    """Say which columns (p,) have two values at most, other than a constant one."""
    flag: BoolArray = np.ones(Z.shape[1], dtype=bool)
    for rows in (Z[:GLANCE], Z):
        own = rows[:, flag]
        low, high = own.min(axis=0, initial=np.inf), own.max(axis=0, initial=-np.inf)
        flag[flag] = np.all((own == low) | (own == high), axis=0)
    own = Z[:, flag]
    flag[flag] = np.any(own != own[:1], axis=0)
    return flag


def _is_flag_in_parts(design: Callable[[slice], FloatArray], parts: Sequence[slice]) -> BoolArray:
    """Say the same of rows that are made in parts: most columns show in the first that they vary.

    A column of more than two values in one part is no flag.
    """
    first = design(parts[0])
    low, high = first.min(axis=0, initial=np.inf), first.max(axis=0, initial=-np.inf)
    few: BoolArray = np.all((first == low) | (first == high), axis=0)
    if len(parts) > 1:
        few[few] = _is_flag(np.concatenate([design(rows)[:, few] for rows in parts]))
        return few
    return few & (low < high)
