"""A network is the same whatever the order of columns and rows, the names and the units."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

pytest.importorskip("torch", reason="torch is not installed (extra nn)")

import conjoin  # noqa: E402
from conjoin.representations import MLP, Layers, embed  # noqa: E402
from conjoin.representations.column_order import column_order  # noqa: E402

QUICK = MLP(hidden=2, rate=0.01, epochs=3)


def same(frames):
    return frames


def reversed_columns(frames):
    return {name: frame[frame.columns[::-1]] for name, frame in frames.items()}


def renamed(frames):
    return {name: f.rename(columns={"a": "z", "c": "C"}) for name, f in frames.items()}


def shuffled(frames):
    rng = np.random.default_rng(3)
    return {name: frames[name].iloc[rng.permutation(len(frames[name]))] for name in frames}


def all_of_it(frames):
    return shuffled(renamed(reversed_columns(frames)))


CHANGES = [reversed_columns, renamed, shuffled, all_of_it]


def outcome(frames, change, **options):
    """Return errors, and features and predictions of the first dataset by the index of rows."""
    given = change(frames)
    first = next(iter(given))
    result = conjoin.partition(given, target="y", **options)
    rows = given[first].sort_index().drop(columns="y")
    if result.schema.response.classes:
        predictions = result.predict_proba(rows, first)
    else:
        predictions = result.predict(rows, first)
    errors = [estimate.error for estimate in result.errors.values()]
    return errors, result.representation.transform(rows), np.asarray(predictions)


@pytest.mark.parametrize("representation", ["mlp1", QUICK], ids=["mlp1", "MLP"])
def test_order_and_names_change_no_bit_of_a_network(frames, representation):
    expected = outcome(frames, same, representation=representation)
    for change in CHANGES:
        found = outcome(frames, change, representation=representation)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=change.__name__)


@pytest.mark.parametrize("kind", ["classes", "counts", "weights", "text"])
def test_nor_of_other_targets_weights_and_text(frames, kind):
    rng = np.random.default_rng(0)
    options = {"representation": QUICK}
    few = {}
    for name, frame in frames.items():
        few[name] = frame = frame.head(60).copy()
        if kind == "classes":
            frame["y"] = np.where(frame["y"] > 0, "yes", "no")
        if kind == "counts":
            frame["y"] = rng.poisson(np.exp(np.clip(frame["y"] / 3, -2, 2)))
            options["family"] = "poisson"
        if kind == "weights":
            frame["w"] = rng.uniform(0.5, 2.0, len(frame))
            options["weights"] = "w"
        if kind == "text":
            frame["c"] = rng.choice(["red", "green", "blue"], len(frame))
    expected = outcome(few, same, **options)
    found = outcome(few, all_of_it, **options)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_units_change_hardly_anything(frames):
    metric = {k: f.assign(a=2.54 * f["a"] + 30.0, y=1000.0 * f["y"]) for k, f in frames.items()}
    one, other = (
        conjoin.partition(data, target="y", representation=QUICK) for data in (frames, metric)
    )
    for name, estimate in one.errors.items():
        assert other.errors[name].error == pytest.approx(1e6 * estimate.error, rel=1e-6)


def test_estimators_and_files_keep_the_columns_of_the_table(frames, tmp_path):
    model = conjoin.JoinRegressor(by="store", representation=QUICK)
    long = pd.concat([f.head(60).assign(store=k) for k, f in frames.items()])
    X, y = long.drop(columns="y"), long["y"]
    backwards = X[X.columns[::-1]]
    expected = model.fit(X, y).predict(X)
    other = clone(model).fit(backwards, y)
    np.testing.assert_array_equal(other.predict(backwards), expected)
    other.result_.save(tmp_path / "model.json")
    again = conjoin.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(X[["c", "b", "a"]], X["store"]), expected)


def test_tables_of_features_are_the_same_too(frames):
    one, other = (embed("mlp1", data, target="y") for data in (frames, reversed_columns(frames)))
    for name, table in one.tables.items():
        for head, column in table.items():
            np.testing.assert_allclose(other.tables[name][head], column, rtol=1e-9, atol=1e-12)
    rows = frames["d1"].drop(columns="y")
    for column, values in other.transform(rows).items():
        np.testing.assert_allclose(values, one.transform(rows)[column], rtol=1e-9, atol=1e-12)


def test_columns_are_ordered_by_what_they_hold():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 6)), rng.standard_normal(50)
    expected = X[:, column_order(X, y)]
    for _ in range(5):
        columns, rows = rng.permutation(6), rng.permutation(50)
        other = X[:, columns]
        order = column_order(other[rows], y[rows])
        np.testing.assert_array_equal(other[:, order], expected)
        np.testing.assert_array_equal(column_order(2.0 * other + 1.0, 7.0 * y), order)


def test_copies_are_ordered_by_name_and_minus_zero_is_zero():
    x = np.array([0.0, 1.0, 2.0, 1.0])
    X, y = np.column_stack([x, x, np.exp(x)]), np.arange(4.0)
    there, back = column_order(X, y, ["b", "a", "c"]), column_order(X[:, ::-1], y, ["c", "a", "b"])
    assert [["b", "a", "c"][j] for j in there] == [["c", "a", "b"][j] for j in back]
    minus = np.where(X == 0, -0.0, X)
    np.testing.assert_array_equal(column_order(minus, y, ["b", "a", "c"]), there)


def test_a_network_keeps_its_map_when_its_columns_are_moved():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    layers = Layers.of(QUICK.fit(X, X[:, 0]))
    order = rng.permutation(5)
    moved = layers.with_columns(order)  # it saw X, so the columns of the table are X[:, back]
    back = np.argsort(order)
    np.testing.assert_array_equal(moved.transform(X[:, back]), layers.transform(X))
