"""Odd objects in tables and as arguments of a result that once ended in another exception."""

import decimal

import numpy as np
import pandas as pd
import pytest

import conjoin
from conjoin.errors import ArgumentError, DataError, ReadError

pytestmark = [
    pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning"),
    pytest.mark.filterwarnings("error::RuntimeWarning"),
]


def long_table(**columns):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"s": ["a", "b", "c", "d"] * 15, "x": rng.normal(size=60)})
    table["y"] = table["x"] * np.where(table["s"] < "c", 1.0, -1.0) + rng.normal(size=60)
    return table.assign(**columns)


def partition(table, **options):
    return conjoin.partition(table, target="y", by="s", **{"learner": "linear", **options})


@pytest.fixture(scope="module")
def result():
    return partition(long_table())


@pytest.fixture(scope="module")
def learned():
    return partition(long_table(), learner="boosting", folds=2)


class Odd:
    """Neither compared nor shown."""

    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError("no")

    __ne__ = __eq__

    def __repr__(self):
        raise RuntimeError("no")


def test_objects_that_can_neither_be_compared_nor_shown():
    with pytest.raises(DataError, match=r"Odd \(an object that cannot be shown\)"):
        partition(long_table(q=[Odd() for _ in range(60)]))


def test_missing_values_are_no_example_of_a_mixed_column():
    odd = [decimal.Decimal("NaN"), pd.NaT, 1j, *["a"] * 57]
    with pytest.raises(DataError, match=r"mixes types: complex \(1j\) and str \('a'\)"):
        partition(long_table(q=odd))


@pytest.mark.parametrize("container", ["frame", "mapping"])
def test_a_list_in_itself_does_not_end_python(container):
    own = []
    own.append(own)
    values = np.empty(60, dtype=object)
    values[:] = [own] * 60
    table = long_table(q=values)
    given = table if container == "frame" else {name: table[name].to_numpy() for name in table}
    with pytest.raises(DataError, match="'q' of data holds lists in lists, over 100 deep"):
        partition(given)


def test_lists_in_lists_and_records_are_left_out():
    nested = np.empty(60, dtype=object)
    nested[:] = [[[1.0], [2.0, 3.0]]] * 60
    found = partition(long_table(q=nested, r=[{"u": {"v": 1}}] * 60))
    assert found.features == ("x",)


def test_sparse_columns_are_columns():
    x = long_table()["x"]
    sparse, plain = (
        partition(long_table(q=make(np.where(x > 1, x, 0.0))))
        for make in (pd.arrays.SparseArray, np.asarray)
    )
    assert sparse.features == plain.features == ("x", "q")
    assert sparse.errors["auto"].error == plain.errors["auto"].error


def test_half_a_character_among_texts_is_the_example():
    names = np.array(["a", "b", "\ud800"] * 20, dtype=object)
    with pytest.raises(DataError, match=r"cannot be used: str \('\\ud800'\)"):
        partition({"s": names, "x": np.arange(60.0), "y": np.arange(60.0) % 7})


@pytest.mark.parametrize("path", ["", "  "])
def test_an_empty_text_is_not_the_current_folder(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    long_table().to_csv("table.csv", index=False)
    with pytest.raises(ReadError, match=r"is no file; name one, or '.' for the current folder"):
        partition(path)
    assert len(partition(".").labels) == 4


@pytest.mark.parametrize("weight", [5e-324, 1e308])
def test_weights_of_a_unit_that_products_cannot_hold(weight):
    with pytest.raises(DataError, match="which products cannot hold.*divide them by their mean"):
        partition(long_table(w=weight), weights="w")


@pytest.mark.parametrize("name", ["result", "learned"])
def test_rows_in_more_than_two_dimensions(name, request):
    with pytest.raises(DataError, match="X has 3 dimensions; expected rows and columns"):
        request.getfixturevalue(name).predict(np.zeros((2, 1, 2)), "a")


@pytest.mark.parametrize("value", [["auto"], {"auto": 1}, np.array(["auto", "plain"])])
@pytest.mark.parametrize("name", ["result", "learned"])
def test_strategies_columns_and_features_that_are_no_text(name, value, request):
    found = request.getfixturevalue(name)
    for call in (found.using, found.improvements):
        with pytest.raises(ArgumentError, match="^strategy=.* is unknown"):
            call(value)
    if name == "learned":
        with pytest.raises(ArgumentError, match="^column=.* has no curve"):
            found.partial_dependence(value)
    else:
        with pytest.raises(ArgumentError, match="^feature=.* is unknown"):
            found.plot_coefficients(value)


@pytest.mark.parametrize("level", [None, "0.9", [0.9], np.array(["a", "b"]), b"1", np.nan])
def test_levels_of_tables_that_are_no_numbers(result, level):
    with pytest.raises(ArgumentError, match="^level=.* is no confidence"):
        result.to_frame(level=level)


def test_plots_on_something_else(result):
    with pytest.raises(ArgumentError, match="^ax=5 is nothing to draw on"):
        result.plot_errors(ax=5)


def test_a_new_dataset_with_fewer_rows_than_columns_far_away():
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=60) for j in range(12)}
    found = partition(long_table(**columns))
    new = {name: np.ones(5) for name in found.features} | {"x3": np.full(5, 1e300)}
    place = found.assign(new, np.arange(5.0))
    assert np.isfinite([*place.probabilities, *place.model.coef.values()]).all()


def test_counts_so_rare_that_half_of_the_rows_have_none():
    counts = (np.arange(60) % 30 == 0).astype(float)
    found = partition(long_table(y=counts), family="poisson", learner="boosting", folds=2)
    assert np.isfinite([one.error for one in found.errors.values()]).all()
