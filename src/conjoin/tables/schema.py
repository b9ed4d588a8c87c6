"""The roles of a table's columns and the rule that turns each column into features.

`tables.learn` makes a `Schema` from the training rows. It is then applied to any rows, training or
new ones: a table enters, an array of features (rows, features) leaves.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from conjoin._typing import FloatArray
from conjoin.errors import DataError
from conjoin.families import Response
from conjoin.tables.dates import formats_of, no_date, with_dates
from conjoin.tables.encoding import (
    Category,
    Date,
    Encoding,
    Flag,
    Number,
    Vector,
    as_text,
    date_text,
    from_plain,
    present,
    to_plain,
)
from conjoin.tables.frame import Frame, pieces, with_castable_types
from conjoin.tables.parse import all_fit, is_number
from conjoin.tables.roles import Roles, close_match

# Rows of which all columns are written at a time: whole rows then stay in the cache.
BLOCK = 4096
# Rows of which the pieces of columns are joined at a time; DuckDB's pieces are as long.
LARGE_BLOCK = 32 * BLOCK
KIND_WORDS = {
    "number": "a number",
    "flag": "true/false",
    "category": "text",
    "date": "a date",
    "vector": "a list of numbers",
}


@dataclass(frozen=True)
class Schema:
    """Roles of columns and the rules that turn them into features.

    Parameters
    ----------
    roles : Roles
    encodings : tuple of Encoding
        One for every feature column of the table, also for columns that are left out.
    constant : tuple of str, default ()
        Features with one value in all training rows; they are not used.
    response : Response
        What the target is; by default a number.
    """

    roles: Roles
    encodings: tuple[Encoding, ...]
    constant: tuple[str, ...] = ()
    response: Response = Response()

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the numbers that columns become, in order."""
        constant = set(self.constant)
        return tuple(name for e in self.encodings for name in e.features() if name not in constant)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features of models: the inputs, or what a representation makes of them."""
        return self.inputs

    @property
    def representation(self) -> Any:
        """What computes features from inputs, if they differ (see `representations`), else None."""
        return None

    def represent(self, rows: FloatArray) -> FloatArray:
        """Return the features (rows, features) of inputs (rows, inputs)."""
        return rows

    def extend(self, rows: FloatArray, names: Sequence[str | None]) -> FloatArray:
        """Return rows of features with those that depend on the dataset; by default none do."""
        return rows

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of the table that are used as features."""
        return tuple(e.name for e in self.encodings if set(e.features()) - set(self.constant))

    def expressions(self) -> list[nw.Expr]:
        """Return an expression for each input."""
        return [
            expression
            for e in self.encodings
            for name, expression in zip(e.features(), e.expressions())
            if name not in self.constant
        ]

    def encode(
        self,
        frame: nw.DataFrame[Any],
        what: str = "X",
        dates: Mapping[str, str] | None = None,
    ) -> FloatArray:
        """Return the features of rows in memory, shape (rows, features).

        `dates` are the `date_formats` of a larger table of which the rows are a part.
        """
        return self.represent(self.encode_inputs(frame, what, dates))

    def encode_inputs(
        self,
        frame: nw.DataFrame[Any],
        what: str = "X",
        dates: Mapping[str, str] | None = None,
    ) -> FloatArray:
        """Return the numbers that columns become, shape (rows, inputs); `dates` as in `encode`."""
        known = frame.columns
        absent = [name for name in self.columns if name not in known]
        if absent:
            raise DataError(f"{what} lacks column {absent[0]!r}; {close_match(absent[0], known)}")
        formats = self.date_formats(frame, what) if dates is None else dates
        frame = with_dates(frame, self.encodings, formats)
        kinds = {e.name: e.kind for e in self.encodings if e.name in self.columns}
        numbers = [name for name, kind in kinds.items() if kind in ("number", "flag")]
        numbers += [e.name for e in self.encodings if isinstance(e, Category) and e.number]
        days = [name for name, kind in kinds.items() if kind == "date"]
        for e in self.encodings:
            if isinstance(e, Vector) and e.name in self.columns:
                _check_length(frame.get_column(e.name), len(e.fill), what)
            if isinstance(e, Category) and e.written and e.name in self.columns:
                _check_text(frame.get_column(e.name), e.written, what)
        ready = self._ready(frame)
        selected = self.select(with_castable_types(frame, numbers, days), what, set(ready))
        rows = np.empty((len(frame), len(self.inputs)))
        for name in self.inputs:
            if name not in ready:
                ready[name] = [selected.get_column(name).to_numpy()]
        _write(rows, [ready[name] for name in self.inputs])
        if not np.isfinite(rows).all():
            j = int(np.argmin(np.isfinite(rows).all(axis=0)))
            infinite = np.isinf(rows[:, j]).any()
            fault = "an infinite value" if infinite else "a value that is neither true nor false"
            raise DataError(f"Column {self.inputs[j]!r} of {what} has {fault}; correct or drop it.")
        return rows

    def date_formats(self, frame: Frame, what: str = "X") -> dict[str, str]:
        """Return how columns of text write dates that were no text at fitting."""
        return formats_of(frame, self.encodings, what, self.columns)

    def _ready(self, frame: nw.DataFrame[Any]) -> dict[str, list[FloatArray]]:
        """Return columns of numbers in which nothing is missing: they are inputs as they are.

        Each is in pieces as it is in memory, so that no copy is made.
        """
        found: dict[str, list[FloatArray]] = {}
        for e in self.encodings:
            if not isinstance(e, Number) or e.text or e.indicator or e.name not in self.inputs:
                continue
            column = frame.get_column(e.name)
            if column.dtype == nw.Float64 and len(column) and not column.null_count():
                own = pieces(column)
                if not any(np.isnan(piece.min()) for piece in own):
                    found[e.name] = own
        return found

    def select(self, frame: Any, what: str = "X", ready: Set[str] = frozenset()) -> Any:
        """Return the inputs of a frame as a frame, but for those that are `ready`.

        An engine's error becomes a `DataError`.
        """
        wanted = [one for name, one in zip(self.inputs, self.expressions()) if name not in ready]
        try:
            return frame.select(*wanted)
        except Exception as error:
            raise DataError(self._type_error(frame, what, error)) from None

    def _type_error(self, frame: Any, what: str, error: Exception) -> str:
        """Return the message that names the column whose type has changed since fitting."""
        types = frame.collect_schema()
        for e in (one for one in self.encodings if one.name in types):  # constant ones may lack
            try:
                frame.select(*e.expressions())
            except Exception:
                written = f" written as {e.format}" if isinstance(e, Date) and e.format else ""
                step = "give it the same type."
                if isinstance(e, Date) and not e.format and types[e.name] == nw.String:
                    step = "write dates like 2024-01-31, and leave missing ones empty."
                return (
                    f"Column {e.name!r} of {what} was {KIND_WORDS[e.kind]}{written} at fitting, "
                    f"but now it is {types[e.name]}{_such_as(frame, e)}; {step}"
                )
        return (
            f"The columns of {what} differ from those at fitting: {str(error).splitlines()[0]}; "
            "give them the same names and types."
        )

    def without(self, constant: Sequence[str]) -> "Schema":
        """Return the schema without these features, which have one value in all rows."""
        return replace(self, constant=(*self.constant, *constant))

    def with_means(self, means: FloatArray) -> "Schema":
        """Return the schema with the means of its features, which fill gaps in new rows.

        They serve columns of numbers that have no gap yet; others keep their median.
        """
        mean = dict(zip(self.features, means.tolist()))

        def filled(e: Encoding) -> Encoding:
            if not isinstance(e, Number) or e.missing or e.features()[0] not in mean:
                return e
            return replace(e, fill=mean[e.features()[0]] * e.unit)

        return replace(self, encodings=tuple(filled(e) for e in self.encodings))

    def to_plain(self) -> dict[str, Any]:
        """Return the schema as plain values, for a model file."""
        r = self.roles
        return {
            "target": r.target,
            "by": list(r.by),
            "features": None if r.features is None else list(r.features),
            "weights": r.weights,
            **({"category": list(r.category)} if r.category else {}),
            **({"ignore": list(r.ignore)} if r.ignore else {}),
            **{name: one for name in ("time", "repeat") if (one := getattr(r, name))},
            "columns": [to_plain(e) for e in self.encodings],
            "constant": list(self.constant),
            "response": self.response.to_plain(),
        }

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> "Schema":
        """Return the schema that `to_plain` has written."""
        features = values.get("features")
        roles = Roles(
            values["target"],
            tuple(values["by"]),
            None if features is None else tuple(features),
            values["weights"],
            tuple(values.get("category", ())),
            tuple(values.get("ignore", ())),
            values.get("time"),
            values.get("repeat"),
        )
        encodings = tuple(from_plain(column) for column in values["columns"])
        response = Response.from_plain(values.get("response", {}))
        return cls(roles, encodings, tuple(values["constant"]), response)


