"""Many merges judged at once are judged as they are one by one."""

import numpy as np
import pytest

from conjoin.criterion.judge import Judge
from conjoin.criterion.verdict import judge, judge_merge
from tests import collections_


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
