"""What a result can do: predict any rows, place new datasets, travel to other processes."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import conjoin
from conjoin.api.request import PredictionOptions
from conjoin.datasets import make_clusters
from conjoin.errors import ArgumentError, ConjoinError, ConjoinWarning, DataError
from conjoin.result.predictor import Noticed

SLOPES = {0: (2.0, -1.0), 1: (-2.0, 1.0)}
MEANS = {0: 0.0, 1: 5.0}


def rows_of(cluster, n, seed, noise=0.5):
    """Rows of a dataset in a cluster, or in none."""
    rng = np.random.default_rng(seed)
    slopes = SLOPES.get(cluster, (0.0, 6.0))
    x = rng.normal(MEANS.get(cluster, 0.0), 1, n)
    z = rng.normal(size=n)
    kind = rng.choice(["food", "toys"], n)
    y = slopes[0] * x + slopes[1] * z + (kind == "toys") + noise * rng.normal(size=n)
    return pd.DataFrame({"x": x, "z": z, "kind": kind, "y": y})


@pytest.fixture(scope="module")
def frame():
    parts = [rows_of(k % 2, 60, k).assign(store=f"s{k}") for k in range(8)]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def result(frame):
    found = conjoin.partition(frame, target="y", by="store")
    assert found.clusters == [["s0", "s2", "s4", "s6"], ["s1", "s3", "s5", "s7"]]
    return found


def pooled(result, frame):
    rows, _ = result.predictor.encode(frame, "s0")
    return result.pooled.predict(rows)


def test_columns_in_words(result):
    assert result.columns == {
        "x": "number",
        "z": "number",
        "kind": f"category; 1 indicator column, reference {result.schema.encodings[2].reference!r}",
    }


def test_a_whole_frame_is_predicted_by_the_names_in_it(frame, result):
    found = result.predict(frame)
    for name in result.labels:
        own = (frame["store"] == name).to_numpy()
        assert (found[own] == result.predict(frame[own], name)).all()
    assert np.mean((found - frame["y"]) ** 2) < 0.4


@pytest.mark.parametrize(
    "convert",
    [
        pl.from_pandas,
        lambda f: pl.from_pandas(f).lazy(),
        lambda f: pa.Table.from_pandas(f, preserve_index=False),
        lambda f: {c: f[c].to_numpy() for c in f},
        lambda f: {c: f[c].to_list() for c in f},
        lambda f: f[f.columns[::-1]].assign(extra="?", more=[[1]] * len(f)),
        lambda f: f.astype({"kind": "category", "store": "category"}),
        lambda f: f.set_index(np.arange(len(f))[::-1]),
    ],
)
def test_the_kind_of_table_changes_nothing(frame, result, convert):
    assert result.predict(convert(frame)).tobytes() == result.predict(frame).tobytes()


def test_the_order_of_rows_changes_nothing(frame, result):
    order = np.random.default_rng(0).permutation(len(frame))
    assert (result.predict(frame.iloc[order]) == result.predict(frame)[order]).all()
    one_by_one = [result.predict(frame.iloc[[i]])[0] for i in range(0, 480, 97)]
    assert one_by_one == result.predict(frame)[::97].tolist()
    assert result.predict(frame[:0]).shape == (0,)


def test_names_beside_the_rows(frame, result):
    rows = frame.drop(columns="store")
    expected = result.predict(frame)
    for names in (
        frame["store"],
        frame["store"].to_list(),
        frame["store"].to_numpy(),
        pl.Series(frame["store"].to_list()),
        frame["store"].astype("category"),
    ):
        assert (result.predict(rows, names) == expected).all()
    assert (result.predict(frame, "s3") == result.predict(rows, ["s3"] * 480)).all()
    with pytest.raises(DataError, match="dataset has 2 names for 480 rows of X"):
        result.predict(rows, ["s0", "s1"])
    with pytest.raises(DataError, match="X lacks column 'store', which names the dataset"):
        result.predict(rows)
    with pytest.raises(DataError, match="X does not say which dataset a row belongs to"):
        result.predict(np.ones((2, 3)))


def test_datasets_that_were_not_there(frame, result):
    new = frame.assign(store=np.where(frame["store"] == "s0", "new", frame["store"]))
    new.loc[:9, "store"] = "other"
    with pytest.warns(ConjoinWarning) as caught:
        found = result.predict(new)
    assert [str(w.message) for w in caught] == [
        "2 datasets were not there at fitting ('new', 'other'); they get the model for all "
        "(60 of 480 rows)."
    ]
    own = (frame["store"] == "s0").to_numpy()
    np.testing.assert_allclose(found[own], pooled(result, frame[own]))
    assert (found[~own] == result.predict(frame)[~own]).all()
    with pytest.raises(DataError, match="Dataset 'new' was not there at fitting; known are 's0',"):
        result.predict(new, on_unseen="raise")
    with pytest.raises(ArgumentError, match="on_unseen='guess' is unknown; expected one of pooled"):
        result.predict(new, on_unseen="guess")


def test_the_nearest_cluster_serves_a_dataset_that_was_not_there(result):
    for cluster in (0, 1):
        rows = rows_of(cluster, 30, 100 + cluster)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = result.predict(rows, "new", on_unseen="nearest")
        expected = result.models[cluster].predict(result.predictor.encode(rows, "new")[0])
        np.testing.assert_allclose(found, expected)
        assert np.mean((found - rows["y"]) ** 2) < 0.5
    both = pd.concat([rows_of(0, 30, 5).assign(store="n0"), rows_of(1, 30, 6).assign(store="n1")])
    found = result.predict(both, on_unseen="nearest")
    assert np.mean((found - both["y"]) ** 2) < 0.5


def test_missing_names_get_the_pooled_model_without_a_warning(frame, result):
    nameless = frame.assign(store=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for choice in ("pooled", "nearest", "raise"):
            found = result.predict(nameless, on_unseen=choice)
            np.testing.assert_allclose(found, pooled(result, frame))
        some = [None if i < 60 else name for i, name in enumerate(frame["store"])]
        assert (result.predict(frame, some)[60:] == result.predict(frame)[60:]).all()


def test_values_missing_and_levels_unseen_at_fitting(frame, result):
    rows = frame[:4].copy()
    rows["kind"] = ["books", None, "", "food"]
    rows.loc[1, "x"] = np.nan
    found = result.predict(rows)
    assert np.isfinite(found).all()
    features, _ = result.predictor.encode(rows)
    assert features[1, 0] == pytest.approx(frame["x"].mean())
    assert (features[:3, 2] == 0).all()


def test_rows_that_do_not_fit(frame, result):
    for data, message in (
        (frame.drop(columns="x"), "X lacks column 'x'; columns are 'z', 'kind', 'y', 'store'"),
        (frame.rename(columns={"kind": "kinds"}), "X lacks column 'kind'; did you mean 'kinds'"),
        (frame.assign(x="dear"), "Column 'x' of X was a number at fitting, .* such as 'dear'"),
        (frame.assign(x=np.inf), "Column 'x' of X has an infinite value"),
        (3.0, "X has 1 columns, but the model has 3 features"),
    ):
        with pytest.raises(ConjoinError, match=message) as caught:
            result.predict(data, "s0")
        assert "\n" not in str(caught.value)


def test_limits(frame, result):
    far = frame[:3].assign(x=[0.0, 1e6, -1e6])
    with pytest.warns(ConjoinWarning, match="2 of 3 rows lie far outside .* column 'x'"):
        kept = result.predict(far)
    free = result.predict(far, limit=False)
    assert kept[0] == free[0]
    assert np.abs(kept).max() < 200
    assert np.abs(free).max() > 1e6
    low, high = result.pooled.limits["x"]
    edge = result.predict(far.assign(x=[0.0, high, low]))
    assert kept.tobytes() == edge.tobytes()


def test_encoding_rows_and_predicting_them(frame, result):
    rows, names = result.predictor.encode(frame)
    assert rows.shape == (480, 3)
    assert names == frame["store"].to_list()
    found = result.predict_encoded(rows, names, PredictionOptions())
    assert (found.linear[:, 0] == result.predict(frame)).all()
    assert found.noticed == Noticed(rows=480, beyond_by_column={"x": 0, "z": 0, "kind=food": 0})
    assert (result.predict(rows, names) == result.predict(frame)).all()


@pytest.mark.parametrize("cluster", [0, 1])
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_a_new_dataset_of_a_cluster_is_placed_in_it(result, cluster, seed):
    rows = rows_of(cluster, 40, seed)
    found = result.assign(rows, rows["y"])
    assert found.cluster == cluster
    assert found.probability > 0.9
    assert sum(found.probabilities) + found.probability_new == pytest.approx(1)
    assert found.probabilities[cluster] == found.probability
    fresh = rows_of(cluster, 200, seed + 100)
    error = np.mean(
        (found.model.predict(result.predictor.encode(fresh, "new")[0]) - fresh["y"]) ** 2
    )
    assert error < 0.4


def test_a_new_dataset_of_no_cluster_is_placed_in_none(result):
    rows = rows_of(None, 40, 3)
    found = result.assign(rows, rows["y"].to_list())
    assert found.cluster is None
    assert found.probability == found.probability_new > 0.9
    fresh = rows_of(None, 200, 4)
    error = np.mean(
        (found.model.predict(result.predictor.encode(fresh, "new")[0]) - fresh["y"]) ** 2
    )
    assert error < 0.6


def test_few_rows_leave_the_place_open(result):
    certain = [
        result.assign(rows, rows["y"]).probability
        for rows in (rows_of(0, 1, 40 + k, noise=3.0) for k in range(5))
    ]
    assert min(certain) < 0.9
    nothing = result.assign(rows_of(0, 1, 0)[:0], [])
    assert nothing.probabilities == pytest.approx((4 / 9, 4 / 9))
    assert nothing.probability_new == pytest.approx(1 / 9)


def test_rows_that_cannot_be_placed(result):
    rows = rows_of(0, 5, 0)
    for y in (rows["y"][:3], np.full(5, np.nan), np.ones((5, 2))):
        with pytest.raises(DataError, match="y must hold one finite number for each of the 5 rows"):
            result.assign(rows, y)
    with pytest.raises(DataError, match="X lacks column 'x'"):
        result.assign(rows.drop(columns="x"), rows["y"])


@pytest.mark.parametrize("method", ["auto", "direct"])
def test_results_are_pickled(frame, method):
    before = conjoin.partition(frame, target="y", by="store", method=method)
    for result in (before, before.using("clusters")):
        copy = pickle.loads(pickle.dumps(result))
        assert copy == result
        assert copy.errors == result.errors
        assert copy.weights == result.weights
        assert repr(copy.ledger()) == repr(result.ledger())
        assert copy.columns == result.columns
        assert copy.predict(frame).tobytes() == result.predict(frame).tobytes()
        assert copy.using("pooled") == result.using("pooled")
        rows = rows_of(0, 20, 9)
        assert repr(copy.assign(rows, rows["y"])) == repr(result.assign(rows, rows["y"]))


def test_pickled_results_hold_no_rows():
    tables = make_clusters(sizes=(2, 2), n=2000, p=2).tables()
    result = conjoin.partition(tables, target="y")
    assert len(result.errors) and len(result.ledger())
    assert len(pickle.dumps(result)) < 100_000
    assert tables["d1"]["x1"][:4].tobytes() not in pickle.dumps(result)


def test_datasets_named_by_several_columns(frame):
    parts = frame.assign(year=np.where(np.arange(480) % 60 < 30, 2020, 2021))
    result = conjoin.partition(parts, target="y", by=["store", "year"])
    assert len(result.labels) == 16
    found = result.predict(parts)
    own = ((parts["store"] == "s1") & (parts["year"] == 2021)).to_numpy()
    assert (found[own] == result.predict(parts[own], "s1 | 2021")).all()
    as_floats = parts.assign(year=parts["year"].astype(float))
    assert (result.predict(as_floats) == found).all()
    with pytest.raises(DataError, match="X lacks column 'year', which names the dataset of a row"):
        result.predict(parts.drop(columns="year"))


@pytest.mark.parametrize(
    "names", [["it's", 'a "b"'], ["two\nlines", "\u00fc\U0001f6b2"], ["<img src=x>", " "]]
)
def test_names_of_any_text(frame, names):
    part = frame[frame["store"].isin(["s0", "s1"])]
    renamed = part.assign(store=part["store"].map(dict(zip(["s0", "s1"], names))))
    result = conjoin.partition(renamed, target="y", by="store")
    assert sorted(result.labels) == sorted(names)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(result.predict(renamed)).all()


def test_explained_datasets(result):
    nearest = result.explain("s0")
    assert nearest[0].cluster == 0
    with pytest.raises(DataError, match="Dataset 'x' was not there at fitting; known are 's0'"):
        result.explain("x")


def test_print_says_what_was_found_without_finding_more():
    made = make_clusters(sizes=(2, 1), n=60, p=2, distance=3.0)
    result = conjoin.partition(made.tables(), target="y")
    expected = "Clusters: 2 models for 3 datasets ({d1, d2}, {d3}). Predictions use strategy 'auto'"
    assert str(result).startswith(expected)
    assert "_verdicts" not in vars(result.analysis)
    assert "errors" not in vars(result.analysis)


# --- copies and renamed attributes ---------------------------------------------------------------


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_results_are_copied(frame, result, copied):
    other = copied(result)
    assert other == result
    assert other.errors == result.errors
    assert repr(other.ledger()) == repr(result.ledger())
    assert other.predict(frame).tobytes() == result.predict(frame).tobytes()


@pytest.mark.parametrize(
    ("old", "new"),
    [("verdicts", r"ledger\(\)"), ("history", r"ledger\(\)"), ("evidence", "analysis")],
)
def test_renamed_attributes_are_named(result, old, new):
    with pytest.raises(AttributeError, match=f"Partition.{old} is now called Partition.{new}"):
        getattr(result, old)
    assert old not in dir(result)


def test_attributes_that_never_were(result):
    with pytest.raises(AttributeError, match="'Partition' object has no attribute 'colour'"):
        _ = result.colour


def test_an_error_inside_a_property_is_not_hidden(result, monkeypatch):
    def broken(self):
        raise AttributeError("deep inside")

    monkeypatch.setattr(type(result), "weights", property(broken))
    with pytest.raises(AttributeError, match="deep inside"):
        _ = result.weights


@pytest.mark.parametrize("most", [0, 1, 3, None])
def test_the_ledger_may_be_cut(result, most):
    assert result.ledger(most) == result.ledger()[:most]
