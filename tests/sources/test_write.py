import os
import stat

import pandas as pd
import pyarrow as pa
import pytest

from conjoin.errors import ArgumentError, DataError
from conjoin.sources.write import check_output, write_batches


def tables():
    yield pa.table({"name": ["a", None, 'q"\n,'], "n": [1, 2, 3]})
    yield pa.table({"name": ["é"], "n": pa.array([4], pa.int32())})


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "T.CSV"])
def test_batches_become_one_file(tmp_path, name):
    assert write_batches(tmp_path / name, tables()) == 4
    read = pd.read_parquet if name.endswith("parquet") else pd.read_csv
    frame = read(tmp_path / name)
    assert frame["n"].tolist() == [1, 2, 3, 4]
    assert frame["name"].dropna().tolist() == ["a", 'q"\n,', "é"]
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    write_batches(tmp_path / "t.csv", tables())
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, DataError, ZeroDivisionError])
@pytest.mark.parametrize("name", ["t.csv.gz", "t.parquet"])
def test_an_error_leaves_the_old_file(tmp_path, name, error):
    def broken():
        yield from tables()
        assert len(list(tmp_path.iterdir())) == 2
        raise error

    (tmp_path / name).write_text("old")
    with pytest.raises(error):
        write_batches(tmp_path / name, broken())
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "old"


def test_nothing_to_write_leaves_nothing(tmp_path):
    with pytest.raises(ArgumentError, match="There are no rows to predict; nothing was written."):
        write_batches(tmp_path / "t.csv", [])
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_the_error_of_a_full_disk_is_one_sentence(tmp_path, monkeypatch):
    def full(*_, **__):
        with open("/dev/full", "w") as file:
            file.write("x")

    monkeypatch.setattr("conjoin.sources.write._write", full)
    with pytest.raises(ArgumentError, match="'.*t.csv' cannot be written .No space left on devi"):
        write_batches(tmp_path / "t.csv", tables())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.struct({"a": pa.int64()})])
def test_a_column_that_csv_cannot_hold_is_named(tmp_path, kind):
    table = pa.table({"x": [1.0], "parts": pa.nulls(1, kind)})
    with pytest.raises(DataError, match="Column 'parts' of type .* cannot be written to 't.csv'"):
        write_batches(tmp_path / "t.csv", [table])
    assert not list(tmp_path.iterdir())
    assert write_batches(tmp_path / "t.parquet", [table]) == 1


def test_check_output(tmp_path):
    check_output(tmp_path / "t.csv")
    with pytest.raises(ArgumentError, match="unknown ending; expected one of .csv, .csv.gz, .parq"):
        check_output(tmp_path / "t.json")
    with pytest.raises(ArgumentError, match="name a file in a folder that exists"):
        check_output(tmp_path / "nowhere" / "t.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ArgumentError, match="cannot be written: it is a folder; name a file"):
        check_output(tmp_path / "folder.csv")
