import contextlib
import inspect
import warnings

import pytest

from conjoin import errors
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


def test_a_warning_through_a_context_manager_names_the_line_outside_contextlib():
    @contextlib.contextmanager
    def warning_at_the_end():
        yield
        warn_caller("Look at this.")

    # As if the manager were a part of the library.
    code = warning_at_the_end.__wrapped__.__code__
    warning_at_the_end.__wrapped__.__code__ = code.replace(co_filename=errors.__file__)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = inspect.currentframe().f_lineno + 1
        with warning_at_the_end():
            pass
    (warning,) = caught
    assert warning.filename == __file__
    assert abs(warning.lineno - line) <= 1
