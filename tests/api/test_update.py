"""Rows that are added later give the answer of all rows at once."""

import numpy as np
import pytest

import conjoin
from conjoin.datasets import make_class_clusters, make_clusters
from conjoin.errors import ArgumentError, DataError

ASKED = {"target": "y", "learner": "linear", "keep_moments": True}
TABLES = make_clusters(sizes=(3, 3), n=60, p=2, distance=1.0).tables()


def part(tables, rows):
    return {k: {c: v[rows] for c, v in one.items()} for k, one in tables.items()}


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """The model file of the first 40 rows of five datasets."""
    path = tmp_path_factory.mktemp("update") / "model.json"
    tables = {k: v for k, v in part(TABLES, slice(40)).items() if k != "d6"}
    conjoin.partition(tables, **ASKED).save(path)
    return path


@pytest.fixture(scope="module")
def free(first):
    """The rest of the rows and a new dataset, added as in a fresh run."""
    new = {**part(TABLES, slice(40, 60)), "d6": TABLES["d6"]}
    return conjoin.update(first, new, settled=False)


def test_the_answer_is_that_of_a_fresh_run(free):
    fresh, found = conjoin.partition(TABLES, **ASKED), free.result
    assert found.clusters == fresh.clusters and found.features == fresh.features
    for name, error in fresh.errors.items():
        assert found.errors[name].error == pytest.approx(error.error, rel=1e-8)
        assert found.errors[name].interval == pytest.approx(error.interval, rel=1e-8)
    for name, model in fresh.coefficients.items():
        other = found.coefficients[name]
        assert other.rows == model.rows
        assert list(other.coef.values()) == pytest.approx(list(model.coef.values()), abs=1e-8)
        assert other.intercept == pytest.approx(model.intercept, abs=1e-8)
    for one, other in zip(fresh.ledger(), found.ledger(), strict=True):
        assert (one.left, one.right, one.verdict) == (other.left, other.right, other.verdict)
        assert other.gain == pytest.approx(one.gain, rel=1e-8)
        assert other.p_value == pytest.approx(one.p_value, abs=1e-8)
    rows = {name: values for name, values in TABLES["d2"].items() if name != "y"}
    assert found.predict(rows, "d2") == pytest.approx(fresh.predict(rows, "d2"), abs=1e-8)


def test_it_says_what_was_added(free):
    assert free.new == ("d6",) and free.rows["d1"] == 20 and free.rows["d6"] == 60
    assert "Added 160 rows of 6 datasets, of which 'd6' is new." in str(free)


def test_rows_are_not_added_twice(free):
    with pytest.raises(DataError, match="The 60 new rows of dataset 'd6' are in the result"):
        conjoin.update(free.result, {"d6": TABLES["d6"]})


def test_rows_are_added_one_by_one(first):
    one = {"name": ["d2"], **{c: v[59:] for c, v in TABLES["d2"].items()}}
    found = conjoin.update(first, one, by="name").result
    assert found.coefficients["d2"].rows == 41
    with pytest.raises(DataError, match="NEW does not name the dataset of a row"):
        conjoin.update(first, {c: v for c, v in one.items() if c != "name"})


def test_clusters_change_only_where_it_is_worth_it():
    rng = np.random.default_rng(3)

    def table(slope, n):
        x = rng.normal(size=n)
        return {"x": x, "y": slope * x + rng.normal(size=n)}

    slopes = {"a": 2.0, "b": 2.0, "c": -2.0, "d": -2.0}
    before = conjoin.partition({k: table(s, 60) for k, s in slopes.items()}, **ASKED)
    assert before.clusters == [["a", "b"], ["c", "d"]]
    found = conjoin.update(before, {"b": table(-2.0, 3000)})
    assert found.result.clusters == [["a"], ["b", "c", "d"]]
    move = found.moves[0]
    assert move.made and move.gain > move.standard_error > 0
    assert "Clusters changed from {a, b} {c, d} to {a} {b, c, d}" in str(found)
    same = conjoin.update(before, {"b": table(2.0, 200)})
    assert same.result.clusters == before.clusters
    assert "No dataset changed its cluster." in str(same)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"learner": "boosting"}, "learner='boosting' trains on rows"),
        ({"family": "poisson"}, "has counts"),
        ({"time": "day"}, "validates forward in time"),
        ({"repeat": "day"}, "keeps the rows of a person together"),
        ({"robust": True}, "weighs rows by their residuals"),
        ({"method": "tuned"}, "method='tuned' reads rows"),
    ],
)
def test_what_cannot_be_kept_is_refused(asked, words):
    table = {"s": ["a", "b"] * 20, "day": np.arange(40.0), "y": np.arange(40) % 7 * 1.0}
    with pytest.raises(ArgumentError, match=words):
        conjoin.partition(table, by="s", **{**ASKED, **asked})


def test_what_cannot_be_updated_is_refused():
    tables = make_class_clusters(sizes=(2, 2), n=60).tables()
    with pytest.raises(ArgumentError, match="is for numbers, but the target 'y' has classes"):
        conjoin.partition(tables, **ASKED)
    few = {"s": ["a", "b"] * 40, "x": np.arange(80) // 2 % 2, "y": np.arange(80) // 4 % 3}
    with pytest.raises(DataError, match="have only 12 different ones"):
        conjoin.partition(few, by="s", **ASKED)
    plain = conjoin.partition(part(TABLES, slice(30)), target="y", learner="linear")
    with pytest.raises(ArgumentError, match="fit it once more with keep_moments=True"):
        conjoin.update(plain, TABLES)
    with pytest.raises(ArgumentError, match="expected what partition returned"):
        conjoin.update(3, TABLES)
