"""Small forms of `benchmarks.levels.order` and `.order_classes`: verdicts where rows depend."""

import numpy as np
import pytest

from benchmarks.levels import order, order_classes

PAIRS = 100
# Two standard errors above delta = 0.1 with so many pairs.
MOST = 0.1 + 2 * np.sqrt(0.1 * 0.9 / PAIRS)


@pytest.mark.parametrize("name", ["ar0.9", "ar0.9, trend", "persons"])
def test_verdicts_on_numbers_hold_their_level_with_the_right_argument(name):
    right, plain = order.measure(name, PAIRS, seed=1)
    assert (right["verdict"], plain["verdict"]) == ("right", "plain")
    assert max(right["equal_apart"], right["edge_join"], right["edge_apart"]) <= MOST
    assert plain["edge_apart"] > 1.5 * MOST


@pytest.mark.parametrize("name", ["classes, persons", "classes, ar0.9", "counts, persons"])
def test_verdicts_on_classes_and_counts_hold_their_level_with_the_right_argument(name):
    right, plain = order_classes.measure(name, PAIRS, seed=1)
    assert max(right["equal_apart"], right["edge_join"], right["edge_apart"]) <= MOST
    assert plain["edge_apart"] > 1.5 * MOST
