import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conjoin.errors import ArgumentError, DataError
from conjoin.families import (
    Response,
    check_counts,
    check_family,
    classify,
    expected,
    is_missing_label,
    label_array,
    most_likely,
    plain_label,
    softmax,
)


@pytest.mark.parametrize(
    "values, codes, classes",
    [
        (np.array([3, 1, 3]), [1, 0, 1], (1, 3)),
        (np.array([2.0, np.nan, 1.0]), [1, np.nan, 0], (1, 2)),
        (np.array([True, False, True]), [1, 0, 1], (False, True)),
        (np.array(["b", "a", " "]), [1, 0, np.nan], ("a", "b")),
        (np.array(["b", None, "a"], dtype=object), [1, np.nan, 0], ("a", "b")),
        (np.array([1, "a", 1], dtype=object), [0, 1, 0], ("1", "a")),
        (np.array([0.5, 1.5, 0.5]), [0, 1, 0], (0.5, 1.5)),
    ],
)
def test_labels_become_positions_among_the_sorted_classes(values, codes, classes):
    found, response = classify(values, "y")
    assert_array_equal(found, codes)
    assert response == Response("logistic", classes)
    assert [type(label) for label in response.classes] == [type(label) for label in classes]


@pytest.mark.parametrize(
    "values, words",
    [
        (np.array([0.1, 0.2, 0.3, 0.4]), "Target 'y' is continuous: it has 4 different numbers"),
        (np.array([0.0, 1.0, np.inf, 0.0]), "Target 'y' is infinite in a row; correct or drop"),
        (np.arange(200), "200 classes in 200 rows, such as 0, 1, 2, 3, 4 and 195 more; expected"),
        (np.arange(200), "a number is for family='gaussian'"),
        (np.array([f"name {i}" for i in range(8)]), "8 classes in 8 rows.* Group them.$"),
    ],
)
def test_targets_that_are_no_classes_are_refused(values, words):
    with pytest.raises(DataError, match=words):
        classify(values, "y")


def test_codes_of_known_labels_and_of_an_unknown_one():
    response = Response("logistic", (0, 1, 2))
    assert_array_equal(response.codes([2.0, np.int64(0), 1]), [2, 0, 1])
    with pytest.raises(DataError, match="label 7, which is not in the training data; .* 0, 1, 2"):
        response.codes([0, 7])


@pytest.mark.parametrize("response", [Response(), Response("logistic", ("a", True, 2, 0.5))])
def test_plain_values_restore_the_response(response):
    assert Response.from_plain(response.to_plain()) == response


def test_nothing_stored_is_a_number():
    assert Response.from_plain({}) == Response("gaussian")


def test_families_by_name():
    check_family("poisson")
    with pytest.raises(ArgumentError, match="family='binomial' is unknown; expected one of auto"):
        check_family("binomial")


def test_negative_counts_are_refused():
    check_counts(np.array([0.0, 3.0]), "y")
    with pytest.raises(DataError, match="Target 'y' is -2 in a row, but family='poisson'"):
        check_counts(np.array([1.0, -2.0]), "y")


@pytest.mark.parametrize(
    "value, missing",
    [(None, True), (float("nan"), True), ("  ", True), ("a", False), (0, False), (False, False)],
)
def test_missing_labels(value, missing):
    assert is_missing_label(value) is missing


def test_plain_labels_are_python_values():
    values = [np.float64(2.0), np.bool_(True), np.int32(5), 0.5, b"x"]
    assert [plain_label(value) for value in values] == [2, True, 5, 0.5, "b'x'"]


def test_softmax_of_log_odds_and_of_scores():
    assert_allclose(softmax(np.log([[3.0]])), [[0.25, 0.75]])
    assert_allclose(softmax(np.log([[1.0, 2.0, 5.0]])), [[0.125, 0.25, 0.625]])
    assert_allclose(softmax(np.array([[1000.0, 0.0]])), [[1.0, 0.0]])


def test_expected_counts_are_exponentials_and_stay_finite():
    scores = np.array([[0.0], [1e6]])
    assert_allclose(expected(scores, Response()), [0.0, 1e6])
    counts = expected(scores, Response("poisson"))
    assert counts[0] == 1.0
    assert np.isfinite(counts).all()


def test_most_likely_labels_keep_their_type():
    assert most_likely(np.array([[0.2, 0.8], [0.6, 0.4]]), ("no", "yes")).tolist() == ["yes", "no"]
    assert label_array((1, 2)).dtype.kind == "i"
    assert label_array((1, "a")).tolist() == [1, "a"]


def test_no_frame_library_is_loaded():
    code = "import conjoin.families, sys; print({'narwhals', 'pyarrow'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
