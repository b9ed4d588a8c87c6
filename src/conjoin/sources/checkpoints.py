"""Finished steps of a run in a folder, so that a run that was killed can go on.

A folder and what identifies the run enter (`checkpointing`). Inside the block, expensive steps pass
their inputs and the way to compute the result through `remembered`: a step whose result is in the
folder is read, any other is computed and stored. A result is found by the hash of its inputs, so it
is never taken for another. Entries are NumPy archives and JSON, written completely or not at all;
nothing in them is code. Where no checkpoint is asked for, `remembered` only computes.
"""

import hashlib
import io
import json
import threading
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from conjoin._typing import AnyArray
from conjoin.errors import ArgumentError, ConjoinError, warn_caller
from conjoin.files import write_text, write_together
from conjoin.moments.made import MadeRows
from conjoin.version import __version__

FORMAT = "conjoin-checkpoint"
MANIFEST = "checkpoint.json"
TEXT = "text"  # name of the array that holds JSON inside an entry
LENGTH = 20  # bytes of a hash: two of a million million entries are equal with chance 1e-25

Value = TypeVar("Value")
Packed = Mapping[str, AnyArray | str]


@dataclass(eq=False)
class Checkpoint:
    """A folder of finished steps, and what was taken over from it.

    Parameters
    ----------
    folder : Path
    resumed : bool
        Whether the folder is of an earlier run of the same request.
    files : plain values
        Name, size and time of the files that are read, if rows stay there.
    """

    folder: Path
    resumed: bool
    files: Any = None
    taken: Counter[str] = field(default_factory=Counter)
    lock: Any = field(default_factory=threading.Lock)

    def read(self, kind: str, key: str) -> dict[str, AnyArray | str] | None:
        """Return the entry of a step; None if there is none, or if it cannot be read."""
        path = self._path(kind, key)
        try:
            with np.load(path, allow_pickle=False) as archive:
                found: dict[str, AnyArray | str] = {name: archive[name] for name in archive.files}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        if TEXT in found:
            found[TEXT] = bytes(np.asarray(found[TEXT], dtype=np.uint8)).decode()
        with self.lock:
            self.taken[kind] += 1
        return found

    def write(self, kind: str, key: str, packed: Packed) -> None:
        """Store the result of a step, completely or not at all."""
        arrays: dict[str, Any] = {
            name: np.frombuffer(value.encode(), dtype=np.uint8) if isinstance(value, str) else value
            for name, value in packed.items()
        }
        data = io.BytesIO()
        np.savez(data, allow_pickle=False, **arrays)
        write_together({self._path(kind, key): data.getvalue()})

    def _path(self, kind: str, key: str) -> Path:
        return self.folder / f"{kind.replace(' ', '-')}-{key}.npz"

    def check_data(self, data: str) -> None:
        """Refuse a folder of other data; the first run notes which data it is of."""
        path = self.folder / MANIFEST
        known = json.loads(path.read_text())
        if known.get("data") not in (None, data):
            raise ArgumentError(
                f"checkpoint={str(self.folder)!r} is of other data; name another folder, or delete "
                "this one."
            )
        if known.get("data") is None:
            write_text(path, json.dumps({**known, "data": data}, indent=1))

    def in_words(self) -> str:
        """Return what was taken over, in a sentence."""
        parts = [f"{count} of {kind}" for kind, count in sorted(self.taken.items())]
        steps = sum(self.taken.values())
        return (
            f"Checkpoint {str(self.folder)!r}: {steps} finished "
            f"{'step was' if steps == 1 else 'steps were'} taken over ({', '.join(parts)})."
        )


_current: list[Checkpoint] = []  # threads see it too, which a context variable would not give


