import gzip
import os
from datetime import datetime
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conjoin.errors import ConjoinError, DataError, ReadError
from conjoin.sources import layout
from conjoin.sources.read import dataset_name, open_source, read_columns

PLAIN = "store,price,sales\na,1.5,10\nb,2.5,20\n"


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def write_parquet(path: Path, **columns) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def rows(sources, **options):
    with open_source(sources, **options) as source:
        return source.relation.order("ALL").fetchall()


def types(sources, **options):
    with open_source(sources, **options) as source:
        return dict(zip(source.relation.columns, map(str, source.relation.types)))


def refused(sources, match, error=ReadError, **options):
    with pytest.raises(error, match=match) as caught:
        open_source(sources, **options)
    message = str(caught.value)
    assert isinstance(caught.value, ConjoinError)
    assert "\n" not in message and message.endswith((".", "?"))
    return message


# One file


def test_one_file_comes_without_by(tmp_path):
    with open_source(write(tmp_path / "shop.csv", PLAIN)) as source:
        assert source.by == ()
        assert source.relation.columns == ["store", "price", "sales"]
        assert source.relation.fetchall() == [("a", 1.5, 10), ("b", 2.5, 20)]
        assert source.partial_columns == {}
        assert "shop.csv" in source.description
        assert "shop.csv" in repr(source)


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


def test_nothing_is_fetched_on_opening(tmp_path):
    path = write(tmp_path / "a.csv", PLAIN)
    with open_source(path) as source:
        write(path, PLAIN + "c,3.5,30\n")
        assert len(source.relation.fetchall()) == 3


def test_dates_and_yes_or_no_stay_as_they_are_written(tmp_path):
    path = write(tmp_path / "a.csv", "day,open,x\n13/02/2020,yes,1\n2020-02-14,no,2\n")
    with open_source(path) as source:
        assert source.relation.fetchall()[0] == ("13/02/2020", "yes", 1)


# What the header says


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
        refused(write(tmp_path / "a.csv.gz", cut), "'a.csv.gz' is damaged or cut short")
    refused(write(tmp_path / "a.csv.gz", PLAIN), "'a.csv.gz' is not compressed with gzip")
    refused(write(tmp_path / "a.csv.gz", gzip.compress(b"")), "'a.csv.gz' has no header line")


def test_parquet_that_cannot_be_used(tmp_path):
    path = tmp_path / "a.parquet"
    refused(write(path, ""), "empty")
    refused(write(path, "ab"), "'a.parquet' cannot be read: it is not Parquet inside")
    refused(write(path, PLAIN), "it is not Parquet inside")
    whole = write_parquet(path, a=[1, 2]).read_bytes()
    refused(write(path, whole[:-20]), "'a.parquet' cannot be read: it is damaged or cut short")
    refused(write(path, whole[:-40] + b"\xff" * 8 + b"PAR1"), "'a.parquet' cannot be read")
    refused(write_parquet(path, a=pa.array([], pa.int64())), "'a.parquet' has no rows")
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), path)
    refused(path, "'a.parquet' has two columns named 'a'")


# Finding files


def test_missing_file_suggests_close_names(tmp_path):
    write(tmp_path / "sales.csv", PLAIN)
    refused(tmp_path / "sale.csv", "does not exist; did you mean 'sales.csv'\\?")
    refused(tmp_path / "other.csv", "does not exist; check the path")
    refused(tmp_path / "no" / "sales.csv", "does not exist, nor does its folder")
    refused(tmp_path / "sales.csv" / "a.csv", "does not exist, nor does its folder")


def test_endings(tmp_path):
    refused(write(tmp_path / "a.txt", PLAIN), "'a.txt' has an unknown ending; expected .*csv")
    refused(
        write(tmp_path / "a.xlsx", "PK"),
        "'a.xlsx' has an unknown ending: spreadsheets .* as CSV or",
    )


def test_addresses_are_refused_without_password():
    message = refused("mysql://me:secret@host/shop", "'mysql://me@host/shop' is an address")
    assert "secret" not in message
    refused("s3://bucket/a.parquet", "'s3://bucket/a.parquet' is an address")


