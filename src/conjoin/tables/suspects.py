"""Names of datasets that are nearly the same, and columns that look like identifiers or codes.

A collection, or its names, enter; what a user should look at leaves. Nothing is changed: a number
may be a number whatever its column is called.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.tables.codes import is_code
from conjoin.tables.dataset import DatasetCollection
from conjoin.tables.encoding import Number
from conjoin.tables.leaks import find_leaks

# Last words of names of identifiers, and of codes. Age, year, hour, rooms or quality are none.
IDENTIFIERS = ("id", "ids", "pid", "uid", "uuid", "guid", "nbr", "nr", "no", "sku", "key", "index")
CODES = ("type", "code", "class", "kind", "category", "status", "group", "zip", "postal")
# Days of the week, which few rows may have in some datasets (shops that close on Sundays).
WEEKDAYS = ("weekday", "wday", "dow")
ENDINGS = ("type", "class", "code")  # also as a part of the last word: subtype, zipcode
# Words that make a number of a code: "number of types", "type count".
COUNTS = ("n", "num", "number", "count", "total", "size", "share", "rate", "mean", "avg", "per")
PLACES = ("zip", "postal", "code")  # codes of very many values
FEWEST_CODES = 3  # values of a code: with two, a 0/1 feature is the same as a number
MOST_CODES = 50  # values of a code: with more it names single things
DISTINCT = 0.95  # share of different values from which a column names the rows
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|#")


@dataclass(frozen=True)
class Suspects:
    """What a user should look at.

    Parameters
    ----------
    names : tuple of tuples of str
        Datasets whose names differ in capitals and blanks only.
    identifiers, codes : tuple of str
        Columns of numbers that look like identifiers, and like codes.
    leaks : tuple of str
        Columns of numbers that almost determine the target.
    """

    names: tuple[tuple[str, ...], ...] = ()
    identifiers: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """Return them as plain values, for a model file; what was not found goes without saying.

        >>> Suspects(codes=("type",)).to_plain()
        {'names': (), 'identifiers': (), 'codes': ('type',)}
        """
        plain = asdict(self)
        always = ("names", "identifiers", "codes")  # older versions read them
        return {name: one for name, one in plain.items() if name in always or one}

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> "Suspects":
        """Return what `to_plain` has written."""
        names = tuple(tuple(group) for group in values["names"])
        rest = {name: tuple(one) for name, one in values.items() if name != "names"}
        return cls(names, **rest)


def find_suspects(collection: DatasetCollection) -> Suspects:
    """Return names that are nearly the same, and columns that look like identifiers or codes.

    Parameters
    ----------
    collection : DatasetCollection

    Returns
    -------
    Suspects

    Examples
    --------
    >>> from conjoin.tables.collect import collect
    >>> table = {"city": ["Waco", "waco"] * 20, "type": [1, 2, 3, 4] * 10, "sales": range(40)}
    >>> find_suspects(collect(table, target="sales", by="city"))
    Suspects(names=(('Waco', 'waco'),), identifiers=(), codes=('type',), leaks=())
    """
    position = {name: j for j, name in enumerate(collection.features)}
    identifiers: list[str] = []
    codes: list[str] = []
    for e in collection.schema.encodings:
        if not isinstance(e, Number) or e.name not in position:
            continue
        values = collection.X[:, position[e.name]]
        kind = kind_of(e.name, values) or _kind_by_values(collection, values)
        if kind:
            (identifiers if kind == "identifier" else codes).append(e.name)
    return Suspects(
        similar_names(collection.names), tuple(identifiers), tuple(codes), find_leaks(collection)
    )


def similar_names(names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the names that differ in capitals and blanks only, group by group.

    >>> similar_names(["Austin", "Dallas", "Dallas ", "dallas"])
    (('Dallas', 'Dallas ', 'dallas'),)
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        key = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
        groups.setdefault(key, []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def kind_of(name: str, values: FloatArray) -> str:
    """Say whether a column is an "identifier" or a "code" by its name and values; else "".

    >>> kind_of("store_type", np.array([1.0, 2, 3, 1])), kind_of("age", np.array([31.0, 40, 52]))
    ('code', '')
    """
    words = [word.lower() for word in WORDS.findall(name)]
    if not words or any(word in COUNTS for word in words[:-1]):
        return ""
    last = words[-1]
    names_rows = last in IDENTIFIERS or last in ("#", "number")
    of_week = last in WEEKDAYS or words[-3:] == ["day", "of", "week"]
    names_code = last in CODES or last.endswith(ENDINGS) or of_week
    if not (names_rows or names_code) or not _are_whole(values):
        return ""
    distinct = len(np.unique(values))
    if last == "number":
        return "identifier" if distinct >= DISTINCT * len(values) else ""
    if distinct > MOST_CODES:
        return "identifier" if names_rows or last.endswith(PLACES) else ""
    return "code" if distinct >= FEWEST_CODES else ""


def _are_whole(values: FloatArray) -> bool:
    return bool(values.min() >= 0 and np.all(values == np.rint(values)))


def _kind_by_values(collection: DatasetCollection, values: FloatArray) -> str:
    """Say the same whatever the column is called."""
    if _counts_rows(collection, values):
        return "identifier"
    if len(collection.response.classes) > 2:  # numbers of classes have no mean
        return ""
    return "code" if is_code(values, collection.y, collection.starts) else ""


def _counts_rows(collection: DatasetCollection, values: FloatArray) -> bool:
    """Say whether a column numbers the rows of the table, one after the other."""
    places = collection.positions
    if places is None or len(values) <= MOST_CODES or np.ptp(values) != np.ptp(places):
        return False
    return bool(np.ptp(values - places) == 0)
