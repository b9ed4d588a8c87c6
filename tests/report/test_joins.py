"""Reasons of joins, and stability, as plain values."""

import numpy as np
import pytest

from conjoin.report.facts import dataset_facts, facts
from conjoin.report.joins import (
    REASONS,
    WHY,
    has_fewer,
    join_facts,
    join_kind,
    ledger_facts,
    share_together,
    stability_facts,
    stability_in_words,
    unknown_join,
)
from conjoin.report.view import View
from conjoin.result.stability import Stability
from conjoin.result.values import NOT_JUDGED
from tests.report import results


def kind(change, joined=True, verdict="undecided", spread=1.0):
    found = {"change": change, "change_standard_error": spread}
    return join_kind(found, joined=joined, verdict=verdict)


def test_reasons_follow_from_held_out_errors_and_verdicts():
    assert kind(-2.0, verdict="join") == kind(0.0, verdict="join") == "better"
    assert kind(-2.0) == "leans together" and kind(2.0, joined=False) == "leans apart"
    assert kind(-0.5) == kind(0.9) == kind(None) == "same"
    assert kind(2.0) == kind(2.0, verdict="join") == "worse"
    assert kind(0.0, verdict="apart") == "worse"
    apart = [kind(x, joined=False, verdict="apart") for x in (2.0, 0.5)]
    assert apart == ["apart", "apart"]
    assert kind(0.5, joined=False) == kind(-0.5, joined=False) == "no gain"


def test_a_reason_does_not_deny_the_number_beside_it():
    assert kind(-0.5, verdict="apart") == kind(-2.0, verdict="apart") == "against"
    assert kind(-0.5, joined=False, verdict="apart") == "verdict"
    assert kind(-2.0, joined=False) == "despite"
    assert kind(None, verdict="apart") == "worse"
    assert kind(None, joined=False, verdict="apart") == "apart"


@pytest.mark.parametrize(("joined", "way"), [(True, -1.0), (False, 1.0)])
def test_a_gain_of_the_other_sign_is_named(joined, way):
    found = {"change": 3 * way, "change_standard_error": 1.0, "gain": way}
    kind = join_kind(found, joined=joined, verdict="undecided")
    assert kind == ("better held out" if joined else "worse held out")
    assert "held-out rows" in WHY[kind] and "although the gain" in REASONS[kind]
    agrees = {**found, "gain": -way}
    assert join_kind(agrees, joined=joined, verdict="undecided") == (
        "leans together" if joined else "leans apart"
    )


def test_no_reason_is_surer_than_an_undecided_verdict():
    for joined, change in ((True, -2.0), (False, 2.0)):
        name = kind(change, joined=joined)
        assert "lean" in WHY[name] and "better" not in WHY[name]
        assert "not certain" in REASONS[name] and "better" not in REASONS[name]


def test_joins_that_nobody_judged_say_so_in_long_ledgers():
    one = unknown_join(joined=True, verdict="undecided", judged_by=NOT_JUDGED)
    assert one["reason"].endswith("this join was not judged alone.")


@pytest.mark.parametrize("result", [results.hostile, results.counts, lambda: results.choices(2)])
def test_every_join_states_its_reason(result):
    found = facts(result(), details=True)
    lines = [*found["ledger"], *(found["details"]["tree"] or {"merges": []})["merges"]]
    assert lines
    for line in lines:
        assert line["reason"].startswith(tuple(REASONS.values()))
        assert line["joined"] == line["reason"].startswith("Joined")
        assert ("(held-out" in line["reason"]) == (line["change_percent"] is not None)
        assert 0 <= line["together"] <= 1
    explained = dataset_facts(result(), next(iter(found["datasets"])))
    own = explained["alternatives"][0]
    assert own["own"] and own["reason"] in explained["reason"]


@pytest.mark.parametrize("change", [-3.0, -0.2, 0.0, 0.5])
def test_percentages_of_changes_are_of_the_error_apart(change, monkeypatch):
    result = results.counts()
    view, line = View(result), result.ledger()[0]
    monkeypatch.setattr(type(result.analysis), "join_change", lambda *_: (change, 0.1))
    found = join_facts(view, line.left, line.right, joined=True, verdict=line.verdict)
    names = (*line.left, *line.right)
    error = sum(result.coefficients[name].error for name in names) / len(names)
    # The error in use is that of the better side: joined after a fall, apart before a rise.
    apart = error - change if change < 0 else error
    assert found["change_percent"] == pytest.approx(100 * change / apart)
    assert found["change_percent"] > -100
    assert found["change_percent_standard_error"] == pytest.approx(10 / apart)


def test_long_ledgers_have_reasons_without_numbers(monkeypatch):
    result = results.counts()
    monkeypatch.setattr("conjoin.report.joins.MOST_CHANGES", 1)
    first, second, *_ = ledger_facts(View(result), result.ledger())
    assert first["change"] is not None
    assert second["change"] is None and second["reason"].endswith(".")


def test_stability():
    result = results.counts()
    found = stability_facts(result)
    assert found["resamples"] == 20
    assert len(found["clusters"]) == len(result.clusters)
    names = list(result.labels)
    assert found["together"][0][2] == result.stability().together(names[0], names[2])
    assert "repeated in 20 random halves" in found["words"]
    assert [share_together(x, 2) for x in (0.5, None)] == ["together 50 %", ""]


def test_clusters_that_halves_do_not_tell_apart_are_named():
    names = ("Friday", "Saturday", "Sunday")
    apart = Stability(names, np.array([[0, 1, 2]] * 4), 1.0)
    assert "together in" not in stability_in_words(apart, [["Friday"], ["Saturday"], ["Sunday"]])
    joined = Stability(names, np.array([[0, 1, 1]] * 3 + [[0, 1, 2]]), 0.5)
    words = stability_in_words(joined, [["Friday"], ["Saturday"], ["Sunday"]])
    assert words.endswith("{Saturday} and {Sunday} are together in 75 % of them.")
    assert "together in" not in stability_in_words(joined, [["Friday"], ["Saturday", "Sunday"]])
    all_one = Stability(names, np.zeros((4, 3), dtype=int), 1.0)
    assert stability_in_words(all_one, [["Friday"], ["Saturday"], ["Sunday"]]).endswith(
        "So are 2 more pairs."
    )


def test_halves_that_find_other_clusters_do_not_agree_well():
    names, clusters = tuple("abcd"), [["a", "b"], ["c", "d"]]
    labels = np.zeros((4, 4), dtype=int)
    found = Stability(names, labels, 1.0, np.array([0, 0, 1, 1]))
    words = stability_in_words(found, clusters)
    assert "mostly differ from the clusters here" in words and "agree" not in words
    assert "(mean adjusted Rand index 0.00 with these, 1.00 with each other" in words
    assert "In 4 of them all datasets are in one cluster." in words
    assert has_fewer(found, clusters) and not has_fewer(found, [[*names]])


def test_one_cluster_says_how_often_halves_split_it():
    labels = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 1, 0, 0]])
    found = Stability(("a", "b", "c", "d"), labels, 0.2, np.zeros(4, dtype=int))
    assert stability_in_words(found, [["a", "b", "c", "d"]]).endswith(
        "In 1 of them all datasets are in one cluster, as here. In the mean two datasets are "
        "together in 62 % of them."
    )
