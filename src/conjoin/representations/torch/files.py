"""Files of weights: tensors and plain values only, read without running any code in them."""

from pathlib import Path
from typing import Any

from conjoin.errors import ReadError
from conjoin.representations.torch.tools import require_torch

torch = require_torch()

VERSION = 1


def write_weights(path: str | Path, kind: str, content: dict[str, Any]) -> None:
    """Write tensors and plain values."""
    torch.save({"conjoin": kind, "version": VERSION, **content}, Path(path))


def read_weights(path: str | Path, kind: str) -> dict[str, Any]:
    """Read what `write_weights` has written, and nothing else."""
    name = Path(path).name
    try:
        content = torch.load(Path(path), map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise ReadError(f"There is no file {name!r}.") from None
    except Exception as error:  # torch raises many kinds, with long advice on unsafe loading
        raise ReadError(
            f"File {name!r} is no file of weights saved by conjoin ({type(error).__name__})."
        ) from None
    found = content.get("conjoin") if isinstance(content, dict) else None
    if found != kind:
        raise ReadError(f"File {name!r} holds {found!r}, not {kind!r}.")
    if content["version"] > VERSION:
        raise ReadError(f"File {name!r} was saved by a newer conjoin; update to read it.")
    return content
