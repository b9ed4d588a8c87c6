"""Whether moments may leave a site: what they would disclose under the rules.

The encoded columns of a site and the rules enter; `Finding`s leave, with sentences for the site's
eyes. Nothing is changed here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.sites.alone import Alone, Sums, stands_alone
from conjoin.sites.fold_sums import FoldSums
from conjoin.sites.marks import Marks
from conjoin.sites.rules import Finding, Leaving, Rules
from conjoin.text import shortened

# Share of the target's variance below which residuals disclose the target of every row whose
# columns are known: they are then a thousandth of its standard deviation, or three digits.
PERFECT = 1e-6
# Combinations of weights below this share of the largest one are rounding.
COLLINEAR_WEIGHTS = 1e-9


def check(leaving: Leaving, rules: Rules) -> tuple[Finding, ...]:
    """Return what moments by dataset and fold would disclose; nothing if they may leave.

    Parameters
    ----------
    leaving : Leaving
        The rows, encoded, with their datasets and folds.
    rules : Rules
        The limits.

    Returns
    -------
    tuple of Finding
        One for each rule, dataset and column or pair of columns, with the worst fold.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> flag = np.zeros((60, 1))
    >>> flag[:3] = 1.0
    >>> zeros = np.zeros(60, dtype=np.int64)
    >>> rows = Leaving(("smoker",), ("smoker",), flag, "cost", rng.normal(size=60),
    ...                ("ward 1",), zeros, zeros)
    >>> for finding in check(rows, Rules()):
    ...     print(finding.rule, "|", finding.sentence)
    level | Dataset 'ward 1' has only 3 rows with smoker = 1; at least 11 are needed.
    """
    found: list[Finding] = []
    for k in range(len(leaving.datasets)):
        one = leaving.of_dataset(k)
        sums = FoldSums.of(one.X, one.y, one.fold, int(one.fold.max(initial=0)) + 1)
        found += check_dataset(one, rules, sums)
    return tuple(found)


def check_round(
    leaving: Leaving,
    weights: FloatArray,
    numbers: int,
    rules: Rules,
    means: FloatArray | None = None,
) -> tuple[Finding, ...]:
    """Return what the answer of a round would disclose.

    In a round, weighted sums of products leave. The weights follow from coefficients that the
    coordinator chose: extreme ones leave weight on few rows only, and so single them out. Several
    classes have several weights: then no combination of them may be left on one row either.

    Parameters
    ----------
    leaving : Leaving
        The rows; `check` has been passed.
    weights : array (n,) or (n, q)
        Weights of each row in sums of products, at the coefficients that are asked: mu (1 - mu) for
        two classes, mu for counts, the product of the probabilities of every two of more classes.
    numbers : int
        Numbers that have left by dataset and fold in earlier rounds and would leave in this one.
        One round has p (p + 1) / 2 + p for p coefficients.
    rules : Rules
        The limits.
    means : array (n, r), optional
        Weights of each row in sums of columns: the probability of every class.
    """
    found: list[Finding] = []
    products = weights.reshape(len(weights), -1)
    sums = products[:, :0] if means is None else means
    for k, dataset in enumerate(leaving.datasets):
        rows = np.flatnonzero(leaving.dataset == k)
        one = leaving.chosen(rows)
        for fold, cell in one.cells():
            own = rows[cell]
            broken = _round_broken(one.chosen(cell), products[own], sums[own], numbers, rules)
            found += [_finding(each, one, dataset, [fold], False) for each in broken]
    return tuple(found)


@dataclass(frozen=True)
class _Broken:
    """A rule that the rows of one fold, or of a dataset, break."""

    rule: str
    columns: tuple[str, ...]
    value: float
    limit: float
    words: str
    merge: bool = False


def check_dataset(one: Leaving, rules: Rules, by_fold: FoldSums) -> list[Finding]:
    """Return what breaks a rule in the only dataset of `one`: in the whole of it, or in its folds.

    `by_fold` are the sums of its rows.
    """
    if not len(one.y):
        return []
    dataset = one.datasets[0]
    marks = one.marks()
    folds = list(one.cells())
    worst: dict[tuple[str, tuple[str, ...]], list[tuple[int, _Broken]]] = {}
    for fold, cell in folds if len(folds) > 1 else []:
        for each in _all_broken(one, _known_sums(one, by_fold, fold), marks, rules, cell):
            worst.setdefault((each.rule, each.columns), []).append((fold, each))
    broken = _all_broken(one, _known_sums(one, by_fold.joined(1), 0), marks, rules, None)
    whole = {(each.rule, each.columns): each for each in broken}
    found = [_finding(each, one, dataset, [], False) for each in whole.values()]
    for key, places in worst.items():
        if key not in whole:
            _, each = min(places, key=lambda pair: _distance(pair[1]))
            found.append(_finding(each, one, dataset, [fold for fold, _ in places], True))
    return found


def _known_sums(one: Leaving, by_fold: FoldSums, fold: int) -> Sums | None:
    """Return the sums of a fold around its means, if they are precise, and of all columns."""
    return None if one.classes else by_fold.around_means(fold)


def _distance(broken: _Broken) -> float:
    """Return how near the value is to what the rule allows; the worst has the least."""
    return (
        broken.value if broken.rule in ("rows", "level", "crossing", "few rows") else -broken.value
    )


def _finding(
    broken: _Broken, rows: Leaving, dataset: str, folds: Sequence[int], fewer: bool
) -> Finding:
    """Return a finding with its sentence."""
    place = f"Dataset {shortened(dataset)!r}"
    if folds:
        number = f"fold {folds[0] + 1}" if len(folds) == 1 else f"one of {len(folds)} folds"
        place = f"{number[0].upper()}{number[1:]} of dataset {shortened(dataset)!r}"
    return Finding(
        broken.rule,
        dataset,
        tuple(folds),
        broken.columns,
        broken.value,
        broken.limit,
        f"{place} {broken.words}",
        broken.merge,
        fewer,
        rows.target,
        len(rows.classes),
    )


def _all_broken(
    one: Leaving, sums: Sums | None, marks: Marks, rules: Rules, cell: IntArray | None
) -> list[_Broken]:
    """Return the rules that rows break: those of a cell, or all rows if it is None.

    `sums` are those of the cell's rows, if they are precise.
    """
    rows = len(one.y) if cell is None else len(cell)
    p = (one.X.shape[1] + 1) * one.outputs
    found = []
    if rows < rules.rows:
        words = f"has only {_rows(rows)}; at least {rules.rows} are needed."
        found.append(_Broken("rows", (), rows, rules.rows, words))
    if p > rules.share * rows:
        words = (
            f"has {_rows(rows)} for {p} coefficients; at least {int(np.ceil(p / rules.share))} "
            "are needed."
        )
        found.append(_Broken("columns", (), p / rows, rules.share, words))
    if rows < 2:
        return found
    found += _counted(one, marks, marks.counts(cell), rules)
    alone = None if sums is None else sums.glance(rules.rows, rules.dominance)
    if alone is None:
        values = (one if cell is None else one.chosen(cell)).values()
        alone = stands_alone(values, rules.rows, rules.dominance, sums=sums, targets=one.outputs)
    return found + _singled_out(one, alone, found, rules)


def _rows(count: float) -> str:
    return "1 row" if count == 1 else f"{count:,.0f} rows"


def _counted(one: Leaving, marks: Marks, counts: FloatArray, rules: Rules) -> list[_Broken]:
    """Return levels and crossings with too few rows: the rarest of each column or pair."""
    sources = one.owners
    small = marks.too_few(counts, rules.rows, rules.zeros)
    categories = {one.sources[j] for j in one.levels()}
    found: dict[tuple[str, tuple[str, ...]], _Broken] = {}
    for a, b in zip(*np.nonzero(np.triu(small))):
        # A crossing is disclosed by its level already, where the level itself is rare.
        if a != b and (small[a, a] or small[b, b]):
            continue
        columns = tuple(dict.fromkeys(_source(marks, i, sources) for i in (a, b)))
        rule, count = "level" if a == b else "crossing", float(counts[a, b])
        key = (rule, columns)
        if key in found and found[key].value <= count:
            continue
        both = marks.labels[a] if a == b else f"{marks.labels[a]} and {marks.labels[b]}"
        words = f"has only {_rows(count)} with {both}; at least {rules.rows} are needed."
        merge = any(column in categories for column in columns)
        found[key] = _Broken(rule, columns, count, rules.rows, words, merge)
    return list(found.values())


def _source(marks: Marks, mark: int, sources: Sequence[str]) -> str:
    """Return the column of the table that a group of rows belongs to."""
    feature = marks.feature[mark]
    if feature < 0:
        feature = marks.feature[(marks.column == marks.column[mark]) & (marks.feature >= 0)][0]
    return sources[feature]


def _singled_out(
    one: Leaving, alone: Alone, before: Sequence[_Broken], rules: Rules
) -> list[_Broken]:
    """Return rows that a column or a combination of columns singles out."""
    columns, sources = one.columns, one.owners
    found = []
    known = {column for each in before for column in each.columns}
    if alone.leverage > rules.dominance:
        what = f"a sum of squares of {columns[alone.column]!r}"
        if alone.column < 0:
            what = "a sum of squares of a combination of columns"
        words = (
            f"has a row that makes up {100 * alone.leverage:.0f} % of {what}; "
            f"at most {100 * rules.dominance:.0f} % may leave."
        )
        concerned = () if alone.column < 0 else (sources[alone.column],)
        if not known.intersection(concerned):
            found.append(_Broken("dominance", concerned, alone.leverage, rules.dominance, words))
    if alone.few and sources[alone.of] not in known:
        words = (
            f"has columns that give {columns[alone.of]!r} exactly in all but {_rows(alone.few)}, "
            f"which singles them out; at least {rules.rows} are needed."
        )
        found.append(_Broken("few rows", (sources[alone.of],), alone.few, rules.rows, words))
    if alone.unexplained < PERFECT:
        what = f"a class of {one.target!r}" if one.classes else repr(one.target)
        words = f"has columns that give {what} exactly: who knows them knows the target."
        found.append(_Broken("perfect fit", (one.target,), alone.unexplained, PERFECT, words))
    return found


def _round_broken(
    one: Leaving, products: FloatArray, means: FloatArray, numbers: int, rules: Rules
) -> list[_Broken]:
    """Return the rules that weighted sums of one fold break."""
    found = []
    most = int(rules.numbers * one.X.shape[0] * (one.X.shape[1] + 1))
    if numbers > most:
        words = (
            f"would have sent {numbers:,} numbers in all rounds; at most {most:,} may leave. Fewer "
            "columns, classes or folds in the plan need fewer."
        )
        found.append(_Broken("numbers", (), numbers, most, words))
    marks = one.marks()
    for w in np.column_stack([products, means]).T:
        found += _weight_broken(w, marks, rules)
    leverage = max(stands_alone(one.X, 1, rules.dominance, w).leverage for w in products.T)
    if products.shape[1] > 1:
        leverage = max(leverage, _largest_share(products))
    if leverage > rules.dominance:
        words = (
            f"has a row that makes up {100 * leverage:.0f} % of a weighted sum of squares at "
            f"the coefficients asked; at most {100 * rules.dominance:.0f} % may leave."
        )
        found.append(_Broken("dominance", (), leverage, rules.dominance, words))
    return found


def _weight_broken(w: FloatArray, marks: Marks, rules: Rules) -> list[_Broken]:
    """Return the rules that one weight of rows (n,) breaks."""
    total, squares = float(w.sum()), float(np.sum(w**2))
    effective = total**2 / squares if squares > 0 else 0.0
    if effective < rules.rows:
        words = (
            f"has as much weight at the coefficients asked as {effective:.1f} rows; "
            f"at least {rules.rows} are needed."
        )
        return [_Broken("weights", (), effective, rules.rows, words)]
    for label, rows in zip(marks.labels, marks.rows.T):
        if rows.any() and w[rows].max() > rules.dominance * w[rows].sum():
            words = f"has one row with nearly all the weight of {label} at the coefficients asked."
            return [_Broken("weights", (), 1.0, rules.rows, words)]
    return []


def _largest_share(weights: FloatArray) -> float:
    """Return the most that one row makes up of the squares of any combination of weights (n, q)."""
    length = np.sqrt(np.sum(weights**2, axis=0))
    U, spread, _ = np.linalg.svd(weights / np.where(length > 0, length, 1.0), full_matrices=False)
    own = U[:, spread > COLLINEAR_WEIGHTS * spread.max(initial=0.0)]
    return float(np.sum(own**2, axis=1).max(initial=0.0))
