import numpy as np
from numpy.testing import assert_allclose

from conjoin.engine.entries import Entry, Layout
from conjoin.engine.remote_entries import Lines
from conjoin.engine.study import Study
from conjoin.models.problem import LeastSquares
from tests.engine.test_wide import wide_of


def test_the_average_prefers_the_better_prediction():
    wide, *_ = wide_of()
    given = LeastSquares(wide.folds)
    study = Study(wide.basis, given, None, np.array([0.5, 0.5]), np.zeros(2))
    lines = Lines(wide, Layout.of(1, 1, ("named",)), study, np.array([0, 1]))
    good = lines.of_learner("named")
    worse = good - np.array([3.0, 0.0, 0.0])  # too low by 1.5 already, so this is worse
    entries = {
        name: Entry(np.full((2, 1), level), np.zeros((2, 1, 2)), wide.losses(v))
        for name, v, level in (("linear", worse, 1.0), ("learner named", good, 2.0))
    }
    auto, weights = lines.average(entries, {"linear": worse, "learner named": good}, seed=0)
    assert weights["learner named"] > 0.9
    assert_allclose(auto.intercept, 2 - weights["linear"], rtol=1e-9)
    assert lines.mean_loss(auto.losses) < 1.1 * lines.mean_loss(wide.losses(good))
    assert lines.is_better(wide.losses(good), wide.losses(worse), 1.0)
    assert not lines.is_better(wide.losses(worse), wide.losses(good), 1.0)