@contextmanager
def checkpointing(
    folder: str | Path | None, request: Any, files: Any = None
) -> Iterator[Checkpoint | None]:
    """Store finished steps of a run in a folder, and take over those that are there.

    `request` is what the run was asked for, as plain values; a folder of another request, or of
    another version, is refused. `files` identify the files whose rows stay where they are.
    """
    if folder is None:
        yield None
        return
    store = _open(Path(folder), digest(request))
    store.files = files
    _current.append(store)
    try:
        yield store
    finally:
        _current.remove(store)
    if store.resumed and store.taken:
        warn_caller(store.in_words())


def _open(folder: Path, request: str) -> Checkpoint:
    """Return the checkpoint of a folder, which is made if there is none."""
    what = f"checkpoint={str(folder)!r}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentError(f"{what} cannot be made ({error.strerror}); name a folder.") from None
    path = folder / MANIFEST
    if not path.exists():
        if any(folder.iterdir()):
            raise ArgumentError(f"{what} holds other files; name an empty folder, or a new one.")
        known = {"format": FORMAT, "conjoin": __version__, "request": request}
        write_text(path, json.dumps(known, indent=1))
        return Checkpoint(folder, False)
    try:
        known = json.loads(path.read_text())
        same = known["format"] == FORMAT
    except (OSError, ValueError, KeyError, TypeError):
        same = False
    if not same:
        raise ArgumentError(f"{what} is no checkpoint of conjoin; name another folder.")
    if known.get("conjoin") != __version__:
        raise ArgumentError(
            f"{what} is of conjoin {known.get('conjoin')}, and this is {__version__}; name another "
            "folder, or delete this one."
        )
    if known.get("request") != request:
        raise ArgumentError(
            f"{what} is of a run with other options; name another folder, or delete this one."
        )
    return Checkpoint(folder, True)


def remembered(
    kind: str,
    inputs: tuple[Any, ...],
    compute: Callable[[], Value],
    pack: Callable[[Value], Packed],
    unpack: Callable[[Mapping[str, Any]], Value],
) -> Value:
    """Return the result of a step: from the checkpoint if it is there, else computed and stored.

    `kind` names the step for users; `inputs` are all that the result depends on.
    """
    if not _current:
        return compute()
    store, key = _current[-1], digest((kind, *inputs))
    found = store.read(kind, key)
    if found is not None:
        try:
            return unpack(found)
        except (ConjoinError, KeyError, TypeError, ValueError):  # written by somebody else
            store.taken[kind] -= 1
    value = compute()
    store.write(kind, key, pack(value))
    return value


def files_of_run() -> Any:
    """Return what identifies the files of the run; None without a checkpoint."""
    return _current[-1].files if _current else None


def remembered_array(
    kind: str, inputs: tuple[Any, ...], compute: Callable[[], AnyArray]
) -> AnyArray:
    """Do the same for a step whose result is an array."""
    return remembered(
        kind, inputs, compute, lambda one: {"array": one}, lambda found: found["array"]
    )


def digest(value: Any) -> str:
    """Return a hash of arrays, texts, numbers, and of tuples, mappings and dataclasses of them.

    >>> digest({"b": 1, "a": np.arange(3)}) == digest({"a": np.arange(3), "b": 1})
    True
    >>> digest(np.arange(3)) == digest(np.arange(3.0))
    False
    """
    state = hashlib.blake2b(digest_size=LENGTH)
    _feed(state, value)
    return state.hexdigest()


def _feed(state: Any, value: Any) -> None:
    if isinstance(value, MadeRows):  # what it stands for, not what makes it
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        state.update(f"array {value.dtype.str} {value.shape}".encode())
        state.update(np.ascontiguousarray(value).data)
    elif is_dataclass(value):
        state.update(type(value).__name__.encode())
        for one in fields(value):
            _feed(state, (one.name, getattr(value, one.name)))
    elif isinstance(value, Mapping):
        _feed(state, tuple(sorted(((str(k), v) for k, v in value.items()), key=lambda kv: kv[0])))
    elif isinstance(value, list | tuple):
        state.update(f"list {len(value)}".encode())
        for one in value:
            _feed(state, one)
    else:
        state.update(f"{type(value).__name__} {value!r};".encode())
