"""Folds in which a person's rows stay together."""

import numpy as np

from conjoin.moments import deal_rows
from conjoin.moments.together import deal_together


def dealt(order, folds=5):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((120, 2)), rng.standard_normal(120)
    who = rng.integers(0, 25, 120)
    X, y, who = X[order], y[order], who[order]
    starts = np.array([0, 120])
    return deal_together(deal_rows(X, y, starts, folds, 0), who, starts, folds).fold, who


def test_a_person_is_in_one_fold_and_folds_are_balanced():
    fold, who = dealt(np.arange(120))
    assert all(len(set(fold[who == one])) == 1 for one in np.unique(who))
    counts = np.bincount(fold, minlength=5)
    assert counts.min() >= 18


def test_neither_the_order_of_rows_nor_the_numbers_of_persons_matter():
    order = np.random.default_rng(0).permutation(120)
    assert np.array_equal(dealt(np.arange(120))[0][order], dealt(order)[0])


def test_a_person_of_two_datasets_is_in_one_fold():
    rng = np.random.default_rng(0)
    X, y, starts = rng.standard_normal((40, 1)), rng.standard_normal(40), np.array([0, 20, 40])
    who = np.tile(np.arange(10), 4)
    fold = deal_together(deal_rows(X, y, starts, 4, 0), who, starts, 4).fold
    assert all(len(set(fold[who == one])) == 1 for one in range(10))
