"""What a site does so that its moments may leave: merge rare levels, take fewer folds.

Rows of a site enter with the rules; `Mended` leaves: the rows with levels merged and folds joined,
what was done in words, and what is still found. Every dataset is mended by itself. First levels
are merged, as far as the dataset without folds needs it. Then it gets as many folds as keep the
rules: those asked, 5, 2 or none. With no folds, errors are estimated by the unbiased risk.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conjoin.sites.check import check_dataset
from conjoin.sites.fold_sums import FoldSums
from conjoin.sites.marks import Marks
from conjoin.sites.rules import Finding, Leaving, Rules
from conjoin.tables.encoding import OTHER
from conjoin.text import listed

# Numbers of folds that are tried below the one asked: five is the next usual one, two the fewest
# with which anything can be validated.
FEWER = (5, 2, 1)


@dataclass(frozen=True, eq=False)
class Mended:
    """Rows that may leave, if nothing is found any more.

    Parameters
    ----------
    leaving : Leaving
        The rows with levels merged and folds joined.
    folds : tuple of int
        Number of folds of each dataset; 1 means none.
    merged : tuple of (str, tuple of str)
        For each dataset the features whose level was merged into another.
    steps : tuple of str
        What was done, in sentences.
    findings : tuple of Finding
        What is still found.
    sums : tuple of FoldSums
        Sums of each dataset.
    """

    leaving: Leaving
    folds: tuple[int, ...]
    merged: tuple[tuple[str, tuple[str, ...]], ...]
    steps: tuple[str, ...]
    findings: tuple[Finding, ...]
    sums: tuple[FoldSums, ...]


def mend(leaving: Leaving, rules: Rules) -> Mended:
    """Merge rare levels and join folds, until the rules are kept or nothing helps.

    A merged level joins the feature "(other)" of its column if there is one, else the reference.
    Fold f becomes fold f modulo the new number, so that folds stay balanced.

    >>> rng = np.random.default_rng(0)
    >>> ward = np.zeros((90, 2))
    >>> ward[:30, 0] = ward[30:34, 1] = 1.0
    >>> rows = Leaving(("ward=B", "ward=C"), ("ward", "ward"), ward, "cost", rng.normal(size=90),
    ...                ("clinic",), np.zeros(90, np.int64), np.arange(90) % 10)
    >>> done = mend(rows, Rules())
    >>> for step in done.steps:
    ...     print(step)
    Dataset 'clinic': merged ward=C into the reference category.
    Dataset 'clinic': 2 folds instead of 10.
    >>> done.findings
    ()
    """
    X, fold = leaving.X, np.empty_like(leaving.fold)
    folds, merged, steps, sums = [], [], [], []
    found: list[Finding] = []
    for k, dataset in enumerate(leaving.datasets):
        rows: Any = leaving.dataset == k if len(leaving.datasets) > 1 else slice(None)
        one = leaving.of_dataset(k)
        one, features, words = _merge(one, rules)
        asked = int(one.fold.max(initial=0)) + 1
        number, findings, own = _most_folds(one, asked, rules)
        sums.append(own)
        found += [replace(each, dataset=dataset) for each in findings]
        fold[rows] = one.fold % number
        if features:
            X = X.copy() if X is leaving.X else X
            X[rows] = one.X
        folds.append(number)
        merged.append((dataset, features))
        steps += [f"Dataset {dataset!r}: {each}" for each in words]
        if number < asked:
            many = "no folds" if number == 1 else f"{number} folds"
            steps.append(f"Dataset {dataset!r}: {many} instead of {asked}.")
    done = replace(leaving, X=X, fold=fold)
    return Mended(done, tuple(folds), tuple(merged), tuple(steps), tuple(found), tuple(sums))


def _most_folds(one: Leaving, asked: int, rules: Rules) -> tuple[int, list[Finding], FoldSums]:
    """Return the largest number of folds with which nothing is found; 1 and findings if none.

    The sums of these folds are last.
    """
    findings: list[Finding] = []
    sums = joined = FoldSums.of(one.X, one.y, one.fold, asked)
    for number in (asked, *(n for n in FEWER if n < asked)):
        joined = sums.joined(number)
        findings = check_dataset(replace(one, fold=one.fold % number), rules, joined)
        if not findings:
            return number, [], joined
    return 1, findings, joined


def _merge(one: Leaving, rules: Rules) -> tuple[Leaving, tuple[str, ...], list[str]]:
    """Merge rare levels of one dataset; return it, the features merged, and sentences."""
    if not one.levels():
        return one, (), []
    X = one.X.copy()
    into: dict[str, list[str]] = {}
    reference = "the reference category"
    while True:
        level = _rarest(replace(one, X=X), rules)
        if level is None:
            break
        other = _other(one, level)
        goal = reference if other is None else one.names[other]
        into.setdefault(goal, []).append(one.names[level])
        if other is not None:
            X[:, other] = np.maximum(X[:, other], X[:, level])
        X[:, level] = 0.0
    features = tuple(name for names in into.values() for name in names)
    for name in tuple(into.get(reference, ())):  # what joined "(other)" before went with it
        into[reference] += into.pop(name, [])
    words = [f"merged {listed(names)} into {goal}." for goal, names in into.items()]
    return replace(one, X=X), features, words


def _other(one: Leaving, level: int) -> int | None:
    """Return the feature that a level is merged into; None for the reference category."""
    name = _name_of_other(one, level)
    if name not in one.names or one.names[level] == name:
        return None
    return one.names.index(name)


def _name_of_other(one: Leaving, level: int) -> str:
    return f"{one.sources[level]}={OTHER}"


def _rarest(one: Leaving, rules: Rules) -> int | None:
    """Return the level to merge next: the rarest that is in too small a group; None if none is."""
    marks = one.marks()
    counts = marks.counts()
    levels = {j for j in one.levels() if one.X[:, j].any()}
    few = marks.too_few(counts, rules.rows, rules.zeros)
    concerned: set[int] = set()
    for pair in np.argwhere(np.triu(few)).tolist():
        # Of two groups that cross in few rows, the smaller one is rare: the larger is kept whole.
        for mark in sorted(pair, key=lambda m: counts[m, m]):
            own = levels & _mergeable(marks, mark)
            if own:
                concerned |= own
                break
    # "(other)" comes last, because the levels that join it may make it large enough.
    order = {j: (one.names[j] == _name_of_other(one, j), one.X[:, j].sum(), j) for j in concerned}
    return min(concerned, key=order.__getitem__, default=None)


def _mergeable(marks: Marks, mark: int) -> set[int]:
    """Return the features that can be merged to make a group larger or to end it."""
    feature = int(marks.feature[mark])
    if feature >= 0:
        return {feature}
    # The reference is rare: the other levels may join it.
    same = (marks.column == marks.column[mark]) & (marks.feature >= 0)
    return set(marks.feature[same].tolist())
