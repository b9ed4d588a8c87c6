"""Estimators of other libraries in a file beside the model file, written and read by skops.

Trained estimators enter and the bytes of a file leave, or the other way round. The format of skops
holds no code. It names the types of its objects, and it creates only those that scikit-learn and
NumPy define and that the reader says to trust.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conjoin.errors import ArgumentError, ReadError

Trusted = Sequence[str | type] | None
SUFFIX = ".skops"  # after the name of the model file


def beside(path: Path) -> Path:
    """Return the path of the file with estimators, beside a model file.

    >>> beside(Path("model.json")).name
    'model.json.skops'
    """
    return path.with_name(path.name + SUFFIX)


def checksum_of(data: bytes) -> str:
    """Return the checksum of a file, as model files have it."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def load_skops(purpose: str) -> Any:
    """Return the module of skops, or say what to install."""
    try:
        import skops.io
    except ImportError:
        raise ArgumentError(
            f"skops, which {purpose} estimators of scikit-learn, is not installed; install it with "
            "pip install 'conjoin[skops]', or choose learner='boosting' or 'linear', which need no "
            "second file."
        ) from None
    return skops.io


def objects_to_bytes(objects: Sequence[Any]) -> bytes:
    """Return the bytes of a file that holds estimators.

    Raises
    ------
    ArgumentError
        If skops is not installed, or cannot write one of them.
    """
    skops = load_skops("writes")
    try:
        return bytes(skops.dumps(list(objects)))
    except Exception as error:  # skops calls methods of the estimator
        name = type(objects[0]).__name__
        raise ArgumentError(
            f"The learner {name} cannot be saved, since skops cannot write it ({_short(error)}); "
            "pickle the result instead, or choose learner='boosting'."
        ) from error


def objects_from_bytes(data: bytes, name: str, trusted: Trusted = None) -> list[Any]:
    """Return the estimators of a file.

    Parameters
    ----------
    data : bytes
        The file.
    name : str
        Its name, for messages.
    trusted : sequence of str or type, optional
        Types that may be created besides those that skops trusts.

    Raises
    ------
    ReadError
        If it holds other types, or is no file of skops.
    """
    skops = load_skops("reads")
    known = _names_of(trusted)
    try:
        unknown = [one for one in skops.get_untrusted_types(data=data) if one not in known]
    except Exception as error:
        raise ReadError(
            f"File {name!r} is no file of skops ({_short(error)}); fetch the original, or fit the "
            "model again."
        ) from None
    if unknown:
        raise ReadError(
            f"File {name!r} holds {len(unknown)} {'types' if len(unknown) > 1 else 'type'} that "
            "skops does not trust by default. If you know who wrote the file, allow them: "
            f"conjoin.load(path, trusted={[*known, *unknown]}), or --trust TYPE "
            "on the command line."
        )
    try:
        found = skops.loads(data, trusted=known)
    except Exception as error:
        raise ReadError(
            f"File {name!r} cannot be read ({_short(error)}); use the versions of the libraries "
            "that wrote it, or fit the model again."
        ) from error
    return list(found) if isinstance(found, list) else [found]


def _names_of(trusted: Trusted) -> list[str]:
    """Return the names of trusted types."""
    if trusted is None:
        return []
    if isinstance(trusted, bool | str) or not isinstance(trusted, Sequence):
        raise ArgumentError(
            f"trusted={trusted!r} is no list; expected a list of types or of their names, as skops "
            "takes it."
        )
    return [
        f"{one.__module__}.{one.__qualname__}" if isinstance(one, type) else str(one)
        for one in trusted
    ]


def _short(error: Exception) -> str:
    """Return the first line of an error message."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}".rstrip(" :.")
