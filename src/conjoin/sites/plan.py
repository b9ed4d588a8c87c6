"""The plan of a study over sites: what every site computes, and what leaves it.

Descriptions of columns enter, as a coordinator writes them; a `Plan` leaves. It fixes how columns
become numbers, so that no site has to look at another's rows: types, levels, units, what stands for
a missing value, limits, folds, and disclosure rules. `sites.first_table` describes the columns of a
table so that no row is disclosed.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.checks import check_choice, check_count
from conjoin.errors import ArgumentError
from conjoin.families import MOST_CLASSES, Response
from conjoin.result.checked import (
    Check,
    Fault,
    boolean,
    finite,
    list_of,
    map_of,
    mapping,
    optional,
    pair,
    record,
    text,
    whole,
)
from conjoin.result.document import checksum
from conjoin.sites.document import PLAN, read_document, write_document
from conjoin.sites.rules import Rules
from conjoin.tables.encoding import (
    Category,
    Date,
    Encoding,
    Flag,
    Number,
    to_plain,
)
from conjoin.tables.names import DATASET
from conjoin.tables.roles import Roles
from conjoin.tables.schema import Schema

TYPES = ("number", "flag", "category", "date")
TARGETS = {"number": "gaussian", "class": "logistic", "count": "poisson"}
PARTS = ("years", "season", "weekday", "time of day")
# Features at most, times the classes less one. A site file has about half the square of so many
# numbers for each fold: 2 MB.
MOST_FEATURES = 200


@dataclass(frozen=True)
class Plan:
    """What every site computes, and what leaves it.

    Parameters
    ----------
    schema : Schema
        Target, and how columns become features.
    units : mapping of column to str
        What a column is measured in, in words.
    limits : mapping of column to (float, float)
        Values beyond are set to the limit.
    complete : tuple of str
        Columns that may have no missing value.
    folds : int
        Folds that are asked of every site.
    seed : int
    rules : Rules
        Disclosure rules; a site may have stricter ones.
    study : str
        A random text: files of another study are refused, however alike its plan is.
    prediction : mapping, optional
        A trained model whose prediction is one more column, as plain values.

    Examples
    --------
    >>> plan = make_plan({"cost": "number", "age": {"type": "number", "unit": "years"}}, "cost")
    >>> plan.schema.features, plan.family
    (('age',), 'gaussian')
    """

    schema: Schema
    units: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    complete: tuple[str, ...] = ()
    folds: int = 10
    seed: int = 0
    rules: Rules = Rules()
    study: str = ""
    prediction: Mapping[str, Any] | None = None

    @property
    def target(self) -> str:
        """The column to predict."""
        return self.schema.roles.target

    @property
    def family(self) -> str:
        """What the target is: gaussian, logistic or poisson."""
        return self.schema.response.family

    @property
    def sources(self) -> tuple[str, ...]:
        """The column of the table that each feature comes from."""
        kept = set(self.schema.features)
        return tuple(e.name for e in self.schema.encodings for one in e.features() if one in kept)

    @property
    def checksum(self) -> str:
        """What names the plan in other files."""
        return checksum(self.to_plain())

    def readings(self) -> dict[str, str]:
        """Return how each feature of numbers or dates gets its values, and the target, as a digest.

        Plans with different ones may give the same rows other values. Levels and flags are left
        out: the ledger compares the rows that have them.
        """
        found: dict[str, list[Any]] = {
            self.target: [self.schema.response.to_plain(), self.units.get(self.target)]
        }
        for e in self.schema.encodings:
            if isinstance(e, Number | Date):
                limits, unit = self.limits.get(e.name), self.units.get(e.name)
                how = [to_plain(e), e.name in self.complete, limits and list(limits), unit]
                found |= {name: how for name in e.features() if name in self.schema.features}
        if self.prediction is not None:
            found[self.prediction["name"]] = [dict(self.prediction)]
        return {name: checksum(how) for name, how in found.items()}

    def farthest(self, mean: FloatArray) -> FloatArray:
        """Return how far values can be from the means (features,); 0 where no limit is known."""
        low, high = self.known_ranges()
        reach = np.maximum(high - mean, mean - low)
        return np.where(np.isfinite(reach), np.maximum(reach, 0.0), 0.0)

    def known_ranges(self) -> tuple[FloatArray, FloatArray]:
        """Return the ranges (features,) that the plan itself fixes: limits, and 0 to 1 of flags."""
        ends = [one for e in self.schema.encodings for one in self._ends(e)]
        low, high = np.array(ends, dtype=np.float64).reshape(-1, 2).T
        return low, high

    def _ends(self, e: Encoding) -> list[tuple[float, float]]:
        unknown, unit = (-np.inf, np.inf), (0.0, 1.0)
        if isinstance(e, Number):
            found = [self.limits.get(e.name, unknown), unit]
        elif isinstance(e, Date):
            found = [unit if "weekday=" in name else unknown for name in e.features()]
        else:
            found = [unit] * len(e.features())
        kept = set(self.schema.features)
        return [ends for name, ends in zip(e.features(), found) if name in kept]

    def describe(self) -> str:
        """Return the plan in words, for the site's data officer."""
        lines = [f"Target: {self.target} ({_kind_in_words(self.schema.response)})", "Columns:"]
        for e in self.schema.encodings:
            unit = f" in {self.units[e.name]}" if e.name in self.units else ""
            ends = self.limits.get(e.name)
            limit = f"; values are kept between {ends[0]:g} and {ends[1]:g}" if ends else ""
            if isinstance(e, Number) and e.name not in self.complete:
                limit += f"; where missing, {e.fill:g}"
                limit += " and an indicator column" if e.indicator else ""
            lines.append(f"  {e.name}: {e.describe()}{unit}{limit}")
        if self.prediction is not None:
            lines.append("  A trained model's prediction is one more column.")
        lines += ["What leaves a site:", *(f"  {one}" for one in self.leaving())]
        lines += ["What never leaves a site:", *(f"  {one}" for one in NEVER)]
        return "\n".join(lines)

    def leaving(self) -> list[str]:
        """Return what leaves a site, in sentences."""
        p = len(self.schema.features) + 2
        found = [
            f"The number of rows, and sums of products of {p - 2} features and the target: "
            f"{p * (p + 1) // 2} numbers for each dataset, in up to {self.folds} folds.",
            f"Every count has at least {self.rules.rows} rows; rare levels are merged.",
        ]
        if self.family == "gaussian":
            found.append("How far the residuals of the site's own model scatter, as two matrices.")
        else:
            found.append("In later rounds: gradient and curvature of the likelihood, as sums.")
        return found

    def to_plain(self) -> dict[str, Any]:
        """Return the plan as plain values, for a file."""
        return {
            "study": self.study,
            "target": self.target,
            "family": self.family,
            "folds": self.folds,
            "seed": self.seed,
            "rules": self.rules.to_plain(),
            "units": dict(self.units),
            "limits": {name: list(ends) for name, ends in self.limits.items()},
            "complete": list(self.complete),
            "schema": self.schema.to_plain(),
            "what leaves a site": self.leaving(),
            "what never leaves a site": list(NEVER),
            **({} if self.prediction is None else {"prediction": dict(self.prediction)}),
        }

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> "Plan":
        """Return the plan that `to_plain` wrote."""
        return cls(
            Schema.from_plain(values["schema"]),
            dict(values["units"]),
            {name: (float(a), float(b)) for name, (a, b) in values["limits"].items()},
            tuple(values["complete"]),
            values["folds"],
            values["seed"],
            Rules.from_plain(values["rules"]),
            values["study"],
            values.get("prediction"),
        )

    def save(self, path: str | Path) -> None:
        """Write the plan to a file."""
        write_document(path, PLAN, self.to_plain())


