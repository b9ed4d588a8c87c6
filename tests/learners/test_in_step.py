import lightgbm
import numpy as np
import pytest

from conjoin.execution import in_threads
from conjoin.learners import in_step
from conjoin.learners.in_step import Fold, train, train_in_step

PARAMETERS = {
    "objective": "regression", "num_leaves": 4, "verbosity": -1, "num_threads": 1,
    "deterministic": True, "force_row_wise": True, "feature_pre_filter": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    return X, np.sin(X[:, 0]) + rng.normal(0, 0.5, 300)


def dataset(rows):
    own = {"verbosity": -1, "num_threads": 1, "feature_pre_filter": False}
    return lightgbm.Dataset(*rows, params=own).construct()


def folds_of(rows):
    whole = dataset(rows)
    return [Fold.of(whole, PARAMETERS, np.flatnonzero(np.arange(300) % 3 == g)) for g in range(3)]


@pytest.mark.parametrize("fewest", [0, 10**9])
def test_curve_and_scores_are_those_of_lightgbm(rows, monkeypatch, fewest, capfd):
    monkeypatch.setattr(in_step, "FEWEST_FOR_THREADS", fewest)
    X, y = rows
    folds, seen = folds_of(rows), []
    curve = train_in_step(folds, 200, 5, lambda done, total: seen.append(done / total))
    numbers = np.arange(300)
    theirs = lightgbm.cv(
        PARAMETERS, lightgbm.Dataset(X, y, params={"feature_pre_filter": False}), 200,
        folds=[(numbers[numbers % 3 != g], numbers[numbers % 3 == g]) for g in range(3)],
        callbacks=[lightgbm.early_stopping(5, verbose=False)],
    )["valid l2-mean"]  # fmt: skip
    best = int(np.argmin(curve)) + 1
    assert best == len(theirs)
    np.testing.assert_allclose(curve[:best], theirs, rtol=1e-12)
    assert len(curve) == best + 5
    for fold in folds:
        expected = fold.booster.predict(X[fold.rows], num_iteration=best)
        np.testing.assert_allclose(fold.scores(best), expected, rtol=1e-9)
    assert seen == sorted(seen)
    assert capfd.readouterr().out == ""  # LightGBM is silent in every thread


def test_a_model_of_all_rows_is_that_of_lightgbm(rows):
    X, y = rows
    theirs = lightgbm.train(PARAMETERS, dataset(rows), 20)
    assert np.array_equal(train(PARAMETERS, dataset(rows), 20).predict(X), theirs.predict(X))


def test_training_in_a_thread_ends_when_nobody_waits(rows):
    whole = dataset(rows)

    def work(number):
        if number == 0:
            raise ValueError("the first item fails")
        train(PARAMETERS, whole, 10**9)

    with pytest.raises(ValueError, match="fails"):
        list(in_threads(work, range(2), alone=False))


def test_halves_that_share_their_rows_learn_what_boosters_of_their_own_learn(rows):
    whole, group = dataset(rows), np.arange(300) % 2
    own = [np.flatnonzero(group == g) for g in (0, 1)]
    each = [Fold.of(whole, PARAMETERS, some) for some in own]
    both = Fold.of_halves([in_step.subset(whole, some) for some in own], PARAMETERS, own)
    assert np.array_equal(train_in_step(each, 20, None), train_in_step(both, 20, None))
    for one, two in zip(each, both):
        assert np.array_equal(one.scores(20), two.scores(20))


def test_parts_of_many_rows_have_the_bins_of_all(rows, monkeypatch):
    """Parts that are made one by one are those of a dataset of all rows."""
    monkeypatch.setattr(in_step, "BINNED_ROWS", 100)
    monkeypatch.setattr(in_step, "CHUNK_ROWS", 40)
    X, y = rows
    own = [np.flatnonzero(np.arange(300) % 2 == g) for g in (0, 1)]
    params = {"verbosity": -1, "feature_pre_filter": False}
    make, w = (lambda some: X[some]), np.ones(300)
    (whole,) = in_step.binned(make, y, w, params=params)
    texts = []
    for parts in (
        [in_step.subset(whole, one) for one in own],
        in_step.binned(make, y, w, own, params=params),
    ):
        booster = lightgbm.Booster(PARAMETERS, parts[0])
        texts.append(train(PARAMETERS, parts[1], 10).model_to_string() + booster.model_to_string())
    assert texts[0] == texts[1]


def test_a_subset_is_that_of_lightgbm_without_its_list():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((500, 3)), rng.standard_normal(500)
    whole = lightgbm.Dataset(X, y, params={"verbosity": -1}).construct()
    rows = np.flatnonzero(np.arange(500) % 3 > 0)
    own, theirs = in_step.subset(whole, rows), whole.subset(rows.tolist()).construct()
    assert own.used_indices is None
    texts = []
    for data in (own, theirs):
        booster = lightgbm.Booster({"verbosity": -1, "objective": "regression"}, data)
        for _ in range(5):
            booster.update()
        texts.append(booster.model_to_string())
    assert texts[0] == texts[1]
