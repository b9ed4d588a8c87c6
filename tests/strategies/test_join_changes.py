"""What a join does to the error on held-out rows."""

import numpy as np
import pytest

from conjoin.models.problem import LeastSquares
from conjoin.strategies.join_changes import JoinChanges
from conjoin.strategies.plan import start_values
from tests.collections_ import make


@pytest.fixture(scope="module")
def changes():
    truth = make("clusters", K=6, n=60, p=3, clusters=2)
    start = start_values(LeastSquares(truth.folds))
    return truth, JoinChanges(start.problem, start.hyper)


def test_joins_of_like_datasets_do_no_harm_and_others_raise_the_error(changes):
    truth, find = changes
    labels = truth.labels
    same = [k for k in range(6) if labels[k] == labels[0]]
    other = [k for k in range(6) if labels[k] != labels[0]]
    change, spread = find(same[:1], same[1:])
    assert change < spread
    change, spread = find(same, other)
    assert change > spread > 0


def test_sides_can_be_swapped_and_reordered(changes):
    _, find = changes
    assert find([0, 2], [1, 4]) == pytest.approx(find([4, 1], [2, 0]))


def test_the_change_is_that_of_a_plain_loop(changes):
    truth, find = changes
    hyper, folds = find.hyper, truth.folds
    left, right = [0], [1, 2]

    def fit(group, f):
        rest = folds[group].union(0).union(0) - folds[group].union(0)[f]
        ridge = hyper.noise * np.linalg.inv(hyper.L @ hyper.L.T)
        return find._centre + np.linalg.solve(rest.G + ridge, rest.h - rest.G @ find._centre)

    total = 0.0
    for k in left + right:
        own = left if k in left else right
        for f in range(folds.shape[1]):
            cell, w = folds[k, f], folds[k].w.sum()
            total += float(cell.sse(fit(left + right, f)) - cell.sse(fit(own, f))) / w / 3
    assert find(left, right)[0] == pytest.approx(total)
