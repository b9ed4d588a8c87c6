"""How one file is read: formats, header, types, encodings."""

import gzip

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conjoin.errors import ReadError
from conjoin.sources import layout
from conjoin.sources.find import dataset_name
from conjoin.sources.read import open_source, read_columns
from tests.sources.helpers import PLAIN, refused, rows, types, write, write_parquet


@pytest.mark.parametrize(
    "ending", [".csv", ".CSV", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".pq"]
)
def test_formats(tmp_path, ending):
    path = tmp_path / f"shop{ending}"
    if ending in (".parquet", ".pq"):
        write_parquet(path, store=["a", "b"], price=[1.5, 2.5], sales=[10, 20])
    else:
        text = (PLAIN.replace(",", "\t") if "tsv" in ending else PLAIN).encode()
        write(path, gzip.compress(text) if ending.endswith("gz") else text)
    assert rows(path, by="store") == [("a", 1.5, 10), ("b", 2.5, 20)]
    assert dataset_name(path) == "shop"
    assert list(read_columns(path)) == ["store", "price", "sales"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_separators_and_line_endings(tmp_path, separator, newline):
    text = PLAIN.replace(",", separator).replace("\n", newline)
    assert rows(write(tmp_path / "a.csv", text)) == [("a", 1.5, 10), ("b", 2.5, 20)]


def test_separator_inside_names_and_quotes(tmp_path):
    path = write(tmp_path / "a.csv", 'weight (kg, dry);height\n1;2\n"3";4\n')
    assert types(path) == {"weight (kg, dry)": "BIGINT", "height": "BIGINT"}
    path = write(tmp_path / "b.csv", '"a, ""b""",c\n"x, y\nz",1\n')
    with open_source(path) as source:
        assert source.relation.columns == ['a, "b"', "c"]
        assert source.relation.fetchall() == [("x, y\nz", 1)]


def test_decimal_comma(tmp_path):
    path = write(tmp_path / "a.csv", "store;price\na;1,5\nb;2,25\n")
    assert rows(path) == [("a", 1.5), ("b", 2.25)]
    path = write(tmp_path / "b.csv", "store;price\na;1.5\nb;2.25\n")
    assert rows(path) == [("a", 1.5), ("b", 2.25)]


def test_missing_values(tmp_path):
    texts = [*layout.MISSING, " NA"]
    lines = [f"{i}.5,{text},x" for i, text in enumerate(texts)]
    path = write(tmp_path / "a.csv", "a,b,c\n" + "\n".join(lines) + "\n1,2,y\n")
    with open_source(path) as source:
        assert [str(t) for t in source.relation.types] == ["DOUBLE", "BIGINT", "VARCHAR"]
        assert source.relation.aggregate("count(*), count(b)").fetchall() == [(len(texts) + 1, 1)]


def test_types_look_at_the_whole_file(tmp_path):
    path = write(tmp_path / "a.csv", "a,b\n" + "1,2\n" * 50_000 + "1.5,x\n")
    assert types(path) == {"a": "DOUBLE", "b": "VARCHAR"}


def test_large_files_are_sampled(tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "WHOLE_FILE_BYTES", 1000)
    monkeypatch.setattr(layout, "SAMPLE_ROWS", 2048)
    path = write(tmp_path / "a.csv", "id,a\n" + "1,2\n" * 50_000 + "1,2.5\n")
    with open_source(path, by="id") as source, source.reading():
        assert [str(t) for t in source.relation.types] == ["BIGINT", "DOUBLE"]
        assert source.relation.max("a").fetchall() == [(2.5,)]
    path = write(tmp_path / "b.csv", "id,a\n" + "1,2\n" * 50_000 + "1,many\n")
    with open_source(path) as source, pytest.raises(ReadError) as caught, source.reading():
        source.relation.sum("a").fetchall()
    assert "File 'b.csv', line 50002, holds 'many' in column 'a'" in str(caught.value)


def test_dates_and_yes_or_no_stay_as_they_are_written(tmp_path):
    path = write(tmp_path / "a.csv", "day,open,x\n13/02/2020,yes,1\n2020-02-14,no,2\n")
    with open_source(path) as source:
        assert source.relation.fetchall()[0] == ("13/02/2020", "yes", 1)


@pytest.mark.parametrize(
    "content",
    [
        ",a,b\n0,1,2\n1,3,4\n",
        '"",a,b\n1,1,2\n2,3,4\n',
        "Unnamed: 0,a,b\n0,1,2\n1,3,4\n",
        "Unnamed: 0.1,Unnamed: 0,a,b\n0,0,1,2\n1,1,3,4\n",
        '"","a","b"\n"Mazda RX4",1,2\n"Valiant",3,4\n',
        "a,b,\n1,2,\n3,4,\n",
        "# written by a tool\n\na,b\n1,2\n\n3,4\n",
        "\ufeffa,b\n1,2\n3,4\n",
        " a , b\n1, 2\n3, 4\n",
    ],
)
def test_only_named_columns_remain(tmp_path, content):
    with open_source(write(tmp_path / "a.csv", content)) as source:
        assert source.relation.columns == ["a", "b"]
        assert source.relation.fetchall() == [(1, 2), (3, 4)]


def test_index_written_by_pandas(tmp_path):
    frame = pd.DataFrame({"a": [1, 3], "b": [2, 4]}, index=[7, 9])
    frame.to_csv(tmp_path / "a.csv")
    frame.to_parquet(tmp_path / "a.parquet")
    assert rows(tmp_path / "a.csv") == rows(tmp_path / "a.parquet") == [(1, 2), (3, 4)]
    pd.DataFrame([[1.5, 2], [3.5, 4]]).to_csv(tmp_path / "b.csv")
    assert types(tmp_path / "b.csv") == {"0": "DOUBLE", "1": "BIGINT"}


def test_header_that_starts_with_a_comment_sign(tmp_path):
    assert types(write(tmp_path / "a.csv", "#id,a\n1,2\n")) == {"#id": "BIGINT", "a": "BIGINT"}


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", r"'a.csv' is empty \(0 bytes\)"),
        ("\n\n", "'a.csv' has no header line"),
        ("a,b\n", "'a.csv' has a header but no rows; leave it out or add rows"),
        ("a,b", "'a.csv' has a header but no rows"),
        ("a,a,b\n1,2,3\n", "'a.csv' has two columns named 'a'; rename one"),
        ("a,A,b\n1,2,3\n", "'a.csv' has columns 'a' and 'A', which differ in case only"),
        ("a,,b\n1,2,3\n", "'a.csv' has no name for column 2 in its header"),
        ("a,b,\n1,2,3\n", "'a.csv' has no name for its last column"),
        (",\n1,2\n", "'a.csv' names no column in its first line"),
        ("1.5,2\n3,4\n", "'a.csv' has no header: its first line holds numbers"),
        ("a,b,c\n1,2,3\n4,5\n1,2,3\n", "line 3, has 2 values where the header names 3 columns"),
        ("a,b,c\n1,2,3\n4,5,6,7\n", "line 3, has 4 values where the header names 3 columns"),
        ("a,b,c\n1,2\n3,4\n5,6\n", "line 2, has 2 values where the header names 3 columns"),
        ("a,b\n1,2,3\n4,5,6\n", "line 2, has 3 values where the header names 2 columns"),
        ('a,b\nx,1\n"y,2\nz,3\n', "line 3, opens a quote that is never closed"),
        ("a,b\r\n1,2\n3,4\r\n5,6\n", "quotes or line endings are mixed"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "'a.csv' is not text"),
        (b"\0" * 500, "'a.csv' is not text"),
        (gzip.compress(PLAIN.encode(), mtime=0), "compressed with gzip; name it .csv.gz"),
        (b"PK\x03\x04 and so on", "zip archive or an Excel workbook"),
        (b"PAR1 and so on", "is a Parquet file; name it .parquet"),
        (b"\xfe\xff" + PLAIN.encode("utf-16-be"), "UTF-16 .* save it as UTF-8"),
        (b"a,b\n\x80uro,2\nx,4\n", "neither UTF-8 nor Latin-1 text; save it as UTF-8"),
    ],
)
def test_csv_that_cannot_be_used(tmp_path, content, match):
    refused(write(tmp_path / "a.csv", content), match)


