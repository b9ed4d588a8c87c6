import numpy as np


def test_the_corrected_study_is_nested_where_rows_are_few(learned):
    given = learned.analysis.corrected.study.given
    assert given.others is not None
    outside = given.moments - given.folds[:, 0]
    # Two folds are held out together, so less is left than outside one fold.
    assert np.all(given.outside(0).n < outside.n)
    assert np.all(given.outside(0).n > 0.7 * outside.n)


def test_folds_are_the_same_with_and_without_the_prediction(learned):
    linear, corrected = learned.analysis.linear, learned.analysis.corrected
    assert linear.study.dealt is corrected.study.dealt
    assert np.array_equal(linear.study.given.folds.n, corrected.study.given.folds.n)