def test_read_columns_takes_one_file(tmp_path):
    with pytest.raises(ReadError, match="is a folder; pass a file"):
        read_columns(tmp_path)


def test_no_source():
    refused([], "No file was named")


def test_file_without_permission(tmp_path):
    path = write(tmp_path / "a.csv", PLAIN)
    parquet = write_parquet(tmp_path / "b.parquet", a=[1])
    folder = tmp_path / "closed"
    inside = write(folder / "c.csv", PLAIN)
    cases = [
        (path, "permission denied; allow reading it"),
        (parquet, "permission denied"),
        (folder, "Permission denied"),
        (inside, "Permission denied"),
    ]
    for closed in (path, parquet, folder):
        closed.chmod(0)
    user = os.geteuid()
    shared = [p for p in [tmp_path, *tmp_path.parents] if p.owner() == "root"] if not user else []
    modes = [(p, p.stat().st_mode) for p in shared]
    try:
        if user == 0:
            # Root may read everything: let others in, and be one of them for a while.
            for p, mode in modes:
                p.chmod(mode | 0o111)
            os.seteuid(65534)
        for source, match in cases:
            refused(source, match)
    finally:
        if user == 0:
            os.seteuid(0)
            for p, mode in modes:
                p.chmod(mode)
        folder.chmod(0o700)


def test_folder(tmp_path):
    write(tmp_path / "b.csv", PLAIN)
    write(tmp_path / "a.tsv", PLAIN.replace(",", "\t"))
    write(tmp_path / "c.pq", "")
    write_parquet(tmp_path / "c.pq", store=["z"], price=[9.5], sales=[90])
    write(tmp_path / "README.md", "about")
    write(tmp_path / ".hidden.csv", "x")
    write(tmp_path / "deeper" / "d.csv", PLAIN)
    with open_source(tmp_path) as source:
        assert source.by == ("dataset",)
        counts = source.relation.aggregate("dataset, count(*)").order("ALL").fetchall()
    assert counts == [("a", 2), ("b", 2), ("c", 1)]


def test_folder_without_tables(tmp_path):
    refused(tmp_path, "has no table to read: it is empty")
    write(tmp_path / "a.txt", "")
    refused(tmp_path, "has no table to read: it holds 'a.txt'; expected a file ending in .csv")


def test_folder_of_partitions(tmp_path):
    write_parquet(tmp_path / "region=north" / "year=2020" / "x.parquet", a=[1, 2])
    write_parquet(tmp_path / "region=north" / "year=2021" / "x.parquet", a=[3])
    write_parquet(tmp_path / "region=far%20south" / "year=2020" / "x.parquet", a=[4])
    expected = [
        (1, "north", 2020),
        (2, "north", 2020),
        (3, "north", 2021),
        (4, "far south", 2020),
    ]
    for source in (tmp_path, str(tmp_path / "region=*"), sorted(tmp_path.rglob("*.parquet"))):
        with open_source(source) as opened:
            assert opened.by == ("region", "year")
            assert opened.relation.columns == ["a", "region", "year"]
        assert rows(source, by="region") == expected
    with open_source(tmp_path, by="region") as opened:
        assert opened.by == ("region",)


def test_partition_values_that_are_no_numbers(tmp_path):
    write(tmp_path / "zip=007" / "x.csv", "a\n1\n")
    write(tmp_path / "zip=123" / "x.csv", "a\n2\n")
    write(tmp_path / "zip=__HIVE_DEFAULT_PARTITION__" / "x.csv", "a\n3\n")
    assert rows(tmp_path) == [(1, "007"), (2, "123"), (3, None)]
    write(tmp_path / "zip=999" / "x.csv", "a,zip\n4,own\n")
    with open_source(tmp_path) as source:
        assert source.by == ("dataset",)
        assert list(source.partial_columns) == ["zip"]


def test_folder_named_like_a_table_holds_its_parts(tmp_path):
    for k in range(2):
        write_parquet(tmp_path / "sales.parquet" / f"part-{k}.parquet", a=[k])
    with open_source(tmp_path / "sales.parquet") as source:
        assert source.by == ()
        assert source.relation.order("a").fetchall() == [(0,), (1,)]


