"""Single odd arguments that once ended in an exception of another library."""

import numpy as np
import polars as pl
import pytest

import conjoin
from conjoin.errors import ArgumentError, DataError


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    tables = {k: {"x": rng.normal(size=20), "y": rng.normal(size=20)} for k in "ab"}
    return conjoin.partition(tables, target="y", learner="linear", folds=2)


def test_targets_of_a_new_dataset_that_are_text(result):
    with pytest.raises(DataError, match="y holds 'q', but the target is a number"):
        result.assign({"x": [1.0, 2.0]}, ["q", "r"])


def test_targets_of_a_new_dataset_that_no_double_can_square(result):
    with pytest.raises(DataError, match="too large to square"):
        result.assign({"x": [1.0, 2.0]}, [1e200, 0.0])


def test_paths_that_are_no_paths(result):
    for call in (result.save, result.report, conjoin.load):
        for path in (5, None):
            with pytest.raises(ArgumentError, match=f"path={path} is no file"):
                call(path)


@pytest.mark.parametrize("column", ["x", "y"])
def test_integers_of_128_bits(column):
    rng = np.random.default_rng(1)
    table = pl.DataFrame({"x": rng.normal(size=20), "y": rng.normal(size=20), "g": ["a", "b"] * 10})
    table = table.with_columns(pl.Series(column, range(20), dtype=pl.Int128))
    found = conjoin.partition(table, target="y", by="g", learner="linear", folds=2)
    assert np.isfinite(found.predict(table)).all()


def test_what_scikit_learn_refuses_is_a_data_error():
    X, names = np.arange(6.0).reshape(-1, 1), list("aabbcc")
    join = conjoin.JoinRegressor(learner="linear")
    for y, weights, words in (
        ([1, 2, np.nan, 3, 4, 5], None, "y contains NaN"),
        ([1, 2, 2, 3, 4, 5], [-1, 1, 1, 1, 1, 1], "sample_weight is -1 in 1 of 6 rows"),
        ([1, 2, 2, 3, 4, 5], list("abcdef"), "could not convert"),
        ([1, 2, 2, 3], None, "inconsistent numbers of samples"),
    ):
        with pytest.raises(DataError, match=words):
            join.fit(X, y, groups=names, sample_weight=weights)
