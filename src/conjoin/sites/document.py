"""The files that pass between a coordinator and its sites: one JSON document each, no code.

A kind, a path and plain values enter, or leave; in between stand a format version and a checksum,
so that a changed, cut or mixed-up file is refused with a sentence. Every part is checked before it
is used (`result.checked`). A checksum shows an accident, not an attack: whoever may write the
file can write a new checksum as well. Send files by a way that both sides trust.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray
from conjoin.errors import ReadError
from conjoin.files import write_text
from conjoin.result.checked import LARGEST, Fault
from conjoin.result.document import checksum, parse, read_bytes
from conjoin.version import __version__

FORMAT_VERSION = 1  # the first one; files of another version are refused


@dataclass(frozen=True)
class Kind:
    """A kind of file: its name in the file, what messages call it, and what to do if it fails."""

    format: str
    called: str
    advice: str


PLAN = Kind("conjoin-site-plan", "plan", "ask the coordinator for the plan again")
EXPORT = Kind("conjoin-site-export", "site file", "ask the site to export it again")
ROUND = Kind("conjoin-site-round", "round", "ask the coordinator for the round again")
ANSWER = Kind("conjoin-site-answer", "answer", "ask the site to answer the round again")
KINDS = {kind.format: kind for kind in (PLAN, EXPORT, ROUND, ANSWER)}


def document_text(kind: Kind, content: dict[str, Any]) -> str:
    """Return a document as text."""
    document = {
        "format": kind.format,
        "format_version": FORMAT_VERSION,
        "conjoin": __version__,
        "checksum": checksum(content),
        "content": content,
    }
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, indent=1)
    return _with_short_lists(text) + "\n"


def write_document(path: str | Path, kind: Kind, content: dict[str, Any]) -> None:
    """Write a document, completely or not at all."""
    write_text(Path(path), document_text(kind, content))


def _with_short_lists(text: str) -> str:
    """Return indented JSON with lists of numbers on one line each: an officer reads it."""
    lines: list[str] = []
    for line in text.splitlines():
        bare = line.strip()
        number = bare.rstrip(",").replace("-", "").replace(".", "").replace("e", "")
        is_number = number.replace("+", "").isdigit()
        after_number = bool(lines) and lines[-1].endswith(("[", ", "))
        if is_number and after_number:
            lines[-1] += bare + (" " if bare.endswith(",") else "")
        elif bare.startswith("]") and lines and lines[-1][-1:].isdigit() and "[" in lines[-1]:
            lines[-1] += bare
        else:
            lines.append(line)
    return "\n".join(lines)


def kind_of(path: Path) -> Kind | None:
    """Return what kind of file of sites a path is, by its first bytes; None if it is another."""
    try:
        with path.open("rb") as file:
            head = file.read(200).decode("utf-8", errors="replace")
    except OSError:
        return None
    return next((kind for name, kind in KINDS.items() if f'"{name}"' in head), None)


def read_document(path: str | Path, kind: Kind, check: Callable[[Any], None]) -> dict[str, Any]:
    """Return the checked content of a document.

    Raises
    ------
    ReadError
        If it is of another kind or version, was changed, or a part of it cannot be used.
    """
    path = Path(path)
    return _checked(_parsed(path, kind), path.name, kind, check)


def read_text(text: str, name: str, kind: Kind, check: Callable[[Any], None]) -> dict[str, Any]:
    """Return the checked content of a document that came as text; messages call it `name`.

    Raises
    ------
    ReadError
        As `read_document`.
    """
    try:
        document = parse(text.encode())
    except (ValueError, RecursionError) as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(_no_document(name, kind)) from None
    return _checked(document, name, kind, check)


def _checked(document: Any, name: str, kind: Kind, check: Callable[[Any], None]) -> dict[str, Any]:
    """Return the content of a document, if it is of the kind, whole, and can be used."""
    found = document.get("format") if isinstance(document, dict) else None
    if found != kind.format:
        other = KINDS[found].called if found in KINDS else "something else"
        raise ReadError(f"File {name!r} is no {kind.called} of conjoin but {other}; {kind.advice}.")
    if document.get("format_version") != FORMAT_VERSION:
        raise ReadError(
            f"{kind.called.capitalize()} {name!r} has format {document.get('format_version')!r} "
            f"(written by conjoin {document.get('conjoin')}), but conjoin {__version__} reads "
            f"format {FORMAT_VERSION}; install the same version at all places."
        )
    content: Any = document.get("content")
    if checksum(content) != document.get("checksum"):
        raise ReadError(
            f"{kind.called.capitalize()} {name!r} was changed after it was written: its checksum "
            f"does not fit; {kind.advice}."
        )
    with_checks(content, kind, name, check)
    checked: dict[str, Any] = content
    return checked


def with_checks(content: Any, kind: Kind, name: str, check: Callable[[Any], None]) -> None:
    """Check the content of a document; whatever is wrong becomes one sentence."""
    try:
        check(content)
    except Fault as error:
        raise ReadError(
            f"{kind.called.capitalize()} {name!r} cannot be used: {error.sentence}; {kind.advice}."
        ) from None
    except ReadError:
        raise
    except Exception as error:  # whatever else a file of a stranger may bring about
        raise ReadError(
            f"{kind.called.capitalize()} {name!r} cannot be used: a part of it does not fit "
            f"({type(error).__name__}); {kind.advice}."
        ) from None


def _parsed(path: Path, kind: Kind) -> Any:
    try:
        return parse(read_bytes(path))
    except ReadError:
        raise
    except FileNotFoundError:
        raise ReadError(f"File {str(path)!r} does not exist; check the path.") from None
    except OSError as error:
        raise ReadError(f"File {str(path)!r} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise ReadError(_no_document(path.name, kind)) from None


def _no_document(name: str, kind: Kind) -> str:
    return f"File {name!r} is no {kind.called} of conjoin, or only part of one; {kind.advice}."


def numbers(values: AnyArray) -> Any:
    """Return an array as nested lists of numbers that come back bit by bit."""
    return np.asarray(values, dtype=np.float64).tolist()


def array(value: Any, what: str, *shape: int | None) -> FloatArray:
    """Return nested lists of finite numbers as an array; None in `shape` stands for any length.

    Raises
    ------
    Fault
        If it has another shape, or something else than finite numbers.
    """
    try:
        found = np.array(value, dtype=np.float64)
        plain = _is_plain(value)
    except (TypeError, ValueError, OverflowError):
        raise Fault(f"{what} is no table of numbers") from None
    if not plain or found.ndim != len(shape):
        raise Fault(f"{what} is no table of numbers")
    if any(size not in (None, have) for size, have in zip(shape, found.shape)):
        wanted = " x ".join("any" if size is None else str(size) for size in shape)
        have_sizes = " x ".join(map(str, found.shape))
        raise Fault(f"{what} has {have_sizes} numbers, expected {wanted}")
    if not np.all(np.abs(found) <= LARGEST):  # also not a number
        raise Fault(f"{what} has a number that is not finite, or beyond {LARGEST:g}")
    return found


def _is_plain(value: Any) -> bool:
    """Say whether nested lists hold numbers and nothing that merely turns into one."""
    if isinstance(value, list):
        if value and not isinstance(value[0], list):
            return {type(one) for one in value} <= {int, float}
        return all(map(_is_plain, value))
    return type(value) in (int, float)


def symmetric(triangle: FloatArray, size: int) -> FloatArray:
    """Return symmetric matrices (..., size, size) from their lower triangles, row by row."""
    i, j = np.tril_indices(size)
    whole = np.zeros((*triangle.shape[:-1], size, size))
    whole[..., i, j] = triangle
    whole[..., j, i] = triangle
    return whole


def triangle_of(matrix: FloatArray) -> FloatArray:
    """Return the lower triangles (..., size (size + 1) / 2) of symmetric matrices."""
    i, j = np.tril_indices(matrix.shape[-1])
    found: FloatArray = matrix[..., i, j]
    return found
