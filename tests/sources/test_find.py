"""Files that names, folders and patterns stand for."""

import os

from conjoin.sources.find import dataset_name
from conjoin.sources.read import open_source
from tests.sources.helpers import PLAIN, refused, rows, write, write_parquet


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


def test_the_error_for_an_address_has_no_password():
    message = refused("mysql://me:secret@host/shop", "'mysql://me@host/shop' is an address")
    assert "secret" not in message
    refused("s3://bucket/a.parquet", "'s3://bucket/a.parquet' is an address")


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


def test_partition_values_that_are_not_numbers(tmp_path):
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


def test_equal_names_get_folders_in_front(tmp_path):
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
