import pytest

from conjoin.errors import ArgumentError
from conjoin.tables.choices import COLUMN_CHOICES, MISSING_CHOICES, check_columns, check_missing


def test_known_choices_are_accepted():
    for choice in MISSING_CHOICES:
        check_missing(choice)
    for choice in (None, *COLUMN_CHOICES):
        check_columns(choice)


def test_unknown_choices_are_listed():
    with pytest.raises(ArgumentError, match="missing='guess' is unknown; expected one of indic"):
        check_missing("guess")
    with pytest.raises(ArgumentError, match="columns='all' is unknown; expected one of intersect"):
        check_columns("all")
