"""Queries read the given data and nothing else."""

import sqlite3

import duckdb
import pytest

import conjoin
from conjoin.errors import ReadError
from conjoin.sources.guard import check_query
from conjoin.sources.read import open_source

WRITING = {
    "COPY": "WITH w AS (COPY (SELECT 'x') TO 'victim.sh') SELECT * FROM data",
    "COPY inside": "SELECT (SELECT max(a) FROM (WITH z AS (COPY data TO 'v') SELECT 1 AS a))",
    "INSERT": "WITH w AS (INSERT INTO data VALUES (1, 2, 3)) SELECT 1",
    "UPDATE": "WITH w AS (UPDATE data SET x = 1 RETURNING *) SELECT 1",
    "DELETE": "WITH w AS (DELETE FROM data) SELECT 1",
}  # fmt: skip
READING = (
    "SELECT 1",
    "WITH a AS (SELECT 1 AS x UNION ALL SELECT 2) SELECT max(x) FROM a",
    "WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r WHERE a < 3) SELECT * FROM r",
    "FROM (VALUES (1), (2)) t(a) SELECT a",
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table, and a file that no query should see."""
    rows = "\n".join(f"{k % 3},{k},{2 * k + k % 3}" for k in range(60))
    (tmp_path / "data.csv").write_text(f"s,x,y\n{rows}\n")
    (tmp_path / "other.csv").write_text("p\nhidden\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", WRITING)
def test_queries_that_write_are_refused(name, folder):
    with pytest.raises(ReadError, match=rf"writes \(it contains {name.split()[0]}\)"):
        open_source("data.csv", query=WRITING[name])
    assert not (folder / "victim.sh").exists()


@pytest.mark.parametrize("query", READING)
def test_queries_that_read_pass(query):
    with duckdb.connect() as connection:
        check_query(query, connection)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM 'other.csv'",
        "SELECT * FROM read_csv('other.csv')",
        "SELECT * FROM glob('*')",
        "SELECT * FROM read_blob('other.csv')",
    ],
)
def test_queries_see_no_other_file(query, folder):
    with pytest.raises(ReadError, match="reads the given data only.*unsafe_query=True"):
        open_source("data.csv", query=query)


def test_the_lock_holds_without_the_check(folder):
    with open_source("data.csv") as source:
        locked = source.connection
        for statement in (
            "COPY (SELECT 1) TO 'victim.csv'",
            "ATTACH 'victim.duckdb'",
            "SET enable_external_access = true",
            "INSTALL httpfs",
            "SELECT * FROM 'other.csv'",
        ):
            with pytest.raises(duckdb.Error):
                locked.execute(statement)
        assert source.relation.count("*").fetchall() == [(60,)]
    assert not list(folder.glob("victim*"))


def test_a_view_of_a_foreign_database_sees_no_other_file(folder):
    with duckdb.connect("shop.duckdb") as shop:
        shop.execute("CREATE VIEW sales AS SELECT * FROM read_csv('other.csv')")
    with pytest.raises(ReadError, match="Cannot access file"):
        open_source("shop.duckdb::sales")


def test_sqlite_only_reads(folder):
    with sqlite3.connect("shop.sqlite") as shop:
        shop.execute("CREATE TABLE sales (s, x, y)")
        shop.execute("INSERT INTO sales VALUES (1, 2, 3)")
    with open_source("shop.sqlite", query="SELECT s, max(x) AS x FROM sales") as source:
        assert source.relation.fetchall() == [(1, 2)]
    with pytest.raises(ReadError, match="cannot be run"):
        open_source("shop.sqlite", query="DELETE FROM sales RETURNING *")


def test_unsafe_queries_are_the_users_choice(folder):
    with open_source("data.csv", query="SELECT * FROM 'other.csv'", unsafe_query=True) as source:
        assert source.relation.fetchall() == [("hidden",)]
    result = conjoin.partition(
        "data.csv",
        target="y",
        by="s",
        query="SELECT data.* FROM data, 'other.csv'",
        unsafe_query=True,
    )
    assert len(result.labels) == 3


def test_secrets_of_queries_reach_no_file_and_no_message(folder):
    query = "SELECT *, 'password=s3cret' AS note FROM data"
    result = conjoin.partition("data.csv", target="y", by="s", query=query)
    assert "s3cret" not in str(result.settings)
    result.save("model.json")
    result.report("page.html")
    for name in ("model.json", "page.html"):
        assert "password=s3cret" not in (folder / name).read_text()
    bad = "SELECT nothing FROM read_csv('postgresql://me:s3cret@host/x')"
    with pytest.raises(ReadError) as caught:
        open_source("data.csv", query=bad)
    assert "s3cret" not in str(caught.value)
    with pytest.raises(ReadError) as caught:
        open_source("host=db password=s3cret")
    assert "s3cret" not in str(caught.value)
