"""Checks of single arguments.

The name and the value of an argument enter; nothing leaves, or an error that names the argument,
the value and what was expected.
"""

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from conjoin.errors import ArgumentError, DataError


def _is_between_0_and_1(value: Any) -> bool:
    return isinstance(value, Real) and 0 < float(value) < 1


def check_level(name: str, value: Any) -> None:
    """Raise an error if the level of a test is not between 0 and 1."""
    if not _is_between_0_and_1(value):
        raise ArgumentError(
            f"{name}={value!r} is not a level; expected a number between 0 and 1, such as 0.1."
        )


def check_share(name: str, value: Any) -> None:
    """Raise an error if a share of the rows is not between 0 and 1."""
    if not _is_between_0_and_1(value):
        raise ArgumentError(
            f"{name}={value!r} is not a share of the rows; expected a number between 0 and 1."
        )


def check_count(name: str, value: Any, least: int = 1) -> None:
    """Raise an error if a count is not a whole number of at least `least`."""
    finite = isinstance(value, Real) and math.isfinite(value)
    if not finite or value != int(value) or value < least:
        raise ArgumentError(f"{name}={value!r} is not a count; expected a whole number >= {least}.")


def check_rows(label: str, rows: int, p: int, sample: str, *, overparametrised: bool) -> None:
    """Raise an error if a sample has fewer rows than columns, unless `overparametrised`.

    `sample` says in words which rows are meant, for example "in a resample".
    """
    if rows < p and not overparametrised:
        raise DataError(
            f"Dataset {label!r} has {rows} rows {sample}, but the model has {p} columns "
            "(intercept included); use fewer columns, join it with others beforehand, or pass "
            "overparametrised=True to fit it by the Moore-Penrose estimator."
        )


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise an error if a value is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ArgumentError(f"{name}={value!r} is unknown; expected one of {', '.join(choices)}.")


def check_seed(name: str, value: object) -> None:
    """Raise an error if a random seed is not a whole number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ArgumentError(f"{name}={value!r} is no seed; expected a whole number.")
    if int(value) < 0:
        raise ArgumentError(f"{name}={value!r} is negative; expected a whole number >= 0.")
