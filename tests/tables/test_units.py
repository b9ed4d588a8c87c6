"""Columns of any size are used in units in which they can be squared."""

import json

import numpy as np
import pytest

import conjoin
from conjoin.datasets import make_clusters
from conjoin.errors import DataError, ReadError
from conjoin.tables.checks import fitting_unit
from tests.damage import text_of


def tables_times(power: int) -> dict[str, dict[str, np.ndarray]]:
    tables = make_clusters(sizes=(2, 2), n=30, p=2, distance=2.0, random_state=3).tables()
    return {
        name: {**one, "x1": np.asarray(one["x1"]) * 10.0**power} for name, one in tables.items()
    }


@pytest.fixture(scope="module")
def usual():
    return conjoin.partition(tables_times(0), target="y")


@pytest.mark.parametrize("power", [-308, -200, 200, 300])
def test_the_size_of_a_column_changes_no_answer(power, usual, tmp_path):
    tables = tables_times(power)
    found = conjoin.partition(tables, target="y")
    assert found.clusters == usual.clusters
    for name, one in usual.errors.items():
        assert found.errors[name].error == pytest.approx(one.error, rel=1e-6)
    predicted = found.predict(tables["d2"], "d2")
    expected = usual.predict(tables_times(0)["d2"], "d2")
    np.testing.assert_allclose(predicted, expected, rtol=1e-6)
    assert found.features[0].startswith("x1 in units of ")
    found.save(tmp_path / "model.json")
    again = conjoin.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(tables["d2"], "d2"), predicted)


def test_a_missing_value_is_filled_in_before_the_unit_counts():
    tables = tables_times(200)
    tables["d1"]["x1"][:3] = np.nan
    found = conjoin.partition(tables, target="y")
    assert np.isfinite(found.predict(tables["d1"], "d1")).all()


def test_units_are_powers_of_two_and_usually_one():
    assert fitting_unit((-1e140, 1e140), (0.0, 1.0)) == 1
    assert fitting_unit((0.0, 0.0), (0.0, 1.0)) == 1
    for ends in ((0.0, 1e-200), (-1e308, 1e308), (0.0, 5e-324)):
        unit = fitting_unit(ends, (0.0, 1.0))
        assert np.frexp(unit)[0] == 0.5 and 1e-16 < max(map(abs, ends)) / unit < 2


def test_a_target_that_cannot_be_squared_is_still_refused():
    tables = {n: {**t, "y": np.asarray(t["y"]) * 1e200} for n, t in tables_times(0).items()}
    with pytest.raises(DataError, match="too large to square"):
        conjoin.partition(tables, target="y")


@pytest.mark.parametrize("unit", [3.0, 0.0, -2.0, "2", 2.0**-1074])
def test_a_file_with_another_unit_is_refused(unit, usual, tmp_path):
    path = tmp_path / "model.json"
    usual.save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    content = document["content"]
    column = content["schema"]["columns"][0]
    column["unit"], column["fill"] = unit, 1.0
    path.write_text(text_of(document, content), encoding="utf-8")
    with pytest.raises(ReadError, match="unit|fill"):
        conjoin.load(path)
