"""Files that are written completely or not at all.

A path enters, and a text or whatever the caller writes. The new file stands when the call returns.
An error or an interruption leaves the old file, or none, but never half of one.
"""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from conjoin.errors import ArgumentError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; at the end rename the file there to `path`.

    The path is in a temporary folder on the same disk, so the rename is one step. The folder is
    removed in any case. The file gets the permissions of any new file.
    """
    with tempfile.TemporaryDirectory(dir=path.absolute().parent, prefix=f".{path.name}.") as folder:
        part = Path(folder) / path.name
        yield part
        part.replace(path)


def write_text(path: Path, text: str) -> None:
    """Write a text to a file, completely or not at all.

    Raises
    ------
    ArgumentError
        If the file cannot be written.
    """
    write_together({path: text.encode("utf-8", errors="surrogatepass")})


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write files of one folder, all of them completely or none at all.

    Raises
    ------
    ArgumentError
        If a file cannot be written.
    """
    path = list(files)[-1]
    try:
        with tempfile.TemporaryDirectory(
            dir=path.absolute().parent, prefix=f".{path.name}."
        ) as folder:
            for number, data in enumerate(files.values()):
                (Path(folder) / f"{number}.new").write_bytes(data)
            _replace_all(list(files), Path(folder))
    except OSError as error:
        raise ArgumentError(
            f"{str(path)!r} cannot be written ({error.strerror}); name a file in a folder that "
            "exists and that you may write to."
        ) from None


def _replace_all(paths: list[Path], folder: Path) -> None:
    """Rename the new files in a folder to their paths; after an error bring the old ones back."""
    new = [folder / f"{number}.new" for number in range(len(paths))]
    old = [folder / f"{number}.old" for number in range(len(paths))]
    try:
        for number, path in enumerate(paths):
            # The last file is replaced in one step: with it all are there.
            if number < len(paths) - 1 and path.exists():
                path.replace(old[number])
            new[number].replace(path)
    except BaseException:
        if new[-1].exists():
            for number, path in enumerate(paths):
                if old[number].exists():
                    old[number].replace(path)
                elif not new[number].exists():
                    path.unlink(missing_ok=True)
        raise
