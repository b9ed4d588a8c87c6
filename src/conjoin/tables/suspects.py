"""Names of datasets that are nearly the same, and columns that look like identifiers or codes.

A collection, or its names, enter; what a user should look at leaves. Nothing is changed: a number
may be a number whatever its column is called.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.tables.codes import is_code
from conjoin.tables.dataset import DatasetCollection
from conjoin.tables.encoding import Number
from conjoin.tables.leaks import find_leaks
from conjoin.tables.parse import is_number

# Last words of names of identifiers, and of codes. Age, year, hour, rooms or quality are none.
IDENTIFIERS = ("id", "ids", "pid", "uid", "uuid", "guid", "nbr", "nr", "no", "sku", "key", "index")
CODES = ("type", "code", "class", "kind", "category", "status", "group", "zip", "postal")
# Single words that name whom rows are about. Counts may be called so too: see FEWEST_NAMED.
ENTITIES = (
    "firm", "company", "plant", "factory", "store", "shop", "branch", "person", "individual",
    "respondent", "patient", "subject", "customer", "client", "user", "student", "pupil", "teacher",
    "school", "household", "worker", "employee", "player", "county", "municipality", "district",
    "country", "city", "farm", "station", "machine", "device", "sensor", "vehicle",
)  # fmt: skip
FEWEST_NAMED = 21  # values of a column called `person`: with fewer it may be their number
DENSE = 0.3  # share of the whole numbers in its range that it has; incomes have far fewer
# Days of the week, which few rows may have in some datasets (shops that close on Sundays).
WEEKDAYS = ("weekday", "wday", "dow")
ENDINGS = ("type", "class", "code")  # also as a part of the last word: subtype, zipcode
# Words that make a number of a code: "number of types", "type count".
COUNTS = ("n", "num", "number", "count", "total", "size", "share", "rate", "mean", "avg", "per")
PLACES = ("zip", "postal", "code")  # codes of very many values
FEWEST_CODES = 3  # values of a code: with two, a 0/1 feature is the same as a number
MOST_CODES = 50  # values of a code: with more it names single things
FEWEST_MEASURED = 20  # datasets; with fewer, numbers with decimals may be doses or versions
FRACTIONS = 0.5  # share of names with decimals: measured tenths have them in nine of ten
SHOWN = 3  # names of measured datasets that are shown
MANY_ROWS = 2  # rows per value from which an identifier repeats
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
    repeated : tuple of str
        Those of the identifiers and codes that name whom a row is about, with several rows each.
    measured : tuple of str
        Names of datasets, if they are numbers with decimals; the first few.
    """

    names: tuple[tuple[str, ...], ...] = ()
    identifiers: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()

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
    >>> found = find_suspects(collect(table, target="sales", by="city"))
    >>> found.names, found.codes
    ((('Waco', 'waco'),), ('type',))
    """
    position = {name: j for j, name in enumerate(collection.features)}
    identifiers: list[str] = []
    codes: list[str] = []
    repeated: list[str] = []
    for e in collection.schema.encodings:
        if not isinstance(e, Number) or e.name not in position:
            continue
        values = collection.X[:, position[e.name]]
        kind = kind_of(e.name, values) or _kind_by_values(collection, values)
        if kind:
            (identifiers if kind == "identifier" else codes).append(e.name)
            if _names_rows(e.name) and _repeats(collection, values):
                repeated.append(e.name)
    return replace(
        find_in_names(collection.names, collection.schema.roles.by),
        identifiers=tuple(identifiers),
        codes=tuple(codes),
        leaks=find_leaks(collection),
        repeated=tuple(repeated),
    )


def find_in_names(names: Sequence[str], by: Sequence[str]) -> Suspects:
    """Return what the names of datasets show; the columns `by` have named them.

    >>> find_in_names([f"{k / 10}" for k in range(300, 330)], ["length"]).measured
    ('30.0', '30.1', '30.2')
    """
    measured = len(by) == 1 and len(names) >= FEWEST_MEASURED and all(map(is_number, names))
    fractions = sum("." in name for name in names)
    shown = names[:SHOWN] if measured and fractions >= FRACTIONS * len(names) else ()
    return Suspects(similar_names(names), measured=tuple(shown))


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
    if words[0] in ENTITIES and len(words) == 1:
        return _kind_of_entity(values)
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


def _kind_of_entity(values: FloatArray) -> str:
    """Say the same of a column whose name is that of persons or firms."""
    if not _are_whole(values):
        return ""
    distinct = len(np.unique(values))
    if distinct < FEWEST_NAMED or distinct < DENSE * (np.ptp(values) + 1):
        return ""
    return "identifier" if distinct > MOST_CODES else "code"


def _names_rows(name: str) -> bool:
    """Say whether a name is one of persons, firms or other things that rows are about."""
    words = [word.lower() for word in WORDS.findall(name)]
    return bool(words) and (words[-1] in IDENTIFIERS or (len(words) == 1 and words[0] in ENTITIES))


def _repeats(collection: DatasetCollection, values: FloatArray) -> bool:
    """Say whether many values have several rows, and datasets have several values."""
    distinct = len(np.unique(values))
    if collection.schema.roles.repeat is not None or distinct < FEWEST_NAMED:
        return False
    several = np.minimum.reduceat(values, collection.starts[:-1]) != np.maximum.reduceat(
        values, collection.starts[:-1]
    )
    return bool(MANY_ROWS * distinct <= len(values) and several.any())


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
