"""Coefficients as a frame."""

import numpy as np

import conjoin
from conjoin.datasets import make_clusters
from conjoin.estimators.coefficients import coefficient_frame


def test_one_row_for_each_dataset():
    tables = make_clusters(sizes=(2, 1), n=60, p=2, distance=2.0).tables()
    result = conjoin.partition(tables, target="y")
    frame = coefficient_frame(result)
    assert list(frame.index) == ["d1", "d2", "d3"]
    assert list(frame.columns) == ["intercept", "x1", "x2"]
    assert frame.loc["d2", "x1"] == result.coefficients["d2"].coef["x1"]
    assert np.isfinite(frame.to_numpy()).all()
