import dask.dataframe
import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from conjoin.errors import DataError
from conjoin.tables.columns import to_columns
from conjoin.tables.frame import in_memory, is_lazy, is_table, to_frame, with_castable_types

FRAME = pd.DataFrame({"a": [1.5, None], "b": ["x", None], "c": [True, False]})


@pytest.mark.parametrize(
    "table",
    [
        FRAME,
        FRAME.convert_dtypes(),
        FRAME.convert_dtypes(dtype_backend="pyarrow"),
        pl.from_pandas(FRAME),
        pa.Table.from_pandas(FRAME),
        {"a": [1.5, None], "b": ["x", None], "c": [True, False]},
        {"a": np.array([1.5, np.nan]), "b": np.array(["x", None]), "c": np.array([True, False])},
        {"a": (1.5, float("nan")), "b": ["x", float("nan")], "c": pd.Series([True, False])},
        {"a": np.ma.masked_array([1.5, 9], mask=[0, 1]), "b": ["x", None], "c": [True, False]},
        pl.from_pandas(FRAME).lazy(),
        duckdb.from_arrow(pa.Table.from_pandas(FRAME)),
    ],
)
def test_any_table_comes_into_memory_as_arrow(table):
    frame = in_memory(to_frame(table))
    assert frame.implementation.is_pyarrow()
    assert frame.to_dict(as_series=False) == {
        "a": [1.5, None],
        "b": ["x", None],
        "c": [True, False],
    }


def test_tables_whose_rows_are_elsewhere_stay_there():
    lazy = [
        pl.from_pandas(FRAME).lazy(),
        duckdb.from_arrow(pa.Table.from_pandas(FRAME)),
        dask.dataframe.from_pandas(FRAME[["a"]], npartitions=1),
    ]
    for table in lazy:
        assert isinstance(to_frame(table), nw.LazyFrame)
        assert is_lazy(table) and is_table(table)
    for table in (FRAME, {"a": [1]}, 3, "name", [1, 2], pd.concat([FRAME, FRAME], axis=1)):
        assert not is_lazy(table)


def test_what_is_a_table():
    assert all(map(is_table, (FRAME, pl.DataFrame(), pa.table({}), {}, {"a": [1]})))
    assert is_table(pd.concat([FRAME, FRAME], axis=1))
    for value in (3, "name", [1, 2], np.ones((2, 2)), FRAME["a"], pl.Series([1]), None):
        assert not is_table(value)
        with pytest.raises(DataError, match="data is a .*; expected a pandas, Polars, Dask or"):
            to_frame(value)


@pytest.mark.parametrize("convert", [to_frame, to_columns])
def test_columns_of_one_name(convert):
    for table in (
        pd.concat([FRAME, FRAME[["a"]]], axis=1),
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pa.table([[1], [2]], names=["a", "a"]),
    ):
        with pytest.raises(DataError, match="X has two columns named 'a'; rename one of them"):
            convert(table, "X")
    for table in (pd.DataFrame([[1, 2]], columns=[1, "1"]), {1: [1], "1": [2]}):
        with pytest.raises(DataError, match="X has two columns named '1'; rename one of them"):
            convert(table, "X")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, "a"], "mixes types: int .1. and str .'a'."),
        ([None, "a", 2.5], "mixes types: str .'a'. and float .2.5."),
        ([1j, 2j], "holds values that cannot be used: complex .1j."),
        ([10**30, 1], "holds values that cannot be used: int"),
        ([object()], "holds values that cannot be used: object"),
    ],
)
def test_values_that_cannot_be_a_column(values, message):
    for table in ({"v": values}, pd.DataFrame({"v": pd.Series(values, dtype=object)})):
        with pytest.raises(DataError, match=f"Column 'v' of X {message}.*leave it out") as caught:
            to_frame(table, "X")
        assert "\n" not in str(caught.value)


def test_only_wanted_columns_are_looked_at():
    mixed = pd.DataFrame({"v": [1, "a"], "w": [1.0, 2.0]})
    for table in (mixed, {"v": [1, "a"], "w": [1.0, 2.0]}):
        assert to_frame(table, wanted=["w"]).columns == ["w"]
        with pytest.raises(DataError, match="mixes types"):
            to_frame(table, wanted=["w", "v"])


def test_columns_of_different_lengths_or_dimensions():
    with pytest.raises(DataError, match="Columns of X differ in length: .1, 2. rows"):
        to_frame({"a": [1], "b": [1, 2]}, "X")
    for value in (np.ones((2, 2)), 3.0):
        with pytest.raises(DataError, match="Column 'a' of X has . dimensions; expected one value"):
            to_frame({"a": value}, "X")


def test_numbers_of_all_widths_and_orders():
    for kind in ("f2", "f4", "f8", ">f8", ">i4", "i1", "u8", np.longdouble):
        values = np.array([1, 2, 3]).astype(kind)
        frame = with_castable_types(to_frame({"v": values}), ["v"])
        assert frame.select(nw.col("v").cast(nw.Float64)).rows() == [(1.0,), (2.0,), (3.0,)]
    large = with_castable_types(to_frame({"v": [2**60 + 1]}), ["v"])
    assert large.rows() == [(float(2**60),)]


def test_names_of_periods_and_intervals_are_kept():
    table = pd.DataFrame(
        {
            "month": pd.PeriodIndex(["2020-01", None], freq="M"),
            "range": pd.cut([1, 30], [0, 10, 20]),
        }
    )
    frame = to_frame(table)
    assert frame.to_dict(as_series=False) == {
        "month": ["2020-01", None],
        "range": ["(0, 10]", None],
    }


def test_names_that_are_numbers_or_pairs():
    assert to_frame(pd.DataFrame([[1, 2]], columns=[0, 1])).columns == ["0", "1"]
    pairs = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    assert to_frame(pairs).columns == ["('a', 1)", "('a', 2)"]
