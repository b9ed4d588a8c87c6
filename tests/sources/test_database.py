import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from conjoin.errors import DataError
from conjoin.sources import database
from conjoin.sources.database import find_database
from conjoin.sources.read import open_source
from conjoin.text import without_secrets
from tests.sources.helpers import refused

PASSWORD = "s3cret/w0rd"


def make_duckdb(path: Path, *statements: str) -> str:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return str(path)


def make_sqlite(path: Path, *statements: str) -> str:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return str(path)


MAKERS = {".duckdb": make_duckdb, ".ddb": make_duckdb, ".sqlite": make_sqlite}
SALES = (
    "CREATE TABLE sales (store TEXT, price DOUBLE, units INTEGER)",
    "INSERT INTO sales VALUES ('a', 1.5, 10), ('b', 2.5, NULL)",
)
ROWS = [("a", 1.5, 10), ("b", 2.5, None)]


@pytest.fixture(params=[*MAKERS, "duckdb.db", "sqlite.db"])
def make(request, tmp_path):
    """Make a database of each kind, under each ending."""
    maker = MAKERS.get(request.param) or MAKERS[f".{request.param.split('.')[0]}"]
    name = "it's [a] shop" + request.param[request.param.rindex(".") :]

    def build(*statements: str) -> str:
        return maker(tmp_path / name, *statements)

    return build


# Files of DuckDB and SQLite alike


def test_the_only_table(make):
    path = make(*SALES)
    for source in (path, Path(path), f"{path}::sales", f"{path}::main.sales"):
        with open_source(source, by="store") as opened:
            assert opened.by == ("store",)
            assert opened.relation.columns == ["store", "price", "units"]
            assert opened.relation.order("ALL").fetchall() == ROWS
            assert opened.description.startswith("table 'sales' of ")


def test_one_of_several_tables(make):
    path = make(*SALES, 'CREATE TABLE "odd ""name" (a INTEGER)', "CREATE VIEW v AS SELECT 1 AS x")
    refused(path, r"has 3 tables: 'odd \"name', 'sales', 'v'; name one as '.*::odd")
    refused(f"{path}::sale", "Table 'sale' is not in database .*; choose from 'sales'")
    with open_source(f'{path}::odd "name') as opened:
        assert opened.relation.columns == ["a"]
    with open_source(f"{path}::v") as opened:
        assert opened.relation.fetchall() == [(1,)]


def test_query_in_the_database(make):
    path = make(*SALES)
    with open_source(path, query="SELECT store, 2 * price AS p FROM sales;", by="store") as opened:
        assert opened.relation.order("ALL").fetchall() == [("a", 3.0), ("b", 5.0)]
        assert opened.description.startswith("a query on ")
    refused(path, "cannot be run: .*nope", query="SELECT nope FROM sales")
    refused(path, "cannot be run|is not one SELECT", query="DELETE FROM sales")
    with open_source(path) as opened:
        assert len(opened.relation.fetchall()) == 2


def test_query_over_a_table_knows_it_as_data(make):
    with open_source(f"{make(*SALES)}::sales", query="SELECT price FROM data") as opened:
        assert opened.relation.order("ALL").fetchall() == [(1.5,), (2.5,)]


def test_no_tables_and_no_such_column(make):
    refused(make("CREATE TABLE t (a INTEGER)", "DROP TABLE t"), "has no tables")
    refused(make(*SALES), "by='shop' is not a column", DataError, by="shop")


def test_table_without_rows(make):
    with open_source(make(SALES[0])) as opened:
        assert opened.relation.fetchall() == []


def test_a_database_is_the_only_source(make):
    path = make(*SALES)
    refused([path, path], r"is a database and must be the only source \(2 were named\)")


def test_opened_again_and_again_on_one_connection(make):
    path = make(*SALES)
    with duckdb.connect() as connection:
        for _ in range(2):
            with open_source(path, connection=connection) as opened:
                assert opened.relation.order("ALL").fetchall() == ROWS
            refused(f"{path}::nope", "is not in database", connection=connection)
        assert len(connection.sql("FROM duckdb_databases() WHERE NOT internal").fetchall()) == 1


