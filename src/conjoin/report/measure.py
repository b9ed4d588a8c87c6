"""How errors and coefficients are called and shown: squared errors, log loss, deviance of counts.

A family of targets enters ("gaussian", "logistic", "poisson"), words and numbers to show leave.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Measure:
    """How the errors of one family of targets are called and shown.

    Parameters
    ----------
    name : str
        What is lower or higher by some percent, in a sentence.
    gain : str
        The unit of gains.
    head : str
        Head of a column of errors.
    short : str
        What stands before one error.
    errors : str
        What a table of errors shows, in full.
    own_fit : str
        The model that one dataset gets by itself.
    root : bool
        Whether the square root of an error is shown.
    few : str
        What there is too little of where nothing can be said of a join.
    """

    name: str
    gain: str
    head: str
    short: str
    errors: str
    own_fit: str
    root: bool = False
    few: str = "too few rows"

    def shown(self, error: float | None) -> float | None:
        """Return an error as it is shown, or None if it is not known."""
        if error is None or not math.isfinite(error) or error < 0:
            return None
        return math.sqrt(error) if self.root else float(error)

    def percent(self, change: float | None) -> float | None:
        """Return the change of an error, a share of it, in percent of the error as it is shown.

        >>> [round(measure_of(one).percent(-0.19), 6) for one in ("gaussian", "logistic")]
        [-10.0, -19.0]
        """
        if change is None or not math.isfinite(change) or change < -1:
            return None
        return 100 * (math.sqrt(1 + change) - 1 if self.root else change)


MEASURES = {
    "gaussian": Measure(
        name="squared error",
        gain="squared error",
        head="error (RMSE)",
        short="RMSE",
        errors="root mean squared errors (RMSE)",
        own_fit="least squares",
        root=True,
    ),
    "logistic": Measure(
        name="log loss",
        gain="log loss",
        head="log loss",
        short="log loss",
        errors="log losses",
        own_fit="logistic regression",
        few="too few rows or too few of the rarer class",
    ),
    "poisson": Measure(
        name="deviance",
        gain="half deviance",
        head="half deviance",
        short="half deviance",
        errors="half the mean deviance",
        own_fit="log-linear model",
    ),
}


def measure_of(family: str) -> Measure:
    """Return the words for a family of targets: "gaussian", "logistic" or "poisson"."""
    return MEASURES[family]


def error_text(shown: float | None, digits: int = 5) -> str:
    """Return an error, as it is shown, as text.

    >>> error_text(338.8312), error_text(338.8312, 4), error_text(None)
    ('338.83', '338.8', 'unknown')
    """
    return "unknown" if shown is None else f"{shown:.{digits}g}"


def page_words(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return how the page speaks of errors and coefficients, by what the target is."""
    family, target = facts["family"], facts["target"]
    measure = measure_of(family)
    found = {
        "name": measure.name,
        "gain": measure.gain,
        "head": measure.head,
        "short": measure.short,
        "errors": measure.errors,
        "own_fit": measure.own_fit,
        "unit": "squared units" if family == "gaussian" else measure.gain,
        "noise": "",
        "coefficients": "",
    }
    if family == "gaussian":
        return {
            **found,
            "about": f"in the units of '{target}'",
            "noise": "It assumes the same noise in all datasets of the cluster. ",
            "level": "the prediction at average features",
        }
    if family == "poisson":
        return {
            **found,
            "about": "0 for a perfect fit",
            "coefficients": "A coefficient is what one unit of the feature adds to the logarithm "
            "of the expected count. ",
            "level": "that logarithm at average features",
        }
    found["about"] = (
        "the mean of minus the logarithm of the probability of the observed class, 0 for a perfect "
        "forecast"
    )
    if len(facts["classes"]) == 2:
        no, yes = facts["classes"]
        return {
            **found,
            "coefficients": "A coefficient is what one unit of the feature adds to the log-odds of "
            f"'{yes}' against '{no}'. ",
            "level": "the log-odds at average features",
        }
    return {
        **found,
        "coefficients": "A coefficient is what one unit of the feature adds to the score of a "
        "class. The log-odds of two classes are the difference of their scores; all scores sum to "
        "zero. ",
        "level": "the score at average features",
    }
