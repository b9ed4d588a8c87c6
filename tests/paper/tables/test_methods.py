import numpy as np
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression

from conjoin.paper.tables.methods import (
    INDIVIDUAL,
    LITERAL,
    POOLED,
    SIGNED,
    algorithm3,
    clusters_before_fitting,
    fit_bifactor,
    fit_bifactor_clusters,
    fit_default,
    least_squares,
)
from tests.paper.tables.helpers import planted


def test_individual_fits_are_least_squares():
    rows = planted()
    predict = least_squares(rows, np.arange(4))
    for k in range(4):
        own = rows.rows(k)
        line = LinearRegression().fit(rows.X[own], rows.y[own])
        assert_allclose(predict(k, rows.X), line.predict(rows.X), rtol=1e-8)


def test_algorithm_3_finds_the_planted_clusters():
    labels = algorithm3(planted(), SIGNED, 50, 0)
    assert labels.tolist() == [0, 0, 1, 1]


def test_only_wanted_rules_of_algorithm_3_are_run():
    labels = clusters_before_fitting(planted(), [POOLED, SIGNED], 50, 0)
    assert set(labels) == {INDIVIDUAL, POOLED, SIGNED}
    assert LITERAL not in labels
    assert labels[INDIVIDUAL].tolist() == [0, 1, 2, 3]
    assert labels[POOLED].tolist() == [0, 0, 0, 0]


def test_methods_that_decide_while_fitting_predict_better_than_one_pooled_model():
    rows = planted()
    pooled = least_squares(rows, np.zeros(4, dtype=int))

    def error(predict):
        parts = [(predict(k, rows.X[own]) - rows.y[own]) ** 2 for k, own in own_rows(rows)]
        return np.mean(np.concatenate(parts))

    for fit, count in ((fit_default, 2), (fit_bifactor, 4), (fit_bifactor_clusters, 2)):
        predict, clusters = fit(rows, 0)
        assert clusters == count
        assert error(predict) < 0.5 * error(pooled)


def own_rows(rows):
    return [(k, rows.rows(k)) for k in range(len(rows.names))]
