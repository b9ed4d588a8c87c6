"""The content of a model file, before it becomes a `Partition`.

A path enters; plain values in the present form leave, read within bounds and checked
(`result.checked`). Files of version 0.1 are brought into the present form.
"""

import errno
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conjoin.api.request import RENAMED_ARGUMENTS, RENAMED_METHODS
from conjoin.errors import ConjoinError, ReadError
from conjoin.files import path_of
from conjoin.learners.beside import checksum_of
from conjoin.result.checked import check_content, fault
from conjoin.version import __version__

FORMAT = "conjoin-model"
FORMAT_VERSION = 2  # 1: history and verdicts apart, options by the names of version 0.1
# Largest model file that is read. Files of 10,000 datasets and 50 columns are below 100 MB.
MOST_BYTES = 2**30


def read_content(path: str | Path) -> dict[str, Any]:
    """Return the content of a model file.

    Raises
    ------
    ReadError
        If it is no model file, was changed, or cannot be used.
    """
    path = path_of(path, "path")
    document = _read(path)
    name = path.name
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ReadError(
            f"File {name!r} is no model of conjoin; expected a file written by save or --save."
        )
    version = document.get("format_version")
    if version not in (1, FORMAT_VERSION):
        raise ReadError(
            f"File {name!r} has model format {version!r} (written by conjoin "
            f"{document.get('conjoin')}), but conjoin {__version__} reads formats 1 and "
            f"{FORMAT_VERSION}; use the version that wrote it, or fit the model again."
        )
    content: Any = document.get("content")
    if checksum(content) != document.get("checksum"):
        raise ReadError(
            f"File {name!r} was changed after it was written: its checksum does not fit; fit the "
            "model again, or fetch the original."
        )
    try:
        if version == 1:
            content = _from_version_1(content)
        check_content(content)
    except ConjoinError:
        raise
    except Exception as error:
        raise fault(f"a part of it does not fit ({reason_of(error)})") from None
    found: dict[str, Any] = content
    return found


def checksum(content: Any) -> str:
    """Return the checksum of a document's content."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return checksum_of(canonical.encode())


def reason_of(error: Exception) -> str:
    """Return an error of another library in short."""
    text = str(error).splitlines()[0][:80] if str(error) else ""
    return f"{type(error).__name__}: {text}".rstrip(" :")


def parse(data: bytes) -> Any:
    """Return the values of a JSON document, without numbers that JSON does not know.

    Raises
    ------
    ValueError
        If the bytes are no such document, or a key stands twice.
    """
    text = data.decode("utf-8", errors="surrogatepass")
    return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_distinct)


def _read(path: Path) -> Any:
    try:
        return parse(read_bytes(path))
    except ReadError:
        raise
    except FileNotFoundError:
        raise ReadError(f"File {str(path)!r} does not exist; check the path.") from None
    except OSError as error:
        raise ReadError(f"File {str(path)!r} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):  # neither text nor JSON, whole or cut
        raise ReadError(
            f"File {path.name!r} is no model of conjoin, or only part of one; expected a file "
            "written by save or --save."
        ) from None


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a regular file of bearable size; a device would never end.

    Raises
    ------
    ReadError
        If it is no regular file, or larger than `MOST_BYTES`.
    """
    mode = path.stat()
    if stat.S_ISDIR(mode.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode.st_mode):
        raise ReadError(f"{str(path)!r} is a device or a pipe; expected a model file.")
    if mode.st_size > MOST_BYTES:
        raise ReadError(
            f"File {path.name!r} has {mode.st_size / 2**30:.1f} GiB, more than any model of "
            f"conjoin ({MOST_BYTES // 2**30} GiB); expected a file written by save or --save."
        )
    return path.read_bytes()


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a mapping; a key that stands twice could mean either value."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _from_version_1(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a file of version 0.1 in the present form."""
    # The criterion of a pair, for Algorithm 3, kept its name.
    greedy = content["grouping"] == "greedy"
    methods = {} if greedy else {**RENAMED_METHODS, "risk": "auto"}

    def renamed(options: Mapping[str, Any]) -> dict[str, Any]:
        found = {RENAMED_ARGUMENTS.get(name, name): value for name, value in options.items()}
        if "method" in found:
            found["method"] = methods.get(found["method"], found["method"])
        return found

    ledger = [
        {**step, **line} for step, line in zip(content["history"], content["verdicts"], strict=True)
    ]
    extra = dict(content["extra"])
    if "params" in extra:
        extra["params"] = renamed(extra["params"])
    return {
        **content,
        "settings": renamed(content.get("settings", {})),
        "method": methods.get(content["method"], content["method"]),
        "ledger": ledger,
        "extra": extra,
    }
