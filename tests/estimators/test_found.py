"""What a fitted estimator found."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import conjoin
from conjoin.estimators.found import Found


def test_attributes_are_those_of_the_result_and_need_a_fit():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 1)), rng.standard_normal(60)
    model = conjoin.JoinRegressor(learner="linear")
    with pytest.raises(NotFittedError):
        _ = model.clusters_
    model.fit(X, y, groups=np.repeat(["a", "b"], 30))
    assert isinstance(model, Found)
    assert model.clusters_ == model.result_.clusters
    assert model.errors_ == model.result_.errors
    assert model.ledger_ == model.result_.ledger()
