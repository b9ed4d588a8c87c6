"""Whether the content of a model file can be what `result.store` writes.

Plain values of a file enter; a `ReadError` that names the part leaves if something cannot be used.
A checksum shows that a file was changed by accident. Who changes it on purpose can write a new
one, so every part is checked before it is used: its type, its length, its range. Sizes of arrays
are those of their bytes, so memory stays a small multiple of the file.

Parts that a newer version may add are not looked at here.
"""

import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

from conjoin.api.request import FAMILIES
from conjoin.errors import ReadError

ADVICE = "fit the model again, or fetch the original file."
# Largest number that a model may hold. Products of two such numbers, summed over columns, are still
# finite, so predictions are.
LARGEST = 1e150
BYTES = {"<f8": 8, "<f4": 4, "<i4": 4}  # kinds of arrays that are written
VERDICTS = ("join", "apart", "undecided")

Check = Callable[[Any, str], None]


class Fault(ReadError):  # noqa: N818 (it is a finding, and `fault` makes it)
    """A part of a file cannot be used; `sentence` says which, without the kind of file."""

    def __init__(self, sentence: str) -> None:
        super().__init__(f"The model file cannot be used: {sentence}; {ADVICE}")
        self.sentence = sentence


def fault(sentence: str) -> ReadError:
    """Return the error for a file that cannot be used."""
    return Fault(sentence)


def check_content(content: Any) -> None:
    """Raise an error if the content of a model file cannot be used."""
    record(
        {
            "datasets": list_of(text),
            "labels": list_of(whole),
            "schema": _schema,
            "models": mapping,
            "strategy": text,
            "method": text,
            "grouping": text,
        },
        {"settings": mapping, "extra": mapping},
    )(content, "the file")
    names, labels = content["datasets"], content["labels"]
    K, C = len(names), len(set(labels))
    if not names or len(set(names)) != K or len(labels) != K:
        raise fault(f"{len(labels)} labels do not fit {K} datasets")
    if set(labels) != set(range(C)):
        raise fault("the labels of clusters are not 0, 1, 2 and so on")
    _check_models(content["models"], K, C)
    members, errors = list_of(one_of(range(K))), map_of(list_of(number))
    merge = record(
        {"left": members, "right": members, "verdict": one_of(VERDICTS), "gain": number,
         "interval": list_of(number, 2)},
        {"judged_by": text},
    )  # fmt: skip
    line = record({"score": both(record({"join": boolean}), map_of(_mark))})
    record(
        {
            "limits": map_of(list_of(limit, 2)),
            "weights": map_of(finite),
            "errors": errors,
            "ledger": list_of(both(merge, line)),
            "alternatives": list_of(list_of(_alternative(C)), K),
            "placement": _placement(C),
        },
        {
            "copies": whole,
            "details": optional(_details(K, C, merge)),
            "stability": optional(record({"labels": array(None, K), "agreement": number})),
            "improvements": map_of(_improvement),
            "join_changes": list_of(_change(members)),
            "findings": _findings,
        },
    )(content, "the file")
    record({"delta": finite}, {"data": list_of(text)})(content.get("settings"), "the settings")
    if content["strategy"] not in content["errors"]:
        raise fault(f"the strategy {content['strategy'][:40]!r} has no error")
    for name, values in content["errors"].items():
        if len(values) not in (3, 5) or float(values[0]) < 0:
            raise fault(f"the error of strategy {name!r} is {values[:1]}")


def _check_models(models: Mapping[str, Any], K: int, C: int) -> None:
    """Check the models of datasets, of clusters, and the pooled one."""
    for kind, count in (("datasets", K), ("clusters", C), ("pooled", 1)):
        what = f"models of {kind}"
        record({kind: mapping})(models, "models")
        record(
            {"rows": list_of(whole, count), "error": list_of(number, count),
             "intercept": list_of(level), "coef": array(None, None)}
        )(models[kind], what)  # fmt: skip
        lines = len(models[kind]["intercept"])
        if lines % count or lines < count or models[kind]["coef"]["shape"][0] != lines:
            raise fault(f"{what} have {lines} lines for {count} models")


def _schema(values: Any, what: str) -> None:
    texts = list_of(text)
    column = record(
        {"kind": text, "name": text},
        {"fill": _fill, "unit": _unit, "missing": whole, "pooled": whole, "unread": whole,
         "indicator": boolean, "text": boolean, "other": boolean, "number": boolean,
         "reference": text, "reason": text, "written": text, "levels": texts, "parts": texts,
         "odd": texts, "format": optional(text)},
    )  # fmt: skip
    record(
        {"target": text, "by": list_of(text), "columns": list_of(column), "constant": list_of(text)}
    )(values, "the schema")
    names = [one["name"] for one in values["columns"]]
    for one in values["columns"]:
        if not isinstance(one.get("fill", 0.0), list):
            finite(one.get("fill", 0.0) / one.get("unit", 1.0), f"'fill' of {one['name']!r}")
    if len(set(names)) != len(names):
        raise fault("two columns have the same name")
    record({}, {"features": optional(list_of(text)), "weights": optional(text)})(values, what)
    response = values.get("response", {})
    record({}, {"family": one_of(FAMILIES), "classes": list_of(anything)})(response, "the target")
    classes = response.get("classes", [])
    few = len(classes) < 2 if response.get("family") == "logistic" else len(classes) > 0
    if few or len({repr(one) for one in classes}) != len(classes):
        raise fault(f"the target has {len(classes)} classes")


