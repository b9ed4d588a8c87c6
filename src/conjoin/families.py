"""What a target is: a number, a count, or one of several classes.

Arrays of labels or numbers enter; a `Response` that describes the target, and the target as numbers
that a model can fit, leave. Scores of a model become probabilities and labels here as well. Frames
are handled in `conjoin.tables`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from conjoin._typing import AnyArray, FloatArray
from conjoin.api.request import FAMILIES
from conjoin.checks import check_choice
from conjoin.errors import DataError
from conjoin.text import quoted

# Most classes of a target. A model has columns times classes coefficients and its Gram matrix the
# square of that many numbers; a target with more distinct values is most often a name or a number.
MOST_CLASSES = 50
# Fewest rows of a class on average. With one row for each class there is nothing to learn: such a
# column is an identifier.
FEWEST_ROWS_PER_CLASS = 2
LARGEST_LOG = 700.0  # exp(709.8) is the largest double; a larger logarithm would become inf
LARGEST_COUNT = 1e12  # fits of logarithms follow means up to 1e13 (`models.glm_families`)

Label: TypeAlias = str | int | float | bool


@dataclass(frozen=True)
class Response:
    """What the target is.

    Parameters
    ----------
    family : "gaussian", "logistic" or "poisson", default "gaussian"
        Numbers (least squares), classes or counts.
    classes : tuple of labels, default ()
        The classes in sorted order, for "logistic". A model counts them from 0 in this order.

    Examples
    --------
    >>> response = Response("logistic", ("no", "yes"))
    >>> response.codes(["yes", "no", "yes"])
    array([1., 0., 1.])
    """

    family: str = "gaussian"
    classes: tuple[Label, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """Return the response as values that JSON can hold."""
        return {"family": self.family, "classes": list(self.classes)}

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> "Response":
        """Return the response from what `to_plain` gave; an empty mapping is a number."""
        return cls(values.get("family", "gaussian"), tuple(values.get("classes", ())))

    def codes(self, labels: Sequence[Any]) -> FloatArray:
        """Return the number of each label's class (rows,); an unknown label raises a DataError."""
        position = {label: float(i) for i, label in enumerate(self.classes)}
        numbers = []
        for label in labels:
            found = position.get(plain_label(label))
            if found is None:
                raise DataError(
                    f"y has the label {label!r}, which is not in the training data; expected one "
                    f"of {quoted(self.classes)}."
                )
            numbers.append(found)
        return np.array(numbers)


def check_family(family: str) -> None:
    """Raise an error if a family is unknown."""
    check_choice("family", family, FAMILIES)


def classify(values: AnyArray, target: str) -> tuple[FloatArray, Response]:
    """Return the number of each row's class (rows,), and a response that lists the classes.

    Parameters
    ----------
    values : array (rows,)
        Labels: text, numbers or booleans. None, nan and blank text are missing.
    target : str
        Name of the target, for messages.

    Returns
    -------
    codes : array (rows,)
        Positions in the sorted classes, nan where the label is missing.
    response : Response

    Raises
    ------
    DataError
        If the target is continuous or infinite, or has too many classes.

    Examples
    --------
    >>> codes, response = classify(np.array(["low", "high", "", "low"]), "risk")
    >>> codes, response.classes
    (array([ 1.,  0., nan,  1.]), ('high', 'low'))
    """
    codes, classes = _coded(np.asarray(values), target)
    _refuse_many(classes, int(np.count_nonzero(~np.isnan(codes))), np.asarray(values), target)
    return codes, Response("logistic", tuple(classes))


def response_of(distinct: AnyArray, rows: int, target: str) -> tuple[FloatArray, Response]:
    """Do the same for the distinct values of a target that has so many `rows`.

    >>> response_of(np.array(["low", "high", "mid"]), 90, "risk")[1].classes
    ('high', 'low', 'mid')
    """
    codes, classes = _coded(distinct, target)
    _refuse_many(classes, rows, distinct, target)
    return codes, Response("logistic", tuple(classes))


def _coded(array: AnyArray, target: str) -> tuple[FloatArray, list[Label]]:
    """Return codes (rows,) and classes of a target; refuse infinite and continuous ones."""
    if array.dtype.kind not in "biuf":
        return _text_classes(array)
    codes, classes = _number_classes(array)
    if array.dtype.kind == "f":
        _refuse_infinite(array, target)
        _refuse_continuous(classes, target)
    return codes, classes


def _refuse_many(classes: Sequence[Label], rows: int, array: AnyArray, target: str) -> None:
    """Raise an error if there are too many classes for so many rows."""
    if rows and len(classes) > min(MOST_CLASSES, max(rows // FEWEST_ROWS_PER_CLASS, 2)):
        number = array.dtype.kind in "iuf"
        instead = "; a number is for family='gaussian' or JoinRegressor" if number else ""
        raise DataError(
            f"Target {target!r} has {len(classes):,} classes in {rows:,} rows, such as "
            f"{quoted(classes)}; expected at most {MOST_CLASSES}, and "
            f"{FEWEST_ROWS_PER_CLASS} rows of each on average. Group them{instead}."
        )


def _number_classes(array: AnyArray) -> tuple[FloatArray, list[Label]]:
    """Return codes (rows,) and classes of an array of numbers or booleans."""
    known = ~np.isnan(array) if array.dtype.kind == "f" else np.ones(len(array), dtype=bool)
    found, inverse = np.unique(array[known], return_inverse=True)
    codes = np.full(len(array), np.nan)
    codes[known] = inverse
    return codes, [plain_label(value) for value in found]


def _text_classes(array: AnyArray) -> tuple[FloatArray, list[Label]]:
    """Return codes (rows,) and classes of an array of objects; mixed types become text."""
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
    """Return a label as a value that a file can hold; a whole number as an int.

    >>> plain_label(np.float64(3.0)), plain_label("3")
    (3, '3')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def _refuse_infinite(array: AnyArray, target: str) -> None:
    """Raise an error if a target of classes has an infinite value."""
    if np.isinf(array).any():
        raise DataError(f"Target {target!r} is infinite in a row; correct or drop the row.")


def _refuse_continuous(classes: Sequence[Any], target: str) -> None:
    """Raise an error if there are more than two numbers, and not all are whole."""
    fraction = next((x for x in classes if isinstance(x, float) and math.isfinite(x)), None)
    if fraction is not None and len(classes) > 2:
        raise DataError(
            f"Target {target!r} is continuous: it has {len(classes):,} different numbers, such as "
            f"{fraction!r}; choose family='gaussian', or turn it into classes."
        )


def check_counts(y: AnyArray, target: str) -> None:
    """Raise an error if a count (rows,) is below zero, or too large for its logarithm's fit."""
    if (y < 0).any():
        raise DataError(
            f"Target {target!r} is {y.min():g} in a row, but family='poisson' is for counts, which "
            "cannot be negative; choose family='gaussian'."
        )
    if (y > LARGEST_COUNT).any():
        raise DataError(
            f"Target {target!r} is {y.max():g} in a row, which is too large for family='poisson'; "
            f"expected counts up to {LARGEST_COUNT:g}. Use a larger unit, or family='gaussian'."
        )


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