def test_home_and_relative_paths(tmp_path, monkeypatch):
    make_sqlite(tmp_path / "shop.sqlite", *SALES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for source in ("shop.sqlite", "~/shop.sqlite::sales"):
        with open_source(source) as opened:
            assert len(opened.relation.fetchall()) == 2


@pytest.mark.parametrize("ending", [".duckdb", ".sqlite3", ".db"])
def test_files_that_are_not_databases(tmp_path, ending):
    path = tmp_path / f"shop{ending}"
    refused(f"{path}::sales", "does not exist")
    path.write_bytes(b"")
    refused(path, r"is empty \(0 bytes\)")
    path.write_bytes(b"hello, this is text and no database")
    refused(path, "is not a DuckDB or SQLite database")


# DuckDB


def test_schemas(tmp_path):
    path = make_duckdb(
        tmp_path / "shop.duckdb",
        "CREATE SCHEMA north",
        "CREATE SCHEMA south",
        "CREATE TABLE north.sales AS SELECT 1 AS a",
        "CREATE TABLE south.sales AS SELECT 2 AS a",
        "CREATE TABLE south.costs AS SELECT 3 AS a",
    )
    for table, value in (("north.sales", 1), ("south.sales", 2), ("costs", 3)):
        with open_source(f"{path}::{table}") as opened:
            assert opened.relation.fetchall() == [(value,)]
    refused(f"{path}::sales", "in several schemas .* choose from 'north.sales', 'south.sales'")


def test_duckdb_is_read_only_and_a_damaged_file_is_named(tmp_path):
    path = make_duckdb(tmp_path / "shop.duckdb", *SALES)
    with open_source(path) as opened, pytest.raises(duckdb.Error, match="read-only"):
        opened.connection.execute("INSERT INTO sales VALUES ('c', 1, 1)")
    whole = Path(path).read_bytes()
    Path(path).write_bytes(whole[:100])
    refused(path, "'.*shop.duckdb' cannot be opened: .*; write it again")


# SQLite


def test_sqlite_types_come_from_the_values(tmp_path):
    path = make_sqlite(
        tmp_path / "shop.sqlite",
        "CREATE TABLE t (whole, mixed REAL, gaps, words, both, raw, none)",
        "INSERT INTO t VALUES (1, 1, 'NA', 'x', 'x', x'0aff', NULL)",
        "INSERT INTO t VALUES (9007199254740993, 2.5, 3, '', 7, NULL, NULL)",
    )
    with open_source(path) as opened:
        found = dict(zip(opened.relation.columns, map(str, opened.relation.types)))
        values = opened.relation.order("whole").fetchall()
    assert list(found.values()) == ["BIGINT", "DOUBLE", "BIGINT", *["VARCHAR"] * 4]
    assert values == [
        (1, 1.0, None, "x", "x", "0AFF", None),
        (9007199254740993, 2.5, 3, "", "7", None, None),
    ]


def test_sqlite_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "BATCH_ROWS", 7)
    path = make_sqlite(
        tmp_path / "shop.sqlite",
        "CREATE TABLE t AS WITH RECURSIVE n(i) AS "
        "(SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99) SELECT i, i / 2.0 AS h FROM n",
    )
    with open_source(path) as opened:
        assert opened.relation.aggregate("count(*), sum(i), max(h)").fetchall() == [
            (100, 4950, 49.5)
        ]


def test_sqlite_query_with_two_columns_of_one_name(tmp_path):
    path = make_sqlite(tmp_path / "shop.sqlite", *SALES)
    with open_source(path, query="SELECT price, price FROM sales") as opened:
        assert len(set(opened.relation.columns)) == 2


def test_damaged_sqlite(tmp_path):
    path = make_sqlite(tmp_path / "shop.sqlite", *SALES)
    whole = Path(path).read_bytes()
    Path(path).write_bytes(whole[:16] + b"\xff" * 200)
    refused(path, "'.*shop.sqlite' cannot be read: file is not a database")


# PostgreSQL


@pytest.mark.parametrize(
    ("source", "address", "table"),
    [
        ("postgresql://h/shop", "postgresql://h/shop", None),
        ("postgres://u:p@h:5432/shop::sales", "postgres://u:p@h:5432/shop", "sales"),
        ("postgresql://h/shop::north.sales", "postgresql://h/shop", "north.sales"),
        ("postgresql://u@[::1]:5432/shop", "postgresql://u@[::1]:5432/shop", None),
        ("postgresql://u@[::1]/shop::sales", "postgresql://u@[::1]/shop", "sales"),
        ("postgresql://u:a::b@h/shop", "postgresql://u:a::b@h/shop", None),
        (Path("postgresql://h/shop::sales"), "postgresql://h/shop", "sales"),
    ],
)
def test_addresses(source, address, table):
    found = find_database(source)
    assert found is not None
    assert (found.kind, found.address, found.table) == ("postgres", address, table)


