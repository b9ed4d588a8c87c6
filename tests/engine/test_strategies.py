import numpy as np
from numpy.testing import assert_allclose

from conjoin.api.request import Request
from conjoin.datasets import make_clusters
from conjoin.engine.strategies import validate_strategies
from conjoin.engine.study import make_study
from conjoin.strategies.plan import make_plan, start_values
from conjoin.strategies.validation import fit_strategies
from conjoin.tables import collect


def test_the_average_is_the_last_and_is_validated_like_the_others():
    tables = make_clusters(sizes=(5, 5), n=40, p=2).tables()
    study = make_study(collect(tables, target="y"), Request(target="y"))
    start = start_values(study.given)
    fits = fit_strategies(make_plan(start), start.problem)
    found = validate_strategies(fits, study, start)
    assert [*fits, "auto"] == list(found.validated)
    weights = np.array([found.weights[name] for name in fits])
    assert_allclose(weights.sum(), 1)
    mixed = np.tensordot(weights, np.stack([one.fold_coef for one in fits.values()]), axes=1)
    assert_allclose(found.validated["auto"].losses, start.problem.loss(mixed))
    assert_allclose(found.validated["auto"].fold_coef, mixed)  # intervals need them
