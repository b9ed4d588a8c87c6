"""Importance, partial dependence and departures, against laws that are known."""

import pickle

import numpy as np
import pytest

import conjoin
from conjoin.engine.common_model import _grid, category_labels
from conjoin.errors import ArgumentError
from conjoin.tables import collect
from tests.bent import QUICK

pytestmark = pytest.mark.learner


def shops(seed=0):
    """Four shops: y = |a| + 2 [kind = toys] + noise; in the last one y falls with a instead."""
    rng = np.random.default_rng(seed)
    tables = {}
    for k in range(4):
        a, b = rng.uniform(-2, 2, size=(2, 90))
        kind = rng.choice(["food", "toys"], 90)
        law = np.abs(a) if k < 3 else -2 * a
        y = law + 2 * (kind == "toys") + rng.normal(0, 0.3, 90)
        tables[f"shop {k}"] = {"a": a, "b": b, "kind": kind, "y": y}
    return tables


@pytest.fixture(scope="module")
def result():
    return conjoin.partition(shops(), target="y", learner=QUICK)


def test_columns_of_the_law_matter_and_others_do_not(result):
    found = result.importance()
    assert set(found) == {"a", "b", "kind", "dataset"}
    assert list(found)[-1] == "b"
    rises = [one.rise for one in found.values()]
    assert rises == sorted(rises, reverse=True)
    for name in ("a", "kind"):
        assert found[name].interval[0] > 0.1
    assert found["b"].rise < 0.05
    assert sum(one.gain for one in found.values()) == pytest.approx(1.0)
    assert all(one.interval[0] <= one.rise <= one.interval[1] for one in found.values())


def test_curves_follow_the_law(result):
    kind = result.partial_dependence("kind")
    by_kind = dict(zip(kind.values, (line[0] for line in kind.predictions)))
    assert by_kind["toys"] - by_kind["food"] == pytest.approx(2.0, abs=0.4)
    curve = result.partial_dependence("a")
    assert list(curve.values) == sorted(curve.values)
    # Three shops of |a| and one of -2 a: the mean at -2 is 2.5, at 0 it is 0, plus 1 for toys.
    assert curve.predictions[0][0] - min(line[0] for line in curve.predictions) > 1.0
    with pytest.raises(ArgumentError, match="column='price' has no curve.*'a'"):
        result.partial_dependence("price")


def test_the_shop_of_another_law_departs_where_it_differs(result):
    found = result.departures()
    assert min(found, key=lambda name: found[name].p_value) == "shop 3"
    odd = found["shop 3"]
    assert odd.column == "a" and odd.p_value < 1e-6
    assert odd.difference[0] > odd.half[0] and odd.difference[-1] < -odd.half[-1]
    assert sum(odd.rows) == 90


def test_pickles_and_files_keep_it(result, tmp_path):
    result.save(tmp_path / "model.json", evidence=True)
    for other in (conjoin.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(result))):
        assert other.importance() == result.importance()
        assert other.departures() == result.departures()
        assert other.partial_dependence("a") == result.partial_dependence("a")
    pages = [tmp_path / name for name in ("first.html", "second.html")]
    result.report(pages[0])
    conjoin.load(tmp_path / "model.json").report(pages[1])
    text = pages[0].read_text()
    assert text == pages[1].read_text()
    for words in ("What the common model has learned", "Partial dependence", "shop 3: along a"):
        assert words in text


def test_lines_have_no_common_model(result):
    with pytest.raises(ArgumentError, match=r"importance\(\) is about a learner's common model"):
        result.linear.importance()


def test_classes_have_probabilities():
    tables = {
        name: {**one, "y": np.array(["low", "mid", "top"])[np.digitize(one["y"], [0.8, 2.5])]}
        for name, one in shops().items()
    }
    few = {  # a column has the name that the first of three predictions would have
        name: {key.replace("b", "boosting 1"): one[key][:40] for key in one}
        for name, one in tables.items()
    }
    found = conjoin.partition(few, target="y", learner=conjoin.Boosting(rounds=10, leaves=4))
    assert "boosting 1" in found.importance() and "boosting_ 1" in found.features
    assert found.analysis.corrected.study.given.others is not None  # few rows: nested
    curve = found.partial_dependence("a")
    assert np.sum(curve.predictions, axis=1) == pytest.approx(1.0)
    assert {one.label for one in found.departures().values()} <= {"low", "mid", "top"}


def test_values_of_a_curve_are_few_and_leave_the_ends_out():
    column = np.append(np.arange(1000.0), np.nan)
    grid = _grid(column, category=False)
    assert len(grid) == 16 and grid[0] == pytest.approx(9.99) and grid[-1] < 990
    assert _grid(np.array([1.0, 0.0, 1.0]), category=True).tolist() == [0.0, 1.0]


def test_categories_have_their_names_in_the_order_of_their_codes():
    table = {"by": list("aabbb"), "c": list("uvvuu"), "y": [1, 2, 3, 5, 4]}
    assert category_labels(collect(table, target="y", by="by").schema) == {"c": ("u", "v")}


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_losses_that_cannot_be_squared_have_intervals():
    tables = {name: {**one, "y": one["y"] * 1e120} for name, one in shops().items()}
    found = conjoin.partition(tables, target="y", learner=QUICK).importance()
    assert all(
        np.isfinite(one.interval).all() and one.interval[0] < one.rise for one in found.values()
    )
