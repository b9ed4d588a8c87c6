import numpy as np
import pytest

from conjoin.models import effort
from conjoin.moments import Moments


def collection(K, p, rows=10):
    """Moments with given sizes; their values do not matter."""
    return Moments(np.zeros((K, p, p)), np.zeros((K, p)), *(np.full(K, x) for x in (0, rows, rows)))


def test_operations_grow_with_datasets_and_the_cube_of_columns():
    assert effort.operations(collection(7, 10)) == 7000
    assert effort.operations(collection(7, 20)) == 8 * 7000


def test_small_collections_have_few_rows_and_few_operations():
    assert effort.is_small(collection(10, 5))
    assert not effort.is_small(collection(10, 5, rows=effort.FEW_ROWS))
    assert not effort.is_small(collection(10, 100))


@pytest.mark.parametrize(
    ("K", "p", "quick", "large"),
    [(10, 5, True, False), (10, 60, False, False), (10, 200, False, True)],
)
def test_quick_and_large_go_by_operations(K, p, quick, large):
    moments = collection(K, p)
    assert (effort.is_quick(moments), effort.is_large(moments)) == (quick, large)


def test_variances_come_from_a_random_part_of_very_many_datasets(monkeypatch):
    assert effort.some_datasets(effort.MOST_FOR_VARIANCES) is None
    monkeypatch.setattr(effort, "MOST_FOR_VARIANCES", 50)
    some = effort.some_datasets(200)
    assert len(set(some.tolist())) == 50
    assert (np.diff(some) > 0).all() and some[-1] < 200
    # A pattern of the names, such as every fourth dataset of one kind, is not met.
    assert np.bincount(some % 4, minlength=4).min() >= 5
    np.testing.assert_array_equal(some, effort.some_datasets(200))


def test_a_few_dozen_wide_datasets_are_worth_a_search():
    """One model for all had a 26 % higher error than clusters on 28 datasets of 177 columns."""
    assert not effort.works_by_rows(np.full(28, 50), 177, 10)
    assert effort.works_by_rows(np.full(1_000, 100), 500, 10)
    assert effort.works_by_rows(np.full(5_000, 6), 51, 10)
