"""The files that a user's names stand for: files, folders and patterns.

Names enter; existing files of known endings leave, each with the folder it was found under, and the
names that they give to datasets. No file is opened here.
"""

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from conjoin.errors import ReadError
from conjoin.sources.layout import ENDINGS, ending_of, missing_file
from conjoin.text import quoted, without_secrets

EXCEL_ENDINGS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # what Hive and Spark write in folder names for a null
_EXPECTED = "a file ending in " + ", ".join(ENDINGS)


@dataclass(frozen=True)
class FoundFile:
    """A file, and the folder, or the fixed part of the pattern, that it was found under."""

    path: Path
    root: Path

    @property
    def partitions(self) -> dict[str, str | None]:
        """Names and values of folders such as region=north between root and file."""
        parts = [p for p in self.path.relative_to(self.root).parent.parts if "=" in p]
        pairs = [part.split("=", 1) for part in parts]
        return {key: None if v == NO_VALUE else unquote(v) for key, v in pairs}


def find_files(named: list[str | Path]) -> list[FoundFile]:
    """Return the files that names, folders and patterns stand for, in order."""
    found = [pair for source in named for pair in _expand(source)]
    # Files that are named one by one are found under the folder that they share.
    folders = [path.parent for path, root in found if root is None]
    common = Path(os.path.commonpath(folders)) if folders else Path()
    seen: set[Path] = set()
    for path, _ in found:
        if path in seen:
            raise ReadError(f"File {str(path)!r} is named twice; name it once.")
        seen.add(path)
    return [FoundFile(path, common if root is None else root) for path, root in found]


def _expand(source: str | Path) -> list[tuple[Path, Path | None]]:
    """Return the files of one name, each with the folder or the pattern's fixed part, or None."""
    text = str(source)
    if re.match(r"[a-z][a-z0-9+]*:/", text):
        raise ReadError(
            f"Source {without_secrets(text)!r} is an address that conjoin cannot read; expected a "
            "file, a folder or postgresql://...; download or export it first."
        )
    if not text.strip():  # an empty variable of a shell would mean the current folder
        raise ReadError(f"{text!r} is no file; name one, or '.' for the current folder.")
    path = Path(os.path.abspath(os.path.expanduser(text)))
    try:
        str(path).encode()
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        if isinstance(source, str) and glob.has_magic(text):
            return _match(text, path)
        raise missing_file(path) from None
    except OSError as error:
        raise ReadError(
            f"{text!r} cannot be opened: {error.strerror}; allow reading it, or name another file."
        ) from None
    if path.is_dir():
        files = _in_folder(path)
        if not files:
            raise _nothing_in(f"Folder {text!r}", [entry.name for entry in path.iterdir()])
        return [(file, path) for file in files]
    if ending_of(path.name) is None:
        raise _unknown_ending(path)
    return [(path, None)]


def _match(pattern: str, path: Path) -> list[tuple[Path, Path | None]]:
    """Return the files that match a pattern, and those in folders that match it."""
    fixed = [part for part in path.parents if not glob.has_magic(str(part))]
    matches = [Path(match) for match in sorted(glob.glob(str(path), recursive=True))]
    files: list[Path] = []
    for match in matches:
        if match.is_dir():
            files += _in_folder(match)
        elif ending_of(match.name):
            files.append(match)
    if not matches:
        raise ReadError(f"No file matches {pattern!r}; check the pattern and the folder.")
    if not files:
        raise _nothing_in(f"Pattern {pattern!r}", [match.name for match in matches])
    return [(file, fixed[0]) for file in dict.fromkeys(files)]


def _in_folder(folder: Path) -> list[Path]:
    """Return the tables of a folder, and those in its subfolders such as region=north."""
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise ReadError(
            f"Folder {str(folder)!r} cannot be opened: {error.strerror}; allow reading it."
        ) from None
    files: list[Path] = []
    for entry in entries:
        if entry.is_dir():
            files += _in_folder(entry) if "=" in entry.name else []
        elif ending_of(entry.name) and not entry.name.startswith((".", "_")):
            files.append(entry)
    return files


def is_folder_of_parts(named: list[str | Path]) -> bool:
    """Say whether a folder is named like a table, such as sales.parquet: Spark writes tables so."""
    return len(named) == 1 and os.path.isdir(named[0]) and ending_of(str(named[0])) is not None


def _nothing_in(what: str, names: list[str]) -> ReadError:
    """Return the error for a folder or pattern without any table."""
    held = f"it holds {quoted(sorted(names))}" if names else "it is empty"
    return ReadError(f"{what} has no table to read: {held}; expected {_EXPECTED}.")


def _unknown_ending(path: Path) -> ReadError:
    """Return the error for a file that is not a table by its name."""
    if path.name.lower().endswith(EXCEL_ENDINGS):
        return ReadError(
            f"File {path.name!r} has an unknown ending: spreadsheets are not read; export it as "
            "CSV or Parquet."
        )
    return ReadError(
        f"File {path.name!r} has an unknown ending; expected {_EXPECTED}, or a database."
    )


def dataset_name(path: str | Path) -> str:
    """Return the name of the dataset in a file: the name of the file without its ending."""
    name = Path(path).name
    return name[: len(name) - len(ending_of(name) or "")] or name


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """Return a different name for each file; equal names get as many folders as they need.

    >>> distinct_names([Path("north/store_1.csv"), Path("south/store_1.csv"), Path("b.csv")])
    ['north/store_1', 'south/store_1', 'b']
    """
    names = [dataset_name(path) for path in paths]
    for name in {name for name in names if names.count(name) > 1}:
        group = [k for k, other in enumerate(names) if other == name]
        longer = _with_folders([paths[k] for k in group])
        for k, replacement in zip(group, longer):
            names[k] = replacement
    return names


def _with_folders(paths: list[Path]) -> list[str]:
    """Return names with folders in front, and with endings if only these differ."""
    for base in (dataset_name, lambda path: path.name):
        for depth in range(1, max(len(path.parts) for path in paths) + 1):
            names = ["/".join([*path.parts[-1 - depth : -1], base(path)]) for path in paths]
            if len(set(names)) == len(names):
                return names
    return [str(path) for path in paths]