def _fill(value: Any, what: str) -> None:
    """Accept what stands for a missing value: a number, or one for each entry of a list."""
    (list_of(finite) if isinstance(value, list) else any_size)(value, what)


def _unit(value: Any, what: str) -> None:
    """Accept a power of two."""
    any_size(value, what)
    if math.frexp(value)[0] != 0.5:
        raise fault(f"{what} is {_short(value)}, expected a power of two")


def _mark(value: Any, what: str) -> None:
    """Accept what a method says of a pair: true, false or a number."""
    if not isinstance(value, bool):
        number(value, what)


def _alternative(C: int) -> Check:
    def check(value: Any, what: str) -> None:
        list_of(anything)(value, what)
        if len(value) not in (5, 6):  # the sixth says what judged it; older files lack it
            raise fault(f"{what} has {len(value)} values")
        one_of(range(C))(value[0], what)
        one_of(VERDICTS)(value[1], what)
        list_of(number)(value[2:5], what)
        list_of(text)(value[5:], what)

    return check


def _improvement(value: Any, what: str) -> None:
    one = record({"numbers": list_of(number, 7), "carriers": list_of(text)}, {"typical": number})
    dataset = optional(pair(text, finite))
    record(
        {"over": map_of(one), "lower": whole, "higher": whole, "winner": dataset, "loser": dataset},
        {"loser_separate": number},
    )(value, what)


def _change(members: Check) -> Check:
    def check(value: Any, what: str) -> None:
        list_of(anything, 4)(value, what)
        list_of(members)(value[:2], what)
        list_of(number)(value[2:], what)

    return check


def _outlier(value: Any, what: str) -> None:
    record({"row": optional(whole), "dataset": text, "column": text}, {"value": optional(finite)})(
        value, what
    )


def _findings(value: Any, what: str) -> None:
    answer = optional(
        record({"clusters": whole, "datasets": whole, "strategy": text, "verdict": text})
    )
    suspects = record(
        {"names": list_of(list_of(text)), "identifiers": list_of(text), "codes": list_of(text)},
        {"leaks": list_of(text), "repeated": list_of(text), "measured": list_of(text)},
    )
    record(
        {},
        {
            "outliers": list_of(_outlier),
            "left_out": boolean,
            "asked": boolean,
            "with_them": answer,
            "without_them": answer,
            "lighter": whole,
            "suspects": suspects,
            "by": list_of(text),
            "from_files": boolean,
            "promise": text,
        },
    )(value, what)


def _placement(C: int) -> Check:
    basis = record(
        {"center": array(None), "scale": array(None), "target_center": finite,
         "target_scale": finite, "intercept": boolean}
    )  # fmt: skip
    prior = record({"name": text, "weight": finite, "noise": number, "noise_df": number})
    return record(
        {
            "basis": basis,
            "noise": number,
            "centre": array(C + 1, None),
            "covariance": array(C + 1, None, None),
            "datasets": array(C + 1),
            "means": array(C, None),
        },
        {"priors": list_of(prior)},
    )


def _details(K: int, C: int, merge: Check) -> Check:
    return record(
        {
            "errors": map_of(array(K)),
            "own": array(K, None),
            "own_spread": array(K, None),
            "degrees": array(K),
            "cluster_spread": array(C, None),
            "noise": array(K),
            "dependent": whole,
            "far": map_of(number),
            "upper": list_of(merge),
        },
        {"map": optional(_map(K)), "weights": array(K)},
    )


def _map(K: int) -> Check:
    fields = ("gain", "judged", "verdict", "low", "high")
    known = record(
        {"groups": list_of(list_of(one_of(range(K)))), **{name: array(None) for name in fields}}
    )

    def check(value: Any, what: str) -> None:
        known(value, what)
        M = len(value["groups"])
        shown = sorted(k for group in value["groups"] for k in group)
        if shown != list(range(K)) or not all(value["groups"]):
            raise fault("the map does not show every dataset once")
        sizes = [value[name]["shape"][0] for name in fields]
        pairs = M * (M - 1) // 2
        if sizes[0] != pairs or len(set(sizes[1:])) != 1 or sizes[1] > pairs:
            raise fault(f"the map of {M} groups has {sizes[0]} gains")

    return check


# --- kinds of values -----------------------------------------------------------------------------


def anything(value: Any, what: str) -> None:
    """Accept any value."""


def text(value: Any, what: str) -> None:
    """Accept a text."""
    if not isinstance(value, str):
        raise fault(f"{what} is {_short(value)}, expected a text")


