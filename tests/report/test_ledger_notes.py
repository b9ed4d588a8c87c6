"""How to read a ledger of joins."""

from conjoin.report.ledger_notes import adjusted_note, ledger_notes
from conjoin.report.measure import measure_of


def test_notes_on_a_ledger_come_where_they_are_needed():
    line = {
        "gain": 1.0, "interval": [0.0, 2.0], "joined": True, "verdict": "undecided",
        "adjusted_p": 0.2, "holds_for_all": False, "judged_by": "theory",
    }  # fmt: skip
    measure = measure_of("gaussian")
    assert len(ledger_notes([line], measure)) == 2
    assert len(ledger_notes([line, line], measure)) == 2  # nothing was decided
    apart = ledger_notes([{**line, "verdict": "apart"}], measure)
    assert apart[2].startswith("Some lines say 'apart' and are joined")
    assert "the method that found the clusters does not ask for these verdicts" in apart[2]


def test_refused_joins_say_of_what_they_are():
    line = {
        "gain": 1.0, "interval": [0.0, 2.0], "joined": False, "verdict": "undecided",
        "adjusted_p": 0.2, "holds_for_all": False, "judged_by": "theory",
    }  # fmt: skip
    measure = measure_of("gaussian")
    assert len(ledger_notes([line], measure)) == 2  # of two clusters the page shows the same
    assert ledger_notes([line, line], measure)[-1] == (
        "Lines apart are each cluster's best refused join with one other cluster. The page also "
        "has merges of several clusters."
    )


def test_a_ledger_says_which_verdicts_hold_after_the_adjustment():
    lines = [
        {"verdict": "join", "adjusted_p": p, "holds_for_all": p <= 0.1} for p in (0.01, 1.0, 1.0)
    ]
    start = "Each verdict is for one join chosen in advance. "
    for some, words in ((lines, "Those with * hold"), (lines[1:], "None holds")):
        (note,) = adjusted_note(some)
        assert note.startswith(f"{start}{words} for all joins together as well (Holm's adjustment)")
    assert adjusted_note([lines[0]] * 2)[0].startswith(f"{start}All hold")
    assert adjusted_note(lines[:1]) == []
