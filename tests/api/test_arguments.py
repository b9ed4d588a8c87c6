"""Arguments of `partition` that cannot be used get an error that says what was expected."""

import numpy as np
import pandas as pd
import pytest

import conjoin
from conjoin.errors import ConjoinError


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "store": np.repeat(["a", "b", "c"], 30),
            "price": rng.normal(10, 2, 90),
            "sales": rng.normal(100, 5, 90),
        }
    )


def refused(data, match, **options):
    options = {"target": "sales", "by": "store", "method": "direct", **options}
    with pytest.raises(ConjoinError, match=match) as caught:
        conjoin.partition(data, **options)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", ["direct", "bound", "tuned"])
def test_fewer_rows_than_columns(method):
    rng = np.random.default_rng(0)
    wide = {f"x{j}": rng.standard_normal(12) for j in range(20)}
    tables = {"a": {**wide, "sales": rng.standard_normal(12)}, "b": {**wide, "sales": wide["x0"]}}
    refused(
        tables, "Dataset 'a' has .* rows .* but the model has 21 columns", by=None, method=method
    )
    options = {} if method == "direct" else {"resamples": 20}
    result = conjoin.partition(
        tables, target="sales", method=method, overparametrised=True, **options
    )
    assert sorted(result.labels) == ["a", "b"]


@pytest.mark.parametrize("delta", [0, 1, -0.5, 3])
def test_delta_outside_its_range(frame, delta):
    refused(frame, f"delta={delta}.* is not a level", method="tuned", delta=delta)


def test_unknown_arguments(frame):
    refused(frame, "method='magic' is unknown", method="magic")
    refused(frame, "grouping='magic' is unknown", grouping="magic")
    refused(frame, "does not take n=...", method="direct", n=3)
    refused(frame, "does not take n=...", method="auto", n=3)
    refused(frame, "strategy='magic' is unknown", strategy="magic")
    refused(frame, "finds clusters itself", method="bic", grouping="greedy")
    refused(frame, "scores pairs only", method="tuned", grouping="agglomerative")
    refused(frame, "weigh_by='cats' is unknown", weigh_by="cats")
    refused(frame, "folds=1 is not a count", folds=1)
    refused(frame, "random_state='x' is no seed", random_state="x")
    refused(frame, "random_state=-1 is negative", random_state=-1)
    refused([1, 2], "data is a list; expected a pandas, Polars, Dask or PySpark frame")
    refused(frame, "missing='guess' is unknown; expected one of indicator", missing="guess")
    refused(frame, "columns='all' is unknown; expected one of intersect", columns="all")
    with pytest.raises(ConjoinError, match="cannot be combined with a ready criterion"):
        conjoin.partition(frame, target="sales", by="store", method=conjoin.Direct(), n=3)


def test_spellings_of_version_0_1_name_the_new_ones(frame):
    refused(frame, "count='rows' is now called weigh_by='rows'", count="rows")
    refused(
        frame,
        "method='mallows' is now called 'risk'; what was 'risk' in partition is now 'auto'",
        method="mallows",
    )


def test_a_misspelt_argument_is_recognised(frame):
    words = "does not take weight_by=...; did you mean weigh_by"
    refused(frame, words, method="auto", weight_by="rows")
    refused(frame, "does not take zzz=...; leave it out", method="auto", zzz=1)
