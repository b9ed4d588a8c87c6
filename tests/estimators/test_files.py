"""Estimators in files and pickles."""

import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import conjoin
from conjoin import JoinRegressor
from conjoin.criterion import Risk
from conjoin.errors import ArgumentError, ReadError
from tests.estimators.regression import FEATURES, TRUE_CLUSTERS, join


@pytest.mark.parametrize("source", ["by", "groups", "array"])
def test_save_and_load(data, tmp_path, source):
    X, y = data
    groups = X["store"] if source == "groups" else None
    X = {"by": X, "groups": X[FEATURES], "array": X.to_numpy(dtype=object)}[source]
    by = {"by": "store", "groups": None, "array": np.int64(0)}[source]
    model = join(by=by, strategy="best", on_unseen="nearest", delta=0.05)
    model.fit(X, y, groups=groups)
    model.save(tmp_path / "model.json")
    again = JoinRegressor.load(tmp_path / "model.json")
    assert again.get_params() == model.get_params()
    assert_array_equal(again.predict(X, groups=groups), model.predict(X, groups=groups))
    assert again.strategy_ == model.strategy_
    assert again.errors_ == model.errors_
    assert again.n_features_in_ == model.n_features_in_
    assert hasattr(again, "feature_names_in_") == (source != "array")
    assert again.assign(X[:40], y[:40]).probabilities == pytest.approx(
        model.assign(X[:40], y[:40]).probabilities
    )
    assert "5 datasets" in again._repr_html_()
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "model.json").read_text()
    assert conjoin.load(tmp_path / "model.json").labels == model.labels_


def test_files_that_hold_no_such_estimator(data, fitted, tmp_path):
    X, y = data
    path = tmp_path / "model.json"
    fitted.save(path)
    text = path.read_text()
    path.write_text(text[: len(text) // 2])
    with pytest.raises(ReadError, match="no model of conjoin, or only part of one"):
        JoinRegressor.load(path)
    path.write_text(text.replace('"on_unseen": "pooled"', '"on_unseen": "raise"'))
    with pytest.raises(ReadError, match="was changed after it was written"):
        JoinRegressor.load(path)
    path.write_text(json.dumps({"coef": [1, 2]}))
    with pytest.raises(ReadError, match="is no model of conjoin"):
        JoinRegressor.load(path)
    fitted.result_.save(path)
    with pytest.raises(ReadError, match="read it with conjoin.load"):
        JoinRegressor.load(path)


def test_a_ready_criterion_cannot_be_saved(data, tmp_path):
    model = join(by="store", method=Risk()).fit(*data)
    assert model.clusters_ == TRUE_CLUSTERS
    with pytest.raises(ArgumentError, match="method=Risk.* cannot be saved"):
        model.save(tmp_path / "model.json")


def test_pickle(data, fitted):
    X, _ = data
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict(X), fitted.predict(X))
    assert again.errors_ == fitted.errors_