def test_patterns(tmp_path):
    for name in ("s1.csv", "s2.csv", "t1.csv", "s3.txt"):
        write(tmp_path / name, PLAIN)
    with open_source(str(tmp_path / "s*")) as source:
        assert source.by == ("dataset",)
        found = source.relation.project("dataset").distinct().order("ALL").fetchall()
        assert found == [("s1",), ("s2",)]
        assert "(2 files)" in source.description
    with open_source(str(tmp_path / "t*.csv")) as source:
        assert source.by == ()
    refused(str(tmp_path / "x*.csv"), "No file matches .*; check the pattern")
    refused(str(tmp_path / "*.txt"), "has no table to read: it holds 's3.txt'")


def test_names_that_look_like_patterns_or_sql(tmp_path):
    names = ["a[1].csv", "a*.csv", 'it\'s "odd" {x}.csv', "what?.csv", "größe €.csv", "a;--.csv"]
    for k, name in enumerate(names):
        write(tmp_path / name, f"a,b\n{k},{k}\n")
    write(tmp_path / "a1.csv", "a,b\n99,99\n")
    for k, name in enumerate(names):
        assert rows(str(tmp_path / name)) == [(k, k)]
    with open_source([tmp_path / name for name in names]) as source:
        found = source.relation.order("a").fetchall()
    assert found == [(k, k, dataset_name(name)) for k, name in enumerate(names)]


def test_columns_that_look_like_sql(tmp_path):
    path = write(tmp_path / "a.csv", '"it\'s","a ""b""",conjoin_file,select\n1,2,3,4\n')
    other = write(tmp_path / "b.csv", '"it\'s","a ""b""",conjoin_file,select\n1.5,2,3,4\n')
    with open_source([path, other]) as source:
        assert source.relation.columns == ["it's", 'a "b"', "conjoin_file", "select", "dataset"]
        assert source.relation.order("ALL").fetchall() == [(1, 2, 3, 4, "a"), (1.5, 2, 3, 4, "b")]


# Several files


def test_several_files_are_one_dataset_each(tmp_path):
    paths = [write(tmp_path / f"{name}.csv", "a,y\n1,2\n") for name in ("x", "y.v2", "z")]
    with open_source(paths) as source:
        assert source.by == ("dataset",)
        assert source.relation.order("ALL").fetchall() == [
            (1, 2, "x"),
            (1, 2, "y.v2"),
            (1, 2, "z"),
        ]
        assert source.description.startswith("3 files")


def test_several_files_with_by_are_parts_of_one_table(tmp_path):
    paths = [write(tmp_path / f"{name}.csv", PLAIN) for name in "xy"]
    with open_source(paths, by=["store"]) as source:
        assert source.by == ("store",)
        assert source.relation.columns == ["store", "price", "sales"]
        assert len(source.relation.fetchall()) == 4


def test_dataset_column_takes_a_free_name(tmp_path):
    paths = [write(tmp_path / f"{name}.csv", "Dataset,y\n1,2\n") for name in "xy"]
    with open_source(paths) as source:
        assert source.by == ("dataset_2",)
        assert source.relation.columns == ["Dataset", "y", "dataset_2"]


def test_equal_names_are_told_apart_by_folders(tmp_path):
    paths = [
        write(tmp_path / place, "a\n1\n")
        for place in ("north/store_1.csv", "south/store_1.csv", "south/store_2.csv")
    ]
    assert [name for _, name in rows(paths)] == ["north/store_1", "south/store_1", "store_2"]
    paths = [
        write(tmp_path / place, "a\n1\n") for place in ("n/2020/s.csv", "m/2020/s.csv", "m/1/s.csv")
    ]
    assert [name for _, name in rows(paths)] == ["m/1/s", "m/2020/s", "n/2020/s"]
    paths = [write(tmp_path / "p/s.csv", "a\n1\n"), write_parquet(tmp_path / "p/s.pq", a=[1])]
    assert [name for _, name in rows(paths)] == ["p/s.csv", "p/s.pq"]


def test_a_file_named_twice(tmp_path):
    path = write(tmp_path / "a.csv", PLAIN)
    refused([path, str(tmp_path / "*.csv")], "is named twice; name it once")


