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
from conjoin.sites.marks import Marks, find_marks
from conjoin.sites.rules import Finding, Leaving, Rules
from conjoin.text import shortened

# Share of the target's variance below which residuals disclose the target of every row whose
# columns are known: they are then a thousandth of its standard deviation, or three digits.
PERFECT = 1e-6


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
    leaving: Leaving, weights: FloatArray, numbers: int, rules: Rules
) -> tuple[Finding, ...]:
    """Return what the answer of a round would disclose.

    In a round, weighted sums of products leave. The weights follow from coefficients that the
    coordinator chose: extreme ones leave weight on few rows only, and so single them out.

    Parameters
    ----------
    leaving : Leaving
        The rows; `check` has been passed.
    weights : array (n,)
        Weight of each row at the coefficients that are asked: mu (1 - mu) for two classes, mu for
        counts.
    numbers : int
        Numbers that have left by dataset and fold in earlier rounds and would leave in this one.
        One round has p (p + 1) / 2 + p for p coefficients.
    rules : Rules
        The limits.
    """
    found: list[Finding] = []
    for k, dataset in enumerate(leaving.datasets):
        rows = leaving.dataset == k
        one, w = leaving.chosen(rows), weights[rows]
        for fold, cell in one.cells():
            broken = _round_broken(one.chosen(cell), w[cell], numbers, rules)
            found += [_finding(each, dataset, [fold], False) for each in broken]
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
    marks = find_marks(one.by_column(), one.columns, (*one.sources, one.target))
    folds = list(one.cells())
    worst: dict[tuple[str, tuple[str, ...]], list[tuple[int, _Broken]]] = {}
    for fold, cell in folds if len(folds) > 1 else []:
        for each in _all_broken(one, by_fold.around_means(fold), marks, rules, cell):
            worst.setdefault((each.rule, each.columns), []).append((fold, each))
    broken = _all_broken(one, by_fold.joined(1).around_means(), marks, rules, None)
    whole = {(each.rule, each.columns): each for each in broken}
    found = [_finding(each, dataset, [], False) for each in whole.values()]
    for key, places in worst.items():
        if key not in whole:
            _, each = min(places, key=lambda pair: _distance(pair[1]))
            found.append(_finding(each, dataset, [fold for fold, _ in places], True))
    return found


def _distance(broken: _Broken) -> float:
    """Return how near the value is to what the rule allows; the worst has the least."""
    return (
        broken.value if broken.rule in ("rows", "level", "crossing", "few rows") else -broken.value
    )


def _finding(broken: _Broken, dataset: str, folds: Sequence[int], fewer: bool) -> Finding:
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
    )


def _all_broken(
    one: Leaving, sums: Sums | None, marks: Marks, rules: Rules, cell: IntArray | None
) -> list[_Broken]:
    """Return the rules that rows break: those of a cell, or all rows if it is None.

    `sums` are those of the cell's rows, if they are precise.
    """
    rows, p = len(one.y) if cell is None else len(cell), one.X.shape[1] + 1
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
        alone = stands_alone(values, rules.rows, rules.dominance, sums=sums)
    return found + _singled_out(one, alone, found, rules)


def _rows(count: float) -> str:
    return "1 row" if count == 1 else f"{count:,.0f} rows"


def _counted(one: Leaving, marks: Marks, counts: FloatArray, rules: Rules) -> list[_Broken]:
    """Return levels and crossings with too few rows: the rarest of each column or pair."""
    sources = (*one.sources, one.target)
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
    columns, sources = one.columns, (*one.sources, one.target)
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
        words = f"has columns that give {one.target!r} exactly: who knows them knows the target."
        found.append(_Broken("perfect fit", (one.target,), alone.unexplained, PERFECT, words))
    return found


def _round_broken(one: Leaving, w: FloatArray, numbers: int, rules: Rules) -> list[_Broken]:
    """Return the rules that weighted sums of one fold break."""
    found = []
    most = int(rules.numbers * one.X.shape[0] * (one.X.shape[1] + 1))
    if numbers > most:
        words = f"would have sent {numbers:,} numbers in all rounds; at most {most:,} may leave."
        found.append(_Broken("numbers", (), numbers, most, words))
    total, squares = float(w.sum()), float(np.sum(w**2))
    effective = total**2 / squares if squares > 0 else 0.0
    if effective < rules.rows:
        words = (
            f"has as much weight at the coefficients asked as {effective:.1f} rows; "
            f"at least {rules.rows} are needed."
        )
        found.append(_Broken("weights", (), effective, rules.rows, words))
    alone = stands_alone(one.X, 1, rules.dominance, w)
    if alone.leverage > rules.dominance:
        words = (
            f"has a row that makes up {100 * alone.leverage:.0f} % of a weighted sum of squares at "
            f"the coefficients asked; at most {100 * rules.dominance:.0f} % may leave."
        )
        found.append(_Broken("dominance", (), alone.leverage, rules.dominance, words))
    marks = find_marks(one.by_column(), one.columns, (*one.sources, one.target))
    for label, rows in zip(marks.labels, marks.rows.T):
        if rows.any() and w[rows].max() > rules.dominance * w[rows].sum():
            words = f"has one row with nearly all the weight of {label} at the coefficients asked."
            found.append(_Broken("weights", (), 1.0, rules.rows, words))
            break
    return found
