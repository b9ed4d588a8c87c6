import numpy as np

from conjoin.learners.boosting import Boosting
from conjoin.learners.crossfit import groups_of_folds, predict_column
from tests.learners.test_boosting import GROUP, rows_of

LEARNER = Boosting(rounds=20, leaves=8)


def test_nested_columns_see_neither_the_row_nor_the_group():
    rows = rows_of()
    found = predict_column(LEARNER, rows, GROUP, nested=True)
    assert len(found.nested) == 5
    settings = LEARNER.hastened(found.settings)
    outside = (GROUP != 1) & (GROUP != 3)
    by_hand = LEARNER.fit(rows.take(outside), settings)
    own = GROUP == 3
    expected = by_hand.predict(rows.X[own], rows.dataset[own])
    assert np.array_equal(found.nested[1][own], expected)
    assert np.array_equal(found.nested[1][GROUP == 1], found.held_out[GROUP == 1])


def test_two_groups_are_nested_in_halves():
    rows, group = rows_of(), GROUP % 2
    found = predict_column(LEARNER, rows, group, nested=True)
    settings = LEARNER.hastened(found.settings)
    inside = np.nonzero(group == 1)[0]
    by_hand = LEARNER.fit(rows.take(inside[::2]), settings)
    expected = by_hand.predict(rows.X[inside[1::2]], rows.dataset[inside[1::2]])
    assert np.array_equal(found.nested[0][inside[1::2]], expected)
    assert np.array_equal(found.nested[1][inside], found.held_out[inside])


def test_without_nesting_there_is_one_column():
    found = predict_column(LEARNER, rows_of(), GROUP, nested=False)
    assert found.nested == ()
    assert found.held_out.shape == (300, 1)


def test_groups_are_neighbouring_folds():
    assert groups_of_folds(np.arange(4), 4, 4).tolist() == [0, 1, 2, 3]
    assert np.bincount(groups_of_folds(np.arange(10), 10, 5)).tolist() == [2] * 5
