import numpy as np
import pytest
from numpy.testing import assert_allclose

import conjoin


def tables(d, n=150):
    return list(conjoin.datasets.make_pair(p=3, n=n, d=d, random_state=1).tables().values())


def test_models_of_numbers_are_least_squares():
    a, b = tables(0.5)
    found = conjoin.compare(a, b, target="y")
    X = np.stack([a[f"x{j}"] for j in (1, 2, 3)] + [np.ones(150)], axis=1)
    slopes = np.linalg.lstsq(X, a["y"], rcond=None)[0]
    assert_allclose([*found.fit_a.coef.values(), found.fit_a.intercept], slopes)
    assert found.fit_joined.rows == 300
    assert found.error_separate == (found.fit_a.error + found.fit_b.error) / 2


@pytest.mark.parametrize(("d", "verdict"), [(0.0, "join"), (2.0, "apart")])
def test_the_point_decision_follows_the_gain(d, verdict):
    found = conjoin.compare(*tables(d, n=400), target="y")
    assert found.join == (verdict == "join") == (found.gain > 0)
    assert found.verdict == verdict
    assert found.rows_to_settle == 1.0
