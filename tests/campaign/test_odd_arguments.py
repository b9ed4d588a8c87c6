"""Single odd arguments that once ended in an exception of another library."""

import numpy as np
import polars as pl
import pytest

import conjoin
from conjoin.api.described import described
from conjoin.api.request import PairRequest, Request
from conjoin.errors import ArgumentError, DataError

pytestmark = [
    pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning"),
    pytest.mark.filterwarnings("error::RuntimeWarning"),
    pytest.mark.filterwarnings("error::numpy.exceptions.ComplexWarning"),
]


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    tables = {k: {"x": rng.normal(size=20), "y": rng.normal(size=20)} for k in "ab"}
    return conjoin.partition(tables, target="y", learner="linear", folds=2)


def test_targets_of_a_new_dataset_that_are_text(result):
    with pytest.raises(DataError, match="y holds 'q', but the target is a number"):
        result.assign({"x": [1.0, 2.0]}, ["q", "r"])


def test_targets_of_a_new_dataset_that_no_double_can_square(result):
    with pytest.raises(DataError, match="too large to square"):
        result.assign({"x": [1.0, 2.0]}, [1e200, 0.0])


def test_paths_that_are_no_paths(result):
    for call in (result.save, result.report, conjoin.load):
        for path in (5, None, "a\0b", "\ud800.json"):
            with pytest.raises(ArgumentError, match=r"^path=.* is no file"):
                call(path)


def test_a_strategy_that_is_no_text(result):
    with pytest.raises(ArgumentError, match=r"strategy=\['auto'\] is unknown"):
        result.using(["auto"])


def test_targets_of_a_new_dataset_that_are_complex(result):
    with pytest.raises(DataError, match="y holds 1j, but the target is a number"):
        result.assign({"x": [1.0, 2.0]}, [1j, 2.0])


def test_new_rows_near_the_largest_double(result):
    place = result.assign({"x": [1.7e308, -1.7e308, 1e300]}, [1.0, 2.0, 3.0])
    assert np.isfinite([*place.probabilities, *place.model.coef.values()]).all()


@pytest.mark.parametrize(("column", "factor"), [("x", 1e300), ("y", 1e140)])
def test_a_check_of_rows_of_another_scale(column, factor):
    rng = np.random.default_rng(0)
    table = {"g": list("ab") * 30, "x": rng.normal(size=60), "y": rng.normal(size=60)}
    found = conjoin.partition(table, target="y", by="g", learner="linear", folds=2)
    wild = {**table, column: table[column] * factor}
    if column == "x":
        with pytest.raises(DataError, match="too large to square"):
            conjoin.check(found, wild)
    else:
        assert [one.status for one in conjoin.check(found, wild).datasets] == ["look", "look"]


@pytest.mark.parametrize("column", ["x", "y"])
def test_integers_of_128_bits(column):
    rng = np.random.default_rng(1)
    table = pl.DataFrame({"x": rng.normal(size=20), "y": rng.normal(size=20), "g": ["a", "b"] * 10})
    table = table.with_columns(pl.Series(column, range(20), dtype=pl.Int128))
    found = conjoin.partition(table, target="y", by="g", learner="linear", folds=2)
    assert np.isfinite(found.predict(table)).all()


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(float).max, reason="no such numbers")
def test_numbers_wider_than_doubles():
    rng = np.random.default_rng(1)
    plain = {"g": list("ab") * 10, "x": rng.normal(size=20), "y": rng.normal(size=20)}
    far = np.longdouble("1e1000")

    def find(**columns):
        return conjoin.partition({**plain, **columns}, target="y", by="g", learner="linear")

    found = find(x=plain["x"].astype(np.longdouble))
    assert found.predict(plain) == pytest.approx(find().predict(plain))
    for name in ("x", "y"):
        with pytest.raises(DataError, match="infinite"):
            find(**{name: plain[name] * far})
    with pytest.raises(DataError, match="infinite"):
        found.predict({"g": ["a"], "x": np.array([far])})


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(2)
    X, names = rng.normal(size=(30, 2)), list("abc") * 10
    y = X[:, 0] + rng.normal(size=30)
    numbers = conjoin.JoinRegressor(learner="linear", folds=2).fit(X, y, groups=names)
    classes = conjoin.JoinClassifier(learner="linear", folds=2).fit(X, y > 0, groups=names)
    return X, y, names, numbers, classes


