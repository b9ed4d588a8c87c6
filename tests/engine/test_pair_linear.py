"""The cross-validated error of linear models on given folds."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from conjoin.datasets import make_class_pair, make_pair
from conjoin.engine.pair_linear import linear_error
from conjoin.tables import collect


@pytest.mark.parametrize("distance", [0.0, 3.0])
def test_the_error_is_that_of_least_squares_outside_the_folds(distance):
    table = collect(make_pair(p=3, n=60, d=distance).tables(), target="y")
    fold, dataset = np.arange(120) % 5, np.repeat([0, 1], 60)
    separate, joined = np.zeros(120), np.zeros(120)
    for f in range(5):
        out = fold == f
        model = LinearRegression().fit(table.X[~out], table.y[~out])
        joined[out] = (table.y[out] - model.predict(table.X[out])) ** 2
        for k in (0, 1):
            own = dataset == k
            model = LinearRegression().fit(table.X[~out & own], table.y[~out & own])
            held_out = out & own
            separate[held_out] = (table.y[held_out] - model.predict(table.X[held_out])) ** 2
    expected = min(separate.mean(), joined.mean())
    assert linear_error(table, fold, 5) == pytest.approx(expected, rel=1e-6)


def test_classes_have_their_log_loss():
    table = collect(make_class_pair(p=2, n=100, distance=0.0, classes=2).tables(), target="y")
    found = linear_error(table, np.arange(200) % 5, 5)
    assert 0.2 < found < np.log(2)
