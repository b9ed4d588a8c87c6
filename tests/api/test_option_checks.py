"""Checks of single options."""

import pytest

from conjoin.api.option_checks import check_folder, check_folds, check_interval, check_sample
from conjoin.errors import ArgumentError


@pytest.mark.parametrize(
    ("check", "value", "words"),
    [
        (check_folder, 3, "is no folder"),
        (check_folds, 2.5, "is no whole number"),
        (check_interval, 1.0, "is no share of new rows"),
        (check_sample, 10, "1,?000"),
    ],
)
def test_wrong_values_are_named(check, value, words):
    with pytest.raises(ArgumentError, match=words):
        check("option", value)


def test_none_is_the_default():
    for check in (check_folder, check_interval, check_sample):
        check("option", None)
