"""A site's own register of what it has exported, against differences of two exports.

Two exports whose rows differ in one patient give that patient's row when one is subtracted from the
other. A site cannot see this from one export. So it keeps a ledger: fingerprints of the rows of
every export (`sites.prints`), from which no row can be recovered. A new export that differs from an
earlier one in few rows is refused; the same rows may leave again.

The same rows can leave with other values, if a second plan has other limits, fills or trees. So
there are fingerprints of the columns too, as they leave: two that differ in few rows are refused.
A column that a plan reads otherwise than an earlier one, so that values change, needs `i_know`:
of many changed rows, few may have a level.

A folder of the site holds two files: `conjoin-ledger.json`, and `conjoin-ledger.key` with the
secret of the fingerprints. Neither leaves the site. Every entry is signed with the secret and with
the entry before, so that a changed or missing one is noticed. The ledger also adds up what exports
with differential privacy have spent, and the numbers that rounds have sent.
"""

import base64
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.errors import ArgumentError, ReadError
from conjoin.files import write_text
from conjoin.sites.prints import (
    Print,
    buckets_for,
    differing,
    hash_rows,
    take_column_prints,
    take_prints,
)
from conjoin.sites.privacy import MOST_EPSILON, Budget
from conjoin.sites.rules import Finding, Leaving, Rules

LEDGER, KEY = "conjoin-ledger.json", "conjoin-ledger.key"
SECRET_BYTES = 32  # as long as the keys of ciphers in use


@dataclass(frozen=True, eq=False)
class Identity:
    """What tells rows apart: the columns of the site's table, as numbers.

    Parameters
    ----------
    names : tuple of str
        Columns, sorted.
    values : tuple of arrays (n,)
        A column each: numbers as they are, texts as numbers that follow from the text.
    """

    names: tuple[str, ...]
    values: tuple[FloatArray, ...]

    def taking(self, rows: IntArray) -> "Identity":
        """Return some rows, or all in another order."""
        return replace(self, values=tuple(column[rows] for column in self.values))

    @classmethod
    def of_leaving(cls, leaving: Leaving) -> "Identity":
        """Take the exported columns, where nothing else is known."""
        order = sorted(range(len(leaving.columns)), key=leaving.columns.__getitem__)
        names = tuple(leaving.columns[j] for j in order)
        columns = leaving.by_column()
        return cls(names, tuple(np.ascontiguousarray(columns[j]) for j in order))

    @classmethod
    def of_frame(
        cls, frame: nw.DataFrame[Any], known: Mapping[str, FloatArray] | None = None
    ) -> "Identity":
        """Take all columns of a table, also those that are not exported.

        `known` are columns that are there as numbers already, without missing values. A plan that
        asks for other columns of the same table then meets the same fingerprints.

        >>> import pandas as pd
        >>> table = pd.DataFrame({"b": ["x", None, "x"], "a": [1.5, 2.5, 1.5]})
        >>> found = Identity.of_frame(nw.from_native(table, eager_only=True))
        >>> found.names, bool(found.values[1][0] == found.values[1][2])
        (('a', 'b'), True)
        """
        names, ready = tuple(sorted(frame.columns)), known or {}
        return cls(
            names,
            tuple(
                ready[name] if name in ready else _as_numbers(frame.get_column(name))
                for name in names
            ),
        )


def _as_numbers(column: nw.Series[Any]) -> FloatArray:
    """Return numbers of a column, so that equal values have equal ones; missing ones are -1/3."""
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        values = column.cast(nw.Float64).to_numpy().astype(np.float64, copy=False)
        missing = np.isnan(values)  # nulls become nan
        return np.where(missing, -1 / 3, values) if missing.any() else values
    numbers: dict[Any, float] = {}
    texts = [str(value) for value in column.to_list()]
    for text in set(texts):
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).digest()
        numbers[text] = float(int.from_bytes(digest, "big"))  # 48 bits: exact as a float
    return np.array([numbers[text] for text in texts])


