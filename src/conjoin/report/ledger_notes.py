"""How to read a ledger of joins.

Plain values of `report.facts` enter, sentences leave.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from conjoin.report.joins import BY_SEARCH
from conjoin.report.learners import judged_note
from conjoin.report.measure import Measure

Facts = Mapping[str, Any]


def gain_note(measure: Measure) -> str:
    """Say what a gain is, and what its interval."""
    return (
        f"Gain: how much the {measure.gain} is expected to fall if the two are trained together. "
        "Each end of its interval holds with probability 1 - delta (90 % by default)."
    )


def ledger_notes(lines: Sequence[Facts], measure: Measure, learner: str = "linear") -> list[str]:
    """Say how to read the lines of a ledger, with what they need and no more."""
    notes = [gain_note(measure)]
    if not any(line.get("why") == BY_SEARCH for line in lines):
        notes.append(
            "Joined datasets either predict better together, or no difference between them could "
            "be shown."
        )
    if sum(not line["joined"] for line in lines) > 1:
        notes.append(
            "Lines apart are each cluster's best refused join with one other cluster. The page "
            "also has merges of several clusters."
        )
    notes += adjusted_note(lines)
    judged = judged_note(lines, learner)
    if any(line["joined"] and line["verdict"] == "apart" for line in lines):
        notes.append(
            "Some lines say 'apart' and are joined: the method that found the clusters does not "
            "ask for these verdicts."
        )
    return [*notes, judged] if judged else notes


def adjusted_note(lines: Sequence[Facts]) -> list[str]:
    """Say which verdicts of a ledger hold after the adjustment for the number of joins.

    >>> line = {"verdict": "join", "adjusted_p": 0.3, "holds_for_all": False}
    >>> adjusted_note([line, line])[0][:56]
    'Each verdict is for one join chosen in advance. None hol'
    """
    sure = [line for line in lines if line["verdict"] != "undecided"]
    if len(lines) < 2 or not sure or all(line["adjusted_p"] is None for line in sure):
        return []
    held = sum(line["holds_for_all"] for line in sure)
    which = "None holds" if not held else "Those with * hold" if held < len(sure) else "All hold"
    return [
        f"Each verdict is for one join chosen in advance. {which} for all joins together as well "
        "(Holm's adjustment); the report and --json have both p-values."
    ]
