"""Results with a learner in files: they come back bit by bit, and tampered files are refused."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import conjoin
from conjoin.cli.main import app
from conjoin.errors import ConjoinWarning, ReadError
from conjoin.learners.boosting import Boosting
from conjoin.learners.grouped import GroupedModel
from conjoin.learners.library import MissingLibraryError
from conjoin.learners.stored import learner_from_plain, learner_to_plain
from conjoin.result.document import checksum


@pytest.fixture
def file(boosted, tmp_path):
    boosted.save(tmp_path / "model.json", evidence=True)
    return tmp_path / "model.json"


def rewritten(file, change):
    """Change the content of a file, and give it the checksum of the new content."""
    document = json.loads(file.read_text())
    change(document["content"])
    document["checksum"] = checksum(document["content"])
    file.write_text(json.dumps(document))
    return file


@pytest.mark.parametrize("strategy", ["auto", "linear", "learner named", "clusters", "best"])
def test_a_loaded_result_predicts_bit_by_bit_the_same(boosted, bent_shops, tmp_path, strategy):
    result = boosted.using(strategy)
    result.save(tmp_path / "model.json", evidence=True)
    loaded = conjoin.load(tmp_path / "model.json")
    assert np.array_equal(loaded.predict(bent_shops), result.predict(bent_shops))
    unseen = bent_shops.assign(shop="unseen")
    nearest = [one.predict(unseen, on_unseen="nearest") for one in (loaded, result)]
    assert np.array_equal(*nearest)
    with pytest.warns(ConjoinWarning, match="not there at fitting"):
        pooled = [one.predict(unseen) for one in (loaded, result)]
    assert np.array_equal(*pooled)


def test_classes_come_back_too(graded, graded_shops, tmp_path):
    graded.save(tmp_path / "model.json", evidence=True)
    loaded = conjoin.load(tmp_path / "model.json")
    assert np.array_equal(loaded.predict_proba(graded_shops), graded.predict_proba(graded_shops))
    assert loaded.scores == graded.scores


def test_what_was_found_comes_back(boosted, file):
    loaded = conjoin.load(file)
    assert loaded.features == boosted.features
    assert loaded.learner == boosted.learner
    assert loaded.errors == boosted.errors
    assert loaded.weights == boosted.weights
    assert repr(loaded.improvements()) == repr(boosted.improvements())  # some numbers are nan
    assert loaded.using("auto") is loaded
    own, other = loaded.schema.predictions, boosted.schema.predictions
    assert (own.names, own.settings, own.datasets) == (other.names, other.settings, other.datasets)
    assert own.columns == other.columns
    with pytest.raises(conjoin.ConjoinError, match="holds the models of 'auto' only"):
        loaded.using("linear")


def test_limits_of_predictions_are_infinite(file):
    limits = conjoin.load(file).pooled.limits
    assert limits["boosting"] == (-np.inf, np.inf)
    assert np.isfinite(limits["size"]).all()


def test_a_loaded_result_saves_the_same_file(file, tmp_path):
    conjoin.load(file).save(tmp_path / "again.json", evidence=True)
    assert (tmp_path / "again.json").read_bytes() == file.read_bytes()


def test_new_datasets_are_assigned_from_a_file(boosted, file, bent_shops, tmp_path):
    table = bent_shops.head(20)
    loaded = conjoin.load(file)
    place = loaded.assign(table, table["sales"])
    assert place == boosted.assign(table, table["sales"])
    more = loaded.adding({"new": place})
    more.save(tmp_path / "more.json", evidence=True)
    again = conjoin.load(tmp_path / "more.json")
    assert np.array_equal(again.predict(table, "new"), more.predict(table, "new"))


def test_the_command_line_predicts_and_assigns(boosted, file, bent_shops, tmp_path):
    data = tmp_path / "rows.csv"
    bent_shops.assign(shop="unseen").head(30).to_csv(data, index=False)
    run = CliRunner()
    done = run.invoke(app, ["assign", str(file), str(data), "--save", str(tmp_path / "more.json")])
    assert done.exit_code == 0, done.output
    output = tmp_path / "out.parquet"
    done = run.invoke(app, ["predict", str(tmp_path / "more.json"), str(data), "-o", str(output)])
    assert done.exit_code == 0, done.output
    written, rows = pd.read_parquet(output), pd.read_csv(data)
    assert set(written["model"]) == {"assigned"}
    more = conjoin.load(tmp_path / "more.json")
    assert np.array_equal(written["prediction"], more.predict(rows))
    bent_shops.to_csv(data, index=False)
    done = run.invoke(app, ["predict", str(file), str(data), "-o", str(output)])
    assert done.exit_code == 0, done.output
    assert np.allclose(pd.read_parquet(output)["prediction"], boosted.predict(bent_shops))


def test_reading_needs_no_lightgbm_but_predicting_does(file, bent_shops, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    loaded = conjoin.load(file)
    assert loaded.errors["auto"].error > 0
    with pytest.raises(MissingLibraryError, match="pip install lightgbm"):
        loaded.predict(bent_shops)


def first(content):
    return content["predictions"]["models"][0]


def grouped(content):
    return next(one for one in content["predictions"]["models"] if one["kind"] == "grouped")


def _empty_models(predictions):
    predictions["models"] = [[] for _ in predictions["names"]]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda c: c["predictions"].pop("lines"), "the learner lacks 'lines'"),
        (lambda c: c["predictions"].update(lines="1"), "'lines' of the learner is '1'"),
        (lambda c: c["predictions"].update(lines=True), "expected a whole number"),
        (lambda c: c["predictions"].update(lines=3), "3 lines for 0 classes"),
        (lambda c: c["predictions"].update(names=["one"]), "1 names for"),
        (lambda c: c["predictions"].update(leads="yes"), "expected true or false"),
        (lambda c: c["predictions"]["datasets"].reverse(), "other datasets"),
        (lambda c: _empty_models(c["predictions"]), "lacks 'kind'"),
        (lambda c: c["predictions"]["columns"].pop(), "max_feature_idx is 3, expected 2"),
        (lambda c: c["predictions"]["columns"][0].update(features=[99]), "do not exist"),
        (lambda c: c["predictions"]["columns"][0].update(indicator=-1), "do not exist"),
        (lambda c: first(c).update(kind="pickle"), "unknown kind 'pickle'"),
        (lambda c: first(c).update(text="tree"), "cannot be used"),
        (lambda c: first(c).update(text=7), "expected text"),
        (lambda c: first(c).update(named=False), "max_feature_idx is 3, expected 2"),
        (lambda c: first(c).update(scale="big"), "'scale' of 'boosting' is 'big'"),
        (lambda c: first(c).update(kind="estimator", names="none", object=0), "refers to"),
        (lambda c: grouped(c).update(labels=[0]), "1 datasets"),
        (lambda c: grouped(c).update(labels=[0, 1, "2"]), "no whole numbers"),
        (lambda c: grouped(c).update(rest=grouped(c)["labels"]), "expected a dict"),
        (lambda c: c["predictions"]["names"].pop() and c["predictions"]["models"].pop(), "limits"),
        (lambda c: c["placement"].update(columns=[0, 99]), "places new datasets"),
        (lambda c: c["placement"].pop("columns"), "places new datasets"),
    ],
)
def test_a_tampered_file_is_refused_in_a_sentence(file, change, fault):
    with pytest.raises(ReadError, match=fault) as caught:
        conjoin.load(rewritten(file, change))
    assert "fetch the original file." in str(caught.value)


def test_an_edited_file_is_noticed(file):
    file.write_text(file.read_text().replace("num_leaves=4", "num_leaves=5", 1))
    with pytest.raises(ReadError, match="checksum"):
        conjoin.load(file)


def test_models_of_clusters_keep_their_clusters(boosted, file):
    def grouped_models(result):
        models = result.schema.predictions.models.items()
        return {name: one for name, one in models if isinstance(one, GroupedModel)}

    known = grouped_models(boosted)
    assert known
    for name, one in grouped_models(conjoin.load(file)).items():
        assert one.labels.tolist() == known[name].labels.tolist()
        assert list(one.models) == list(known[name].models)


@pytest.mark.parametrize("learner", ["auto", Boosting(), Boosting(rounds=7, leaves=3, rate=0.1)])
def test_the_option_comes_back(learner):
    objects = []
    plain = json.loads(json.dumps(learner_to_plain(learner, objects)))
    assert learner_from_plain(plain, objects) == learner
    assert objects == []


def test_an_estimator_as_option_stands_by_its_position():
    objects, learner = ["first"], object()
    plain = learner_to_plain(learner, objects)
    assert plain == {"kind": "estimator", "object": 1}
    assert learner_from_plain(plain, objects) is learner
    for wrong in ({"kind": "boosting", "depth": 3}, {"kind": "boosting", "rounds": 0}, [], {}):
        with pytest.raises(ReadError, match="the option learner"):
            learner_from_plain(wrong, objects)
