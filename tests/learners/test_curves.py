"""Curves: knots, kernels, and models that predict."""

import numpy as np
from numpy.testing import assert_allclose

from conjoin.learners.curves import MOST_KNOTS, CurveModel, kernel, knots_of, whitening


def test_knots_are_values_only_where_many_rows_share_them():
    years = np.repeat(np.arange(10.0), 5)
    assert_allclose(knots_of(years), np.arange(10.0))
    rare = np.append(years, 99.0)
    assert 99.0 not in knots_of(rare)
    assert len(knots_of(np.random.default_rng(0).normal(size=1000))) == MOST_KNOTS


def test_independent_weights_make_the_kernel():
    knots = np.array([0.0, 1.0, 3.0])
    phi = kernel(knots, knots, 2.0) @ whitening(knots, 2.0)
    assert_allclose(phi @ phi.T, kernel(knots, knots, 2.0), atol=1e-6)


def test_unknown_datasets_have_the_common_curve_and_gaps_have_none():
    model = CurveModel(1, np.array([0.0, 1.0]), 1.0, np.array([[1.0, 0.0], [0.0, 2.0], [5.0, 5.0]]))
    X = np.array([[9.0, 0.0], [9.0, 1.0], [9.0, 0.0], [9.0, np.nan]])
    found = model.predict(X, np.array([0, 1, -1, 0]))[:, 0]
    assert_allclose(found, [1.0, 2.0, 5.0 + 5.0 * np.exp(-1), 0.0])
    assert model.to_plain([])["kind"] == "curves"
