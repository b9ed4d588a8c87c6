"""Checks of single options: a name and a value enter; an `ArgumentError` leaves if it is wrong.

`api.request` says which option has which check. Nothing heavy is imported here.
"""

from numbers import Integral, Real
from os import PathLike
from typing import Any

from conjoin.checks import check_choice, check_count
from conjoin.errors import ArgumentError

LEARNERS = ("auto", "linear", "boosting")
FEWEST_SAMPLED = 1_000  # rows that a sample must have: trees of fewer are worse than lines
# Largest share of new rows that an interval may hold: quantiles are kept from 0.25 to 99.75 %.
LARGEST_INTERVAL = 0.995


def check_switch(name: str, value: Any) -> None:
    """Raise an error if a value is not True, False or None."""
    if value is not None and not isinstance(value, bool):
        raise ArgumentError(f"{name}={value!r} is unknown; expected True, False or None.")


def check_flag(name: str, value: Any) -> None:
    """Raise an error if a value is not True or False; 1 and 0 count as such."""
    true_or_false = isinstance(value, Integral) or str(getattr(value, "dtype", "")) == "bool"
    if getattr(value, "ndim", 0) or not true_or_false or value not in (0, 1):
        raise ArgumentError(f"{name}={value!r} is unknown; expected True or False.")


def check_text(name: str, value: Any) -> None:
    """Raise an error if a value is not text or None."""
    if value is not None and not isinstance(value, str):
        raise ArgumentError(f"{name}={value!r} is no text; expected text or None.")


def check_method(name: str, value: Any) -> None:
    """Raise an error if a value is neither a name nor a ready criterion."""
    ready = all(hasattr(value, part) for part in ("prepare", "compare"))
    if not isinstance(value, str) and (isinstance(value, type) or not ready):
        raise ArgumentError(
            f"{name}={value!r} is no method; expected a name, or a criterion with the methods "
            "prepare and compare."
        )


def check_learner(name: str, value: Any) -> None:
    """Raise an error if a value cannot be trained."""
    if isinstance(value, str):
        check_choice(name, value, LEARNERS)
    elif isinstance(value, type) or not (hasattr(value, "fit") or hasattr(value, "cross_fit")):
        # Values of plain types are shown; others by their class, as they may be long.
        plain = value is None or isinstance(value, bool | int | float | bytes)
        shown = repr(value) if plain else f"{type(value).__name__}(...)"
        wrong, made = f"{name}={shown} has no method fit", ""
        if isinstance(value, type):
            wrong = f"{name}={value.__name__} is a class"
            made = f"; make one first: {value.__name__}()"
        raise ArgumentError(
            f"{wrong}, so it cannot be trained; expected 'auto', 'linear', 'boosting', "
            f"conjoin.Boosting(...) or a scikit-learn estimator with fit and predict{made}."
        )


def check_interval(name: str, value: Any) -> None:
    """Raise an error if the share of rows inside an interval is out of reach."""
    if value is None:
        return
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 < float(value) <= LARGEST_INTERVAL:
        raise ArgumentError(
            f"{name}={value!r} is no share of new rows; expected a number above 0 and up to "
            f"{LARGEST_INTERVAL}, such as 0.9."
        )


def check_folder(name: str, value: Any) -> None:
    """Raise an error if a value cannot be the name of a folder."""
    if value is not None and not isinstance(value, str | PathLike):
        raise ArgumentError(f"{name}={value!r} is no folder; expected a name such as 'run-1'.")


def check_sample(name: str, value: Any) -> None:
    """Raise an error if a sample has too few rows."""
    if value is None:
        return
    if not isinstance(value, Integral):
        raise ArgumentError(
            f"{name}={value!r} is no whole number; expected one >= {FEWEST_SAMPLED:,}."
        )
    check_count(name, int(value), least=FEWEST_SAMPLED)


def check_folds(name: str, value: Any) -> None:
    """Raise an error if a value is no number of folds."""
    if not isinstance(value, Integral):
        raise ArgumentError(f"{name}={value!r} is no whole number; expected one >= 2.")
    check_count(name, int(value), least=2)
