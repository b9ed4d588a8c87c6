"""Quoting for DuckDB, and its errors in words."""

from pathlib import Path

import duckdb
import pytest

from conjoin.errors import ReadError
from conjoin.sources.guard import check_query
from conjoin.sources.sql import (
    explain,
    quote_list,
    quote_name,
    quote_path,
    quote_text,
    reason_of,
)
from conjoin.text import without_secrets


@pytest.mark.parametrize("text", ["it's", 'a "b"', "; DROP TABLE x --", "two\nlines", ""])
def test_quoted_texts_and_names_come_back_as_they_are(text):
    assert duckdb.sql(f"SELECT {quote_text(text)}").fetchall() == [(text,)]
    assert duckdb.sql(f"SELECT {quote_list([text, 'x'])}").fetchall() == [([text, "x"],)]
    if text:
        assert duckdb.sql(f"SELECT 1 AS {quote_name(text)}").columns == [text]


def test_paths_are_not_patterns(tmp_path):
    (tmp_path / "a[1]*.csv").write_text("x\n1\n")
    (tmp_path / "a1b.csv").write_text("x\n2\n")
    path = quote_path(tmp_path / "a[1]*.csv")
    assert duckdb.sql(f"SELECT * FROM read_csv({path})").fetchall() == [(1,)]


def test_queries_are_one_select():
    with duckdb.connect() as connection:
        check_query("SELECT 1", connection)
        for query in ("DROP TABLE x", "SELECT 1; SELECT 2", ""):
            with pytest.raises(ReadError, match="is not one SELECT; write a single SELECT"):
                check_query(query, connection)
        with pytest.raises(ReadError, match="cannot be run: syntax error .*; correct the query"):
            check_query("SELECT * FRM x", connection)


def test_reasons_have_one_line_and_no_password():
    error = duckdb.Error("IO Error: no host in postgresql://me:secret@host/shop!\nmore")
    assert reason_of(error) == "no host in postgresql://.../shop"
    assert reason_of(duckdb.Error("")) == "no reason given"
    assert without_secrets("host=h password=secret&x=1") == "host=h password=...&x=1"


def test_errors_of_csv_files_name_file_and_line():
    text = "CSV Error on Line: 7\nExpected Number of Columns: 3 Found: 2\n  file = /data/a.csv\n"
    message = str(explain(duckdb.Error(text), "2 files"))
    assert message == (
        "File 'a.csv', line 7, has 2 values where the header names 3 columns; correct that line."
    )
    other = str(explain(duckdb.Error("IO Error: disk on fire"), f"File {Path('b.csv').name!r}"))
    assert other == "File 'b.csv' cannot be read: disk on fire; correct it or write it again."
