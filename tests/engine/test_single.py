import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

import conjoin
from conjoin.engine.single import SAME_FOR_ONE

pytestmark = pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")


def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    return X, X @ [1.0, -1.0, 0.5] + 2 + rng.standard_normal(80)


def test_one_dataset_gets_least_squares_under_every_name():
    X, y = rows()
    model = conjoin.JoinRegressor().fit(X, y)
    slopes = np.linalg.lstsq(np.c_[X, np.ones(80)], y, rcond=None)[0]
    assert_allclose([*model.result_.pooled.coef.values(), model.result_.pooled.intercept], slopes)
    errors = model.result_.errors
    assert set(errors) == {*SAME_FOR_ONE, "clusters", "plain"}
    assert len({e.error for e in errors.values()}) == 1
    assert model.result_.ledger() == ()
    assert model.result_.weights == {"separate": 1.0}


def test_one_dataset_of_classes_converges_to_the_last_digits():
    X, y = rows()
    labels = y > 2
    ours = conjoin.JoinClassifier().fit(X, labels).predict_proba(X)[:, 1]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(Z, labels)
    assert np.abs(ours - theirs.predict_proba(Z)[:, 1]).max() < 0.02


def test_one_dataset_can_be_saved_and_reported(tmp_path):
    X, y = rows()
    model = conjoin.JoinRegressor().fit(X, y)
    model.save(tmp_path / "model.json", evidence=True)
    model.result_.report(tmp_path / "page.html")
    loaded = conjoin.JoinRegressor.load(tmp_path / "model.json")
    assert_allclose(loaded.predict(X), model.predict(X), rtol=0)
