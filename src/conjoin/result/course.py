"""How errors go over time: by period and by how far ahead models predict, as plain values.

A `Course` is found by `engine.courses` where rows are ordered in time, kept in model files, and
drawn on the page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Course:
    """Errors of forward validation.

    Parameters
    ----------
    periods : tuple of str
        The time of every origin, at which models were fitted to all rows before.
    rows : tuple of int
        Rows that each model was judged on.
    errors : mapping of strategy to tuple of float
        Error in every period, averaged over the datasets that have rows then.
    ahead : tuple of (float, float)
        Stretches of time after the origin, in days or in units of the column.
    ahead_errors : tuple of float
        Error of the strategy in use in each stretch; nan without rows.
    dated : bool
        Whether times are dates.
    """

    periods: tuple[str, ...]
    rows: tuple[int, ...]
    errors: Mapping[str, tuple[float, ...]]
    ahead: tuple[tuple[float, float], ...]
    ahead_errors: tuple[float, ...]
    dated: bool

    def to_plain(self) -> dict[str, Any]:
        """Return plain values; numbers that are not finite are None."""

        def plain(values: tuple[float, ...]) -> list[float | None]:
            return [value if abs(value) < float("inf") else None for value in values]

        return {
            "periods": list(self.periods),
            "rows": list(self.rows),
            "errors": {name: plain(one) for name, one in self.errors.items()},
            "ahead": [list(one) for one in self.ahead],
            "ahead_errors": plain(self.ahead_errors),
            "dated": self.dated,
        }

    @classmethod
    def from_plain(cls, values: Mapping[str, Any] | None) -> "Course | None":
        """Return what `to_plain` has written; None where rows have no order."""
        if values is None:
            return None

        def numbers(found: list[float | None]) -> tuple[float, ...]:
            return tuple(float("nan") if one is None else float(one) for one in found)

        return cls(
            tuple(values["periods"]),
            tuple(values["rows"]),
            {name: numbers(one) for name, one in values["errors"].items()},
            tuple((float(low), float(high)) for low, high in values["ahead"]),
            numbers(values["ahead_errors"]),
            bool(values["dated"]),
        )