def _write(rows: FloatArray, columns: Sequence[Sequence[FloatArray]]) -> None:
    """Write columns in pieces into rows (n, columns), a block of all columns at a time."""
    for first in range(0, len(rows), LARGE_BLOCK):
        last = min(first + LARGE_BLOCK, len(rows))
        parts = [_between(pieces, first, last) for pieces in columns]
        for begin in range(first, last, BLOCK):
            for j, part in enumerate(parts):
                some = part[begin - first : begin - first + BLOCK]
                rows[begin : begin + len(some), j] = some


def _between(pieces: Sequence[FloatArray], first: int, last: int) -> FloatArray:
    """Return the values from `first` to `last` of a column in pieces."""
    found, begin = [], 0
    for piece in pieces:
        some = piece[max(first - begin, 0) : max(last - begin, 0)]
        if len(some):
            found.append(some)
        begin += len(piece)
    return found[0] if len(found) == 1 else np.concatenate(found)


def _check_length(column: nw.Series[Any], entries: int, what: str) -> None:
    """Refuse lists of another length than at fitting: longer ones would be cut without a word."""
    if not isinstance(column.dtype, nw.List):
        return  # arrays have one length in their type, and other types have their own message
    lengths = column.drop_nulls().list.len()
    wrong = lengths.filter(lengths != entries)
    if len(wrong):
        raise DataError(
            f"Column {column.name!r} of {what} has a list of {wrong.item(0)} numbers; at fitting "
            f"all lists had {entries}. Give lists of {entries} numbers."
        )


