"""Sentences that are made from a result."""

import pytest

import conjoin
from conjoin.datasets import make_clusters, make_pair
from conjoin.report import wording
from conjoin.report.facts import comparison_facts, facts
from conjoin.report.measure import measure_of
from tests.report import results


def strategy(error, behind=0.0, standard_error=0.0):
    return {
        "error": error,
        "shown": None if error is None else error**0.5,
        "behind": behind,
        "standard_error": standard_error,
    }


def given(name, members=(("a", "b"), ("c",)), **errors):
    """Facts of a headline."""
    known = [e for e in errors.values() if e is not None]
    return {
        "strategy": name,
        "family": "gaussian",
        "datasets": dict.fromkeys(n for names in members for n in names),
        "clusters": [{"datasets": list(names)} for names in members],
        "strategies": {
            key: strategy(e, None if e is None else e - min(known), 0.01 * min(known))
            for key, e in errors.items()
        },
    }


def test_the_headline_says_for_which_models_a_percentage_holds():
    first, brings, plain = wording.headline(
        given("auto", auto=100.0, separate=110.0, pooled=200.0, clusters=105.0)
    )
    assert first == (
        "Best choice: one model per dataset, with strength borrowed between datasets (strategy "
        "'auto'): RMSE 10."
    )
    assert brings == (
        "Its squared error is 9.1 % lower than with 3 separate models (standard error 0.9 %) and "
        "50.0 % lower than with one model for all."
    )
    assert plain == (
        "If you prefer plain models, train 2 models for 3 datasets ({a, b}, {c}): RMSE 10.25, "
        "squared error 5.0 % higher than with 'auto'."
    )


def test_a_strategy_that_is_not_the_best_is_not_called_so():
    found = wording.headline(given("pooled", auto=100.0, separate=110.0, pooled=200.0, clusters=90))
    assert found[0].startswith("In use: one model for all datasets (strategy 'pooled'): RMSE 14.14")
    assert found[1] == "Its squared error is 81.8 % higher than with 3 separate models."
    assert found[2].endswith(
        "55.0 % lower than with 'pooled' (standard error 1.0 %), the lowest error of all "
        "strategies."
    )
    other = wording.headline(given("clusters", separate=50.0, auto=80.0, pooled=90.0, clusters=100))
    assert (
        other[0] == "In use: 2 models for 3 datasets ({a, b}, {c}), strategy 'clusters': RMSE 10."
    )
    assert other[-1] == (
        "Strategy 'separate' has the lowest error: its squared error is 50.0 % lower (standard "
        "error 0.5 %)."
    )


def test_the_headline_of_one_dataset_and_of_unknown_errors():
    one = given("auto", (("a",),), auto=4.0, separate=4.0, pooled=4.0, clusters=4.0)
    assert wording.headline(one) == [
        "There is one dataset, so there is one model (strategy 'auto'): RMSE 2."
    ]
    unknown = given("auto", auto=1.0, separate=None, pooled=2.0, clusters=1.0)
    assert "not comparable with the error with 3 separate" in wording.headline(unknown)[1]


@pytest.mark.parametrize("result", [results.hostile, results.counts, lambda: results.choices(3)])
def test_every_strategy_has_a_headline(result):
    for name in result().errors:
        text = facts(result().using(name))["verdict"]
        assert f"trategy '{name}'" in text
        assert "None" not in text and "nan" not in text


def test_changes():
    assert wording.change(1.0, 1.0001, "with x") == "the same as with x"
    assert wording.change(0.001, 1.0, "with x") == "more than 99 % lower than with x"
    assert wording.change(None, 1.0, "with x") == "not comparable with the error with x"


def test_notes_on_a_ledger_come_where_they_are_needed():
    line = {"gain": 1.0, "interval": [0.0, 2.0], "joined": True, "verdict": "undecided"}
    measure = measure_of("gaussian")
    assert len(wording.ledger_notes([line], measure)) == 2
    above = wording.ledger_notes([{**line, "gain": 3.0}], measure)
    assert above[2] == wording.ABOVE_INTERVAL
    apart = wording.ledger_notes([{**line, "verdict": "apart"}], measure)
    assert apart[2].startswith("Some lines say 'apart' and are joined")


def test_distances_to_the_best_strategy():
    def words(percent, spread=0.5):
        ends = [None, None] if percent is None else [percent - spread, percent + spread]
        one = {"percent": percent, "percent_standard_error": spread, "percent_interval": ends}
        return wording.behind_with_error(one), wording.behind_interval(one)

    assert words(1.74) == ("1.7 ± 0.5 %", "1.2 % to 2.2 %")
    assert words(0.2) == ("0.2 ± 0.5 %", "0.0 % to 0.7 %")
    assert words(107.9, 23.3) == ("108 ± 23 %", "84.6 % to 131 %")
    assert words(5000.0) == ("51 times", "")
    assert words(0.0) == ("best", "")
    assert words(None) == ("unknown", "")


def test_weights():
    assert [wording.weight_in_words(x) for x in (0.754, 0.001, 0.0, None)] == [
        "0.75", "< 0.01", "", "",
    ]  # fmt: skip


@pytest.mark.parametrize("distance", [0.0, 0.3, 1.0])
def test_comparisons(distance):
    one, two = make_pair(p=3, n=120, d=distance, random_state=1).tables().values()
    result = conjoin.compare(one, two, target="y")
    text = comparison_facts(result, "one", "two")["sentence"]
    start = {
        "join": "Join one and two: joining lowers",
        "apart": "Keep one and two apart: joining raises",
        "undecided": "Undecided on one and two: joining ",
    }
    assert text.startswith(start[result.verdict])
    assert "each end with 90 % confidence" in text
    assert ("the better guess" in text.lower()) == (result.verdict == "undecided")
    other = comparison_facts(conjoin.compare(one, two, target="y", method="tuned"))["sentence"]
    assert "tuned" in other and "the first dataset" in other


def test_rows_that_settle_a_comparison():
    base = {
        "verdict": "undecided", "join": True, "gain": None, "interval": [None, None], "delta": 0.1,
        "rows_to_settle": None, "method": "risk", "score": 0.1, "family": "gaussian",
        "shown_separate": 1.0, "shown_joined": 1.0,
        "models": {"a": {"rows": 100}, "b": {"rows": 60}},
    }  # fmt: skip
    never = wording.comparison_in_words(base, "a", "b")
    assert "Even a thousand times the rows would not settle it." in never
    classes = wording.comparison_in_words({**base, "family": "logistic"}, "a", "b")
    assert "One of them has too few rows of a class for a verdict." in classes
    some = wording.comparison_in_words({**base, "rows_to_settle": 2.5}, "a", "b")
    assert "2.5 times the rows would settle it (150 more of the first, 90 more of" in some


def test_short_words_name_the_clusters():
    tables = make_clusters(sizes=(2, 1), n=60, p=2, distance=3.0).tables()
    result = conjoin.partition(tables, target="y")
    assert str(result) == (
        "Clusters: 2 models for 3 datasets ({d1, d2}, {d3}). Predictions use strategy 'auto'. See "
        "errors, ledger() and report(path) for the evidence."
    )
