"""What a user should know before the answer: gross errors, similar names, suspicious columns.

They are found while reading (`tables.wild`, `tables.suspects`), travel with the result, and become
sentences in `report.notices`.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from conjoin.tables.suspects import Suspects
from conjoin.tables.wild import Outlier


@dataclass(frozen=True)
class Answer:
    """The answer to the question with or without some rows, in short.

    Parameters
    ----------
    clusters, datasets : int
        How many there are.
    strategy : str
        The strategy with the lowest error.
    error : float
        Error of the strategy in use, on held-out rows.
    verdict : str
        Of a comparison; empty for a partition.
    """

    clusters: int
    datasets: int
    strategy: str
    error: float
    verdict: str = ""


@dataclass(frozen=True)
class Findings:
    """What was found in the rows before anything was decided.

    Parameters
    ----------
    outliers : tuple of Outlier
        Gross errors: values far beyond the tail of their column.
    left_out : bool
        Whether their rows were left out.
    asked : bool
        Whether the user said what to do with them (`drop_outliers`).
    with_them, without_them : Answer, optional
        The two answers, where both are known.
    lighter : int
        Rows that have a lower weight because of `robust=True`.
    suspects : Suspects
        Names that are nearly the same, columns that look like identifiers or codes.
    by : tuple of str
        Columns that name the datasets.
    from_files : bool
        Whether rows were read from files.
    promise : str
        What differential privacy promises for which datasets; empty without it.
    """

    outliers: tuple[Outlier, ...] = ()
    left_out: bool = False
    asked: bool = False
    with_them: Answer | None = None
    without_them: Answer | None = None
    lighter: int = 0
    suspects: Suspects = Suspects()
    by: tuple[str, ...] = ()
    from_files: bool = False
    promise: str = ""

    @property
    def changed(self) -> bool:
        """Whether rows were left out that the user did not ask to leave out."""
        return self.left_out and not self.asked

    def to_plain(self) -> dict[str, Any]:
        """Return the findings as plain values, for a model file, without those at their default.

        The values of outliers are left out: model files hold no values of rows.

        >>> Findings().to_plain()
        {}
        """
        plain = asdict(self)
        plain["suspects"] = self.suspects.to_plain()
        for one in plain["outliers"]:
            one["value"] = None
        for name in ("with_them", "without_them"):
            if plain[name] is not None and not math.isfinite(plain[name]["error"]):
                plain[name]["error"] = None
        return {
            one.name: plain[one.name]
            for one in fields(self)
            if getattr(self, one.name) != one.default
        }

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> "Findings":
        """Return the findings that `to_plain` has written."""
        found = dict(values)
        found["outliers"] = tuple(Outlier(**one) for one in found.get("outliers", ()))
        for name in ("with_them", "without_them"):
            if found.get(name) is not None:
                error = found[name]["error"]
                found[name] = Answer(
                    **{**found[name], "error": math.nan if error is None else error}
                )
        if "suspects" in found:
            found["suspects"] = Suspects.from_plain(found["suspects"])
        found["by"] = tuple(found.get("by", ()))
        return cls(**found)
