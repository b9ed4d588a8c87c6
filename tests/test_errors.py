import inspect
import warnings

import pytest

from conjoin.errors import (
    ArgumentError,
    ConjoinError,
    ConjoinWarning,
    DataError,
    ReadError,
    warn_caller,
)


@pytest.mark.parametrize("kind", [ArgumentError, DataError, ReadError])
def test_every_error_is_a_value_error(kind):
    assert issubclass(kind, ConjoinError)
    assert issubclass(kind, ValueError)


def test_a_warning_names_the_line_that_made_the_call():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = inspect.currentframe().f_lineno + 1
        warn_caller("Look at this.")
    (warning,) = caught
    assert warning.category is ConjoinWarning
    assert str(warning.message) == "Look at this."
    assert (warning.filename, warning.lineno) == (__file__, line)
