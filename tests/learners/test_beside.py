"""Estimators of other libraries beside the model file."""

import json
import os
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from typer.testing import CliRunner

import conjoin
from conjoin.cli.main import app
from conjoin.errors import ArgumentError, ReadError
from conjoin.learners.beside import objects_from_bytes, objects_to_bytes
from tests.learners.conftest import FOREST

pytest.importorskip("skops")
TREE = "sklearn.tree._tree.Tree"


class Middle(RegressorMixin, BaseEstimator):
    """A user's own estimator: the mean."""

    def fit(self, X, y):
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


@pytest.fixture
def file(forest, tmp_path):
    forest.save(tmp_path / "model.json", evidence=True)
    return tmp_path / "model.json"


def untrusted(file):
    """Return the types that an error lists."""
    with pytest.raises(ReadError, match="does not trust by default") as caught:
        conjoin.load(file)
    listed = str(caught.value).split("trusted=")[1].split(")")[0]
    return json.loads(listed.replace("'", '"'))


def test_an_estimator_is_written_beside_the_model(file):
    assert sorted(os.listdir(file.parent)) == ["model.json", "model.json.skops"]


def test_types_that_skops_does_not_trust_are_listed_and_can_be_allowed(forest, file, bent_shops):
    types = untrusted(file)
    loaded = conjoin.load(file, trusted=types) if types else conjoin.load(file)
    assert np.array_equal(loaded.predict(bent_shops), forest.predict(bent_shops))
    assert loaded.errors == forest.errors
    table = bent_shops.head(20)
    assert loaded.assign(table, table["sales"]) == forest.assign(table, table["sales"])


@pytest.mark.parametrize("trusted", [True, "sklearn", 7])
def test_trust_is_a_list_of_types(file, trusted):
    with pytest.raises(ArgumentError, match="expected a list of types"):
        conjoin.load(file, trusted=trusted)


def test_types_are_trusted_by_name_and_as_they_are():
    data = objects_to_bytes([Middle().fit([[1]], [2])])
    name = f"{Middle.__module__}.Middle"
    for trusted in ([name], [Middle], (Middle,)):
        (found,) = objects_from_bytes(data, "a.skops", trusted)
        assert found.mean_ == 2
    with pytest.raises(ReadError, match=name.replace(".", r"\.")):
        objects_from_bytes(data, "a.skops", [LinearRegression])


def test_what_skops_trusts_needs_no_list():
    (found,) = objects_from_bytes(objects_to_bytes([LinearRegression(positive=True)]), "a.skops")
    assert found.positive is True


def test_the_second_file_must_be_there_and_the_same(file):
    other = file.with_name("model.json.skops")
    data = other.read_bytes()
    other.write_bytes(data[:-1] + b"x")
    with pytest.raises(ReadError, match="its checksum does not fit"):
        conjoin.load(file, trusted=[TREE])
    other.unlink()
    with pytest.raises(ReadError, match="keep both files in one folder"):
        conjoin.load(file, trusted=[TREE])


def test_a_file_that_is_no_file_of_skops_is_refused():
    for data in (b"", b"PK\x03\x04", b"text"):
        with pytest.raises(ReadError, match="is no file of skops"):
            objects_from_bytes(data, "a.skops")


def test_without_skops_the_extra_is_named(forest, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    monkeypatch.setitem(sys.modules, "skops", None)
    with pytest.raises(ArgumentError, match=r"pip install 'conjoin\[skops\]'"):
        forest.save(tmp_path / "model.json", evidence=True)
    assert os.listdir(tmp_path) == []


def test_what_skops_cannot_write_is_said(tmp_path):
    with pytest.raises(ArgumentError, match="DummyRegressor cannot be saved"):
        objects_to_bytes([DummyRegressor(constant=(i for i in range(3)))])


def test_the_command_line_trusts_by_name(file, forest, bent_shops, tmp_path):
    data, output = tmp_path / "rows.csv", tmp_path / "out.csv"
    bent_shops.to_csv(data, index=False)
    arguments = ["predict", str(file), str(data), "-o", str(output)]
    types = untrusted(file)
    assert CliRunner().invoke(app, arguments).exit_code != 0
    done = CliRunner().invoke(app, [*arguments, *(x for t in types for x in ("--trust", t))])
    assert done.exit_code == 0, done.output


def test_an_estimator_of_conjoin_keeps_its_learner(bent_shops, tmp_path):
    X = bent_shops[["price", "size"]].fillna(0.0).to_numpy()
    y, groups = bent_shops["sales"], bent_shops["shop"]
    model = conjoin.JoinRegressor(learner=FOREST).fit(X, y, groups=groups)
    model.save(tmp_path / "model.json", evidence=True)
    types = untrusted(tmp_path / "model.json")
    loaded = conjoin.JoinRegressor.load(tmp_path / "model.json", trusted=types)
    assert type(loaded.learner) is type(FOREST)
    assert loaded.learner.get_params() == FOREST.get_params()
    assert np.array_equal(loaded.predict(X, groups=groups), model.predict(X, groups=groups))
    boosting = conjoin.Boosting(rounds=5, leaves=3)
    model = conjoin.JoinRegressor(learner=boosting).fit(X, y, groups=groups)
    model.save(tmp_path / "trees.json", evidence=True)
    loaded = conjoin.JoinRegressor.load(tmp_path / "trees.json")
    assert loaded.learner == boosting
    assert np.array_equal(loaded.predict(X, groups=groups), model.predict(X, groups=groups))
