"""Predictions as methods of a result."""

import numpy as np

import conjoin
from conjoin.api.request import PredictionOptions
from conjoin.result.predicting import Predictions


def test_a_result_predicts_by_its_predictor():
    rng = np.random.default_rng(0)
    data = {"s": np.repeat(["a", "b"], 30), "x": rng.standard_normal(60)}
    data["y"] = data["x"] + rng.standard_normal(60)
    found = conjoin.partition(data, target="y", by="s", learner="linear")
    assert isinstance(found, Predictions)
    rows, names = found.predictor.encode(data)
    linear = found.predictor.predict(rows, names, PredictionOptions()).linear
    assert np.array_equal(found.predict(data), linear[:, 0])
