"""Tables of a result as files, and their names for experiment trackers."""

import pyarrow as pa
import pytest
from pyarrow import csv

import conjoin
from conjoin.datasets import make_clusters
from conjoin.report import frames


@pytest.fixture(scope="module")
def result():
    return conjoin.partition(make_clusters(sizes=(2, 1), n=40, p=2).tables(), target="y")


def test_csv_files_hold_the_tables(result, tmp_path):
    files = frames.write_csv(result, tmp_path / "tables")
    assert [path.stem for path in files] == list(frames.TABLES)
    for path in files:
        assert csv.read_csv(path).num_rows == frames.table_of(result, path.stem).num_rows


def test_without_pandas_frames_are_arrow_tables(result, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(frames, "import_module", missing)
    assert isinstance(result.to_frame("clusters"), pa.Table)