def _check_text(column: nw.Series[Any], example: str, what: str) -> None:
    """Refuse numbers where texts such as 181,0 were categories: no number is one of them."""
    if column.dtype.is_numeric():
        raise DataError(
            f"Column {column.name!r} of {what} was text such as {example!r} at fitting, but now it "
            "has numbers; fit again with numbers, or give the same texts."
        )


def _such_as(frame: Any, encoding: Encoding) -> str:
    """Return an example value for a message, one of the wrong type if there is one."""
    if isinstance(frame, nw.LazyFrame):
        return ""
    values = frame.get_column(encoding.name).drop_nulls().to_list()
    odd = [v for v in values if not (isinstance(v, str) and is_number(v.strip()))]
    if isinstance(encoding, Date) and encoding.format:
        odd = [v for v in odd if not all_fit([str(v)], encoding.format)]
        odd = [v for v in odd if str(v).strip() not in encoding.odd]
    elif isinstance(encoding, Date) and values and all(isinstance(v, str) for v in values):
        odd = [no_date(values)]
    examples = odd or values
    return f" with values such as {examples[0]!r}" if examples else ""


def complete_rows(schema: Schema) -> nw.Expr:
    """Return an expression that is true where no feature column is missing."""
    found = [~_is_missing(e).cast(nw.Boolean) for e in schema.encodings if e.features()]
    complete = found[0]
    for one in found[1:]:
        complete = complete & one
    return complete


def _is_missing(encoding: Encoding) -> nw.Expr:
    column = nw.col(encoding.name)
    if isinstance(encoding, Number):
        return present(as_text(column) if encoding.text else column).is_null()
    if isinstance(encoding, Date) and encoding.format:
        return date_text(column, encoding.odd).is_null()
    if isinstance(encoding, Category) and encoding.number:
        return present(column).is_null()
    if isinstance(encoding, Category | Flag):
        return as_text(column).is_null()
    return column.is_null()
