"""Numbers that the documentation states, on smaller samples."""

import numpy as np
import pytest

from benchmarks.arena import synthetic


@pytest.mark.slow
def test_total_regret_of_the_default_pair_decision():
    regret = synthetic.pair_regret(pairs=400, seed=1)
    print(f"total regret over the 12 settings: {regret:.3f}")
    assert regret <= 0.60


@pytest.mark.slow
@pytest.mark.parametrize("column", ["clustered n=15", "continuum n=30"])
def test_auto_is_within_three_percent_of_the_best_entry(column):
    errors = synthetic.contest(synthetic.columns(seed=7)[column])
    assert errors["auto"] <= 1.03 * min(errors.values())


@pytest.mark.slow
def test_planted_clusters():
    assert synthetic.planted(seeds=8) <= 1.2


def test_known_clusters_are_the_limit():
    truth = synthetic.make_clusters(sizes=(5, 5), n=200, p=3, distance=2.0)
    assert synthetic.known_clusters(truth) == pytest.approx(1.0, abs=0.02)
    assert np.isfinite(synthetic.known_clusters(truth))
