import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

import conjoin
from conjoin.api.request import Request
from conjoin.engine import learner_choice
from conjoin.engine.learner_choice import as_learner, make_learner, name_of_learner
from conjoin.errors import ArgumentError
from conjoin.learners.blended import Blended
from conjoin.learners.boosting import Boosting
from tests.bent import bent_tables


def test_auto_is_boosting_with_the_seed_of_the_request(monkeypatch):
    monkeypatch.setattr(learner_choice, "AUTO_LEARNS", True)
    request = Request(target="y", random_state=7)
    assert make_learner(request, None) == Blended(Boosting(random_state=7))
    assert make_learner(Request(target="y", learner="linear"), None) is None


@pytest.mark.parametrize("option", [{"intercept": False}, {"representation": "mlp1"}])
def test_what_does_not_go_with_a_learner(option, monkeypatch):
    monkeypatch.setattr(learner_choice, "AUTO_LEARNS", True)
    assert make_learner(Request(target="y", **option), None) is None
    with pytest.raises(ArgumentError, match="does not go with"):
        make_learner(Request(target="y", learner="boosting", **option), None)


def test_names():
    assert name_of_learner("auto") == "auto"
    assert name_of_learner(Boosting()) == "boosting"
    assert name_of_learner(KNeighborsRegressor()) == "KNeighborsRegressor"
    assert as_learner(KNeighborsRegressor(), 0).name == "KNeighborsRegressor"


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        ("trees", "learner='trees'"),
        (3, "cannot be trained"),
        (KNeighborsRegressor, r"make one first: KNeighborsRegressor\(\)"),
    ],
)
def test_what_is_no_learner_is_refused(learner, words):
    with pytest.raises(ArgumentError, match=words):
        conjoin.partition(bent_tables(datasets=2), target="y", learner=learner)


@pytest.mark.learner
def test_the_default_tries_boosting_and_stays_linear_with_few_rows():
    assert conjoin.partition(bent_tables(datasets=2), target="y").learner == "boosting"
    few = {n: {c: v[:10] for c, v in t.items()} for n, t in bent_tables(datasets=3).items()}
    result = conjoin.partition(few, target="y")
    assert result.learner == "linear"
    assert "corrected" not in result.errors
    assert np.isfinite(result.errors["auto"].error)
