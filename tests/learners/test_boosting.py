import numpy as np
import pytest

import conjoin
from conjoin.errors import ArgumentError
from conjoin.families import Response
from conjoin.learners import boosting, in_step
from conjoin.learners.boosting import SHAPES, Boosting
from conjoin.learners.library import MissingLibraryError
from conjoin.learners.rows import UNKNOWN, LearnerRows


def rows_of(n=300, seed=0, target="number", datasets=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    dataset = np.arange(n) % datasets
    y = np.sin(2 * X[:, 0]) + dataset + rng.normal(0, 0.3, n)
    response = Response()
    if target == "classes":
        y, response = (y > 1).astype(float), Response("logistic", ("no", "yes"))
    if target == "three":
        y, response = np.digitize(y, [0.5, 1.5]).astype(float), Response("logistic", (0, 1, 2))
    if target == "counts":
        y, response = rng.poisson(np.exp(y / 2)).astype(float), Response("poisson")
    return LearnerRows(X, y, np.ones(n), dataset, datasets, ("a", "b"), (), response)


GROUP = np.arange(300) % 5


def test_predictions_of_held_out_rows_come_close_to_the_truth():
    rows = rows_of()
    found = Boosting().cross_fit(rows, GROUP)
    truth = np.sin(2 * rows.X[:, 0]) + rows.dataset
    assert np.mean((found.held_out[:, 0] - truth) ** 2) < 0.06
    assert found.settings["shape"] in SHAPES
    assert 1 <= found.settings["rounds"] <= boosting.MOST_ROUNDS


def test_pure_noise_of_variance_one_validates_at_one():
    rng = np.random.default_rng(1)
    noise = rows_of(n=1000)
    y = rng.normal(size=1000)
    rows = LearnerRows(noise.X, y, noise.w, noise.dataset, 3, noise.names, ())
    found = Boosting().cross_fit(rows, np.arange(1000) % 5)
    assert np.mean((y - found.held_out[:, 0]) ** 2) == pytest.approx(np.var(y), rel=0.03)


def test_a_held_out_row_does_not_see_its_target():
    rows = rows_of()
    learner = Boosting(rounds=30, leaves=8)
    before = learner.cross_fit(rows, GROUP).held_out
    y = np.where(GROUP == 2, 100.0 + rows.y, rows.y)
    # The units of the target are those of all rows; the trees of group 2 see the others only.
    changed = LearnerRows(rows.X, y, rows.w, rows.dataset, 3, rows.names, ())
    after = learner.cross_fit(changed, GROUP).held_out
    assert np.abs(after[GROUP == 2] - before[GROUP == 2]).max() < 0.05
    assert np.abs(after[GROUP != 2] - before[GROUP != 2]).max() > 10


@pytest.mark.parametrize("target", ["number", "three", "counts"])
def test_one_and_two_threads_give_the_same_bits(target, monkeypatch):
    rows, found = rows_of(target=target), []
    for threads in (1, 2):
        monkeypatch.setattr(boosting, "_threads", lambda n, threads=threads: threads)
        learner = Boosting(rounds=5, shape="random")
        cross = learner.cross_fit(rows, GROUP)
        model = learner.fit(rows, cross.settings)
        found.append((cross.held_out, model.predict(rows.X, rows.dataset)))
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])
    assert np.isfinite(found[0][0]).all()
    assert found[0][0].shape == (300, 3 if target == "three" else 1)


