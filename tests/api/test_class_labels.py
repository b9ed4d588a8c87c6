"""Labels of any kind, missing labels, and the messages about wrong ones."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.errors import ArgumentError, ConjoinError, ConjoinWarning
from tests.api.outcomes import FEATURES, fit


def as_text(y):
    return y.map({"c1": "no", "c2": "yes"})


def as_category(y):
    return as_text(y).astype("category")


def as_bool(y):
    return y == "c2"


def as_int(y):
    return (y == "c2").astype(int) + 4


def as_whole_float(y):
    return (y == "c2") * 2.0


KINDS = [
    (as_text, "auto", ("no", "yes")),
    (as_category, "auto", ("no", "yes")),
    (as_bool, "auto", (False, True)),
    (as_int, "logistic", (4, 5)),
    (as_whole_float, "logistic", (0, 2)),
]


@pytest.mark.parametrize("turn, family, classes", KINDS, ids=lambda x: getattr(x, "__name__", ""))
def test_labels_of_any_kind(small, turn, family, classes, tmp_path):
    plain = small.assign(y=as_text(small["y"]))
    wanted = fit(plain).predict_proba(plain)
    frame = small.assign(y=turn(small["y"]))
    result = fit(frame, family=family)
    assert result.classes == classes
    assert [type(label) for label in result.classes] == [type(label) for label in classes]
    assert_allclose(result.predict_proba(frame), wanted, atol=1e-8)
    predicted = result.predict(frame)
    assert set(predicted.tolist()) <= set(classes)
    assert np.mean(predicted == frame["y"].to_numpy()) > 0.6
    new = frame[frame["store"] == "d1"]
    assert result.assign(new[FEATURES], new["y"]).cluster == 0
    result.save(tmp_path / "model.json", evidence=True)
    loaded = conjoin.load(tmp_path / "model.json")
    assert loaded.classes == classes
    assert (loaded.predict(frame) == predicted).all()
    assert loaded.predict(frame).dtype == predicted.dtype


def test_numbers_stay_numbers_unless_asked(small):
    frame = small.assign(y=as_int(small["y"]))
    assert fit(frame).family == "gaussian"
    with pytest.raises(ArgumentError, match="no classes"):
        fit(frame).predict_proba(frame)


def one_class(frame):
    return frame.assign(y="same")


def as_many_as_rows(frame):
    return frame.assign(y=[f"label {i}" for i in range(len(frame))])


def continuous(frame):
    return frame.assign(y=frame["x1"])


def all_missing_text(frame):
    return frame.assign(y=pd.Series([None] * len(frame), dtype=object))


def all_missing_number(frame):
    return frame.assign(y=np.nan)


def blank(frame):
    return frame.assign(y="  ")


def negative(frame):
    return frame.assign(y=np.where(frame["x1"] > 0, 2, -1))


def infinite(frame):
    return frame.assign(y=np.where(frame.index == 3, np.inf, 1.0))


def no_counts(frame):
    return frame.assign(y=0)


def words(frame):
    return frame


MISTAKES = [
    (one_class, {}, "'y' has one class in all rows, 'same'"),
    (as_many_as_rows, {}, "'y' has 150 classes in 150 rows"),
    (continuous, {"family": "logistic"}, "'y' is continuous"),
    (all_missing_text, {"family": "logistic"}, "'y'.* is missing"),
    (all_missing_number, {"family": "logistic"}, "'y'.* is missing"),
    (all_missing_number, {"family": "poisson"}, "'y'.* is missing"),
    (blank, {}, "'y'.* is missing"),
    (negative, {"family": "poisson"}, "counts, which cannot be negative"),
    (infinite, {"family": "poisson"}, "'y' is infinite"),
    (infinite, {"family": "logistic"}, "'y' is infinite"),
    (no_counts, {"family": "poisson"}, "'y' is 0 in every row"),
    (words, {"family": "poisson"}, "'y' is not numeric"),
    (words, {"family": "gaussian"}, "'y' is not numeric"),
    (words, {"family": "binomial"}, "family='binomial' is unknown; expected one of auto"),
    (words, {"method": "tuned"}, "method='tuned' is for numbers"),
    (words, {"method": "validated"}, "method='validated' is for numbers"),
]


def ids(value):
    return value.__name__ if callable(value) else None


@pytest.mark.parametrize("change, options, message", MISTAKES, ids=ids)
def test_messages(small, change, options, message):
    with pytest.raises(ConjoinError, match=message) as caught:
        fit(change(small), **options)
    assert str(caught.value).rstrip().endswith(".")


@pytest.mark.parametrize("change, options, message", MISTAKES[:-1], ids=ids)
def test_messages_on_pairs(small, change, options, message):
    frame = change(small)
    tables = [frame[frame["store"] == name][[*FEATURES, "y"]] for name in ("d1", "d3")]
    message = message.replace("150", "100")
    with pytest.raises(ConjoinError, match=message):
        conjoin.compare(*tables, target="y", **options)


@pytest.mark.parametrize("nothing", [None, np.nan, " "], ids=repr)
def test_rows_without_a_label_are_left_out(small, nothing):
    labels = small["y"].astype(object).to_numpy().copy()
    labels[::10] = nothing
    frame = small.assign(y=labels)
    with pytest.warns(ConjoinWarning, match="15 of 150 rows are left out"):
        result = fit(frame)
    known = fit(small.iloc[[i for i in range(len(small)) if i % 10]])
    assert result.classes == ("c1", "c2")
    assert_allclose(result.predict_proba(small), known.predict_proba(small), atol=1e-8)


def test_number_labels_with_missing_ones(small):
    numbers = pd.Series(as_int(small["y"]), dtype="float")
    numbers[::10] = np.nan
    with pytest.warns(ConjoinWarning, match="15 of 150 rows are left out"):
        result = fit(small.assign(y=numbers), family="logistic")
    assert result.classes == (4, 5)


@pytest.mark.parametrize("family", ["auto", "gaussian", "logistic"])
def test_zero_and_one_are_numbers_unless_said_otherwise_and_one_is_told(family):
    rng = np.random.default_rng(0)
    tables = {
        name: {"x": rng.standard_normal(80), "won": rng.integers(2, size=80)} for name in "ab"
    }
    for run in (
        lambda: conjoin.partition(tables, target="won", family=family),
        lambda: conjoin.compare(tables["a"], tables["b"], target="won", family=family),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run()
        told = [
            str(w.message) for w in caught if "'won' has only the values 0 and 1" in str(w.message)
        ]
        assert len(told) == (family == "auto")
        assert all("family='logistic'" in text for text in told)
