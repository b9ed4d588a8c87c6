"""Models as users get them: lines in the units of the data, kept within the training range."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from conjoin.errors import ConjoinWarning, DataError
from conjoin.families import Response
from conjoin.models.glm_families import contrasts
from conjoin.moments import Basis
from conjoin.result.fits import LinearFit, LogisticFit, limited, model_of

LINE = LinearFit(1.0, {"x": 2.0, "z": -1.0}, rows=9, error=0.1, limits={"x": (0, 4), "z": (-1, 1)})
BASIS = Basis(np.array([1.0, -2.0]), np.array([2.0, 0.5]), 3.0, 4.0, True)


def test_columns_are_found_by_name_or_come_in_order():
    expected = [3.0, 4.0]
    assert LINE.predict({"z": [0, 1], "x": [1, 2]}).tolist() == expected
    assert LINE.predict(pd.DataFrame({"z": [0, 1], "other": "?", "x": [1, 2]})).tolist() == expected
    assert LINE.predict([[1, 0], [2, 1]]).tolist() == expected
    assert LINE.predict([1, 0]).tolist() == expected[:1]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ({"x": [1.0]}, "X lacks column 'z'; the model needs 'x', 'z'"),
        ([[1.0]], "X has 1 columns, but the model has 2 features"),
        ([[1.0, np.nan]], "X has missing or infinite values"),
        ({"x": [np.inf], "z": [0.0]}, "X has missing or infinite values"),
    ],
)
def test_rows_that_do_not_fit(X, words):
    with pytest.raises(DataError, match=words):
        LINE.predict(X)


def test_values_beyond_the_limits_are_predicted_as_at_the_limit():
    far = [[9.0, 0.0], [1.0, -7.0], [1.0, 0.0], [9.0, 7.0]]
    with pytest.warns(ConjoinWarning) as caught:
        assert LINE.predict(far).tolist() == [9.0, 4.0, 3.0, 8.0]
    assert str(caught[0].message).startswith(
        "3 of 4 rows lie far outside the training range (by more than its width), most often in "
        "column 'x'"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LINE.predict(far, limit=False).tolist() == [19.0, 10.0, 3.0, 12.0]


def test_rows_within_their_limits_are_not_copied():
    rows = np.array([[1.0, 0.5]])
    found, beyond = limited(rows, LINE.limits)
    assert found is rows
    assert not beyond.any()


def test_counts_are_exponentials():
    model = LinearFit(0.0, {"x": 1.0}, rows=9, error=0.1, family="poisson")
    assert_allclose(model.predict([[0.0], [2.0]]), [1.0, np.exp(2.0)])


def test_two_classes_have_one_line_and_more_have_one_each():
    two = LogisticFit(("no", "yes"), (LINE,), 9, 0.4)
    assert (two.intercept, two.coef) == (1.0, {"x": 2.0, "z": -1.0})
    other = LinearFit(-1.0, {"x": -2.0, "z": 1.0}, 9, 0.1)
    none = LinearFit(0.0, {"x": 0.0, "z": 0.0}, 9, 0.1)
    three = LogisticFit(("a", "b", "c"), (LINE, other, none), 9, 0.4)
    assert three.intercept == {"a": 1.0, "b": -1.0, "c": 0.0}
    assert three.coef["b: x"] == -2.0
    assert three.limits == LINE.limits
    P = three.predict_proba([[0.5, 0.0]])
    scores = np.exp([2.0, -2.0, 0.0])
    assert_allclose(P, [scores / scores.sum()])
    assert three.predict([[0.5, 0.0]]).tolist() == ["a"]


def test_a_model_comes_in_the_units_of_the_data():
    beta = np.array([0.5, 1.0, -2.0])
    model = model_of(beta, BASIS, Response(), ("x", "z"), 9, 0.1, {})
    X = np.random.default_rng(0).standard_normal((4, 2))
    expected = 3.0 + 4.0 * (BASIS.design(X) @ beta)
    assert_allclose(model.predict(X), expected)


def test_contrasts_of_three_classes_become_lines_that_sum_to_zero():
    basis = Basis(BASIS.center, BASIS.scale, 0.0, 1.0, True)
    beta = np.random.default_rng(0).standard_normal(6)
    response = Response("logistic", ("a", "b", "c"))
    model = model_of(beta, basis, response, ("x", "z"), 9, 0.1, {})
    assert sum(line.intercept for line in model.lines) == pytest.approx(0)
    X = np.random.default_rng(1).standard_normal((4, 2))
    linear = basis.design(X) @ beta.reshape(3, 2) @ contrasts(3).T
    scores = np.exp(linear)
    assert_allclose(model.predict_proba(X), scores / scores.sum(axis=1, keepdims=True))
