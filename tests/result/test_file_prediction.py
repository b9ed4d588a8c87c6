"""Prediction of files: the same numbers as for frames, whatever the batches."""

import sqlite3
import warnings

import duckdb
import numpy as np
import pandas as pd
import pytest

import conjoin
from conjoin.api.request import PredictionOptions
from conjoin.errors import ArgumentError, ConjoinWarning, DataError, ReadError
from conjoin.result import file_prediction as prediction
from conjoin.result.file_prediction import predict_source

STRICT = PredictionOptions(on_unseen="raise")


def make_frame(names, rows=40, seed=0):
    rng = np.random.default_rng(seed)
    store = np.repeat(names, rows)
    n = len(store)
    x = rng.standard_normal(n)
    x[::11] = np.nan
    kind = rng.choice(["small", "large", "odd"], n)
    day = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D")
    slope = np.array([1.0 if name < "c" else -1.0 for name in store])
    y = slope * np.nan_to_num(x) + 2.0 * (kind == "large") + 0.3 * rng.standard_normal(n)
    return pd.DataFrame(
        {"x": x, "kind": kind, "day": day.date.astype(str), "store": store, "y": y}
    ).sample(frac=1, random_state=seed)


@pytest.fixture(scope="module")
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjoinWarning)
        return conjoin.partition(make_frame(["a", "b", "c", "d"]), target="y", by="store")


