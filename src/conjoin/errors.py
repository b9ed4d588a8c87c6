"""Errors and warnings, one class per stage of the flow.

Every message has one or two sentences: the argument or column, the value received, what was
expected, and the next step. All errors are also `ValueError`, so code that does not know conjoin
can catch them.
"""

import contextlib
import re
import sys
import warnings
from pathlib import Path

from conjoin.text import shortened

# Characters without a space from which a name in a message is cut. Paths are shorter, and nobody
# reads a name of thousands of characters.
LONG_WORD = re.compile(r"\S{300,}")


class ConjoinError(ValueError):
    """Root of all errors that conjoin raises on purpose.

    Examples
    --------
    >>> try:
    ...     raise DataError("Column 'price' is empty; drop it with columns=...")
    ... except ValueError as error:
    ...     print(error)
    Column 'price' is empty; drop it with columns=...
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(LONG_WORD.sub(lambda found: shortened(found[0]), str(message)))


class ArgumentError(ConjoinError):
    """An argument has a value that cannot be used."""


class DataError(ConjoinError):
    """The table or a dataset in it cannot be used as it is."""


class ReadError(ConjoinError):
    """A file cannot be read."""


class RoundsNeededError(ConjoinError):
    """No fault: a round was written, and the answers of sites are needed before work goes on."""


class SilentSitesError(ConjoinError):
    """Sites did not answer a round in time."""


class ConjoinWarning(UserWarning):
    """Root of all warnings: the result is valid, but the user should know something about it."""


class OutlierWarning(ConjoinWarning):
    """Rows with gross errors were left out, because they change the answer."""


def warn_caller(text: str, kind: type[ConjoinWarning] = ConjoinWarning) -> None:
    """Warn with a `ConjoinWarning` at the line outside this library that made the call.

    Context managers of this library are called through `contextlib`, which made no call itself.
    """
    inside = str(Path(__file__).parent), contextlib.__file__
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, kind, stacklevel=level + 1)