NEVER = (
    "Rows, identifiers, and texts that are not in this plan.",
    "Smallest and largest values, medians and other quantiles.",
    "Residuals or predictions of single rows.",
)


def _kind_in_words(response: Response) -> str:
    if response.classes:
        return f"one of {len(response.classes)} classes: {', '.join(map(str, response.classes))}"
    return "a count" if response.family == "poisson" else "a number"


def load_plan(path: str | Path) -> Plan:
    """Return the plan in a file.

    Raises
    ------
    ReadError
        If the file is no plan, or was changed.
    """
    return Plan.from_plain(read_document(path, PLAN, check_plan))


def check_plan(content: Any) -> None:
    """Raise an error if the content of a plan cannot be used."""
    record(
        {
            "study": text,
            "target": text,
            "family": text,
            "folds": _folds,
            "seed": whole,
            "rules": mapping,
            "units": map_of(text),
            "limits": map_of(pair(finite, finite)),
            "complete": list_of(text),
            "schema": check_schema,
        },
        {"prediction": mapping},
    )(content, "the plan")
    Rules.from_plain(content["rules"])
    plan = Plan.from_plain(content)
    response = plan.schema.response
    if response.family == "logistic" and not _are_classes(response.classes):
        raise Fault(f"its target has {len(response.classes)} classes")
    size = _coefficients(plan.schema)
    if not 0 < size <= MOST_FEATURES:
        raise Fault(f"it has {size} coefficients, expected 1 to {MOST_FEATURES}")
    if (plan.target, plan.family) != (content["target"], content["family"]):
        raise Fault("target or family differ from those of its columns")
    named = {e.name for e in plan.schema.encodings}
    other = {*plan.complete, *plan.limits} - named
    if other:
        raise Fault(f"it has rules for {min(other)[:40]!r}, which is none of its columns")
    if any(low > high for low, high in plan.limits.values()):
        raise Fault("the lower limit of a column is above the upper one")
    if "prediction" in content:
        record({"name": text, "trees": text})(content["prediction"], "the prediction")
        if content["prediction"]["name"] != plan.schema.features[-1]:
            raise Fault("its prediction is not its last column")


