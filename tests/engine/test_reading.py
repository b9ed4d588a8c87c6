import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conjoin.api.request import Request
from conjoin.engine.reading import read_one, reading, source_names
from conjoin.engine.remote import Reduced
from conjoin.errors import ArgumentError, DataError
from conjoin.tables import DatasetCollection

ROWS = {"shop": ["a"] * 30 + ["b"] * 30, "x": np.arange(60.0), "y": np.arange(60.0) % 7}
REQUEST = Request(target="y", by="shop")


@pytest.fixture
def file(tmp_path):
    pq.write_table(pa.table(ROWS), tmp_path / "rows.parquet")
    return str(tmp_path / "rows.parquet")


def read(*arguments, **options):
    """Return the table that is open inside the block."""
    with reading(*arguments, **options) as table:
        return table


def test_rows_of_a_table_come_into_memory():
    found = read(ROWS, REQUEST, rows_needed=False)
    assert isinstance(found, DatasetCollection)
    assert found.names == ("a", "b")


def test_moments_are_formed_in_duckdb_unless_rows_are_needed(file):
    assert isinstance(read(file, REQUEST, rows_needed=False), (Reduced, DatasetCollection))
    assert isinstance(read(file, REQUEST, rows_needed=True), DatasetCollection)


def test_a_single_dataset_is_for_estimators_only():
    one = {**ROWS, "shop": ["a"] * 60}
    assert read(one, REQUEST, rows_needed=True, alone=True).names == ("a",)
    with pytest.raises(DataError):
        read(one, REQUEST, rows_needed=True)


def test_a_query_needs_files():
    request = Request(target="y", by="shop", query="SELECT * FROM data")
    with pytest.raises(ArgumentError, match="query goes with files"):
        read(ROWS, request, rows_needed=False)


def test_names_of_files_show_no_folders_and_no_addresses(file):
    assert source_names(file) == ["rows.parquet"]
    assert source_names(ROWS) == []
    assert source_names("postgresql://user:secret@host/db::table") == []


def test_a_file_is_read_and_a_table_is_taken_as_it_is(file):
    assert read_one(ROWS, "y") is ROWS
    assert len(read_one(file, "y")) == 60
