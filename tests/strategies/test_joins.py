import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.models.partial import SLOPES, fit_variances
from conjoin.models.problem import LeastSquares
from conjoin.strategies import joins as module
from conjoin.strategies.joins import ValidatedJoins
from conjoin.strategies.refits import clusters
from conjoin.strategies.validation import validate
from tests.collections_ import make


def setting(**kind):
    truth = make(**kind)
    moments = truth.moments
    hyper = fit_variances(moments, SLOPES)
    K = moments.shape[0]
    return (
        LeastSquares(truth.folds),
        hyper,
        ValidatedJoins.of(truth.folds, hyper, np.full(K, 1 / K)),
    )


def errors(labels, problem, hyper):
    losses = validate(clusters(np.asarray(labels), hyper), problem).losses
    return losses / problem.moments.w


@pytest.mark.parametrize(
    ("pair", "apart", "joined"),
    [
        (((0,), (3,)), [0, 1, 2, 3, 4, 5], [0, 1, 2, 0, 3, 4]),
        (((0, 3), (1,)), [0, 1, 2, 0, 3, 4], [0, 0, 1, 0, 2, 3]),
        (((0, 3), (1, 4)), [0, 1, 2, 0, 1, 3], [0, 0, 1, 0, 0, 2]),
    ],
)
def test_a_change_is_the_difference_of_two_validated_partitions(pair, apart, joined):
    problem, hyper, joins = setting(kind="clusters", K=6, n=25, p=3)
    change = errors(joined, problem, hyper) - errors(apart, problem, hyper)
    inside = [*pair[0], *pair[1]]
    by_fold = change[:, inside].mean(axis=1)
    found, standard_error = joins.changes([pair])
    assert_allclose(found, by_fold.sum(), rtol=1e-6, atol=1e-12)
    assert standard_error[0] >= np.sqrt(10) * by_fold.std(ddof=1) * (1 - 1e-9)


def test_known_groups_and_new_ones_give_the_same_numbers():
    _, _, joins = setting(kind="clusters", K=6, n=25, p=3)
    _, _, fresh = setting(kind="clusters", K=6, n=25, p=3)
    tree = [((0,), (3,)), ((1,), (4,)), ((0, 3), (1, 4))]
    together = joins.changes(tree)
    one_by_one = [fresh.changes([pair]) for pair in reversed(tree)][::-1]
    assert_allclose(together[0], [change[0] for change, _ in one_by_one], rtol=1e-9)
    assert_allclose(together[1], [error[0] for _, error in one_by_one], rtol=1e-9)


def test_joining_helps_equal_datasets_and_hurts_different_ones():
    _, _, joins = setting(kind="clusters", K=6, n=40, p=4, clusters=3)
    change, error = joins.changes([((0,), (3,)), ((0,), (1,))])
    assert change[0] <= error[0]
    assert change[1] > error[1]


def test_what_is_forgotten_is_formed_again(monkeypatch):
    _, _, joins = setting(kind="clusters", K=8, n=25, p=3)
    _, _, forgetful = setting(kind="clusters", K=8, n=25, p=3)
    tree = [((0,), (4,)), ((1,), (5,)), ((0, 4), (1, 5)), ((2,), (6,)), ((0, 1, 4, 5), (2, 6))]
    expected = joins.changes(tree), joins.changes([((0, 4), (2, 6))])
    monkeypatch.setattr(module, "MOST_SUMS", 1)
    monkeypatch.setattr(module, "MOST_MODELS", 1)
    monkeypatch.setattr(module, "STACK", 1)
    found = forgetful.changes(tree), forgetful.changes([((0, 4), (2, 6))])
    assert_allclose(np.concatenate(found, axis=1), np.concatenate(expected, axis=1), rtol=1e-9)
    assert len(forgetful._memory.sums) == 1
    assert len(forgetful._memory.models) == 3


def test_branches_of_a_tree_come_one_after_the_other():
    tree = [((k,), (k + 1,)) for k in range(0, 8, 2)]
    tree += [((0, 1), (2, 3)), ((4, 5), (6, 7)), ((0, 1, 2, 3), (4, 5, 6, 7))]
    order = module._small_unions_first(tree)
    assert order == [0, 1, 4, 2, 3, 5, 6]


def test_no_pairs_have_no_changes():
    _, _, joins = setting(kind="clusters", K=4, n=20, p=2)
    assert [len(values) for values in joins.changes([])] == [0, 0]
