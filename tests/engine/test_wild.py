"""Gross errors: the answer with and without them, what is said, and every option."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.datasets import load_seoul_bikes, make_clusters
from conjoin.errors import ArgumentError, ConjoinWarning, OutlierWarning
from conjoin.report.facts import comparison_facts, facts
from conjoin.report.html import render
from conjoin.report.notebook import notebook_view


@pytest.fixture(scope="module")
def clean():
    tables = make_clusters(sizes=(2, 2), n=80, p=3, distance=2.0).tables()
    return pd.concat([pd.DataFrame(t).assign(store=name) for name, t in tables.items()])


@pytest.fixture(scope="module")
def wild(clean):
    table = clean.reset_index(drop=True)
    table.loc[41, "y"] = 99999999.0
    return table


@pytest.fixture(scope="module")
def answers(clean, wild):
    """The result of the clean table, and of the other one with every choice."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjoinWarning)
        choices = {drop: conjoin.partition(wild, target="y", by="store", drop_outliers=drop)
                   for drop in (None, True, False)}  # fmt: skip
    rest = wild.drop(index=41)
    return conjoin.partition(rest, target="y", by="store"), choices


def test_by_default_the_answer_is_that_without_the_error(answers):
    expected, found = answers
    assert found[None].clusters == expected.clusters == [["d1", "d2"], ["d3", "d4"]]
    assert found[True].clusters == expected.clusters
    assert found[False].clusters != expected.clusters
    for drop in (None, True):
        assert_allclose(found[drop].errors["auto"].error, expected.errors["auto"].error)
        assert found[drop].coefficients["d1"].rows == 79
    assert found[False].coefficients["d1"].rows == 80


def test_the_first_line_names_the_row_and_both_answers(answers):
    _, found = answers
    (outlier,) = found[None].outliers
    assert (outlier.row, outlier.dataset, outlier.column) == (42, "d1", "y")
    first = found[None].notices[0]
    assert first.startswith("Without row 42 (d1, y 99,999,999): 2 clusters, RMSE ")
    assert "With it: one model for all 4 datasets, RMSE" in first
    assert "The answer below is without it; drop_outliers=False keeps it." in first
    assert str(found[None]).startswith(first)
    assert "is left out: far from all others" in found[True].notices[0]
    assert "kept as asked; drop_outliers=True leaves it out" in found[False].notices[0]


def test_every_face_begins_with_it(answers):
    result = answers[1][None]
    first = result.notices[0]
    plain = facts(result, details=True)
    assert plain["notices"][0] == first
    assert plain["outliers"]["rows"] == [
        {"row": 42, "dataset": "d1", "column": "y", "value": 99999999.0}
    ]
    assert plain["outliers"]["left_out"]
    assert plain["outliers"]["without"]["clusters"] == 2
    assert plain["outliers"]["with"]["clusters"] == 1
    json.dumps(plain, allow_nan=False)
    page, cell = render(plain), notebook_view(result)
    assert page.index("Without row 42 (d1, y 99,999,999)") < page.index('class="verdict"')
    assert cell.index("Without row 42 (d1, y 99,999,999)") < cell.index("4 datasets in 2 clusters")


def test_a_python_user_is_warned_once(wild):
    with pytest.warns(OutlierWarning) as caught:
        conjoin.partition(wild, target="y", by="store")
    assert len(caught) == 1
    assert str(caught[0].message).startswith("Without row 42 (d1, y 99,999,999): 2 clusters")
    assert caught[0].filename == __file__


def test_a_model_file_keeps_the_notice_but_no_value(answers, tmp_path):
    result = answers[1][None]
    result.save(tmp_path / "model.json", evidence=True)
    again = conjoin.load(tmp_path / "model.json")
    assert again.notices[0].startswith("Without row 42 (d1, y): 2 clusters")
    assert "99999999" not in (tmp_path / "model.json").read_text().split('"findings"')[1][:500]
    assert facts(again)["outliers"]["rows"][0]["value"] is None


def test_an_error_that_changes_nothing_is_kept_and_named():
    tables = make_clusters(sizes=(2, 2), n=2000, p=3, distance=2.0).tables()
    table = pd.concat([pd.DataFrame(t).assign(store=name) for name, t in tables.items()])
    table = table.reset_index(drop=True)
    table.loc[10, "y"] = 30.0
    result = conjoin.partition(table, target="y", by="store")
    assert [one.row for one in result.outliers] == [11]
    assert "Without it the answer is the same: 2 clusters" in result.notices[0]
    assert result.coefficients["d1"].rows == 2000


def test_ordinary_tables_are_analysed_once(clean, monkeypatch):
    from conjoin.engine import steps

    seen = []
    plan = steps.make_plan
    monkeypatch.setattr(steps, "make_plan", lambda *a, **k: seen.append(1) or plan(*a, **k))
    result = conjoin.partition(clean, target="y", by="store")
    assert len(seen) == 1
    assert result.notices == []
    assert result.outliers == ()


def test_a_wrong_value_in_a_column(clean):
    table = clean.reset_index(drop=True)
    table.loc[7, "x2"] = -1e6
    with pytest.warns(OutlierWarning, match=r"row 8 \(d1, x2 -1,000,000\)"):
        result = conjoin.partition(table, target="y", by="store")
    assert result.clusters == [["d1", "d2"], ["d3", "d4"]]
    assert result.pooled.limits["x2"][0] > -20  # predictions do not reach that far


