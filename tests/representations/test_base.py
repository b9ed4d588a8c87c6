"""Checks of rows and maps, and independence of the order of rows; nothing here needs torch."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.cluster import KMeans
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from conjoin.errors import DataError
from conjoin.representations import Function, Transformer, embed_arrays


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
def test_maps_that_mix_rows_are_refused(rows, function):
    with pytest.raises(DataError, match="would not match their targets"):
        Function(function).fit(*rows)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X: X[:1], "one line of features for each row"),
        (lambda X: X[:, 0], r"return a column of shape \(rows, 1\), such as X\[:, :1\]"),
        (lambda X: X.astype(str), "not numbers, such as '"),
        (lambda X: np.full(X.shape, None), "not finite"),
        (lambda X: np.full(X.shape, print), "not numbers, such as '<built-in"),
        (lambda X: X * 1j, "complex numbers; return real ones"),
        (lambda X: pd.DataFrame(X, columns=list("aabc")), "function returns has two columns named"),
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
        (lambda X, y: (X[:, 0], y), "an array of rows and columns"),
        (lambda X, y: (np.where(X > 1, np.nan, X), y), "missing or infinite"),
        (lambda X, y: (X.astype(str)[:, :1] + "a", y), "not an array of numbers"),
        (lambda X, y: (X, y[:-1]), "expected one value for each of 60 rows"),
        (lambda X, y: (X, np.where(y > 1, np.inf, y)), "y has values"),
        (lambda X, y: (X, np.full(len(y), "a")), "task='classification'"),
        (lambda X, y: (X, y, -np.ones(len(y))), "weights cannot be used"),
        (lambda X, y: (X, y, np.ones(3)), "weights cannot be used"),
    ],
)
def test_unusable_rows_are_refused(rows, change, message):
    with pytest.raises(DataError, match=message):
        REPRESENTATIONS["function"].fit(*change(*rows))


@pytest.mark.parametrize(
    "table",
    [dict, pd.DataFrame, pl.DataFrame, pa.table],
    ids=["mapping", "pandas", "Polars", "Arrow"],
)
def test_tables_are_refused_where_arrays_are_expected(rows, table):
    X, y = rows
    named = table({name: X[:, j] for j, name in enumerate("abcd")})
    features = REPRESENTATIONS["pca"].fit(X, y)
    for use in (features.transform, lambda rows: REPRESENTATIONS["function"].fit(rows, y)):
        with pytest.raises(DataError, match="X is a table; .*result.representation.transform"):
            use(named)
    with pytest.raises(DataError, match="X is a table"):
        embed_arrays(np.abs, {"a": (X, y)}).encode(named)
