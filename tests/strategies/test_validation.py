import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.grouping.search import evidence_partition
from conjoin.models.partial import SLOPES, fit_variances
from conjoin.models.problem import LeastSquares
from conjoin.strategies.plan import Start
from conjoin.strategies.refits import clusters
from conjoin.strategies.validation import fit_strategies, validate, validate_partition
from tests.collections_ import make
from tests.strategies.flow import run


def test_losses_equal_a_plain_loop_for_pooled_least_squares():
    truth = make("continuum", K=5, n=30, p=3)

    def least_squares(moments):
        union = moments.union()
        return np.broadcast_to(np.linalg.solve(union.G, union.h), moments.h.shape)

    found = validate(least_squares, LeastSquares(truth.folds))
    assert_allclose(found.coef, least_squares(truth.moments))
    for f in (0, 7):
        beta = least_squares(truth.moments - truth.folds[:, f])
        assert_allclose(found.losses[f], truth.folds[:, f].sse(beta), rtol=1e-9)


@pytest.mark.parametrize("sizes", [[1] * 8, [1, 2, 3, 50, 200], [2, 2], [40, 1]])
def test_very_unequal_and_tiny_datasets(sizes):
    found = run(make("continuum", K=len(sizes), p=4, sizes=sizes))
    assert all(np.isfinite(one.coef).all() for one in found.fits.values())
    assert np.isfinite(found.losses).all()
    assert len(found.choose().labels) == len(sizes)


def test_a_partition_searched_for_outside_held_out_rows_is_worse_than_one_kept():
    truth = make("continuum", K=40, n=12, p=6)
    hyper = fit_variances(truth.moments, SLOPES)
    problem = LeastSquares(truth.folds)
    searched = validate_partition(evidence_partition, Start(problem, hyper))
    refit = clusters(evidence_partition(truth.moments, hyper), hyper)
    kept = validate(refit, problem).losses
    assert searched.sum() > 1.1 * kept.sum()


def test_progress_reaches_its_total():
    truth = make("continuum", K=5, n=20, p=2)
    found = run(truth)
    steps = []
    fit_strategies(found.plan, found.start.problem, lambda done, total: steps.append((done, total)))
    assert steps[-1][0] == steps[-1][1]
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
