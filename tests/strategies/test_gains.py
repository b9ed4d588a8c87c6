import numpy as np

from conjoin.api.request import Request
from conjoin.datasets import make_class_clusters
from conjoin.engine.study import make_study
from conjoin.strategies.gains import ValidatedGains
from conjoin.strategies.plan import start_values
from conjoin.tables import collect


def gains():
    tables = make_class_clusters(sizes=(2, 1), n=150, p=2, distance=4.0, random_state=0).tables()
    study = make_study(collect(tables, target="y"), Request(target="y"))
    start = start_values(study.given)
    return ValidatedGains(start.problem, start.hyper, study.gain_scale)


def test_equal_datasets_gain_and_distant_ones_lose():
    found = gains()
    assert found(((0,), (1,))) > found(((0,), (2,)))
    assert found(((0,), (2,))) < 0


def test_a_pair_is_validated_once_in_either_order():
    found = gains()
    one = found(((0, 1), (2,)))
    assert found(((2,), (1, 0))) == one
    assert len(found.known) == 1
    assert np.isfinite(one)
