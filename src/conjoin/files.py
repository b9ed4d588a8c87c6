"""Text files that are written completely or not at all.

A path and a text enter; the file stands when `write_text` returns. An interruption leaves the old
file, or none, but never half of one.
"""

import os
import tempfile
from pathlib import Path

from conjoin.errors import ArgumentError


def write_text(path: Path, text: str) -> None:
    """Write a text to a temporary file beside the path, then rename it."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as file:
                file.write(text)
            os.chmod(name, 0o666 & ~_umask())
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ArgumentError(
            f"{str(path)!r} cannot be written ({error.strerror}); name a file in a folder that "
            "exists and that you may write to."
        ) from None


def _umask() -> int:
    """Return the permissions that new files of this process lack."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
