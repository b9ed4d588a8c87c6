"""Errors and warnings, one class per stage of the flow.

Every message is one sentence or two: the argument or column, the value received, what was
expected, and the next step. All errors are also `ValueError`, so that code which knows nothing of
conjoin can catch them.
"""


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
