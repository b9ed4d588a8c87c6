"""Rows, order and checks, with representations that need no torch."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

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


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    X[10:15] = X[:5]  # rows that differ in the target only
    return X, X @ [1.0, -1.0, 0.5, 0.0] + rng.standard_normal(60)


def shuffled(X, y, seed=1):
    order = np.random.default_rng(seed).permutation(len(y))
    return X[order], y[order], order


REPRESENTATIONS = {
    "function": Function(lambda X: np.hstack([X, X**2])),
    "pca": Transformer(PCA(2)),
    "random": Transformer(PCA(2, svd_solver="randomized")),
    "kmeans": Transformer(KMeans(3, n_init=1)),
    "target": Transformer(PLSRegression(2)),
    "pipeline": Transformer(make_pipeline(StandardScaler(), PolynomialFeatures(2))),
}


@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_features_stay_with_their_rows_whatever_the_order(rows, name):
    X, y = rows
    features, values = REPRESENTATIONS[name].fit_transform(X, y)
    other_X, other_y, order = shuffled(X, y)
    others, other_values = REPRESENTATIONS[name].fit_transform(other_X, other_y)
    np.testing.assert_array_equal(other_values, values[order])
    np.testing.assert_allclose(features.transform(X), values, atol=1e-12)
    np.testing.assert_allclose(others.transform(X), values, atol=1e-12)
    assert len(features.names) == values.shape[1]


def test_a_transformer_is_not_changed_and_the_seed_is_passed_on(rows):
    X, y = rows
    estimator = KMeans(3, n_init=1)
    one, two = (
        Transformer(estimator, random_state=s).fit(X, y).estimator.random_state for s in (1, 2)
    )
    assert (one, two) == (1, 2)
    assert not hasattr(estimator, "cluster_centers_")


def test_sparse_output_is_taken():
    X = np.array([[0.0], [1.0], [2.0]] * 5)
    values = Transformer(OneHotEncoder()).fit(X, X[:, 0]).transform([[1.0]])
    assert values.tolist() == [[0.0, 1.0, 0.0]]


@pytest.mark.parametrize(
    "function",
    [
        lambda X: X[::-1],
        lambda X: X[np.argsort(X[:, 0])],
        lambda X: X - X.mean(axis=0),
        lambda X: X + np.random.default_rng().standard_normal(X.shape),
    ],
    ids=["reversed", "sorted", "centred", "random"],
)
def test_maps_that_lose_the_row_are_refused(rows, function):
    with pytest.raises(DataError, match="out of step"):
        Function(function).fit(*rows)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X: X[:1], "one line of features for each row"),
        (lambda X: X[:, 0], r"make it a column, of shape \(rows, 1\), such as X\[:, :1\]"),
        (lambda X: X.astype(str), "no numbers, such as '"),
        (lambda X: np.full(X.shape, None), "not finite"),
        (lambda X: np.full(X.shape, print), "no numbers, such as '<built-in"),
        (lambda X: X * 1j, "complex numbers; let it give real ones"),
        (lambda X: pd.DataFrame(X, columns=list("aabc")), "function gives has two columns named"),
        (lambda X: {"a": X}, r"of shape \(\) for"),
        (lambda X: np.log(np.minimum(X, 0) * 0 - 1 + 1e-300), "not finite"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_maps_of_the_wrong_shape_or_kind_are_refused(rows, function, message):
    with pytest.raises(DataError, match=message):
        Function(function).fit(*rows)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X[:0], y[:0]), "no rows"),
        (lambda X, y: (X[:, 0], y), "rows and columns"),
        (lambda X, y: (np.where(X > 1, np.nan, X), y), "missing or infinite"),
        (lambda X, y: (X.astype(str)[:, :1] + "a", y), "no array of numbers"),
        (lambda X, y: (X, y[:-1]), "expected one for each"),
        (lambda X, y: (X, np.where(y > 1, np.inf, y)), "y has values"),
        (lambda X, y: (X, np.full(len(y), "a")), "task='classification'"),
        (lambda X, y: (X, y, -np.ones(len(y))), "weights must be"),
        (lambda X, y: (X, y, np.ones(3)), "weights must be"),
    ],
)
def test_rows_that_cannot_be_used_get_a_sentence(rows, change, message):
    with pytest.raises(DataError, match=message):
        REPRESENTATIONS["function"].fit(*change(*rows))


@pytest.mark.parametrize(
    "table",
    [dict, pd.DataFrame, pl.DataFrame, pa.table],
    ids=["mapping", "pandas", "Polars", "Arrow"],
)
def test_tables_are_not_taken_by_position(rows, table):
    X, y = rows
    named = table({name: X[:, j] for j, name in enumerate("abcd")})
    features = REPRESENTATIONS["pca"].fit(X, y)
    for use in (features.transform, lambda rows: REPRESENTATIONS["function"].fit(rows, y)):
        with pytest.raises(DataError, match="X is a table, but .*result.representation.transform"):
            use(named)
    with pytest.raises(DataError, match="X is a table"):
        embed_arrays(np.abs, {"a": (X, y)}).encode(named)


def test_functions_may_give_sparse_matrices_and_work_in_place(rows):
    X, y = rows

    def halve(X):
        X /= 2
        return scipy.sparse.csr_matrix(X)

    kept = X.copy()
    values = Function(halve).fit(X, y).transform(X)
    np.testing.assert_array_equal(values, kept / 2)
    np.testing.assert_array_equal(X, kept)
    Transformer(StandardScaler(copy=False)).fit(X, y).transform(X)
    np.testing.assert_array_equal(X, kept)


def test_a_transformer_that_fails_says_why(rows):
    X, y = rows
    with pytest.raises(DataError, match=r"PCA\(n_components=9\) cannot be fitted: n_comp") as told:
        Transformer(PCA(9)).fit(X, y)
    assert "target" not in str(told.value)
    with pytest.raises(DataError, match=r"cannot be fitted: .* not given the target; .*target=Tru"):
        Transformer(SelectKBest(k=2)).fit(X, y)


class Bare:
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Transformer("PCA"), "estimator='PCA' is no transformer, for it has no fit"),
        (lambda: as_representation(Bare()), "for it has no get_params; .*BaseEstimator"),
        (lambda: Transformer(PCA), r"estimator=PCA is a class; pass an instance, such as PCA\(\)"),
        (lambda: as_representation(PCA), r"representation=PCA is a class; .*such as PCA\(\)"),
        (lambda: Function(3), "function=3 is no function"),
        (lambda: Network(hidden=0), "hidden=0 .*expected a whole number >= 1"),
        (lambda: Network(random_state=None), "random_state=None .*whole number >= 0"),
        (lambda: Network(task="both"), "task='both' is unknown"),
    ],
)
def test_what_cannot_represent_is_refused_when_made(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


# --- tables --------------------------------------------------------------------------------------


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
    with pytest.raises(DataError, match="same in all rows"):
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


def test_encode_gives_what_the_map_starts_from():
    table = {"store": ["a", "b"] * 10, "kind": ["p", "q", "q", "p"] * 5, "x": np.arange(20.0)}
    table["y"] = np.arange(20.0) ** 2
    embedding = embed(lambda X: 2 * X, table, target="y", by="store")
    expected = embedding.features.transform(embedding.encode(table))
    np.testing.assert_array_equal(embedding.transform(table)["unit1"], expected[:, 0])


def test_progress_is_told():
    stores = make_clusters(sizes=(2,), n=20, p=2)
    told = []
    embed(PCA(1), stores.tables(), target="y", progress=lambda *step: told.append(step))
    assert told == [(1, 1)]


def test_what_is_no_representation_is_refused():
    assert isinstance(as_representation(PCA()), Transformer)
    assert isinstance(as_representation(np.abs), Function)
    with pytest.raises(ArgumentError, match="'mlp3' is no representation; expected 'mlp1', 'mlp2'"):
        as_representation("mlp3")


def test_tables_of_classes_keep_their_labels():
    from conjoin import partition
    from conjoin.representations import embed

    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    tables = {
        name: {"a": X[own, 0], "b": X[own, 1], "y": np.where(X[own, 0] > 0, "yes", "no")}
        for name, own in (("one", slice(0, 100)), ("two", slice(100, 200)))
    }
    embedding = embed(lambda rows: rows**3, tables, target="y")
    assert embedding.tables["one"]["y"].tolist() == tables["one"]["y"].tolist()
    assert list(partition(embedding.tables, target="y").classes) == ["no", "yes"]
