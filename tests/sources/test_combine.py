"""Several files as one table."""

from datetime import datetime

import pyarrow as pa

from conjoin.sources.read import open_source
from tests.sources.helpers import PLAIN, refused, rows, types, write, write_parquet


def test_columns_that_look_like_sql(tmp_path):
    path = write(tmp_path / "a.csv", '"it\'s","a ""b""",conjoin_file,select\n1,2,3,4\n')
    other = write(tmp_path / "b.csv", '"it\'s","a ""b""",conjoin_file,select\n1.5,2,3,4\n')
    with open_source([path, other]) as source:
        assert source.relation.columns == ["it's", 'a "b"', "conjoin_file", "select", "dataset"]
        assert source.relation.order("ALL").fetchall() == [(1, 2, 3, 4, "a"), (1.5, 2, 3, 4, "b")]


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
