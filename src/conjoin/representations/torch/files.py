"""Files of weights: tensors and plain values only, read without running code from the file.

A dict of tensors and plain values enters or leaves; each file says what it holds and its version.
"""

from pathlib import Path
from typing import Any

from conjoin.errors import ReadError
from conjoin.representations.torch.tools import require_torch

torch = require_torch()

VERSION = 1  # of the content; a file of a higher version is refused


def write_weights(path: str | Path, kind: str, content: dict[str, Any]) -> None:
    """Write tensors and plain values to a file of the given kind."""
    torch.save({"conjoin": kind, "version": VERSION, **content}, Path(path))


def read_weights(path: str | Path, kind: str) -> dict[str, Any]:
    """Return the content of a file of the given kind that `write_weights` has written."""
    name = Path(path).name
    try:
        content = torch.load(Path(path), map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise ReadError(f"File {name!r} does not exist; check its path.") from None
    except Exception as error:  # torch raises many kinds, with long advice on unsafe loading
        raise ReadError(
            f"File {name!r} is not a file of weights saved by conjoin ({type(error).__name__})."
        ) from None
    found = content.get("conjoin") if isinstance(content, dict) else None
    if found != kind:
        raise ReadError(f"File {name!r} holds {found!r}; expected {kind!r}.")
    if content["version"] > VERSION:
        raise ReadError(f"File {name!r} was saved by a newer conjoin; update conjoin to read it.")
    return content
