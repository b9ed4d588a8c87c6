"""What was made plain for a file comes back as it was."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import conjoin
from conjoin.result.decode import details_from_plain, map_from_plain, plain_to_array
from conjoin.result.store import DETAIL_ARRAYS, array_to_plain
from tests.report.results import choices


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))["content"]


@pytest.mark.parametrize(
    "values",
    [
        np.array([[0.1, np.nan], [-np.inf, 5e-324]]),
        np.zeros((0, 3)),
        np.array([1 / 3]),
        np.arange(6.0).reshape(2, 3)[:, ::2],
    ],
)
def test_arrays_come_back_bit_by_bit(values):
    plain = json.loads(json.dumps(array_to_plain(values)))
    found = plain_to_array(plain)
    assert found.shape == values.shape
    assert found.tobytes() == values.tobytes()


def test_arrays_of_four_bytes_come_back_rounded():
    found = plain_to_array(array_to_plain(np.array([1 / 3, np.nan]), "<f4"))
    assert_array_equal(found, np.array([1 / 3, np.nan], dtype=np.float32))


def test_details_come_back(of_shops, path):
    names, details = list(of_shops.labels), of_shops.analysis.details
    found = details_from_plain(read(path)["details"], names)
    for name in DETAIL_ARRAYS:
        assert_array_equal(getattr(found, name), getattr(details, name))
    assert found.errors.keys() == details.errors.keys()
    assert (found.dependent, found.far) == (details.dependent, details.far)
    assert repr(found.upper) == repr(details.upper)
    assert details_from_plain(None, names) is None


def test_the_map_comes_back_on_both_sides_of_its_diagonal(of_shops, path):
    gains = of_shops.analysis.details.map
    found = map_from_plain(read(path)["details"]["map"])
    assert found.groups == gains.groups
    assert_array_equal(found.verdict, gains.verdict)
    for name in ("gain", "low", "high"):
        assert_array_equal(getattr(found, name), getattr(gains, name).astype(np.float32))
        assert_array_equal(getattr(found, name), getattr(found, name).T)
    assert np.isnan(np.diagonal(found.gain)).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_models_and_scores_of_classes_come_back(classes, tmp_path):
    result = choices(classes)
    result.save(tmp_path / "model.json", evidence=True)
    loaded = conjoin.load(tmp_path / "model.json")
    assert loaded.models == result.models
    assert loaded.coefficients == result.coefficients
    assert repr(loaded.scores) == repr(result.scores)
    assert loaded.calibration == result.calibration
