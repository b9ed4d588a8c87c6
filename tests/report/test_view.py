"""A result as sections of the page see it."""

import numpy as np
import pytest

from conjoin.report.view import View, colours
from tests.report import results


def test_colours_go_to_the_largest_clusters():
    names = [["a"], ["b", "c"], ["d"]]
    assert colours(names) == [0, 1, 2]
    many = [["x"]] * 5 + [["a", "b"]] * 9
    found = colours(many)
    assert found[:5] == [8] * 5
    assert found[5:13] == list(range(8))
    assert found[13] == 8


def test_gains_are_in_percent_of_the_error_of_the_datasets_concerned():
    result = results.hostile()
    first, second = list(result.labels)[:2]
    error = np.mean([result.coefficients[name].error for name in (first, second)])
    assert View(result).percent(0.1, [first, second]) == pytest.approx(10 / error)
    assert View(result).percent(None, [first]) is None


@pytest.mark.parametrize("classes", [2, 3])
def test_coefficients_follow_their_columns(classes):
    view = View(results.choices(classes))
    found = view.coef(view.result.pooled)
    assert len(found) == len(view.columns) == len(view.widths)
    for name, value in view.result.pooled.coef.items():
        assert found[view.columns.index(name)] == value
