"""What is said of new datasets."""

import json

import pytest

import conjoin
from conjoin.datasets import make_clusters
from conjoin.report.assignment import assigned_note, assignment_facts, in_words
from conjoin.report.measure import measure_of


@pytest.fixture(scope="module")
def placed():
    tables = make_clusters(sizes=(3, 3), n=40, p=2, distance=2.0).tables()
    new = tables.pop("d6")
    result = conjoin.partition(tables, target="y")
    return result, result.assign(new, new["y"])


def test_facts_are_those_of_the_assignment(placed):
    result, one = placed
    (found,) = assignment_facts(result, {"d6": one})
    assert found["dataset"] == "d6" and found["rows"] == 40
    assert found["members"] == ["d4", "d5"] == result.clusters[found["cluster"]]
    assert found["number"] == found["nearest"] + 1
    assert found["probability"] == one.probability
    assert found["errors"]["own"]["error"] == one.model.error
    assert found["errors"]["own"]["shown"] == pytest.approx(one.model.error**0.5)
    assert found["model"]["coef"] == one.model.coef
    json.dumps(found, allow_nan=False)


def test_no_rows_leave_errors_unknown(placed):
    result, _ = placed
    one = result.assign({name: [] for name in result.features}, [])
    (found,) = assignment_facts(result, {"empty": one})
    assert found["errors"]["own"] == {"error": None, "shown": None}
    assert found["standard_error"] is None


def test_words(placed):
    result, one = placed
    (found,) = assignment_facts(result, {"d6": one})
    assert in_words(found).startswith("2 (")
    assert "error (RMSE)" in assigned_note(measure_of("gaussian"))
    assert "log loss" in assigned_note(measure_of("logistic"))
