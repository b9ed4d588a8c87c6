"""scikit-learn transformers and functions as representations."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from conjoin.errors import DataError
from conjoin.representations import Function, Transformer


@pytest.fixture
def linear_rows():
    """Return rows (60, 4) and a target that depends on them linearly."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    return X, X @ [1.0, -1.0, 0.5, 0.0] + rng.standard_normal(60)


def test_a_transformer_is_not_changed_and_the_seed_is_passed_on(linear_rows):
    X, y = linear_rows
    estimator = KMeans(3, n_init=1)
    one, two = (
        Transformer(estimator, random_state=s).fit(X, y).estimator.random_state for s in (1, 2)
    )
    assert (one, two) == (1, 2)
    assert not hasattr(estimator, "cluster_centers_")


def test_sparse_output_of_a_transformer_is_accepted():
    X = np.array([[0.0], [1.0], [2.0]] * 5)
    values = Transformer(OneHotEncoder()).fit(X, X[:, 0]).transform([[1.0]])
    assert values.tolist() == [[0.0, 1.0, 0.0]]


def test_functions_may_return_sparse_matrices_and_change_their_input(linear_rows):
    X, y = linear_rows

    def halve(X):
        X /= 2
        return scipy.sparse.csr_matrix(X)

    kept = X.copy()
    values = Function(halve).fit(X, y).transform(X)
    np.testing.assert_array_equal(values, kept / 2)
    np.testing.assert_array_equal(X, kept)
    Transformer(StandardScaler(copy=False)).fit(X, y).transform(X)
    np.testing.assert_array_equal(X, kept)


def test_the_error_of_a_transformer_is_passed_on(linear_rows):
    X, y = linear_rows
    with pytest.raises(
        DataError, match=r"PCA\(n_components=9\) cannot be fitted: n_comp"
    ) as failed:
        Transformer(PCA(9)).fit(X, y)
    assert "target" not in str(failed.value)
    with pytest.raises(
        DataError, match=r"cannot be fitted: .* did not get the target; .*target=Tr"
    ):
        Transformer(SelectKBest(k=2)).fit(X, y)
