"""What a result of classes can do: unseen datasets, new datasets, files."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.datasets import make_class_clusters
from conjoin.errors import ArgumentError, ConjoinWarning, DataError
from tests.api.outcomes import FEATURES, lines_of


def test_unseen_datasets(fitted):
    result, frame, _ = fitted
    new = frame.head(20)[FEATURES]
    with pytest.warns(ConjoinWarning, match="not there at fitting"):
        P = result.predict_proba(new, "nowhere")
    assert_allclose(P, result.pooled.predict_proba(new))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_allclose(result.predict_proba(new, [None] * 20), P)
        nearest = result.predict_proba(new, "nowhere", on_unseen="nearest")
    models = [model.predict_proba(new) for model in result.models]
    assert any(np.allclose(nearest, each) for each in models)
    with pytest.raises(DataError, match="was not there at fitting"):
        result.predict(new, "nowhere", on_unseen="raise")
    with pytest.raises(ArgumentError, match="on_unseen='guess' is unknown"):
        result.predict_proba(new, "nowhere", on_unseen="guess")


@pytest.mark.parametrize("classes, sizes", [(2, (3, 3)), (3, (2, 2))])
@pytest.mark.parametrize("cluster", [0, 1])
def test_assign_finds_the_cluster(request, classes, sizes, cluster):
    result = request.getfixturevalue("result" if classes == 2 else "of_three")
    distance = 3.0 if classes == 2 else 4.0
    bigger = (9,) if cluster == 0 else (sizes[0], 9 - sizes[0])
    new = make_class_clusters(sizes=bigger, n=200, p=3, distance=distance, classes=classes)
    assert new.labels["d9"] == cluster
    placed = result.assign(pd.DataFrame(new.X["d9"], columns=FEATURES), new.y["d9"])
    assert placed.cluster == cluster
    assert placed.probability > 0.6
    assert sum(placed.probabilities) + placed.probability_new == pytest.approx(1.0)
    truth = new.population_error("d9", new.slopes["d9"], new.intercept["d9"])
    assert new.population_error("d9", *lines_of(placed.model)) < truth + 0.03


def test_assign_few_rows_and_one_class(fitted):
    result, frame, _ = fitted
    for rows, label in ((1, "c1"), (5, "c2"), (300, "c1")):
        some = frame.sample(rows, random_state=0)[FEATURES]
        placed = result.assign(some, [label] * rows)
        assert np.isfinite(placed.model.predict_proba(some)).all()
        assert sum(placed.probabilities) + placed.probability_new == pytest.approx(1.0)


def test_assign_refuses_unknown_labels(result, shops):
    X = shops.X["d1"][:3]
    with pytest.raises(
        DataError, match="label 'c9', which is not in the training data.*'c1', 'c2'"
    ):
        result.assign(X, ["c1", "c9", "c2"])
    with pytest.raises(DataError, match="label None"):
        result.assign(X, ["c1", None, "c2"])
    with pytest.raises(DataError, match="one label for each of the 3 rows"):
        result.assign(X, ["c1", "c2"])


def test_save_load_and_pickle(fitted, tmp_path):
    result, frame, outcomes = fitted
    P = result.predict_proba(frame)
    result.save(tmp_path / "model.json", evidence=True)
    X, y = outcomes.X["d4"], outcomes.y["d4"]
    placed = result.assign(X, y)
    for again in (conjoin.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(result))):
        assert again.family == "logistic"
        assert again.classes == result.classes
        assert again.clusters == result.clusters
        assert_allclose(again.predict_proba(frame), P, atol=1e-12)
        assert (again.predict(frame) == result.predict(frame)).all()
        assert_allclose(again.assign(X, y).probabilities, placed.probabilities, atol=1e-9)
        assert again.errors["auto"].error == pytest.approx(result.errors["auto"].error)
        assert [v.verdict for v in again.ledger()] == [v.verdict for v in result.ledger()]