@pytest.fixture(scope="module")
def files_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    frame = make_frame(["a", "b", "c", "d"])
    for name, rows in frame.groupby("store"):
        rows.drop(columns="store").to_csv(folder / f"{name}.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjoinWarning)
        return conjoin.partition(str(folder), target="y")


@pytest.fixture(scope="module")
def new():
    """Rows with unseen and missing names, missing values and values far out."""
    frame = make_frame(["a", "d", "e", "f"], seed=1).reset_index(drop=True)
    frame["store"] = frame["store"].astype(object)
    frame.loc[::17, "store"] = None
    frame.loc[3, "x"] = 1e6
    return frame.drop(columns="y")


def written(model, path, output, options=None, query=None):
    """Predict a file and return the rows written and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        predict_source(model, [path], output, options, query=query)
    read = pd.read_parquet if output.suffix == ".parquet" else pd.read_csv
    return read(output), [str(w.message) for w in caught]


def of_frame(model, frame, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjoinWarning)
        return model.predict(frame, **options)


@pytest.mark.parametrize("batch", [9, 64, 200_000])
@pytest.mark.parametrize("on_unseen", ["pooled", "nearest"])
def test_batches_do_not_change_predictions(model, new, tmp_path, monkeypatch, batch, on_unseen):
    monkeypatch.setattr(prediction, "BATCH_ROWS", batch)
    new.to_parquet(tmp_path / "new.parquet", index=False)
    options = PredictionOptions(on_unseen=on_unseen)
    frame, notes = written(model, tmp_path / "new.parquet", tmp_path / "out.parquet", options)
    expected = of_frame(model, new, on_unseen=on_unseen)
    if on_unseen == "pooled":
        assert frame["prediction"].tolist() == expected.tolist()
    else:
        np.testing.assert_allclose(frame["prediction"], expected, rtol=0, atol=1e-12)
    unseen = new["store"].isin(["e", "f"])
    kind = "model for all" if on_unseen == "pooled" else "nearest cluster"
    assert set(frame["model"][unseen]) == {f"{kind} (dataset not seen at fitting)"}
    assert set(frame["model"][new["store"].isna()]) == {"model for all (no dataset named)"}
    assert set(frame["model"][~unseen & new["store"].notna()]) == {"in use"}
    rest = frame.drop(columns=["prediction", "model"]).fillna({"store": "?"})
    pd.testing.assert_frame_equal(rest, new.fillna({"store": "?"}), check_dtype=False)
    which = "model for all" if on_unseen == "pooled" else "model of the nearest cluster"
    assert notes == [
        f"2 datasets were not there at fitting ('e', 'f'); they get the {which} "
        f"({unseen.sum()} of 160 rows).",
        "10 of 160 rows name no dataset; they get the model for all.",
        "1 of 160 rows lie far outside the training range (by more than its width), most often in "
        "column 'x'; they are predicted as at that limit. limit=False allows extrapolation.",
    ]


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
def test_csv_and_parquet_hold_the_same_numbers(model, new, tmp_path, name):
    new.to_csv(tmp_path / "new.csv", index=False)
    frame, _ = written(model, tmp_path / "new.csv", tmp_path / name)
    assert frame["prediction"].tolist() == of_frame(model, new).tolist()
    assert list(frame) == [*new.columns, "prediction", "model"]


def test_rows_are_fetched_in_batches(model, tmp_path, monkeypatch):
    monkeypatch.setattr(prediction, "BATCH_ROWS", 10_000)
    frame = make_frame(["a", "b"], rows=30_000)
    frame.to_parquet(tmp_path / "new.parquet", index=False)
    seen = []
    predict_source(
        model,
        [tmp_path / "new.parquet"],
        tmp_path / "out.parquet",
        progress=lambda done, total: seen.append((done, total)),
    )
    assert len(seen) >= 5
    assert seen[-1] == (60_000, 60_000)
    assert all(total == 60_000 for _, total in seen)


def test_a_column_named_prediction_stays(model, new, tmp_path):
    known = new.assign(prediction=1.0, prediction_=2.0)
    known.to_csv(tmp_path / "new.csv", index=False)
    frame, _ = written(model, tmp_path / "new.csv", tmp_path / "out.csv")
    assert (frame["prediction"] == 1).all() and (frame["prediction_"] == 2).all()
    assert frame["prediction__"].tolist() == of_frame(model, new).tolist()


def test_output_may_replace_the_input(model, new, tmp_path):
    new.to_csv(tmp_path / "new.csv", index=False)
    frame, _ = written(model, tmp_path / "new.csv", tmp_path / "new.csv")
    assert frame["prediction"].tolist() == of_frame(model, new).tolist()


def test_unseen_datasets_may_be_refused(model, new, tmp_path):
    new.to_parquet(tmp_path / "new.parquet", index=False)
    with pytest.raises(DataError, match="Dataset 'e' was not there at fitting"):
        predict_source(model, [tmp_path / "new.parquet"], tmp_path / "out.csv", STRICT)
    assert [path.name for path in tmp_path.iterdir()] == ["new.parquet"]
    with pytest.raises(ArgumentError, match="on_unseen='magic' is unknown"):
        PredictionOptions(on_unseen="magic")


def test_files_name_datasets_as_at_fitting(files_model, tmp_path):
    frame = make_frame(["a", "d"], seed=2)
    for name, rows in frame.groupby("store"):
        rows.drop(columns=["store", "y"]).to_csv(tmp_path / f"{name}.csv", index=False)
    paths = [tmp_path / "d.csv", tmp_path / "a.csv"]
    predict_source(files_model, paths, tmp_path / "out.parquet")
    both = pd.read_parquet(tmp_path / "out.parquet")
    assert set(both["dataset"]) == {"a", "d"}
    expected = files_model.predict(both.drop(columns=["dataset", "prediction"]), both["dataset"])
    assert both["prediction"].tolist() == expected.tolist()
    predict_source(files_model, [tmp_path / "a.csv"], tmp_path / "one.parquet")
    one = pd.read_parquet(tmp_path / "one.parquet")
    assert one["prediction"].tolist() == both["prediction"][both["dataset"] == "a"].tolist()
    (tmp_path / "only").mkdir()
    (tmp_path / "a.csv").rename(tmp_path / "only" / "a.csv")
    for source in (str(tmp_path / "only"), f"{tmp_path}/only/?.csv"):
        predict_source(files_model, [source], tmp_path / "again.parquet")
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "again.parquet"), one)


def test_a_new_file_gets_the_pooled_model(files_model, tmp_path):
    rows = make_frame(["a"], seed=3).drop(columns=["store", "y"])
    rows.to_csv(tmp_path / "z.csv", index=False)
    frame, notes = written(files_model, tmp_path / "z.csv", tmp_path / "out.csv")
    assert notes == [
        "1 dataset was not there at fitting ('z'); it gets the model for all (40 of 40 rows)."
    ]
    assert set(frame["model"]) == {"model for all (dataset not seen at fitting)"}
    assert frame["prediction"].tolist() == of_frame(files_model, rows, dataset="z").tolist()


def test_files_without_the_column_of_names(model, tmp_path):
    rows = make_frame(["a"], seed=3).drop(columns=["store", "y"])
    rows.to_csv(tmp_path / "a.csv", index=False)
    frame, _ = written(model, tmp_path / "a.csv", tmp_path / "out.csv")  # the name is known
    assert frame["prediction"].tolist() == model.predict(rows, "a").tolist()
    rows.to_csv(tmp_path / "z.csv", index=False)
    with pytest.raises(DataError, match="z.csv' lacks column 'store', which names the dataset"):
        predict_source(model, [tmp_path / "z.csv"], tmp_path / "out.csv")


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_databases(model, new, tmp_path, kind):
    path = tmp_path / f"shop.{kind}"
    if kind == "duckdb":
        with duckdb.connect(path) as connection:
            connection.execute("CREATE TABLE sales AS SELECT * FROM new")
    else:
        with sqlite3.connect(path) as connection:
            new.to_sql("sales", connection, index=False)
    frame, _ = written(model, f"{path}::sales", tmp_path / "out.parquet")
    assert frame["prediction"].tolist() == of_frame(model, new).tolist()
    with pytest.raises(DataError, match="'e' was not there"):  # the database is let go of
        predict_source(model, [f"{path}::sales"], tmp_path / "out.parquet", STRICT)


def test_a_query_selects_rows(model, new, tmp_path):
    new.to_parquet(tmp_path / "new.parquet", index=False)
    query = "SELECT * FROM data WHERE store = 'a' ORDER BY x"
    frame, notes = written(model, tmp_path / "new.parquet", tmp_path / "out.parquet", query=query)
    assert not notes
    assert frame["x"].dropna().is_monotonic_increasing
    assert frame["prediction"].tolist() == of_frame(model, frame).tolist()


def test_a_column_without_values_is_missing_everywhere(model, new, tmp_path):
    empty = new.assign(x=np.nan)
    empty.to_csv(tmp_path / "new.csv", index=False)
    frame, _ = written(model, tmp_path / "new.csv", tmp_path / "out.csv")
    assert frame["prediction"].tolist() == of_frame(model, empty).tolist()


def test_rows_that_cannot_be_read_leave_nothing(model, new, tmp_path, monkeypatch):
    monkeypatch.setattr(prediction, "BATCH_ROWS", 100)
    new.to_parquet(tmp_path / "new.parquet", index=False)
    query = "SELECT * REPLACE (CASE WHEN x > 1e5 THEN error('far out') ELSE x END AS x) FROM data"
    with pytest.raises(ReadError, match="cannot be read: .*far out"):
        predict_source(model, [tmp_path / "new.parquet"], tmp_path / "out.csv", query=query)
    assert [path.name for path in tmp_path.iterdir()] == ["new.parquet"]
