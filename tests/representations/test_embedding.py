"""Tables and arrays become tables of features; names, transformers and functions do it."""

import numpy as np
import polars as pl
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

import conjoin
from conjoin.datasets import make_clusters
from conjoin.errors import ArgumentError, DataError
from conjoin.representations import (
    Function,
    Network,
    Transformer,
    as_representation,
    embed,
    embed_arrays,
)


def test_an_embedding_gives_partition_the_same_datasets():
    stores = make_clusters(sizes=(2, 2), n=100, p=3, distance=2.0)
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    embedding = embed(lambda X: X @ rotation, stores.tables(), target="y")
    plain = conjoin.partition(stores.tables(), target="y", strategy="clusters")
    result = conjoin.partition(embedding.tables, target="y", strategy="clusters")
    assert result.clusters == plain.clusters
    for name, table in stores.tables().items():
        np.testing.assert_array_equal(embedding.tables[name]["y"], table["y"])
        ours = result.predict(embedding.transform(table), name)
        np.testing.assert_allclose(ours, plain.predict(table, name), atol=1e-3)


def test_one_table_with_weights_and_text_is_embedded():
    rng = np.random.default_rng(0)
    table = {
        "store": np.repeat(["b", "a"], 30),
        "x": rng.standard_normal(60),
        "kind": np.tile(["p", "q", "r"], 20),
        "unit1": rng.standard_normal(60),  # the target has the name of a feature
        "w": np.tile([1.0, 3.0], 30),
    }
    embedding = embed(lambda X: X[:, :2] ** 3, table, target="unit1", by="store", weights="w")
    assert list(embedding.tables) == ["a", "b"]
    assert list(embedding.tables["a"]) == ["unit1_", "unit2", "unit1", "w"]
    np.testing.assert_allclose(embedding.tables["b"]["w"], np.tile([0.5, 1.5], 15))
    again = embedding.transform({name: values[:30] for name, values in table.items()})
    np.testing.assert_allclose(again["unit2"], embedding.tables["b"]["unit2"])


def test_features_have_the_names_that_are_known():
    rng = np.random.default_rng(0)
    table = {name: rng.standard_normal(40) for name in ("a", "b", "pca1")}
    table["store"] = ["x", "y"] * 20
    asked = {"target": "pca1", "by": "store"}
    assert embed(PolynomialFeatures(2), table, **asked).columns == ("a", "b", "a^2", "a b", "b^2")
    assert embed(PCA(2), table, **asked).columns == ("pca0", "pca1_")
    assert embed(FunctionTransformer(np.abs), table, **asked).columns == ("unit1", "unit2")
    given = embed(lambda X: pl.DataFrame({"sum": X.sum(axis=1), "store": X[:, 0]}), table, **asked)
    assert given.columns == ("sum", "store_")
    result = conjoin.partition(table, representation=PCA(2), **asked)
    assert result.features == ("pca0", "pca1_")


def test_features_without_variation_are_left_out():
    stores = make_clusters(sizes=(2,), n=20, p=2)
    dead = embed(lambda X: np.column_stack([X[:, 0] * 0, X[:, 1]]), stores.tables(), target="y")
    assert (dead.columns, dead.positions) == (("unit2",), (1,))
    assert list(dead.transform(stores.tables()["d1"])) == ["unit2"]
    with pytest.raises(DataError, match="same value in all rows"):
        embed(lambda X: X * 0, stores.tables(), target="y")


def test_arrays_of_any_shape_are_embedded():
    rng = np.random.default_rng(0)
    images = {f"d{k}": (rng.random((15 + k, 2, 3)), rng.random(15 + k)) for k in (10, 2)}
    embedding = embed_arrays(lambda X: X.reshape(len(X), 6) ** 2, images, target="t")
    assert list(embedding.tables) == ["d2", "d10"]
    for name, (X, y) in images.items():
        table = embedding.tables[name]
        np.testing.assert_array_equal(table["t"], y)
        np.testing.assert_array_equal(table["unit4"], X[:, 1, 0] ** 2)
        np.testing.assert_array_equal(embedding.transform(X)["unit4"], table["unit4"])
    wrong = {**images, "d3": (np.ones((4, 2, 2)), np.ones(4))}
    with pytest.raises(DataError, match="'d3' has X of shape .4, 2, 2."):
        embed_arrays(np.abs, wrong)
    with pytest.raises(DataError, match="no datasets"):
        embed_arrays(np.abs, {})


def test_encode_returns_the_inputs_of_the_map():
    table = {"store": ["a", "b"] * 10, "kind": ["p", "q", "q", "p"] * 5, "x": np.arange(20.0)}
    table["y"] = np.arange(20.0) ** 2
    embedding = embed(lambda X: 2 * X, table, target="y", by="store")
    expected = embedding.features.transform(embedding.encode(table))
    np.testing.assert_array_equal(embedding.transform(table)["unit1"], expected[:, 0])


def test_progress_is_reported():
    stores = make_clusters(sizes=(2,), n=20, p=2)
    steps = []
    embed(PCA(1), stores.tables(), target="y", progress=lambda *step: steps.append(step))
    assert steps == [(1, 1)]


def test_tables_of_classes_keep_their_labels():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    tables = {
        name: {"a": X[own, 0], "b": X[own, 1], "y": np.where(X[own, 0] > 0, "yes", "no")}
        for name, own in (("one", slice(0, 100)), ("two", slice(100, 200)))
    }
    embedding = embed(lambda rows: rows**3, tables, target="y")
    assert embedding.tables["one"]["y"].tolist() == tables["one"]["y"].tolist()
    assert list(conjoin.partition(embedding.tables, target="y").classes) == ["no", "yes"]


class Bare:
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Transformer("PCA"), "estimator='PCA' is not a transformer: it has no fit"),
        (lambda: as_representation(Bare()), "it has no get_params; .*BaseEstimator"),
        (lambda: Transformer(PCA), r"estimator=PCA is a class; pass an instance, such as PCA\(\)"),
        (lambda: as_representation(PCA), r"representation=PCA is a class; .*such as PCA\(\)"),
        (lambda: Function(3), "function=3 is not a function"),
        (lambda: Network(hidden=0), "hidden=0 .*expected a whole number >= 1"),
        (lambda: Network(random_state=None), "random_state=None .*whole number >= 0"),
        (lambda: Network(task="both"), "task='both' is unknown"),
    ],
)
def test_unusable_representations_are_refused_when_made(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_transformers_and_functions_become_representations():
    assert isinstance(as_representation(PCA()), Transformer)
    assert isinstance(as_representation(np.abs), Function)
    with pytest.raises(
        ArgumentError, match="'mlp3' is not a representation; expected 'mlp1', 'mlp2'"
    ):
        as_representation("mlp3")


@pytest.mark.parametrize(
    "representation, learns",
    [
        (PCA(2), False),
        (make_pipeline(StandardScaler(), PolynomialFeatures(2)), False),
        (PLSRegression(2), True),
        (make_pipeline(StandardScaler(), PLSRegression(2)), True),
        (make_pipeline(SelectKBest(k=2), StandardScaler()), False),
        (np.square, False),
        (Network(), True),
        (Transformer(PCA(2), target=True), True),
    ],
)
def test_representations_know_whether_they_learn_from_the_target(representation, learns):
    assert as_representation(representation).learns_from_target is learns
