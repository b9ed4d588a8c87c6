"""What learners are called in sentences, and what verdicts on joins are about.

The name of a learner, and lines of a ledger, enter; words leave.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from conjoin.result.values import CROSS_VALIDATION, NOT_JUDGED, THEORY

# What a learner trains, for sentences; others stand by their name.
LEARNED_MODELS = {"linear": "lines", "boosting": "boosted trees"}


def learner_in_words(learner: str) -> str:
    """Return what a learner trains.

    >>> learner_in_words("boosting"), learner_in_words("KNeighborsRegressor")
    ('boosted trees', 'KNeighborsRegressor')
    """
    return LEARNED_MODELS.get(learner, learner)


def bare_note(learner: str) -> str:
    """Say why the model for all can have no coefficients."""
    return f"The model for all is one of {learner_in_words(learner)} alone and has none of these."


def verdict_in_words(line: Mapping[str, Any]) -> str:
    """Return a verdict, or that there is none: a learner chose the clusters, not this join.

    >>> verdict_in_words({"verdict": "undecided", "judged_by": "none"})
    'not judged'
    """
    return "not judged" if line["judged_by"] == NOT_JUDGED else str(line["verdict"])


def judged_in_words(line: Mapping[str, Any]) -> str:
    """Say behind a verdict that it is of the learner itself; nothing behind others."""
    return " (cross-validation of the learner)" if line["judged_by"] == CROSS_VALIDATION else ""


def judged_note(lines: Sequence[Mapping[str, Any]], learner: str) -> str:
    """Say what verdicts are about where clusters are about a learner; empty if about lines."""
    if learner == "linear" or not lines:
        return ""
    trained = learner_in_words(learner)
    kinds = {line["judged_by"] for line in lines}
    rest = f"is about linear models of the columns and the prediction of {trained}"
    if kinds == {THEORY}:
        return f"Every verdict {rest}."
    unjudged = f"Not judged: {trained} would have to be trained on very many rows again."
    if kinds == {NOT_JUDGED}:
        return unjudged
    note = (
        f"Judged by cross-validation: {trained} trained on the two sides apart and together, and "
        "compared on the same held-out rows. Models of several datasets know the dataset's name."
    )
    if NOT_JUDGED in kinds:
        return f"{note} {unjudged}"
    return note if kinds == {CROSS_VALIDATION} else f"{note} A verdict judged by theory {rest}."
