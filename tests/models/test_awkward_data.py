"""Awkward classes and counts stay finite through moments, strategies and verdicts."""

import numpy as np
import pytest

from conjoin.criterion.judge import Judge
from conjoin.models.backing import FEWEST_ROWS
from conjoin.models.glm_families import BERNOULLI, POISSON, multinomial
from conjoin.strategies.plan import make_plan, start_values
from conjoin.strategies.refits import clusters
from conjoin.strategies.validation import fit, fit_strategies
from tests.models.likelihood_rows import FIELDS, SIZES, D, Rows


def separable(rows):
    rows.y = (rows.Z[:, 1] > 0).astype(float) * rows.family.m


def single_classes(rows):
    rows.y[rows.dataset == 0] = 0.0
    rows.y[rows.dataset == 2] = rows.family.m


def absent_class(rows):
    rows.y[(rows.dataset < 3) & (rows.y == rows.family.m)] = 0.0


def constant_column(rows):
    rows.Z[rows.dataset == 1, 1] = 2.0


def no_weight(rows):
    rows.w[rows.dataset == 1] = 1e-12


def nothing(rows):
    pass


CASES = [separable, single_classes, absent_class, constant_column, no_weight, nothing]


@pytest.mark.parametrize("family", [BERNOULLI, multinomial(3), POISSON], ids=lambda f: f.name)
@pytest.mark.parametrize("change", CASES, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("sizes", [SIZES, [1, 1, 40, 3]], ids=str)
def test_awkward_data_stay_finite(family, change, sizes):
    rows = Rows(family, sizes=np.array(sizes))
    change(rows)
    start = start_values(rows.likelihood())
    problem = start.problem
    assert_finite(problem)
    plan = make_plan(start)
    for fitted in fit_strategies(plan, problem).values():
        assert np.isfinite(fitted.coef).all()
        assert np.isfinite(problem.loss(fitted.fold_coef)).all()
    assert np.isfinite(fit(clusters(plan.search.labels, start.hyper), problem)[0]).all()
    moments, backing, _ = problem.own()
    assert all(np.isfinite(getattr(moments, name)).all() for name in FIELDS)
    judge = Judge.of(moments, backing)
    pairs = [((i,), (j,)) for i in range(4) for j in range(i)]
    answers, ends = judge.verdicts(pairs, delta=0.1, interval=True)
    few = np.array(sizes) < FEWEST_ROWS * D
    assert all(a == "undecided" for a, ((i,), (j,)) in zip(answers, pairs) if few[i] or few[j])
    assert not np.isnan(ends).any()
    enough = np.array([not (few[i] or few[j]) for (i,), (j,) in pairs])
    assert not np.isnan(judge.gains(pairs)[enough]).any()


def assert_finite(problem):
    for moments in (problem.moments, problem.folds):
        assert all(np.isfinite(getattr(moments, name)).all() for name in FIELDS)
    assert np.linalg.eigvalsh(problem.moments.G).min() > -1e-9
