"""Sentences that are made from a result."""

import pytest

import conjoin
from conjoin.datasets import make_clusters, make_pair
from conjoin.report import wording
from conjoin.report.facts import comparison_facts
from conjoin.report.measure import measure_of


def test_changes():
    assert wording.change(1.0, 1.0001, "with x") == "the same as with x"
    assert wording.change(0.001, 1.0, "with x") == "more than 99 % lower than with x"
    assert wording.change(None, 1.0, "with x") == "not comparable with the error with x"


def test_a_dataset_alone_is_never_said_to_have_no_gain_beside_a_gain():
    measure = measure_of("gaussian")
    assert wording.brief_reason(None, {"gain": 2.0}, measure).startswith("kept alone by the search")
    for other in (None, {"gain": None}, {"gain": -1.0}):
        assert wording.brief_reason(None, other, measure) == "no join has a gain"


@pytest.mark.parametrize("time", [None, "date"])
def test_a_better_model_of_the_other_datasets_is_explained(time):
    models = {"others": {"error": 4.0, "shown": 2.0}, "cluster": {"error": 9.0, "shown": 3.0}}
    found = {"models": models, "family": "gaussian", "time": time}
    note = wording.others_note(found)
    assert note.startswith(
        "The others' model has a lower RMSE here than the cluster's model (2 against 3). "
    )
    assert ("later ones too" in note) == (time is not None)
    worse = {**models, "others": {"error": 10.0, "shown": 3.2}}
    assert wording.others_note({**found, "models": worse}) == ""
    assert wording.others_note({**found, "models": {}}) == ""


def test_distances_to_the_best_strategy():
    def words(percent, spread=0.5):
        ends = [None, None] if percent is None else [percent - spread, percent + spread]
        one = {"percent": percent, "percent_standard_error": spread, "percent_interval": ends}
        return wording.behind_with_error(one), wording.behind_interval(one)

    assert words(1.74) == ("1.7 ± 0.5 %", "1.2 % to 2.2 %")
    assert words(0.2) == ("0.2 ± 0.5 %", "−0.3 % to 0.7 %")
    assert words(0.47) == ("0.5 ± 0.5 %", "−0.03 % to 1.0 %")
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
    assert other.startswith("Algorithm 2 of the paper, with the signed rule, says to ")
    assert "Second opinion, conjoin's verdict: " in other and "the first dataset" in other


def test_rows_that_settle_a_comparison():
    base = {
        "verdict": "undecided", "join": True, "gain": None, "interval": [None, None], "delta": 0.1,
        "rows_to_settle": None, "method": "risk", "score": 0.1, "family": "gaussian",
        "few_rows_decide": False, "shown_separate": 1.0, "shown_joined": 1.0,
        "models": {"a": {"rows": 100}, "b": {"rows": 60}},
        "learner": "linear", "learner_errors": {}, "folds": 0, "repeats": 0,
    }  # fmt: skip
    never = wording.comparison_in_words(base, "a", "b")
    assert "Even a thousand times the rows would not settle it." in never
    classes = wording.comparison_in_words({**base, "family": "logistic"}, "a", "b")
    assert "One of them has too few rows of a class for a verdict." in classes
    # The gain of numbers is the difference of the errors; that of classes comes from moments.
    assert "1 separate on held-out rows." in classes and "1 separate." in never
    some = wording.comparison_in_words({**base, "rows_to_settle": 2.5}, "a", "b")
    assert "2.5 times the rows would settle it (150 more of the first, 90 more of" in some


def test_short_words_name_the_clusters():
    tables = make_clusters(sizes=(2, 1), n=60, p=2, distance=3.0).tables()
    result = conjoin.partition(tables, target="y")
    assert str(result) == (
        "Clusters: 2 models for 3 datasets ({d1, d2}, {d3}). Predictions use strategy 'auto'. See "
        "errors, ledger() and report(path) for the evidence."
    )


def test_a_join_that_nobody_judged_has_no_too_few_rows():
    measure, line = measure_of("gaussian"), {"gain": None, "percent": None, "verdict": "undecided"}
    unjudged, few = {**line, "judged_by": "none"}, {**line, "judged_by": "theory"}
    assert wording.brief_reason(unjudged, None, measure) == "one model predicts best"
    assert wording.brief_effect(None, measure, "none") == "no estimate"
    classes = measure_of("logistic")
    assert wording.brief_reason(few, None, classes).startswith(
        "too few rows or too few of the rarer class"
    )
    fork = {"left": "a", "right": "b", "interval": [None, None], "together": None, "reason": "."}
    text = wording.merge_in_words({**unjudged, **fork, "few": ""}, "squared error")
    assert text[1:3] == ["gain not known: not judged", "verdict: not judged"]
    nearest = {**unjudged, "own": False, "datasets": ["b"]}
    found = {"dataset": "a", "family": "gaussian", "members": ["a"], "alternatives": [nearest]}
    assert wording.reason(found).endswith("cluster is {b}. Joining it was not judged.")
