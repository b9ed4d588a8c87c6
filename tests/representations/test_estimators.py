"""The estimators with a representation."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, KFold

import conjoin
from conjoin.errors import ArgumentError, ConjoinWarning

pytest.importorskip("torch", reason="torch is not installed (extra nn)")

from conjoin.representations import MLP  # noqa: E402


@pytest.mark.parametrize("representation", ["mlp1", MLP(rate=0.01), PCA(2)])
def test_estimators_clone_pickle_and_agree_with_partition(rows, frames, representation):
    X, y = rows
    model = clone(conjoin.JoinRegressor(by="store", representation=representation)).fit(X, y)
    result = conjoin.partition(frames, target="y", representation=representation)
    np.testing.assert_allclose(model.predict(X.head(5)), result.predict(X.head(5), "d1"), rtol=1e-6)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_estimators_save_networks(rows, tmp_path):
    X, y = rows
    for representation in ("mlp1", MLP(rate=0.01, width=7)):
        model = conjoin.JoinRegressor(by="store", representation=representation).fit(X, y)
        model.save(tmp_path / "model.json")
        loaded = conjoin.JoinRegressor.load(tmp_path / "model.json")
        assert loaded.get_params() == model.get_params()
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    model = conjoin.JoinRegressor(by="store", representation=PCA(2)).fit(X, y)
    with pytest.raises(ArgumentError, match="cannot be saved: it is code"):
        model.save(tmp_path / "other.json")


def test_a_search_over_representations(rows):
    X, y = rows
    search = GridSearchCV(
        conjoin.JoinRegressor(by="store"),
        {"representation": [None, "mlp1", PCA(2)]},
        cv=KFold(2, shuffle=True, random_state=0),
    ).fit(X, y)
    assert search.best_params_ == {"representation": "mlp1"}
    nested = conjoin.JoinRegressor(by="store", representation=PCA(2))
    assert nested.set_params(representation__n_components=1).representation.n_components == 1


def test_one_dataset(rows, tmp_path):
    X, y = rows[0].query("store == 'd1'").drop(columns="store"), rows[1][rows[0]["store"] == "d1"]
    with pytest.warns(ConjoinWarning, match="only one dataset"):
        plain = conjoin.JoinRegressor().fit(X, y)
    with pytest.warns(ConjoinWarning, match="only one dataset"):
        model = conjoin.JoinRegressor(representation="mlp1").fit(X, y)
    assert model.score(X, y) > plain.score(X, y) + 0.2
    assert model.result_.representation.model_rows == 150
    model.save(tmp_path / "one.json")
    loaded = conjoin.JoinRegressor.load(tmp_path / "one.json")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with pytest.warns(ConjoinWarning, match="only one dataset"):
        classes = conjoin.JoinClassifier(representation="mlp1").fit(
            X, y > y.median(), sample_weight=np.full(len(y), 2.0)
        )
    assert classes.score(X, y > y.median()) > 0.7


def test_a_learn_share_says_what_replaced_it():
    with pytest.raises(ArgumentError, match="learn_share=0.3: networks are cross-fitted now"):
        conjoin.JoinRegressor(learn_share=0.3)