def test_the_hours_of_the_bundled_table():
    bikes = pd.DataFrame(load_seoul_bikes())
    bikes["rented_bikes"] = bikes["rented_bikes"].astype(float)
    expected = conjoin.partition(bikes, target="rented_bikes", by="hour")
    bikes.loc[1203, "rented_bikes"] = 99999999.0
    with pytest.warns(OutlierWarning, match=r"Without row 1,204 \(hour 3, rented_bikes 99,999,999"):
        result = conjoin.partition(bikes, target="rented_bikes", by="hour")
    assert len(result.clusters) == len(expected.clusters)
    assert result.analysis.findings.with_them.clusters != len(expected.clusters)


def test_rows_that_are_all_there_is_to_learn_are_no_errors():
    rng = np.random.default_rng(0)
    table = {"g": ["a", "b"] * 100, "x": rng.normal(size=200), "y": np.ones(200)}
    table["y"][[3, 4]] = 1e6, 2.0
    assert conjoin.partition(table, target="y", by="g").outliers == ()


def test_a_class_keeps_its_only_row(clean):
    table = clean.assign(y=np.where(clean["y"] > 0, "yes", "no")).reset_index(drop=True)
    table.loc[5, ["y", "x1"]] = "rare", 1e7
    result = conjoin.partition(table, target="y", by="store", drop_outliers=True)
    assert result.classes == ("no", "rare", "yes")


def test_huber_weights(wild, clean):
    robust = conjoin.partition(wild, target="y", by="store", robust=True)
    assert robust.clusters == [["d1", "d2"], ["d3", "d4"]]
    assert robust.notices[0].startswith("Row 42 (d1, y 99,999,999) is left out")
    assert "count less than half (robust=True), in all errors too" in robust.notices[1]
    rng = np.random.default_rng(0)
    noisy = clean.reset_index(drop=True)
    bad = rng.choice(len(noisy), 25, replace=False)
    noisy.loc[bad, "y"] += 15 * rng.choice([-1, 1], 25)  # too many to be gross errors
    plain = conjoin.partition(noisy, target="y", by="store")
    robust = conjoin.partition(noisy, target="y", by="store", robust=True)
    truth = conjoin.partition(clean, target="y", by="store")

    def off(result):
        return np.mean(
            [
                (result.coefficients[name].coef[x] - truth.coefficients[name].coef[x]) ** 2
                for name in result.labels
                for x in ("x1", "x2", "x3")
            ]
        )

    assert off(robust) < off(plain) / 3
    assert robust.settings["robust"] is True


def test_robust_is_for_numbers(clean):
    table = clean.assign(y=np.where(clean["y"] > 0, "yes", "no"))
    with pytest.raises(ArgumentError, match="robust=True is for numbers"):
        conjoin.partition(table, target="y", by="store", robust=True)


def test_two_datasets(clean):
    a, b = (clean[clean["store"] == name].drop(columns="store").reset_index(drop=True)
            for name in ("d1", "d2"))  # fmt: skip
    expected = conjoin.compare(a, b, target="y")
    assert expected.notices == []
    wrong = b.copy()
    wrong.loc[4, "y"] = 99999999.0
    with pytest.warns(OutlierWarning, match=r"Without row 5 \(b, y 99,999,999\): "):
        found = conjoin.compare(a, wrong, target="y")
    assert found.verdict == expected.verdict
    assert [one.row for one in found.outliers] == [5]
    plain = comparison_facts(found)
    assert plain["notices"] == found.notices
    assert plain["outliers"]["left_out"]
    kept = conjoin.compare(a, wrong, target="y", drop_outliers=False)
    assert kept.error_joined > 1e6
    assert conjoin.compare(a, wrong, target="y", robust=True).error_joined < 10


def test_names_columns_and_dates_come_first(clean):
    table = clean.reset_index(drop=True)
    table["store"] = table["store"].replace({"d2": "D1 "})
    table["type"] = np.arange(len(table)) % 4 + 1
    table["student_id"] = np.random.default_rng(0).permutation(len(table))
    table["day"] = pd.date_range("2020-01-01", periods=len(table)).strftime("%Y-%m-%d")
    table.loc[5, "day"] = "2020-13-45"
    with pytest.warns(ConjoinWarning):
        result = conjoin.partition(table, target="y", by="store")
    names, identifiers, codes, dates = result.notices
    assert names.startswith("Datasets with nearly the same name: 'D1 ', 'd1'. ")
    assert "data['store'].str.strip().str.lower()" in names
    assert identifiers.endswith("ignore=['student_id'] leaves it out.")
    assert codes.endswith("category=['type'] makes it a category.")
    assert dates == "1 value of column 'day' is no date ('2020-13-45') and counts as missing."
    with pytest.warns(ConjoinWarning):
        mended = conjoin.partition(
            table, target="y", by="store", category=["type"], ignore=["student_id"]
        )
    assert len(mended.notices) == 2
    assert "student_id" not in mended.columns
    assert mended.columns["type"].startswith("category; 3 indicator columns")
    rows = mended.predict(table.head(3).assign(type=[1.0, 2.0, np.nan]))
    assert np.isfinite(rows).all()
