"""The one way from rows to predictions: names, limits, unseen datasets, what is noticed."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.api.request import PredictionOptions
from conjoin.datasets import make_clusters
from conjoin.errors import ArgumentError, DataError
from conjoin.result.predictor import Noticed

POOLED, NEAREST = PredictionOptions(), PredictionOptions(on_unseen="nearest")


@pytest.fixture(scope="module")
def predictor():
    tables = make_clusters(sizes=(2, 2), n=60, p=2, distance=3.0).tables()
    return conjoin.partition(tables, target="y", strategy="separate").predictor


def test_every_row_gets_the_model_of_its_dataset(predictor):
    rows = np.random.default_rng(0).standard_normal((4, 2))
    found = predictor.predict(rows, ["d3", "d1", None, "d3"], POOLED)
    models = [predictor.datasets["d3"], predictor.datasets["d1"], predictor.pooled]
    for i, model in enumerate([*models, models[0]]):
        assert found.linear[i, 0] == pytest.approx(model.predict(rows[i])[0])
    assert found.noticed.nameless == 1
    assert not found.noticed.unseen


def test_unseen_datasets_get_the_pooled_model_or_that_of_their_cluster(predictor):
    rows, names = np.ones((3, 2)), ["new", "d1", "other"]
    pooled = predictor.predict(rows, names, POOLED)
    assert_allclose(pooled.linear[[0, 2], 0], predictor.pooled.predict(rows[:2]))
    assert pooled.noticed.unseen == {"new", "other"}
    near = predictor.predict(rows, names, NEAREST, {"new": 1, "other": 0})
    assert near.linear[0, 0] == pytest.approx(predictor.clusters[1].predict(rows[0])[0])
    assert near.linear[2, 0] == pytest.approx(predictor.clusters[0].predict(rows[0])[0])
    assert near.linear[1, 0] == pooled.linear[1, 0]
    with pytest.raises(DataError, match="Dataset 'new' was not there at fitting"):
        predictor.predict(rows, names, PredictionOptions(on_unseen="raise"))


def test_rows_are_kept_within_the_limits_unless_told_otherwise(predictor):
    rows = np.array([[1e6, 0.0], [0.0, 0.0]])
    within, noticed = predictor.notice(rows, ["d1", "d1"], POOLED)
    assert within[0, 0] == predictor.pooled.limits["x1"][1]
    assert (noticed.beyond, noticed.beyond_by_column) == (1, {"x1": 1, "x2": 0})
    free, noticed = predictor.notice(rows, ["d1", "d1"], PredictionOptions(limit=False))
    assert free is rows
    assert noticed == Noticed(rows=2)


def test_places_of_unseen_datasets_come_from_their_own_rows(predictor):
    class Nearest:
        """A placement that knows the cluster from the sign of the first feature."""

        @staticmethod
        def nearest(rows):
            return int(rows[:, 0].mean() > 0)

    rows = np.array([[-1.0, 0.0], [3.0, 0.0], [-2.0, 0.0], [9.0, 9.0]])
    assert predictor.places(rows, ["m", "n", "m", "d1"], Nearest) == {"m": 0, "n": 1}


def test_names_beside_rows(predictor):
    X = pd.DataFrame({"x1": [0.0, 1.0], "x2": [0.0, 1.0]})
    for names, expected in (
        ("d1", ["d1", "d1"]),
        (7, ["7", "7"]),
        (["d1", None], ["d1", None]),
        (pd.Series(["d1", np.nan]), ["d1", None]),
        (np.array([1.0, 2.0]), ["1", "2"]),
    ):
        assert predictor.encode(X, names)[1] == expected
    with pytest.raises(DataError, match="dataset has 3 names for 2 rows of X"):
        predictor.encode(X, ["d1", "d2", "d3"])


def test_numbers_have_no_probabilities(predictor):
    with pytest.raises(ArgumentError, match="'y' has no classes, so there are no probabilities"):
        predictor.probabilities(np.zeros((1, 1)))


def test_what_is_noticed_adds_up():
    first = Noticed(10, frozenset({"a"}), 4, 1, 2, {"x": 2, "z": 1})
    second = Noticed(5, frozenset({"b"}), 2, 0, 1, {"x": 0, "z": 3})
    both = first + second
    assert both == Noticed(15, frozenset({"a", "b"}), 6, 1, 3, {"x": 2, "z": 4})
    assert both.unseen_sentence("pooled") == (
        "2 datasets were not there at fitting ('a', 'b'); they get the model for all (6 of 15 "
        "rows)."
    )
    assert second.unseen_sentence("nearest") == (
        "1 dataset was not there at fitting ('b'); it gets the model of the nearest cluster "
        "(2 of 5 rows)."
    )
    assert both.nameless_sentence() == "1 of 15 rows name no dataset; they get the model for all."
    assert both.beyond_sentence().startswith("3 of 15 rows lie far outside the training range")
    assert "column 'z'" in both.beyond_sentence()


def test_nothing_noticed_is_not_mentioned():
    nothing = Noticed(rows=9)
    assert nothing.unseen_sentence("pooled") is None
    assert nothing.nameless_sentence() is None
    assert nothing.beyond_sentence() is None
