"""Errors and warnings, one class per stage of the flow.

Every message is one sentence or two: the argument or column, the value received, what was
expected, and the next step. All errors are also `ValueError`, so that code which knows nothing of
conjoin can catch them.
"""

import sys
import warnings
from pathlib import Path


class ConjoinError(ValueError):
    """Root of all errors raised on purpose by conjoin."""


class ArgumentError(ConjoinError):
    """An argument has a value that cannot be used."""


class DataError(ConjoinError):
    """The table or a dataset in it cannot be used as it is."""


class ReadError(ConjoinError):
    """A file cannot be read."""


class ConjoinWarning(UserWarning):
    """Root of all warnings: the result stands, but the user should know something."""


def warn_caller(text: str) -> None:
    """Warn at the line outside of this library from which the call came."""
    home = str(Path(__file__).parent)
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(home):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, ConjoinWarning, stacklevel=level + 1)
