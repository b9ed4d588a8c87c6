"""An update in words."""

from conjoin.criterion import PairScore
from conjoin.report.updating import sentences, update_facts
from conjoin.result.update import Move, Update, changed_verdicts
from conjoin.result.values import Merge


class Result:
    """What the words need of a result."""

    clusters = [["a"], ["b", "c"]]
    labels = {"a": 0, "b": 1, "c": 1}


def line(verdict, gain, left=("b",), right=("c",)):
    return Merge(left, right, True, verdict, gain, (gain - 1, gain + 1), PairScore(0.0, True))


def an_update(*moves, verdicts=()):
    return Update(Result(), {"b": 1200}, (), moves, tuple(verdicts))


def test_changes_come_with_gain_and_standard_error():
    made = Move((("a", "b"), ("c",)), (("a",), ("b", "c")), 0.123, 0.04, True)
    found = sentences(an_update(made))
    assert found == [
        "Added 1,200 rows of 1 dataset.",
        "Clusters changed from {a, b} {c} to {a} {b, c}: the error on held-out rows falls by 12 % "
        "(standard error 4 %).",
        "No verdict changed.",
    ]


def test_what_was_not_changed_is_said_with_the_switch():
    kept = Move((("a", "b"),), (("a",), ("b",)), 0.01, 0.04, False)
    found = sentences(an_update(kept))
    assert "the gain does not exceed its standard error" in found[1] and "--free" in found[1]


def test_verdicts_come_with_the_reason():
    changes = changed_verdicts((line("undecided", 0.5),), (line("join", 2.0, ("c",), ("b",)),))
    found = sentences(an_update(verdicts=changes))[-1]
    assert found == (
        "{c} and {b}: verdict 'undecided' became 'join'. The gain was 0.5 and is 2, interval 1 to "
        "3 (1,200 new rows)."
    )
    facts = update_facts(an_update(verdicts=changes))
    assert facts["verdicts"][0]["before"] == "undecided" and facts["rows"] == {"b": 1200}
    assert not changed_verdicts((line("join", 1.0),), (line("join", 2.0),))