def test_weights_of_a_score_are_checked(fitted):
    X, y, names, numbers, classes = fitted
    for weights, words in (
        (-np.ones(30), "sample_weight is -1 in 30 of 30 rows"),
        (np.zeros(30), "at least one non-zero number"),
        (np.ones(30) + 1j, "sample_weight holds complex numbers"),
        (list("ab") * 15, "could not convert"),
    ):
        for model, target in ((numbers, y), (classes, y > 0)):
            with pytest.raises(DataError, match=words):
                model.score(X, target, groups=names, sample_weight=weights)
            with pytest.raises(DataError, match=words):
                model.fit(X, target, groups=names, sample_weight=weights)


def test_targets_of_a_score_that_no_double_can_square(fitted):
    X, y, names, numbers, _ = fitted
    with pytest.raises(DataError, match="y has values up to .* too large to square"):
        numbers.score(X, 1e300 * y, groups=names)


def test_arrays_whose_sum_is_no_double(fitted):
    X, _, names, numbers, _ = fitted
    far = np.full(X.shape, 1.7e308) * [1, -1]
    assert np.isfinite(numbers.predict(far, groups=names)).all()


def test_labels_that_are_no_classes(fitted):
    X, y, names, _, _ = fitted
    join = conjoin.JoinClassifier(learner="linear", folds=2)
    with pytest.raises(DataError, match="y is continuous"):
        join.fit(X, 1e200 * y, groups=names)
    with pytest.raises(DataError, match="bytes is not supported"):
        join.fit(X, [b"a", b"b"] * 15, groups=names)


def test_what_scikit_learn_refuses_is_a_data_error():
    X, names = np.arange(6.0).reshape(-1, 1), list("aabbcc")
    join = conjoin.JoinRegressor(learner="linear")
    for y, weights, words in (
        ([1, 2, np.nan, 3, 4, 5], None, "y contains NaN"),
        ([1, 2, 2, 3, 4, 5], [-1, 1, 1, 1, 1, 1], "sample_weight is -1 in 1 of 6 rows"),
        ([1, 2, 2, 3, 4, 5], list("abcdef"), "could not convert"),
        ([1, 2, 2, 3], None, "inconsistent numbers of samples"),
    ):
        with pytest.raises(DataError, match=words):
            join.fit(X, y, groups=names, sample_weight=weights)


ODD = {
    "a list": [1],
    "an array": np.array([1, 2]),
    "bytes": b"x",
    "an object": object(),
    "no number": float("nan"),
    "beyond doubles": 10**400,
}
CHECKED = [
    name
    for name, one in described(Request).items()
    if one.choices or one.kind == "bool" or name in ("query", "master", "scheduler", "memory")
]


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("name", CHECKED)
def test_options_of_odd_types(name, value):
    with pytest.raises(ArgumentError, match=f"^{name}="):
        Request(target="y", **{name: ODD[value]})


def test_a_class_is_no_criterion():
    with pytest.raises(ArgumentError, match="method=.* is no method; expected a name"):
        PairRequest(target="y", method=int)


def test_limits_and_numbers_of_lines_of_odd_types(result):
    with pytest.raises(ArgumentError, match="limit='no' is unknown; expected True or False"):
        result.predict({"x": [1.0]}, "a", limit="no")
    with pytest.raises(ArgumentError, match=r"most=\[1\] is not a count"):
        result.ledger([1])
    assert len(result.ledger(1)) == 1


def test_rows_that_are_no_numbers(result):
    for rows in ("text", object(), [["a"]]):
        for call in (lambda X: result.predict(X, "a"), lambda X: result.models[0].predict(X)):
            with pytest.raises(DataError, match=r"X does not hold numbers \(.*\); pass numbers"):
                call(rows)
    with pytest.raises(DataError, match="'x' does not hold numbers"):
        result.models[0].predict({"x": ["a"]})