def test_passwords_are_left_out():
    for address in (
        "postgresql://me:s3cret@host:5432/shop",
        "postgresql://me:s3cr@et/s3cret@host/shop",
        "postgresql://me:s3cr?et@host/shop",
        "postgresql://host/shop?user=me&password=s3cret",
    ):
        found = find_database(f"{address}::sales")
        assert found is not None
        for told in (found.label, repr(found), without_secrets(f'Cannot reach "{address}": no')):
            assert "s3cr" not in told and "host" not in told, address


def test_a_password_that_is_spelled_out_by_the_server_is_left_out():
    found = find_database("postgresql://me:s3cret/w0rd@host/shop")
    assert found is not None
    assert found.label == "postgresql://.../shop"
    told = duckdb.Error('invalid integer value "s3cret" for connection option "port"')
    message = str(database._attach_error(found, found.address, told))
    assert "s3cret" not in message and "%2F" in message


def test_the_place_of_a_server_is_left_out():
    found = find_database("postgresql://me@db.example/shop")
    assert found is not None
    told = duckdb.Error('connection to server at "db.example" (10.0.0.1), port 5432 failed: no')
    message = str(database._attach_error(found, found.address, told))
    assert message == (
        "Database 'postgresql://.../shop' cannot be opened: the server failed: no; check address, "
        "user and password."
    )


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture(scope="module")
def without_server():
    """Say what is told of a server that is not there; asked once, a download is tried for it."""
    return refused(
        f"postgresql://me:{PASSWORD}@127.0.0.1:{free_port()}/shop::sales",
        "needs DuckDB's extension .* as CSV or Parquet|cannot be opened: .*; check address",
    )


def test_postgres_without_extension_or_server(without_server):
    """Whatever is lacking here, one sentence says so, and the password stays out of it."""
    assert not any(part in without_server for part in PASSWORD.split("/"))


@pytest.fixture(scope="module")
def server(without_server):
    """Run a PostgreSQL server of its own; return its address with a password."""
    if not shutil.which("initdb") or not shutil.which("pg_ctl"):
        pytest.skip("no PostgreSQL server: initdb and pg_ctl are not on the path")
    if "needs DuckDB's extension" in without_server:
        pytest.skip("DuckDB's extension for PostgreSQL is not installed nor downloadable")
    # The server refuses to run as root, and its folder must be within reach of its user.
    folder = Path(tempfile.mkdtemp())
    other = {"user": "postgres"} if os.geteuid() == 0 else {}
    if other:
        shutil.chown(folder, "postgres")
    (folder / "password").write_text(PASSWORD)
    (folder / "password").chmod(0o644)
    port = free_port()

    def run(*command: str) -> None:
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, **other)

    data = str(folder / "data")
    run("initdb", "-D", data, "-U", "me", "-A", "password", f"--pwfile={folder / 'password'}")
    flags = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
    run("pg_ctl", "-D", data, "-l", str(folder / "log"), "-w", "-o", flags, "start")
    try:
        yield f"postgresql://me:{PASSWORD.replace('/', '%2F')}@127.0.0.1:{port}/postgres"
    finally:
        run("pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder)


def test_postgres(server):
    with duckdb.connect() as connection:
        database._load_extension(connection, database.POSTGRES_EXTENSION)
        connection.execute(f"ATTACH '{server}' AS pg (TYPE postgres)")
        connection.execute("CREATE TABLE pg.sales (store TEXT, price DOUBLE, units INTEGER)")
        connection.execute(f"{SALES[1].replace('INTO ', 'INTO pg.')}")
    with open_source(server, by="store") as opened:
        assert opened.relation.order("ALL").fetchall() == ROWS
        assert opened.description == "table 'sales' of 'postgresql://.../postgres'"
        with pytest.raises(duckdb.Error, match="read-only"):
            opened.connection.execute("INSERT INTO sales VALUES ('c', 1, 1)")
    with open_source(f"{server}::public.sales", query="SELECT store FROM data") as opened:
        assert opened.relation.order("ALL").fetchall() == [("a",), ("b",)]
    with open_source(server, query="SELECT max(price) AS p FROM sales") as opened:
        assert opened.relation.fetchall() == [(2.5,)]
    refused(f"{server}::sale", "Table 'sale' is not in database .*; choose from 'sales'")
    wrong = server.replace("s3cret", "wr0ng")
    message = refused(f"{wrong}::sales", "cannot be opened: .*password authentication failed")
    assert "wr0ng" not in message
