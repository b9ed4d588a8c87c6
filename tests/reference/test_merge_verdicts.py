import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.moments import Moments
from tests.criterion.pairs import pair, rows_pair, same
from tests.reference.merge_verdicts import judge_merge
from tests.reference.pair_verdict import judge


@pytest.mark.parametrize("seed", range(10))
def test_a_merge_of_single_datasets_is_the_pair(seed):
    one, two = pair(seed, d=0.1 * seed)
    single = [Moments.stack([m]) for m in (one, two)]
    same(judge(one, two), judge_merge(*single, interval=True), rtol=1e-8)
    weights = (np.array([0.2]), np.array([0.8]))
    merged = judge_merge(*single, weights=weights, interval=True)
    same(judge(one, two, weights=(0.2, 0.8)), merged, rtol=1e-8)


def test_splitting_datasets_of_a_cluster_only_costs_degrees_of_freedom():
    """Rows of one dataset cut in two, weighted by rows: the same fit, a noise of its own."""
    (X1, y1), (X2, y2) = rows_pair(3, (400, 400), d=0.05)
    whole = [Moments.from_rows(X, y) for X, y in ((X1, y1), (X2, y2))]
    halves = Moments.stack([Moments.from_rows(X1[i::2], y1[i::2]) for i in range(2)])
    merged = judge_merge(
        halves,
        Moments.stack(whole[1:]),
        weights=(np.array([0.25, 0.25]), np.array([0.5])),
        interval=True,
    )
    plain = judge(*whole)
    assert merged.verdict == plain.verdict
    assert_allclose(merged.interval, plain.interval, rtol=0.15)
