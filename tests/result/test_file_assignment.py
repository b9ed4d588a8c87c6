"""New datasets in files: names, targets, and what is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest

import conjoin
from conjoin.datasets import make_clusters
from conjoin.errors import DataError
from conjoin.result.file_assignment import assign_source


@pytest.fixture(scope="module")
def frame():
    tables = make_clusters(sizes=(3, 3), n=40, p=2, distance=2.0).tables()
    return pd.concat([pd.DataFrame(t).assign(store=name) for name, t in tables.items()])


@pytest.fixture(scope="module")
def model(frame):
    known = frame[frame["store"].isin(["d1", "d2", "d4", "d5"])]
    return conjoin.partition(known, target="y", by="store")


def assigned(model, path, *arguments, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = assign_source(model, [path], *arguments, **options)
    return found, [str(one.message) for one in caught]


def test_models_are_those_of_assign(model, frame, tmp_path):
    new = frame[frame["store"].isin(["d3", "d6"])]
    new.to_parquet(tmp_path / "new.parquet")
    found, notes = assigned(model, tmp_path / "new.parquet")
    assert list(found) == ["d3", "d6"] and notes == []
    for name, one in found.items():
        own = new[new["store"] == name]
        assert one == model.assign(own, own["y"])
    assert found["d3"].cluster == model.labels["d1"]


def test_known_datasets_and_rows_without_target_are_left_out(model, frame, tmp_path):
    new = frame[frame["store"].isin(["d1", "d3"])].reset_index(drop=True)
    new.loc[new.index[-5:], "y"] = np.nan
    new.loc[new.index[-7:-5], "store"] = None
    new.to_csv(tmp_path / "new.csv", index=False)
    found, notes = assigned(model, tmp_path / "new.csv")
    assert found["d3"].model.rows == 33
    assert notes == [
        "5 of 80 rows have no target; they are left out.",
        "2 of 80 rows name no dataset; they are left out.",
        "'d1' was there at fitting and keeps its model.",
    ]


def test_files_and_other_columns_name_datasets(model, frame, tmp_path):
    own = frame[frame["store"] == "d3"].drop(columns="store")
    own.to_csv(tmp_path / "north.csv", index=False)
    own.to_csv(tmp_path / "south.csv", index=False)
    assert list(assigned(model, tmp_path / "north.csv")[0]) == ["north"]
    both = assign_source(model, [tmp_path / "north.csv", tmp_path / "south.csv"])
    assert list(both) == ["north", "south"]
    assert both["north"] == both["south"]
    shops = own.assign(shop=np.repeat([1.0, 2.0], 20))
    shops.to_csv(tmp_path / "shops.csv", index=False)
    assert list(assigned(model, tmp_path / "shops.csv", ["shop"])[0]) == ["1", "2"]


def test_what_is_refused(model, frame, tmp_path):
    own = frame[frame["store"] == "d3"]
    for name, table, message in (
        ("a", own.drop(columns="y"), "lacks the target 'y'"),
        ("b", own.assign(y=np.nan), "The target 'y' is missing in all 40 rows"),
        ("c", own.assign(y=["many", *own["y"][1:]]), "but now it has the value 'many'"),
        ("d", frame[frame["store"] == "d1"], "no new dataset: 'd1' was there at fitting"),
        ("e", own.drop(columns="x1"), "lacks column 'x1'"),
    ):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        with pytest.raises(DataError, match=message):
            assigned(model, tmp_path / f"{name}.csv")


def test_classes(frame, tmp_path):
    classes = frame.assign(y=np.where(frame["y"] > 0, "yes", "no"))
    model = conjoin.partition(classes[classes["store"] != "d3"], target="y", by="store")
    own = classes[classes["store"] == "d3"]
    own.to_csv(tmp_path / "new.csv", index=False)
    found, _ = assigned(model, tmp_path / "new.csv")
    assert found["d3"] == model.assign(own, own["y"])
    own.assign(y="perhaps").to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(DataError, match="label 'perhaps', which is not in the training data"):
        assigned(model, tmp_path / "new.csv")
