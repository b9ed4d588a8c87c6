"""The answer of a method of the paper, in words; it comes before conjoin's own verdict.

Plain values of `report.facts` enter, English sentences leave. The paper's methods have guarantees
that do not hold (docs/paper-notes.md), so conjoin's verdict follows as a second opinion.
"""

from collections.abc import Mapping
from typing import Any

from conjoin.api.request import PAPER_METHODS
from conjoin.text import listed

ORACLE = "oracle"  # Theorem 1 with the true coefficients, a method for synthetic data
MOST_CLUSTERS = 5  # clusters named in a sentence; the table below it has all


def is_of_the_paper(method: str) -> bool:
    """Say whether a method of `compare` is one of the paper's."""
    return method in (*PAPER_METHODS, ORACLE)


def with_second_opinion(facts: Mapping[str, Any], verdict: str) -> str:
    """Return what a method of the paper says, then conjoin's verdict."""
    return f"{pair_answer(facts)} Second opinion, conjoin's verdict: {verdict}"


def pair_answer(facts: Mapping[str, Any]) -> str:
    """Say what a method of the paper decides on two datasets, with its own numbers.

    Examples
    --------
    >>> print(pair_answer({"method": "bound", "join": False, "phi": 0.012, "psi": 0.045}))
    Algorithm 1 of the paper says to keep them apart (phi 0.012 is not above psi 0.045).
    """
    guess = "join them" if facts["join"] else "keep them apart"
    if facts["method"] == "tuned":
        return _tuned(facts, guess)
    if facts["method"] == "direct":
        return f"Direct comparison of training losses, the paper's baseline, says to {guess}."
    name = "Theorem 1, with the true coefficients," if facts["method"] == ORACLE else "Algorithm 1"
    name += "" if facts["method"] == ORACLE else " of the paper"
    phi, psi = (_number(facts[side]) for side in ("phi", "psi"))
    above = "above" if facts["join"] else "not above"
    return f"{name} says to {guess} (phi {phi} is {above} psi {psi})."


def _tuned(facts: Mapping[str, Any], guess: str) -> str:
    low, high = facts["proxy_acc_range"]
    proxy = f"proxy_acc {facts['proxy_acc']:.3f}, over eight seeds {low:.3f} to {high:.3f}"
    above = "above" if facts["join"] else "not above"
    if facts["threshold"] > 0:  # the literal rule; that of the signed one is 0
        reason = f"{proxy}; {above} lambda {facts['threshold']:g}; alpha {facts['alpha']:g}"
        return f"Algorithm 2 of the paper says to {guess} ({reason})."
    reason = f"signed score {facts['score']:+.3f}, {above} 0; {proxy}; alpha {facts['alpha']:g}"
    return f"Algorithm 2 of the paper, with the signed rule, says to {guess} ({reason})."


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4g}"


def partition_answer(facts: Mapping[str, Any]) -> list[str]:
    """Say which clusters Algorithm 3 finds; nothing for other ways to find clusters."""
    if facts["grouping"] != "greedy":
        return []
    clusters = [f"{{{listed(one['datasets'])}}}" for one in facts["clusters"]]
    named, more = ", ".join(clusters[:MOST_CLUSTERS]), len(clusters) - MOST_CLUSTERS
    named += f" and {more} more" if more > 0 else ""
    count = "1 cluster" if len(clusters) == 1 else f"{len(clusters)} clusters"
    return [
        f"Algorithm 3 of the paper, with method {facts['method']}, finds {count}: {named}.",
        "conjoin's verdict on them follows as a second opinion.",
    ]
