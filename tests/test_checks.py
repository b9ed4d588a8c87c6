import numpy as np
import pytest

from conjoin.checks import (
    check_choice,
    check_count,
    check_level,
    check_rows,
    check_seed,
    check_share,
)
from conjoin.errors import ArgumentError, DataError


@pytest.mark.parametrize("value", [0.1, 0.999, np.float64(0.5)])
def test_levels_and_shares_between_0_and_1_pass(value):
    check_level("delta", value)
    check_share("share", value)


@pytest.mark.parametrize("value", [0, 1, -0.1, 2.0, float("nan"), "0.1", None])
def test_other_levels_and_shares_are_refused(value):
    with pytest.raises(ArgumentError, match="delta=.* is not a level; expected a number between"):
        check_level("delta", value)
    with pytest.raises(ArgumentError, match="part=.* is not a share of the rows; expected"):
        check_share("part", value)


@pytest.mark.parametrize("value", [2, 2.0, np.int64(7)])
def test_counts_pass(value):
    check_count("folds", value, least=2)


@pytest.mark.parametrize("value", [1, 2.5, -3, float("nan"), float("inf"), "3", None])
def test_other_counts_are_refused(value):
    with pytest.raises(
        ArgumentError, match="folds=.* is not a count; expected a whole number >= 2"
    ):
        check_count("folds", value, least=2)


def test_fewer_rows_than_columns_are_refused_unless_wanted():
    check_rows("a", 5, 5, "in a half", overparametrised=False)
    check_rows("a", 3, 5, "in a half", overparametrised=True)
    with pytest.raises(DataError, match="Dataset 'a' has 3 rows in a half, but the model has 5"):
        check_rows("a", 3, 5, "in a half", overparametrised=False)


def test_choices():
    check_choice("family", "auto", ("auto", "poisson"))
    with pytest.raises(ArgumentError, match="family='x' is unknown; expected one of auto, poisson"):
        check_choice("family", "x", ("auto", "poisson"))


@pytest.mark.parametrize("value", [True, 1.5, "1", -1])
def test_seeds_are_whole_numbers_from_zero(value):
    check_seed("random_state", 0)
    check_seed("random_state", np.int64(3))
    with pytest.raises(ArgumentError, match="random_state=.*expected a whole number"):
        check_seed("random_state", value)
