"""Columns that hold a list of numbers in each row, such as embeddings."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import conjoin
from conjoin.datasets import make_clusters
from conjoin.errors import ConjoinWarning, DataError
from conjoin.tables import collect
from conjoin.tables.encoding import Vector
from conjoin.tables.frame import to_frame
from conjoin.tables.schema import Schema

MADE = make_clusters(sizes=(2, 2), n=60, p=4, distance=2.0)


def frame():
    """One table whose four columns are the entries of one list column."""
    parts = [
        pd.DataFrame({"task": name, "e": list(MADE.X[name]), "y": MADE.y[name]})
        for name in MADE.names
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def wide():
    tables = {
        name: pd.DataFrame(MADE.X[name]).add_prefix("e_").assign(y=MADE.y[name])
        for name in MADE.names
    }
    return conjoin.partition(tables, target="y", learner="linear")


def parquet(table, tmp_path):
    pq.write_table(pa.Table.from_pandas(table), tmp_path / "t.parquet")
    return str(tmp_path / "t.parquet")


@pytest.mark.parametrize("kind", ["pandas", "polars", "array", "arrow", "parquet", "tables"])
def test_a_column_of_lists_is_as_good_as_many_columns(kind, wide, tmp_path):
    table = frame()
    data = {
        "pandas": lambda: table,
        "polars": lambda: pl.from_pandas(table),
        "array": lambda: pl.from_pandas(table).with_columns(pl.col("e").list.to_array(4)),
        "arrow": lambda: pa.Table.from_pandas(table),
        "parquet": lambda: parquet(table, tmp_path),
        "tables": lambda: {n: part.drop(columns="task") for n, part in table.groupby("task")},
    }[kind]()
    by = None if kind == "tables" else "task"
    result = conjoin.partition(data, target="y", by=by, learner="linear")
    assert result.features == ("e_0", "e_1", "e_2", "e_3")
    assert result.clusters == wide.clusters
    assert result.columns == {"e": "list of 4 numbers, one feature each"}
    new = table.head(3)
    np.testing.assert_allclose(
        result.predict(new, "d1"), wide.predict(MADE.X["d1"][:3], "d1"), rtol=1e-9
    )


def test_missing_lists_become_the_mean_with_an_indicator(tmp_path):
    table = frame()
    table.loc[:6, "e"] = None
    result = conjoin.partition(table, target="y", by="task", learner="linear")
    assert "e missing" in result.features
    assert "7 missing lists filled with the mean" in result.columns["e"]
    encoding = result.schema.encodings[0]
    assert isinstance(encoding, Vector)
    known = np.concatenate(list(MADE.X.values()))[7:]
    np.testing.assert_allclose(encoding.fill, known.mean(axis=0))
    assert Schema.from_plain(result.schema.to_plain()).encodings == result.schema.encodings
    with pytest.raises(DataError, match="'e' lacks 7 of 240"):
        collect(table, target="y", by="task", missing="raise")
    with pytest.warns(ConjoinWarning, match="7 of 240 rows"):
        dropped = collect(table, target="y", by="task", missing="drop")
    assert sum(dropped.sizes) == 233


def test_lists_that_cannot_be_used_say_why():
    table = frame()
    table["tags"] = [["a"]] * len(table)
    table["uneven"] = [[1.0] * (1 + i % 2) for i in range(len(table))]
    with pytest.warns(ConjoinWarning, match="tags"):
        schema = collect(table, target="y", by="task").schema
    columns = {e.name: e.describe() for e in schema.encodings}
    assert columns["tags"] == "left out: its lists hold something else than numbers"
    assert "between 1 and 2 entries" in columns["uneven"]
    table.at[0, "e"] = [1.0, np.inf, 0.0, 0.0]
    with pytest.raises(DataError, match="'e' has an infinite value"):
        collect(table[["task", "e", "y"]], target="y", by="task")


def test_text_in_place_of_a_list_is_refused_at_prediction():
    schema = collect(frame(), target="y", by="task").schema
    with pytest.raises(DataError, match="Column 'e' of X was a list of numbers at fitting"):
        schema.encode(to_frame({"e": ["one"]}, "X"))


@pytest.mark.parametrize("entries", [2, 7])
def test_lists_of_another_length_are_refused_at_prediction(entries):
    schema = collect(frame(), target="y", by="task").schema
    for table in (
        pd.DataFrame({"e": [[0.0] * 4, [1.0] * entries]}),
        pl.DataFrame({"e": [[0.0] * 4, [1.0] * entries]}),
    ):
        with pytest.raises(DataError, match=f"'e' of X has a list of {entries} numbers"):
            schema.encode(to_frame(table, "X"))
