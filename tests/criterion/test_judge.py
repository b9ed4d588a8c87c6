"""Verdicts and gains of many pairs at once equal those of one pair at a time."""

import numpy as np
import pytest

from conjoin.criterion.judge import Judge
from tests import collections_
from tests.reference.merge_verdicts import judge_merge
from tests.reference.pair_verdict import judge


@pytest.fixture(scope="module")
def moments():
    sizes = [3, 5, 6, 7, 8, 9, 12, 20, 30, 40, 60, 80]
    return collections_.make("clusters", K=12, p=4, sizes=sizes).moments


def test_pairs_of_datasets(moments):
    left, right = np.triu_indices(12, 1)
    judged = Judge.of(moments)
    gains = judged.pair_gains(left, right)
    pairs = [((i,), (j,)) for i, j in zip(left, right)]
    answers, ends = judged.verdicts(pairs, delta=0.1, interval=True)
    for k, (i, j) in enumerate(zip(left, right)):
        one = judge(moments[i], moments[j])
        np.testing.assert_allclose(gains[k], one.gain, rtol=1e-8, atol=1e-10)
        assert answers[k] == one.verdict
        np.testing.assert_allclose(ends[k], one.interval, rtol=0.05, atol=1e-3)


def test_pairs_that_are_apart(moments):
    judged = Judge.of(moments)
    pairs = [((int(i),), (int(j),)) for i, j in zip(*np.triu_indices(12, 1))]
    answers, _ = judged.verdicts(pairs, delta=0.1, interval=True)
    found = judged.are_apart(pairs, delta=0.1)
    assert found.tolist() == [answer == "apart" for answer in answers]
    assert 0 < found.sum() < len(pairs)
    assert judged.are_apart([], delta=0.1).shape == (0,)


def test_merges_of_groups(moments):
    pairs = [((0, 3, 6), (9,)), ((11,), (8, 5, 2)), ((1, 4), (7, 10)), ((2,), (5,))]
    judged = Judge.of(moments)
    answers, ends = judged.verdicts(pairs, delta=0.1, interval=True)
    gains = judged.gains(pairs)
    for k, (a, b) in enumerate(pairs):
        one = judge_merge(moments[list(a)], moments[list(b)], interval=True)
        assert answers[k] == one.verdict
        np.testing.assert_allclose(gains[k], one.gain, rtol=1e-8)
        np.testing.assert_allclose(ends[k], one.interval, rtol=0.05)


def test_without_intervals_and_without_pairs(moments):
    judged = Judge.of(moments)
    answers, ends = judged.verdicts([((9,), (10,)), ((9,), (6,))], delta=0.1, interval=False)
    assert set(answers) <= {"join", "apart", "undecided"}
    assert not np.isnan(ends).any()
    assert judged.verdicts([], delta=0.1, interval=True)[0] == []
    assert judged.gains([]).shape == (0,)


def test_batches_of_pairs_give_the_same_gains(moments, monkeypatch):
    left, right = np.triu_indices(12, 1)
    judged = Judge.of(moments)
    whole = judged.pair_gains(left, right)
    monkeypatch.setattr("conjoin.criterion.judge.PAIRS", 7)
    np.testing.assert_allclose(judged.pair_gains(left, right), whole, rtol=1e-12)


class Costs:
    """Joining costs `factor` times what moments say."""

    def __init__(self, factor):
        self.factor = factor

    def costs(self, pairs):
        by_moments = np.full(len(pairs), 0.5)
        return by_moments, self.factor * by_moments


def test_exact_costs_of_joining_correct_gains_and_limits(moments):
    pairs = [((9,), (10,)), ((8,), (11,))]
    plain = Judge.of(moments)
    dear = Judge.of(moments, joins=Costs(3.0))
    np.testing.assert_allclose(dear.gains(pairs), plain.gains(pairs) - 1.0)
    limits, moved = (
        judged.verdicts(pairs, delta=0.1, interval=True)[1] for judged in (plain, dear)
    )
    assert (moved[:, 0] < limits[:, 0]).all()
    # A factor beyond the largest one allowed counts as that one.
    extreme = Judge.of(moments, joins=Costs(1e9))
    stretched = Judge.of(moments, joins=Costs(20.0))
    np.testing.assert_array_equal(
        extreme.verdicts(pairs, delta=0.1, interval=True)[1],
        stretched.verdicts(pairs, delta=0.1, interval=True)[1],
    )
