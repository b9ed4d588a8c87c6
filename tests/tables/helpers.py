"""Small checks shared by the tests of tables."""

import pytest

from conjoin.errors import ConjoinError
from conjoin.tables import collect


def refused(data, match, **options):
    """Check that `collect` raises an error of one line with these words."""
    options = {"target": "sales", "by": "store", **options}
    with pytest.raises(ConjoinError, match=match) as caught:
        collect(data, **options)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)
