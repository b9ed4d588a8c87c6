"""Folds in which rows of one person stay together, whatever datasets they are in.

Enters: rows dealt one by one (`moments.folds`) and the person of each. Leaves: the same with the
folds of persons. Inside a dataset persons are dealt in turn, those with many rows first, so that
folds are balanced. A person of several datasets has the fold of the first. Folds depend on the
values of rows alone, not on the names of persons or the order of rows.
"""

from dataclasses import replace

import numpy as np

from conjoin._typing import IntArray
from conjoin.moments.folds import Dealt


def deal_together(dealt: Dealt, who: IntArray, starts: IntArray, folds: int) -> Dealt:
    """Return the folds of persons (N,), numbered in any way; copies of a row count as before.

    Examples
    --------
    >>> from conjoin.moments import deal_rows
    >>> X, y = np.arange(6.0)[:, None], np.arange(6.0)
    >>> starts, who = np.array([0, 6]), np.array([4, 4, 4, 7, 7, 2])
    >>> fold = deal_together(deal_rows(X, y, starts, 3, 0), who, starts, 3).fold
    >>> len(set(fold[:3])), len(set(fold[3:5])), len(set(fold))
    (1, 1, 3)
    """
    sizes = np.diff(starts)
    dataset = np.repeat(np.arange(len(sizes)), sizes)
    # The first row of each person, by dataset and by the random order inside it.
    order = np.lexsort((dealt.rank, dataset))
    persons, first, person = np.unique(who[order], return_index=True, return_inverse=True)
    home, least = dataset[order][first], dealt.rank[order][first]
    rows = np.bincount(person)
    ranks = np.bincount(person, dealt.rank[order])  # tells persons apart whose first rows are equal
    turn = np.lexsort((ranks, least, -rows, home))
    place = np.empty(len(persons), dtype=np.int64)
    place[turn] = np.arange(len(persons))
    begins = np.searchsorted(home[turn], np.arange(len(sizes)))
    shift = ((dealt.fold - dealt.rank) % folds)[starts[:-1]]  # where a dataset starts to deal
    fold_of = (place - begins[home] + shift[home]) % folds
    fold = np.empty(len(who), dtype=np.int64)
    fold[order] = fold_of[person]
    return replace(dealt, fold=fold)