def boolean(value: Any, what: str) -> None:
    """Accept true and false."""
    if not isinstance(value, bool):
        raise fault(f"{what} is {_short(value)}, expected true or false")


def whole(value: Any, what: str) -> None:
    """Accept a whole number that is not negative."""
    if type(value) is not int or not 0 <= value < 2**53:
        raise fault(f"{what} is {_short(value)}, expected a whole number")


def number(value: Any, what: str) -> None:
    """Accept a number, also nan and infinity as texts.

    Errors are squares, so they may be larger than what a model holds; nothing multiplies them.
    """
    if type(value) in (int, float) and abs(value) <= LARGEST**2:
        return
    if isinstance(value, str) and value in ("nan", "inf", "-inf"):
        return
    if isinstance(value, str) and len(value) < 40:
        try:
            float(value)
            return
        except ValueError:
            pass
    raise fault(f"{what} is {_short(value)}, expected a number")


def level(value: Any, what: str) -> None:
    """Accept an intercept: a slope times an offset, which nothing multiplies."""
    if type(value) not in (int, float) or not abs(value) <= LARGEST**2:
        raise fault(f"{what} is {_short(value)}, expected a finite number")


def limit(value: Any, what: str) -> None:
    """Accept a finite number, or the text of an infinite one: predictions of learners have none."""
    if value not in ("inf", "-inf"):
        finite(value, what)


def any_size(value: Any, what: str) -> None:
    """Accept a finite number of any size: it is divided before it is used."""
    if type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
        raise fault(f"{what} is {_short(value)}, expected a finite number")


def finite(value: Any, what: str) -> None:
    """Accept a finite number."""
    if type(value) not in (int, float) or not abs(value) <= LARGEST:  # also not a number
        raise fault(f"{what} is {_short(value)}, expected a finite number")


def mapping(value: Any, what: str) -> None:
    """Accept a mapping."""
    if not isinstance(value, dict):
        raise fault(f"{what} is {_short(value)}, expected a mapping")


def one_of(values: Any) -> Check:
    """Accept one of some values."""

    def check(value: Any, what: str) -> None:
        if isinstance(value, bool | float) or not isinstance(value, int | str):
            raise fault(f"{what} is {_short(value)}")
        if value not in values:
            raise fault(f"{what} is {_short(value)}")

    return check


def list_of(item: Check, length: int | None = None) -> Check:
    """Accept a list of values of one kind."""

    def check(value: Any, what: str) -> None:
        if not isinstance(value, list) or length not in (None, len(value)):
            expected = "a list" if length is None else f"a list of {length}"
            raise fault(f"{what} is {_short(value)}, expected {expected}")
        for one in value:
            item(one, what)

    return check


def map_of(item: Check) -> Check:
    """Accept a mapping whose values are of one kind."""

    def check(value: Any, what: str) -> None:
        mapping(value, what)
        for name, one in value.items():
            item(one, f"{what}, {name[:40]!r},")

    return check


def record(required: Mapping[str, Check], extra: Mapping[str, Check] | None = None) -> Check:
    """Accept a mapping with required and perhaps extra keys; others are not looked at."""

    def check(value: Any, what: str) -> None:
        mapping(value, what)
        for name, one in required.items():
            if name not in value:
                raise fault(f"{what} lacks {name!r}")
            one(value[name], f"{name!r} of {what}")
        for name, one in (extra or {}).items():
            if name in value:
                one(value[name], f"{name!r} of {what}")

    return check


def optional(item: Check) -> Check:
    """Accept null as well."""

    def check(value: Any, what: str) -> None:
        if value is not None:
            item(value, what)

    return check


def pair(first: Check, second: Check) -> Check:
    """Accept a list of two values of given kinds."""

    def check(value: Any, what: str) -> None:
        list_of(anything, 2)(value, what)
        first(value[0], what)
        second(value[1], what)

    return check


def both(first: Check, second: Check) -> Check:
    """Accept what two checks accept."""

    def check(value: Any, what: str) -> None:
        first(value, what)
        second(value, what)

    return check


def array(*shape: int | None) -> Check:
    """Accept an array of `result.arrays` whose sizes are given, or None where any will do."""

    def check(value: Any, what: str) -> None:
        record({"shape": list_of(whole), "base64": text}, {"kind": one_of(BYTES)})(value, what)
        found = value["shape"]
        if len(found) != len(shape) or any(s not in (None, f) for s, f in zip(shape, found)):
            raise fault(f"{what} is an array of the shape {str(found)[:40]}")
        size = math.prod(found) * BYTES[value.get("kind", "<f8")]
        if len(value["base64"]) != 4 * math.ceil(size / 3):
            raise fault(f"{what} is an array of {str(found)[:40]}, but its bytes are not as many")

    return check


def _short(value: Any) -> str:
    """Return a value for a message."""
    if isinstance(value, dict | list):
        return f"a {type(value).__name__} of {len(value)}"
    return repr(value)[:40]
