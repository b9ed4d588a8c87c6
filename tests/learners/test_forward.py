"""Groups of rows that a learner predicts forward in time."""

import numpy as np
import pytest

import conjoin
from conjoin.learners.forward import forward_groups
from conjoin.moments.forward import plan_forward


@pytest.mark.parametrize("gap", [0.0, 7.0])
def test_models_see_nothing_of_their_group_or_later(gap):
    time = np.random.default_rng(0).permutation(200).astype(float)
    plan = plan_forward(time, 10, None, gap)
    group, past = forward_groups(plan, np.arange(200), 5)
    assert past.judging == 5
    for g in range(5):
        assert time[past.trains(g)].max() < time[group == g].min()
    for g in (5, 6):
        early = time < plan.origins[0]
        assert np.all(past.trains(g) <= early)
        assert not np.any(past.trains(g) & (group == g))
    tested = plan.fold >= 0
    assert np.all(group[tested] < 5)


@pytest.mark.learner
def test_trees_do_not_learn_from_the_future():
    # The level jumps at random every ten days: neighbours in time give it away, the past does not.
    rng = np.random.default_rng(0)
    day = np.tile(np.arange(240), 2)
    y = np.concatenate([np.repeat(rng.standard_normal(24), 10) for _ in range(2)])
    data = {
        "store": np.repeat(["a", "b"], 240),
        "day": day,
        "x": rng.standard_normal(480),
        "y": y + 0.1 * rng.standard_normal(480),
    }
    learner = conjoin.Boosting(rounds=60, leaves=16, least_rows=5)
    random, forward = (
        conjoin.partition(data, target="y", by="store", learner=learner, **options)
        for options in ({}, {"time": "day"})
    )
    assert random.errors["learner named"].error < 0.3
    assert forward.errors["learner named"].error > 0.7
    assert forward.errors["auto"].error > 0.6