def _folds(value: Any, what: str) -> None:
    whole(value, what)
    if not 1 <= value <= 100:  # each fold repeats all numbers, and 100 are more than anybody needs
        raise Fault(f"{what} is {value}, expected 1 to 100")


def check_schema(values: Any, what: str) -> None:
    """Raise an error if the description of columns cannot be used."""
    texts = list_of(text)
    column: Check = record(
        {"kind": text, "name": text},
        {"fill": finite, "indicator": boolean, "text": boolean, "other": boolean,
         "number": boolean, "reference": text, "levels": texts, "parts": texts, "odd": texts,
         "format": optional(text)},
    )  # fmt: skip
    record(
        {"target": text, "by": texts, "columns": list_of(column), "constant": texts,
         "response": mapping}
    )(values, what)  # fmt: skip
    for one in values["columns"]:
        if one["kind"] not in TYPES:
            raise Fault(f"column {one['name'][:40]!r} is of the unknown kind {one['kind'][:40]!r}")
    Schema.from_plain(values)


# --- plans from descriptions ---------------------------------------------------------------------


def make_plan(
    columns: Mapping[str, Any],
    target: str,
    *,
    folds: int = 10,
    seed: int = 0,
    rules: Rules | None = None,
    i_know: bool = False,
) -> Plan:
    """Return the plan for columns that are described by hand.

    Parameters
    ----------
    columns : mapping of column to description
        A description is a type, or a mapping with a "type": "number" (with "fill", "limits",
        "unit"), "flag", "category" (with "levels") or "date" (with "parts" and "format"). With
        "missing": true a further 0/1 column marks missing values. The target is a "number", a
        "class" (with "classes") or a "count".
    target : str
        Column to predict.
    folds : int, default 10
        Folds of cross-validation.
    seed : int, default 0
        Random seed of the folds.
    rules : Rules, optional
        Disclosure rules; by default those of `conjoin.sites.Rules`.
    i_know : bool, default False
        Whether rules may allow more than the default ones.

    Returns
    -------
    Plan

    Raises
    ------
    ArgumentError
        If a description cannot be used.

    Examples
    --------
    >>> columns = {"cost": "number", "sex": {"type": "category", "levels": ["f", "m"]}}
    >>> make_plan(columns, "cost").schema.features
    ('sex=m', 'sex=(other)')
    """
    described = {name: _described(name, one) for name, one in columns.items()}
    if target not in described:
        raise ArgumentError(
            f"target={target!r} is not described in columns; add it as a number, class or count."
        )
    response = _response(target, described.pop(target))
    if not described:
        raise ArgumentError("columns describes the target only; describe at least one feature.")
    encodings = tuple(_encoding(name, one) for name, one in described.items())
    schema = Schema(Roles(target, (DATASET,), tuple(described)), encodings, (), response)
    if _coefficients(schema) > MOST_FEATURES:
        raise ArgumentError(
            f"columns make {_coefficients(schema)} coefficients; plans have at most "
            f"{MOST_FEATURES}. Describe fewer columns, levels or classes."
        )
    check_count("folds", folds)
    wanted = rules or Rules()
    wanted.check(i_know)
    return Plan(
        schema,
        {name: str(one["unit"]) for name, one in described.items() if "unit" in one},
        {name: _limits(name, one["limits"]) for name, one in described.items() if "limits" in one},
        tuple(name for name, one in described.items() if _is_complete(one)),
        int(folds),
        int(seed),
        wanted,
        secrets.token_hex(8),
    )


