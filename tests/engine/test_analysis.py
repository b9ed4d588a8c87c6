import copy
import pickle

import pytest

import conjoin
from conjoin.datasets import make_class_clusters, make_clusters
from conjoin.errors import ArgumentError
from conjoin.strategies import SEARCHED


@pytest.fixture(scope="module")
def result():
    return conjoin.partition(make_clusters(sizes=(3, 3), n=40, p=3).tables(), target="y")


def test_a_cluster_has_one_error_wherever_it_is_shown(result):
    in_use = result.using("clusters")
    for members, model in zip(result.clusters, result.models):
        shown = [in_use.coefficients[name].error for name in members]
        assert model.error == pytest.approx(sum(shown) / len(shown))
        assert {name: in_use.coefficients[name].coef for name in members} == dict.fromkeys(
            members, model.coef
        )


def test_best_is_the_strategy_of_least_error(result):
    errors = {name: e.error for name, e in result.errors.items() if name != "auto"}
    errors["clusters"] = errors.pop(SEARCHED)  # the error that can be compared with others
    assert result.using("best").strategy == min(errors, key=lambda name: errors[name])


def test_a_strategy_that_is_not_there_is_named():
    tables = make_clusters(sizes=(2,), n=40, p=5).tables()
    result = conjoin.partition(tables, target="y")
    with pytest.raises(ArgumentError, match="strategy='full' is unknown here"):
        result.using("full")


def test_the_weights_are_those_of_the_average(result):
    assert sum(result.weights.values()) == pytest.approx(1)
    mixed = sum(
        weight * result.using(name).coefficients["d1"].coef["x1"]
        for name, weight in result.weights.items()
    )
    assert result.coefficients["d1"].coef["x1"] == pytest.approx(mixed)


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_a_pickled_result_answers_the_same(kind):
    make = make_clusters if kind == "numbers" else make_class_clusters
    result = conjoin.partition(make(sizes=(2, 2), n=60, p=2).tables(), target="y")
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert again.errors == result.errors
        assert repr(again.ledger()) == repr(result.ledger())
        assert again.using("clusters").strategy == "clusters"
        if kind == "classes":
            assert again.scores == result.scores


def test_scores_of_classes_belong_to_the_strategy():
    tables = make_class_clusters(sizes=(2, 2), n=80, p=2, distance=3.0).tables()
    result = conjoin.partition(tables, target="y")
    for strategy in ("auto", "pooled", "clusters"):
        used = result.using(strategy)
        for name, scores in used.scores.items():
            assert scores.log_loss == pytest.approx(used.coefficients[name].error)