@dataclass(frozen=True)
class Ledger:
    """A site's register of its exports.

    Parameters
    ----------
    folder : Path
        Where the files are.
    secret : bytes
        Key of the fingerprints.
    entries : tuple of dict
        One for each export or round, as plain values.

    Examples
    --------
    >>> import tempfile
    >>> rng, zeros = np.random.default_rng(0), np.zeros(90, dtype=np.int64)
    >>> rows = Leaving(("age",), ("age",), rng.normal(size=(90, 1)), "cost", rng.normal(size=90),
    ...                ("clinic",), zeros, zeros)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger.open(folder)
    ...     ledger = ledger.record(rows, Rules(), {"site": "clinic"})
    ...     same = ledger.compare(rows, Rules())
    ...     fewer = ledger.compare(rows.chosen(np.arange(90) != 7), Rules())
    >>> same
    ()
    >>> print(fewer[0].sentence)
    All rows of this export and all rows of export 1 differ in 1 row; at least 11 are needed.
    """

    folder: Path
    secret: bytes
    entries: tuple[dict[str, Any], ...] = ()

    @classmethod
    def open(cls, folder: str | Path) -> "Ledger":
        """Read the ledger of a folder, or begin one.

        Raises
        ------
        ArgumentError
            If the folder does not exist.
        ReadError
            If the ledger was changed, or its secret is missing.
        """
        place = Path(folder)
        if not place.is_dir():
            raise ArgumentError(f"Folder {str(place)!r} for the ledger does not exist; make it.")
        ledger, key = place / LEDGER, place / KEY
        if ledger.exists() and not key.exists():
            raise ReadError(
                f"The ledger's secret {str(key)!r} is missing, so that this export cannot be "
                "compared with earlier ones; bring the file back."
            )
        found = cls(place, _secret(key))
        return replace(found, entries=found._read(ledger)) if ledger.exists() else found

    def compare(
        self,
        leaving: Leaving,
        rules: Rules,
        identity: Identity | None = None,
        *,
        i_know: bool = False,
    ) -> tuple[Finding, ...]:
        """Return what the difference to an earlier export would disclose.

        Parameters
        ----------
        leaving : Leaving
            The rows of the new export, after levels were merged and folds joined.
        rules : Rules
            `rows` is the fewest rows in which two exports may differ, if they differ.
        identity : Identity, optional
            What tells rows apart; the exported columns if None. If an earlier export was told
            apart by other columns, numbers of rows and readings are compared.
        i_know : bool, default False
            Whether many rows may have other values than before, because a plan reads a column
            otherwise than an earlier one.
        """
        identity = Identity.of_leaving(leaving) if identity is None else identity
        found: list[Finding] = []
        taken: dict[int, tuple[tuple[Print, ...], tuple[Print, ...]]] = {}
        for number, entry in enumerate(self.entries, start=1):
            if not entry["sets"]:
                continue
            buckets = entry["buckets"]
            if buckets not in taken:
                taken[buckets] = self._prints(leaving, identity, buckets)
            rows, columns = taken[buckets]
            before = [_from_plain(one) for one in entry["sets"]]
            values = [_from_plain(one) for one in entry.get("columns", ())]
            same = entry["identity"] == list(identity.names)
            if same and _left_before(rows, before) and _left_before(columns, values):
                return ()
            pair = (_few if same else _few_counts)(rows, before, rules.rows)
            # Entries of older ledgers have no prints of columns.
            other = _few(columns, values, rules.rows) if same and values else None
            read = _read_otherwise(leaving.readings, entry.get("readings", {}))
            changed = [name for name in read if not (same and _are_equal(name, columns, values))]
            if pair is not None:
                found.append(_finding(*pair, number, rules.rows))
            elif other is not None:
                found.append(_value_finding(*other, number, rules.rows))
            elif changed and not i_know:
                found.append(_reading_finding(changed[0], number))
        return tuple(found)

    def _prints(
        self, leaving: Leaving, identity: Identity, buckets: int
    ) -> tuple[tuple[Print, ...], tuple[Print, ...]]:
        """Return the fingerprints of the rows, and those of the columns as they leave."""
        hashed = hash_rows(identity.values, self.secret, buckets)
        return (
            take_prints(leaving, hashed, self.secret),
            take_column_prints(leaving, hashed, self.secret),
        )

    def record(
        self,
        leaving: Leaving,
        rules: Rules,
        about: Mapping[str, Any],
        *,
        identity: Identity | None = None,
        budget: Budget | None = None,
    ) -> "Ledger":
        """Add an export to the ledger, on disk as well; call it before the file is written.

        Parameters
        ----------
        leaving, rules, identity
            As for `compare`.
        about : mapping
            What the site's officer wants to find again: site, plan, file, time. Plain values.
        budget : Budget, optional
            What the export spends. With it no fingerprints are kept: noise hides differences.

        Raises
        ------
        ArgumentError
            If all exports together would spend more than `MOST_EPSILON`.
        """
        identity = Identity.of_leaving(leaving) if identity is None else identity
        buckets = buckets_for(rules.rows)
        sets: Sequence[Print] = ()
        columns: Sequence[Print] = ()
        if budget is None:
            sets, columns = self._prints(leaving, identity, buckets)
        else:
            self.check_budget(budget)
        return self._append(
            {
                "about": dict(about),
                "epsilon": 0.0 if budget is None else budget.epsilon,
                "delta": 0.0 if budget is None else budget.delta,
                "numbers": 0,
                "buckets": buckets,
                "identity": list(identity.names),
                "sets": [_to_plain(one) for one in sets],
                "columns": [_to_plain(one) for one in columns],
                "readings": dict(leaving.readings) if budget is None else {},
            }
        )

    def record_round(self, plan: str, numbers: int) -> "Ledger":
        """Add the answer of a round: so many numbers of each fold left, under a plan.

        An export that was added meanwhile stays.
        """
        entry = {"about": {"plan": plan}, "epsilon": 0.0, "delta": 0.0, "numbers": int(numbers)}
        return Ledger.open(self.folder)._append(
            {**entry, "buckets": 0, "identity": [], "sets": [], "columns": [], "readings": {}}
        )

    def numbers(self, plan: str) -> int:
        """Return how many numbers of each fold have left in rounds under a plan."""
        return sum(e["numbers"] for e in self.entries if e["about"].get("plan") == plan)

    def spent(self) -> tuple[float, float]:
        """Return epsilon and delta of all exports together: their sums."""
        return (
            float(sum(e["epsilon"] for e in self.entries)),
            float(sum(e["delta"] for e in self.entries)),
        )

    def check_budget(self, budget: Budget) -> None:
        """Refuse an export with which all together would spend more than `MOST_EPSILON`."""
        before = self.spent()[0]
        if before + budget.epsilon > MOST_EPSILON:
            raise ArgumentError(
                f"epsilon={budget.epsilon:g} is more than is left: earlier exports have spent "
                f"{before:g} of {MOST_EPSILON:g}; use the file that was exported before."
            )

    def _append(self, entry: dict[str, Any]) -> "Ledger":
        before = self.entries[-1]["signature"] if self.entries else ""
        entries = (*self.entries, {**entry, "signature": self._sign(entry, before)})
        path = self.folder / LEDGER
        _keep_secret(self.folder / KEY, self.secret)
        if path.exists() and self._read(path) != self.entries:
            raise ReadError(
                f"The ledger {str(path)!r} got an entry meanwhile, so that this export was not "
                "compared with it; export again."
            )
        write_text(path, json.dumps({"ledger": 1, "exports": entries}, indent=1))
        path.chmod(0o600)  # counts of levels are not for others' eyes
        return replace(self, entries=entries)

    def _sign(self, entry: Mapping[str, Any], before: str) -> str:
        text = json.dumps([before, {k: v for k, v in entry.items() if k != "signature"}])
        return hashlib.blake2b(text.encode(), key=self.secret, digest_size=16).hexdigest()

    def _read(self, path: Path) -> tuple[dict[str, Any], ...]:
        """Read the entries, and check their signatures."""
        try:
            entries = json.loads(path.read_text())["exports"]
            before = ""
            for entry in entries:
                if not hmac.compare_digest(self._sign(entry, before), str(entry["signature"])):
                    raise ValueError
                before = entry["signature"]
        except OSError as error:
            raise ReadError(f"The ledger {str(path)!r} cannot be read: {error.strerror}.") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ReadError(
                f"The ledger {str(path)!r} was changed or belongs to another secret; bring back "
                "the last copy of both files."
            ) from None
        return tuple(entries)