@pytest.mark.parametrize("target", ["classes", "three"])
def test_rows_are_predicted_in_parts_between_which_ctrl_c_is_heard(target, monkeypatch):
    """One call of LightGBM for all held-out rows would take seconds where there are many."""
    rows, learner, asked = rows_of(target=target), Boosting(rounds=4, shape="usual"), []
    whole = learner.cross_fit(rows, GROUP, keep=True)
    monkeypatch.setattr(boosting, "MOST_AT_ONCE", 4 * rows.lines * 25)
    monkeypatch.setattr(boosting, "stop_if_interrupted", lambda: asked.append(1))
    parts = learner.cross_fit(rows, GROUP)
    assert np.array_equal(parts.held_out, whole.held_out)
    assert len(asked) == 5 * 3  # 60 held-out rows in each of five groups, 25 at a time
    model = whole.models[0]
    assert model.predict(rows.X, rows.dataset).shape == (300, rows.lines)
    assert len(asked) == 5 * 3 + 12


def test_many_rows_give_the_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(boosting, "FEW_FOR_THREADS", 20_000)
    rows = rows_of(n=21_000)
    learner, texts = Boosting(rounds=8, leaves=31), []
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        texts.append(learner.fit(rows, learner.given_settings()).text)
    assert texts[0] == texts[1] and "[num_leaves: 31]" in texts[0]


def test_very_many_rows_are_judged_in_halves_with_the_same_bits_for_any_threads(monkeypatch):
    for module in (boosting, in_step):
        monkeypatch.setattr(module, "LARGE", 2_000)
    monkeypatch.setattr(in_step, "BINNED_ROWS", 1_000)
    monkeypatch.setattr(boosting, "FEW_FOR_THREADS", 2_000)
    rows, group, found = rows_of(n=3_000), np.arange(3_000) % 2, []
    learner = Boosting(rounds=8, leaves=8)
    for threads in ("1", "4"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found.append(learner.cross_fit(rows, group, keep=True))
        found.append(learner.fit(rows, found[-1].settings))
    assert np.array_equal(found[0].held_out, found[2].held_out)
    assert found[1].text == found[3].text
    for g in (0, 1):
        own = group == g
        again = found[0].models[g].predict(rows.X[own], rows.dataset[own])
        assert np.allclose(again, found[0].held_out[own], rtol=1e-6)


def test_the_scale_and_offset_of_the_target_do_not_matter():
    rows = rows_of()
    wide = LearnerRows(rows.X, 1e6 * rows.y + 1e9, rows.w, rows.dataset, 3, rows.names, ())
    learner = Boosting(rounds=40, leaves=8)
    one, two = (learner.cross_fit(r, GROUP).held_out[:, 0] for r in (rows, wide))
    assert np.allclose((two - 1e9) / 1e6, one, atol=1e-4)


def test_an_unknown_dataset_is_predicted_and_named_ones_differ():
    rows = rows_of()
    model = Boosting(rounds=60, leaves=8).fit(rows, Boosting(rounds=60)._settings("usual", 60))
    X = np.zeros((3, 2))
    known = model.predict(X, np.array([0, 1, 2]))[:, 0]
    assert np.all(np.diff(known) > 0.5)
    assert np.isfinite(model.predict(X, np.full(3, UNKNOWN))).all()
    assert model.predict(X[:0], np.zeros(0, dtype=int)).shape == (0, 1)
    assert model.importance.sum() == pytest.approx(1)


def test_settings_are_checked():
    with pytest.raises(ArgumentError, match="leaves"):
        Boosting(leaves=1)
    with pytest.raises(ArgumentError, match="rate=2"):
        Boosting(rate=2)
    assert Boosting(rounds=10).to_plain() == {"rounds": 10, "rate": 0.05, "random_state": 0}


def test_a_library_that_cannot_be_loaded_is_one_sentence(monkeypatch, bent):
    def missing():
        raise MissingLibraryError("LightGBM cannot be loaded (x); install it with pip.")

    monkeypatch.setattr("conjoin.engine.learner_choice.load_lightgbm", missing)
    with pytest.raises(MissingLibraryError, match="install it"):
        conjoin.partition(bent, target="y", learner="boosting")
    with pytest.warns(conjoin.ConjoinWarning, match="linear models only"):
        result = conjoin.partition(bent, target="y")
    assert result.learner == "linear"
