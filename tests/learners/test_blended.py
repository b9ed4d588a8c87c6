"""Averages of several shapes of trees."""

import json
from dataclasses import replace

import numpy as np
import pytest

import conjoin
from conjoin.errors import ReadError
from conjoin.families import Response
from conjoin.learners import blended as module
from conjoin.learners.blended import LEAST_WEIGHT, Blended, BlendedModel, blended
from conjoin.learners.boosting import Boosting
from conjoin.learners.rows import UNKNOWN, LearnerRows
from conjoin.models.row_losses import row_losses
from conjoin.result.document import checksum

GROUP = np.arange(300) % 5


def bent_rows(n=300, noise=0.3):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n, 2))
    dataset = np.arange(n) % 3
    y = np.sin(2 * X[:, 0]) + dataset + rng.normal(0, noise, n)
    return LearnerRows(X, y, np.ones(n), dataset, 3, ("a", "b"), ())


@pytest.fixture(scope="module")
def rows():
    return bent_rows()


@pytest.fixture(scope="module")
def found(rows):
    return Blended(Boosting()).cross_fit(rows, GROUP)


def test_weights_sum_to_one_and_small_ones_are_left_out(found):
    weights = [part["weight"] for part in found.settings["parts"]]
    assert sum(weights) == pytest.approx(1.0)
    assert 1 <= len(weights) <= round(1 / LEAST_WEIGHT)
    largest = max(found.settings["parts"], key=lambda part: part["weight"])
    assert found.settings["shape"] == largest["shape"]


def test_the_average_is_about_as_good_as_the_best_shape(rows, found):
    def error(held_out):
        return np.mean((rows.y - held_out[:, 0]) ** 2)

    shapes = [part["shape"] for part in found.settings["parts"]]
    quick = Boosting().quicker()
    single = [error(replace(quick, shape=s).cross_fit(rows, GROUP).held_out) for s in shapes]
    assert error(found.held_out) < 1.02 * min(single)


def test_a_row_does_not_choose_the_weights_it_is_judged_by(rows, found, monkeypatch):
    seen = []
    weights = Blended._weights

    def spy(self, parts, rows, kept):
        seen.append(kept)
        return weights(self, parts, rows, kept)

    monkeypatch.setattr(Blended, "_weights", spy)
    Blended(Boosting(), ("small", "tiny")).cross_fit(rows, GROUP)
    outside = seen[-5:]
    assert all(np.array_equal(kept, GROUP != g) for g, kept in enumerate(outside))


def test_pure_noise_validates_at_its_variance():
    y = np.random.default_rng(1).normal(size=600)
    plain = bent_rows(600)
    noise = LearnerRows(plain.X, y, plain.w, plain.dataset, 3, plain.names, ())
    held_out = Blended(Boosting()).cross_fit(noise, np.arange(600) % 5).held_out
    assert np.mean((y - held_out[:, 0]) ** 2) == pytest.approx(np.var(y), rel=0.03)


def test_the_model_of_all_rows_is_the_weighted_mean_of_its_parts(rows, found):
    model = Blended(Boosting()).fit(rows, found.settings)
    assert isinstance(model, BlendedModel)
    X, dataset = rows.X[:9], np.append(rows.dataset[:8], UNKNOWN)
    parts = [one.predict(X, dataset) for one in model.models]
    expected = sum(w * one for w, one in zip(model.weights, parts))
    assert np.allclose(model.predict(X, dataset), expected)
    assert model.importance.sum() == pytest.approx(1.0)


def test_shapes_that_were_chosen_stay(found):
    learner = Blended(Boosting())
    chosen = learner.narrowed(found.settings)
    assert set(chosen.shapes) == {part["shape"] for part in found.settings["parts"]}
    assert chosen.quicker().shape == chosen.shapes[0] == found.settings["shape"]
    assert learner.quicker() == Blended(Boosting().quicker())


def test_shapes_of_classes_are_averaged_by_their_log_loss(rows, monkeypatch):
    shapes, kinds = ("usual", "tiny"), ("low", "mid", "top")
    learner = Blended(Boosting(rounds=15), shapes)
    classes = replace(
        rows, y=np.digitize(rows.y, [0.5, 1.5]) * 1.0, response=Response("logistic", kinds)
    )
    found = learner.cross_fit(classes, GROUP)
    assert found.held_out.shape == (300, 3)
    own = [
        row_losses(
            replace(Boosting(rounds=15).quicker(), shape=shape).cross_fit(classes, GROUP).held_out,
            classes.y,
            classes.response,
        ).mean()
        for shape in shapes
    ]
    both = row_losses(found.held_out, classes.y, classes.response).mean()
    assert both < 1.02 * min(own)
    # A row of three classes has three lines, and costs as much as three rows.
    monkeypatch.setattr(module, "MOST_CLASS_ROWS", 899)
    assert "parts" not in learner.cross_fit(classes, GROUP).settings


def test_many_rows_and_given_trees_have_one_shape(rows, monkeypatch):
    learner = Blended(Boosting(rounds=5, shape="tiny"))
    monkeypatch.setattr(module, "MOST_ROWS", 299)
    settings = learner.cross_fit(rows, GROUP).settings
    assert "parts" not in settings
    assert learner.hastened(settings)["rounds"] == 5
    assert blended(Boosting(leaves=8)) == Boosting(leaves=8)


def test_trees_with_many_leaves_come_in_where_rows_suffice(rows, monkeypatch):
    tried = []
    cross_fit = Boosting.cross_fit

    def spy(self, rows, group, progress=None, *, keep=False):
        tried.append(self.shape)
        return cross_fit(self, rows, group, progress, keep=keep)

    monkeypatch.setattr(Boosting, "cross_fit", spy)
    learner = Blended(Boosting(rounds=5))
    learner.cross_fit(rows, GROUP)
    assert tried == list(module.PARTS)
    tried.clear()
    monkeypatch.setattr(module, "ENOUGH_FOR_LARGE", 300)
    learner.cross_fit(rows, GROUP)
    assert tried == [*module.PARTS, "large"]


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(2)
    X, by = rng.uniform(-2, 2, size=(2, 150)), np.arange(150) % 3
    table = {"a": X[0], "b": X[1], "y": np.abs(X[0]) * 3 + rng.normal(0, 0.3, 150), "by": by}
    return table, conjoin.partition(table, target="y", by="by", learner="boosting")


def test_files_hold_averages(result, tmp_path):
    table, found = result
    found.save(tmp_path / "model.json")
    assert np.array_equal(
        conjoin.load(tmp_path / "model.json").predict(table), found.predict(table)
    )
    document = json.loads((tmp_path / "model.json").read_text())
    first = document["content"]["predictions"]["models"][0]
    assert first["kind"] == "blended"
    first["weights"][0] = 7.0
    document["checksum"] = checksum(document["content"])
    (tmp_path / "bad.json").write_text(json.dumps(document))
    with pytest.raises(ReadError, match="weights"):
        conjoin.load(tmp_path / "bad.json")