def test_columns_that_only_some_files_have(tmp_path):
    x = write(tmp_path / "x.csv", "a,b,y\n1,2,3\n")
    y = write(tmp_path / "y.csv", "y,A\n6,4\n")
    z = write_parquet(tmp_path / "z.parquet", a=[7], c=["t"], y=[9])
    with open_source([x, y, z]) as source:
        assert source.partial_columns == {"b": ["y", "z"], "c": ["x", "y"]}
        selected = source.relation.project("dataset, a, b, c, y").order("ALL").fetchall()
    assert selected == [
        ("x", 1, 2, None, 3),
        ("y", 4, None, None, 6),
        ("z", 7, None, "t", 9),
    ]


def test_number_in_one_file_and_text_in_another(tmp_path):
    x = write(tmp_path / "x.csv", "store,price\n1,1.5\n")
    y = write(tmp_path / "y.csv", "store,price\n2,3\n")
    z = write(tmp_path / "z.csv", "store,price\nB3,2\nB3,cheap\n")
    message = refused([x, y, z], "Column 'store' is number in 'x', 'y' but text in 'z'")
    assert "(such as 'B3')" in message
    refused(
        [x, y, z], r"'price' is number in 'x', 'y' but text in 'z' \(such as 'cheap'\)", by="store"
    )


def test_names_of_datasets_may_mix_numbers_and_text(tmp_path):
    x = write(tmp_path / "x.csv", "store,price\n7,1.5\n")
    y = write(tmp_path / "y.csv", "store,price\n007,3\n")
    z = write_parquet(tmp_path / "z.parquet", store=[8], price=[1])
    assert rows([x, y, z], by="store") == [("007", 3.0), ("7", 1.5), ("8", 1.0)]


def test_a_column_without_values_takes_the_type_of_the_others(tmp_path):
    x = write(tmp_path / "x.csv", "a,b\nNA,1\n,2\n")
    y = write(tmp_path / "y.csv", "a,b\n1.5,NA\n")
    z = write_parquet(tmp_path / "z.parquet", a=pa.array([None, None]), b=pa.array([5, 6]))
    assert types([x, y, z]) == {"a": "DOUBLE", "b": "BIGINT", "dataset": "VARCHAR"}
    t = write(tmp_path / "t.csv", "a,b\nred,1\n")
    assert types([x, z, t])["a"] == "VARCHAR"
    assert types([x, z])["b"] == "BIGINT"


def test_numbers_of_several_types(tmp_path):
    x = write_parquet(tmp_path / "x.parquet", a=pa.array([1], pa.int16()), b=[1.5])
    y = write_parquet(tmp_path / "y.parquet", a=pa.array([2], pa.int64()), b=[2])
    assert types([x, y]) == {"a": "BIGINT", "b": "DOUBLE", "dataset": "VARCHAR"}


def test_dates_and_times_stack(tmp_path):
    day, hour = datetime(2020, 2, 13), datetime(2020, 2, 14, 12)
    x = write_parquet(tmp_path / "x.parquet", day=pa.array([day.date()]), a=[1])
    y = write_parquet(tmp_path / "y.parquet", day=pa.array([hour]), a=[1])
    assert types([x, y])["day"] == "TIMESTAMP"
    assert len(rows([x, y])) == 2
    z = write(tmp_path / "z.csv", "day,a\n3,1\n")
    refused([x, z], "Column 'day' is date in 'x' but number in 'z'")


def test_problems_in_one_of_several_files_name_it(tmp_path):
    x = write(tmp_path / "x.csv", PLAIN)
    refused([x, write(tmp_path / "y.csv", "a,b\n")], "'y.csv' has a header but no rows")


def test_many_files(tmp_path):
    for k in range(300):
        write(tmp_path / f"s{k}.csv", f"a,y\n{k},{k}.5\n" if k % 2 else f"a,y\n{k},{k}\n")
    with open_source(tmp_path) as source:
        total = source.relation.aggregate("count(DISTINCT dataset), sum(a)").fetchall()
    assert total == [(300, sum(range(300)))]


# by, query, connection


def test_by_that_is_no_column(tmp_path):
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
