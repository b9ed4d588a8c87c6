"""Opening a source: datasets, queries, connections, errors while reading."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from conjoin.errors import DataError, ReadError
from conjoin.sources.read import open_source, read_batches, read_columns
from tests.sources.helpers import PLAIN, refused, rows, write, write_parquet


def test_one_file_comes_without_by(tmp_path):
    with open_source(write(tmp_path / "shop.csv", PLAIN)) as source:
        assert source.by == ()
        assert source.relation.columns == ["store", "price", "sales"]
        assert source.relation.fetchall() == [("a", 1.5, 10), ("b", 2.5, 20)]
        assert source.partial_columns == {}
        assert "shop.csv" in source.description
        assert "shop.csv" in repr(source)


def test_nothing_is_fetched_on_opening(tmp_path):
    path = write(tmp_path / "a.csv", PLAIN)
    with open_source(path) as source:
        write(path, PLAIN + "c,3.5,30\n")
        assert len(source.relation.fetchall()) == 3


def test_read_columns_takes_one_file(tmp_path):
    with pytest.raises(ReadError, match="is a folder; pass a file"):
        read_columns(tmp_path)


def test_no_source():
    refused([], "No file was named")


def test_by_that_is_not_a_column(tmp_path):
    path = write(tmp_path / "a.csv", PLAIN)
    refused(
        path,
        "by='shop' is not a column; columns are 'store', 'price', 'sales'",
        DataError,
        by="shop",
    )


def test_query_over_files(tmp_path):
    path = write(tmp_path / "a.csv", PLAIN)
    query = "SELECT store, price * 2 AS double_price FROM data WHERE sales > 15;"
    assert rows(path, query=query, by="store") == [("b", 5.0)]
    refused(path, "by='sales' is not a column", DataError, query=query, by="sales")


def test_query_keeps_the_dataset_column_if_it_selects_it(tmp_path):
    paths = [write(tmp_path / f"{name}.csv", PLAIN) for name in "xy"]
    with open_source(paths, query="SELECT dataset, price FROM data") as source:
        assert source.by == ("dataset",)
    with open_source(paths, query="SELECT price FROM data") as source:
        assert source.by == ()


@pytest.mark.parametrize(
    ("query", "match"),
    [
        ("SELECT nope FROM data", r'cannot be run: Referenced column "nope" not found'),
        ("SELECT * FRM data", "cannot be run: syntax error"),
        ("SELECT * FROM named", "cannot be run: Table with name named does not exist"),
        ("DROP VIEW data", "is not one SELECT"),
        ("SELECT 1; SELECT 2", "is not one SELECT"),
        ("", "is not one SELECT"),
    ],
)
def test_queries_that_do_not_run(tmp_path, query, match):
    refused(write(tmp_path / "a.csv", PLAIN), match, query=query)


def test_a_given_connection_stays_open(tmp_path):
    path = write(tmp_path / "a.csv", PLAIN)
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE data AS SELECT 42 AS answer")
        for _ in range(2):
            with open_source(path, connection=connection, query="SELECT * FROM data") as source:
                assert len(source.relation.fetchall()) == 2
        assert connection.sql("SELECT * FROM data").fetchall() == [(42,)]


def test_errors_while_reading_name_the_file(tmp_path):
    path = write(tmp_path / "a.csv", PLAIN)
    with open_source(path) as source:
        write(path, PLAIN + "c,3\n")
        with pytest.raises(ReadError, match="File 'a.csv', line 4, has 2 values"), source.reading():
            source.relation.fetchall()


@pytest.mark.parametrize("words", [("True", "False"), ("true", "false"), ("TRUE", " FALSE")])
def test_true_and_false_in_csv_files_become_booleans(tmp_path, words):
    path = write(tmp_path / "a.csv", f"x,y\n1,{words[0]}\n2,{words[1]}\n3,\n")
    with open_source(path) as source:
        assert str(source.relation.types[1]) == "VARCHAR"
        relation = source.with_boolean_target("y").relation
        assert relation.order("x").fetchall() == [(1, True), (2, False), (3, None)]
        assert source.with_boolean_target("x") is source
        assert source.with_boolean_target("unknown") is source


def test_other_words_and_typed_files_stay_text(tmp_path):
    csv = write(tmp_path / "a.csv", "x,y\n1,true\n2,maybe\n")
    parquet = write_parquet(tmp_path / "b.parquet", y=["true", "false"])
    for path in (csv, parquet):
        with open_source(path) as source:
            assert source.with_boolean_target("y") is source


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_missing_values_in_files_are_masked(tmp_path, suffix):
    frame = pd.DataFrame({"price": [1.5, None, 3.5]})
    path = tmp_path / f"table{suffix}"
    frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(path, index=False)
    prices = read_columns(path)["price"]
    assert np.ma.getmaskarray(prices).tolist() == [False, True, False]


def test_rows_come_in_batches(tmp_path):
    path = write_parquet(tmp_path / "a.parquet", a=list(range(5000)))
    with open_source(path) as source:
        batches = list(read_batches(source.relation, 2048))
    assert all(0 < len(batch) <= 2048 for batch in batches)
    assert [a for batch in batches for a in batch["a"].to_pylist()] == list(range(5000))