def test_encodings(tmp_path):
    text = "größe,name\n1,é\n2,ü\n"
    expected = [(1, "é"), (2, "ü")]
    for encoding in ("utf-8", "utf-8-sig", "latin-1", "utf-16"):
        path = write(tmp_path / "a.csv", text.encode(encoding))
        assert types(path) == {"größe": "BIGINT", "name": "VARCHAR"}
        assert rows(path) == expected
        path = write(tmp_path / "a.csv.gz", gzip.compress(text.encode(encoding)))
        assert rows(path) == expected


def test_latin_1_far_down_in_the_file(tmp_path):
    body = "ab,1\n" * (layout.HEAD_BYTES // 4)
    path = write(tmp_path / "a.csv", ("name,a\n" + body + "é,2\n").encode("latin-1"))
    assert rows(path, query="SELECT * FROM data WHERE a = 2") == [("é", 2)]


def test_damaged_gzip(tmp_path):
    text = "a,b\n" + "".join(f"{i},{i * i % 997}\n" for i in range(300_000))
    whole = gzip.compress(text.encode())
    assert len(text) > layout.HEAD_BYTES
    for cut in (whole[: len(whole) - 2000], whole[:100], whole[:5]):
        refused(write(tmp_path / "a.csv.gz", cut), "'a.csv.gz' is damaged or incomplete")
    refused(write(tmp_path / "a.csv.gz", PLAIN), "'a.csv.gz' is not compressed with gzip")
    refused(write(tmp_path / "a.csv.gz", gzip.compress(b"")), "'a.csv.gz' has no header line")


def test_parquet_that_cannot_be_used(tmp_path):
    path = tmp_path / "a.parquet"
    refused(write(path, ""), "empty")
    refused(write(path, "ab"), "'a.parquet' cannot be read: it is not a Parquet file")
    refused(write(path, PLAIN), "it is not a Parquet file")
    whole = write_parquet(path, a=[1, 2]).read_bytes()
    refused(write(path, whole[:-20]), "'a.parquet' cannot be read: it is damaged or incomplete")
    refused(write(path, whole[:-40] + b"\xff" * 8 + b"PAR1"), "'a.parquet' cannot be read")
    refused(write_parquet(path, a=pa.array([], pa.int64())), "'a.parquet' has no rows")
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), path)
    refused(path, "'a.parquet' has two columns named 'a'")