def _secret(path: Path) -> bytes:
    """Read the secret of a folder, or make one; it is written with the first entry."""
    if not path.exists():
        return secrets.token_bytes(SECRET_BYTES)
    try:
        secret = bytes.fromhex(path.read_text().strip())
    except OSError as error:
        raise _unusable(path, error) from None
    except ValueError:
        secret = b""
    if len(secret) != SECRET_BYTES:
        raise ReadError(f"The ledger's secret {str(path)!r} was changed; bring the file back.")
    return secret


def _keep_secret(path: Path, secret: bytes) -> None:
    """Write the secret of a folder that has none, so that only its owner can read it."""
    if path.exists():
        if _secret(path) != secret:
            raise ReadError(
                f"The ledger's secret {str(path)!r} was made by another export meanwhile; export "
                "again."
            )
        return
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secret.hex())
    except OSError as error:
        raise _unusable(path, error) from None


def _unusable(path: Path, error: OSError) -> ReadError:
    return ReadError(
        f"The ledger's secret {str(path)!r} cannot be used: {error.strerror}; choose a folder that "
        "you can write to."
    )


def _few(new: Sequence[Print], old: Sequence[Print], rows: int) -> tuple[Print, Print, int] | None:
    """Return two sets that differ in few rows, and in how many at least; None if there are none.

    A set that has left before tells nothing new, whatever else has left.
    """
    count = differing(new, old)
    is_new = (count > 0).all(axis=1, keepdims=True)
    few = np.argwhere(is_new & (count < rows))
    if not len(few):
        return None
    i, j = min(few.tolist(), key=lambda pair: (bool(new[pair[0]].label), count[tuple(pair)]))
    return new[i], old[j], int(count[i, j])


