"""Forward validation: who sees what, and who is judged on what."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from conjoin.moments import Moments
from conjoin.moments.folds import fold_moments
from conjoin.moments.forward import UNTESTED, plan_forward


@given(
    st.lists(st.integers(0, 60), min_size=8, max_size=80),
    st.integers(2, 10),
    st.one_of(st.none(), st.integers(1, 30)),
    st.integers(0, 20),
)
def test_every_model_sees_the_past_alone_and_predicts_its_horizon(times, folds, horizon, gap):
    time = np.array(times, dtype=float)
    plan = plan_forward(time, folds, horizon, gap)
    if plan is None:
        return
    assert len(plan.origins) <= folds
    for f, origin in enumerate(plan.origins):
        assert np.array_equal(plan.piece < plan.before[f], time < origin)
        judged = time[plan.fold == f]
        assert len(judged)
        assert judged.min() >= origin + gap
        if horizon is not None:
            assert judged.max() < origin + gap + horizon
    if horizon is None:
        assert np.all(time[plan.fold == UNTESTED] < plan.origins[0] + gap)


def test_without_horizon_and_gap_every_later_row_is_judged_once():
    plan = plan_forward(np.arange(100.0), 10)
    assert_allclose(plan.origins, np.arange(50, 100, 5))
    assert np.all(plan.fold[:50] == UNTESTED)
    assert np.array_equal(plan.fold[50:], np.repeat(np.arange(10), 5))


def test_rows_of_one_time_stay_together_and_one_time_has_no_plan():
    plan = plan_forward(np.repeat([1.0, 2.0, 3.0], [10, 50, 10]), 10)
    assert len(plan.origins) == 1
    assert plan_forward(np.ones(20), 5) is None


def test_sums_of_pieces_are_the_moments_of_rows():
    rng = np.random.default_rng(0)
    Z, t, time = (
        rng.standard_normal((60, 2)),
        rng.standard_normal(60),
        rng.permutation(60).astype(float),
    )
    plan = plan_forward(time, 4, 5.0, 2.0)
    pieces = fold_moments(Z, t, np.ones(60), np.array([0, 25, 60]), plan.piece, plan.pieces)
    tested, seen = plan.tested(pieces), plan.seen(pieces)
    for f, origin in enumerate(plan.origins):
        for k, own in enumerate((slice(0, 25), slice(25, 60))):
            past, next_ = time[own] < origin, plan.fold[own] == f
            for found, rows in ((seen, past), (tested, next_)):
                expected = Moments.from_rows(Z[own][rows], t[own][rows])
                assert_allclose(found.G[k, f], expected.G, atol=1e-12)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_order_of_rows_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    time = rng.integers(0, 40, 200).astype(float)
    order = rng.permutation(200)
    assert np.array_equal(plan_forward(time, 6).fold[order], plan_forward(time[order], 6).fold)