def _described(name: str, value: Any) -> dict[str, Any]:
    found = {"type": value} if isinstance(value, str) else value
    if not isinstance(found, Mapping) or not isinstance(found.get("type"), str):
        raise ArgumentError(
            f"Column {name!r} is described as {value!r}; expected a type, or a mapping with a "
            '"type" such as {"type": "number"}.'
        )
    known = {"type", "unit", "fill", "missing", "limits", "levels", "reference", "other", "parts",
             "format", "classes"}  # fmt: skip
    unknown = sorted(set(found) - known)
    if unknown:
        raise ArgumentError(
            f"Column {name!r} has the unknown entry {unknown[0]!r}; expected some of "
            f"{', '.join(sorted(known))}."
        )
    return dict(found)


def _response(target: str, one: Mapping[str, Any]) -> Response:
    check_choice(f"type of the target {target!r}", one["type"], tuple(TARGETS))
    family = TARGETS[one["type"]]
    if family != "logistic":
        return Response(family)
    classes = one.get("classes")
    if isinstance(classes, str) or not isinstance(classes, Sequence) or not _are_classes(classes):
        raise ArgumentError(
            f"Target {target!r} is a class: name its classes, 2 to {MOST_CLASSES} different ones, "
            'such as "classes": ["no", "yes"].'
        )
    return Response(family, tuple(classes))


def _coefficients(schema: Schema) -> int:
    """Return the number of coefficients without intercepts: features by classes less one."""
    return len(schema.features) * max(len(schema.response.classes) - 1, 1)


def _are_classes(values: Sequence[Any]) -> bool:
    """Say whether values can name classes: texts or numbers, each once."""
    plain = all(isinstance(one, (str, int, float)) for one in values)
    return plain and 2 <= len(values) <= MOST_CLASSES and len(set(values)) == len(values)


def _is_complete(one: Mapping[str, Any]) -> bool:
    return (
        one["type"] in ("number", "flag", "date") and "fill" not in one and not one.get("missing")
    )


def _limits(name: str, ends: Any) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in ends)
    except (TypeError, ValueError):
        low = high = 0.0
    if not low < high:
        raise ArgumentError(
            f"Column {name!r} has limits {ends!r}; expected two numbers, [low, high]."
        )
    return low, high


def _encoding(name: str, one: Mapping[str, Any]) -> Encoding:
    """Return how one column becomes features."""
    kind, indicator = one["type"], bool(one.get("missing", False))
    check_choice(f"type of column {name!r}", kind, TYPES)
    if kind == "number":
        if indicator and "fill" not in one:
            raise ArgumentError(
                f'Column {name!r} may be missing: say what to fill in, such as "fill": 50.'
            )
        return Number(name, float(one.get("fill", 0.0)), indicator)
    if kind == "flag":
        return Flag(name, indicator)
    if kind == "date":
        parts = tuple(one.get("parts", ("years",)))
        for part in parts:
            check_choice(f"part of column {name!r}", part, PARTS)
        return Date(name, parts, float(one.get("fill", 0.0)), one.get("format"))
    levels = [str(level) for level in one.get("levels", ())]
    if len(levels) < 2 or len(set(levels)) < len(levels):
        raise ArgumentError(
            f'Column {name!r} is a category: name its levels, such as "levels": ["a", "b"].'
        )
    reference = str(one.get("reference", levels[0]))
    others = tuple(level for level in levels if level != reference)
    number = all(level.lstrip("-").isdigit() for level in levels)
    return Category(name, reference, others, bool(one.get("other", True)), number=number)