def _few_counts(
    new: Sequence[Print], old: Sequence[Print], rows: int
) -> tuple[Print, Print, int] | None:
    """Return two sets of one name whose numbers of rows differ by few; None if there are none."""
    known = {one.name: one for one in old}
    for one in new:
        before = known.get(one.name)
        if before is not None and 0 < abs(one.rows - before.rows) < rows:
            return one, before, abs(one.rows - before.rows)
    return None


def _left_before(new: Sequence[Print], old: Sequence[Print]) -> bool:
    """Return whether every set of rows, or column, has left in one earlier export."""
    return bool(len(old) and (differing(new, old) == 0).any(axis=1).all())


def _read_otherwise(new: Mapping[str, str], old: Mapping[str, str]) -> list[str]:
    """Return the columns of both exports whose values come about in another way."""
    return sorted(name for name in set(new) & set(old) if new[name] != old[name])


def _are_equal(column: str, new: Sequence[Print], old: Sequence[Print]) -> bool:
    """Return whether a column has the same values in all rows of both exports."""
    whole = [[one for one in some if one.label == column][:1] for some in (new, old)]
    return all(whole) and not differing(*whole).any()


def _value_finding(new: Print, old: Print, count: int, number: int, rows: int) -> Finding:
    words = "1 row" if count == 1 else f"{count} rows"
    return Finding(
        rule="values",
        dataset="",
        folds=(),
        columns=(new.label,),
        value=count,
        limit=rows,
        sentence=(
            f"Values of column {new.label!r} in {new.where} of this export differ from those of "
            f"{old.label!r} in {old.where} of export {number} in {words}; at least {rows} are "
            "needed."
        ),
    )


def _reading_finding(column: str, number: int) -> Finding:
    return Finding(
        rule="reading",
        dataset="",
        folds=(),
        columns=(column,),
        value=0,
        limit=0,
        sentence=(
            f"The plan gives column {column!r} other values than that of export {number}, so that "
            "the difference of both exports would be about the rows in which they differ."
        ),
    )


def _finding(new: Print, old: Print, count: int, number: int, rows: int) -> Finding:
    words = "1 row" if count == 1 else f"{count} rows"
    return Finding(
        rule="difference",
        dataset="",
        folds=(),
        columns=(),
        value=count,
        limit=rows,
        sentence=(
            f"{new.name[0].upper()}{new.name[1:]} of this export and {old.name} of export {number} "
            f"differ in {words}; at least {rows} are needed."
        ),
    )


def _to_plain(one: Print) -> dict[str, Any]:
    text = base64.b64encode(one.digests.tobytes()).decode()
    return {"where": one.where, "label": one.label, "rows": one.rows, "digests": text}


def _from_plain(values: Mapping[str, Any]) -> Print:
    digests = np.frombuffer(base64.b64decode(values["digests"]), dtype="<u4")
    return Print(values["where"], values["label"], values["rows"], digests)
