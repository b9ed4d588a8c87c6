"""What a target is: a number, a count, or one of several classes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from conjoin._typing import AnyArray, FloatArray
from conjoin.errors import ArgumentError, DataError

FAMILIES = ("auto", "gaussian", "logistic", "poisson")
MOST_CLASSES = 50
FEWEST_ROWS_PER_CLASS = 2  # on average
MOST_SHOWN = 5
LARGEST_LOG = 700.0  # exp(709.8) is the largest double; a larger logarithm would become inf

Label: TypeAlias = str | int | float | bool


@dataclass(frozen=True)
class Response:
    """What the target is.

    Parameters
    ----------
    family : "gaussian", "logistic" or "poisson"
        Least squares, classes or counts.
    classes : tuple of labels
        Of "logistic": the classes in their order; the model's numbers are positions in it.
    """

    family: str = "gaussian"
    classes: tuple[Label, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """Return plain values."""
        return {"family": self.family, "classes": list(self.classes)}

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> "Response":
        """Return the response of plain values; of none it is a number."""
        return cls(values.get("family", "gaussian"), tuple(values.get("classes", ())))

    def codes(self, labels: Sequence[Any]) -> FloatArray:
        """Return the number of each label's class; refuse a label that is none."""
        position = {label: float(i) for i, label in enumerate(self.classes)}
        numbers = []
        for label in labels:
            found = position.get(plain_label(label))
            if found is None:
                raise DataError(
                    f"y has the label {label!r}, which was not there at fitting; classes are "
                    f"{shown_classes(self.classes)}."
                )
            numbers.append(found)
        return np.array(numbers)


def check_family(family: str) -> None:
    """Refuse a family that is unknown."""
    if family not in FAMILIES:
        raise ArgumentError(f"family={family!r} is unknown; expected one of {', '.join(FAMILIES)}.")


def classify(values: AnyArray, target: str) -> tuple[FloatArray, Response]:
    """Return the number of each row's class, nan where it is missing, and the classes.

    `values` are text, numbers or booleans; None, nan and blank text are missing.
    """
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        codes, classes = _number_classes(array)
        if array.dtype.kind == "f":
            _refuse_infinite(array, target)
            _refuse_continuous(classes, target)
    else:
        codes, classes = _text_classes(array)
    rows = int(np.count_nonzero(~np.isnan(codes)))
    if rows and len(classes) > min(MOST_CLASSES, max(rows // FEWEST_ROWS_PER_CLASS, 2)):
        number = array.dtype.kind in "iuf"
        instead = "; a number is for family='gaussian' or JoinRegressor" if number else ""
        raise DataError(
            f"Target {target!r} has {len(classes):,} classes in {rows:,} rows, such as "
            f"{shown_classes(classes)}; expected at most {MOST_CLASSES}, and "
            f"{FEWEST_ROWS_PER_CLASS} rows of each on average. Group them{instead}."
        )
    return codes, Response("logistic", tuple(classes))


def _number_classes(array: AnyArray) -> tuple[FloatArray, list[Label]]:
    known = ~np.isnan(array) if array.dtype.kind == "f" else np.ones(len(array), dtype=bool)
    found, inverse = np.unique(array[known], return_inverse=True)
    codes = np.full(len(array), np.nan)
    codes[known] = inverse
    return codes, [plain_label(value) for value in found]


def _text_classes(array: AnyArray) -> tuple[FloatArray, list[Label]]:
    labels = [None if is_missing_label(value) else plain_label(value) for value in array.tolist()]
    kinds = {type(label) for label in labels if label is not None}
    if len(kinds) > 1 and not kinds <= {int, float, bool}:
        labels = [None if label is None else str(label) for label in labels]
    classes: list[Any] = sorted({label for label in labels if label is not None})
    position = {label: float(i) for i, label in enumerate(classes)}
    return np.array([np.nan if x is None else position[x] for x in labels]), classes


def is_missing_label(value: Any) -> bool:
    """Say whether a label is None, nan or blank text."""
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def plain_label(value: Any) -> Label:
    """Return a label as a value that a file can hold; whole numbers as whole numbers."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def _refuse_infinite(array: AnyArray, target: str) -> None:
    if np.isinf(array).any():
        raise DataError(f"Target {target!r} is infinite in a row; correct or drop the row.")


def _refuse_continuous(classes: Sequence[Any], target: str) -> None:
    fraction = next((x for x in classes if isinstance(x, float) and math.isfinite(x)), None)
    if fraction is not None and len(classes) > 2:
        raise DataError(
            f"Target {target!r} is continuous: it has {len(classes):,} different numbers, such as "
            f"{fraction!r}; choose family='gaussian', or make classes of it."
        )


def check_counts(y: AnyArray, target: str) -> None:
    """Refuse counts below zero."""
    if (y < 0).any():
        raise DataError(
            f"Target {target!r} is {y.min():g} in a row, but family='poisson' is for counts, which "
            "are not negative; choose family='gaussian'."
        )


def shown_classes(classes: Sequence[Any]) -> str:
    """Return some classes in words."""
    words = ", ".join(repr(label) for label in classes[:MOST_SHOWN])
    more = len(classes) - MOST_SHOWN
    return f"{words} and {more} more" if more > 0 else words


def softmax(scores: FloatArray) -> FloatArray:
    """Return probabilities (rows, classes) from log-odds (rows, 1) or scores (rows, classes)."""
    if scores.shape[1] == 1:
        scores = np.concatenate([np.zeros_like(scores), scores], axis=1)
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))


def expected(scores: FloatArray, response: Response) -> FloatArray:
    """Return the expected target (rows,) from a model's linear scores (rows, 1)."""
    line = scores[:, 0]
    return np.exp(np.minimum(line, LARGEST_LOG)) if response.family == "poisson" else line


def most_likely(probabilities: FloatArray, classes: Sequence[Label]) -> AnyArray:
    """Return the label (rows,) of the most likely class from probabilities (rows, classes)."""
    return label_array(classes)[np.argmax(probabilities, axis=1)]


def label_array(classes: Sequence[Label]) -> AnyArray:
    """Return labels as an array of their common type; mixed types become objects."""
    return np.array(classes, dtype=object if len({type(c) for c in classes}) > 1 else None)
