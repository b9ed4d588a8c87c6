"""Files that are written completely or not at all.

A path enters, and a text or whatever the caller writes. The new file stands when the call returns.
An error or an interruption leaves the old file, or none, but never half of one.
"""

import tempfile
from collections.abc import Iterator
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
    try:
        with replacing(path) as part:
            part.write_text(text, encoding="utf-8", errors="surrogatepass")
    except OSError as error:
        raise ArgumentError(
            f"{str(path)!r} cannot be written ({error.strerror}); name a file in a folder that "
            "exists and that you may write to."
        ) from None
