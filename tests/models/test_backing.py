import numpy as np
import pytest

from conjoin.models.backing import Backing


def backing(*counts, mass=1e9):
    counts = np.array(counts, dtype=float)
    return Backing(counts.sum(axis=1), np.full(len(counts), mass), counts)


def test_ten_rows_for_each_column_are_enough():
    found = backing([50, 50], [15, 15], [15, 14]).enough(3)
    assert found.tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("given", "factor"),
    [
        (backing([10, 10]), 1.5),  # 20 rows of the 30 for three columns
        (backing([50, 50], mass=5.0), 3.0),  # information of 5 rows of 15
        (backing([14, 6]), 2.0),  # 6 rows outside the most frequent class of 12
        (backing([30, 0]), np.inf),
    ],
)
def test_the_shortfall_is_the_factor_by_which_rows_must_grow(given, factor):
    assert given.short(3)[0] == pytest.approx(factor)
    assert not given.enough(3)[0]


def test_a_rare_class_needs_more_rows_than_an_even_one():
    """With one column, 12 rows of a class of 1 % are skewed; 12 of 24 are not."""
    assert backing([12, 12]).enough(1)[0]
    assert not backing([1188, 12]).enough(1)[0]
    assert backing([2376, 24]).enough(1)[0]


def test_groups_add_up():
    whole = backing([5, 1], [2, 2], [0, 7]).of([[0, 2], [1]])
    assert whole.counts.tolist() == [[5, 8], [2, 2]]
    assert whole.rows.tolist() == [13, 4]
    assert whole.mass.tolist() == [2e9, 1e9]


def test_a_side_lacks_a_class_that_the_other_side_would_predict():
    absent, common = [40, 0], [30, 10]
    assert backing(absent, common).lacking().tolist() == [True]
    assert backing(common, absent).lacking().tolist() == [True]
    assert backing([4, 0], common).lacking().tolist() == [False]  # one row would be expected
    assert backing(common, common, absent, absent).lacking().tolist() == [False, False]


def test_counts_have_no_classes_to_lack():
    counts = Backing(np.array([40.0, 40.0]), np.array([400.0, 400.0]), np.zeros((2, 1)))
    assert counts.lacking().tolist() == [False]
    assert counts.enough(4).all() and not counts.enough(5).any()
