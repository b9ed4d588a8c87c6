from dataclasses import replace

import numpy as np
import pytest

import conjoin
from conjoin.api.request import PredictionOptions
from conjoin.learners.columns import LearnerColumns
from conjoin.learners.schema import LearnedSchema, PredictionColumns
from conjoin.tables import collect
from conjoin.tables.frame import to_frame
from tests.learners.conftest import QUICKEST


class Codes:
    """A model that predicts the number of the dataset, times 1, 2, ... for each line."""

    def __init__(self, lines):
        self.lines = lines

    def predict(self, X, dataset):
        return np.outer(dataset, np.arange(1.0, self.lines + 1))


@pytest.fixture
def rows():
    table = {"by": ["a", "b", "c"] * 2, "x": [1.0, 2, 3, 4, 5, 6], "y": [1, 2, 3, 5, 8, 13]}
    return collect(table, target="y", by="by")


def learned(rows, lines, **more):
    models = {"trees": Codes(lines), "trees (pooled)": Codes(lines)}
    columns = LearnerColumns.of(rows.schema)
    found = PredictionColumns("trees", columns, models, {"a": 0, "b": 1, "c": 2}, lines, **more)
    return LearnedSchema.of(rows.schema, found)


def test_predictions_stand_behind_the_inputs(rows):
    schema = learned(rows, 1)
    assert schema.inputs == ("x",)
    assert schema.features == ("x", "trees", "trees (pooled)")
    found = schema.extend(rows.X[:4], ["a", "c", "unseen", None])
    assert found[:, 0].tolist() == rows.X[:4, 0].tolist()
    assert found[:, 1].tolist() == found[:, 2].tolist() == [0, 2, -1, -1]


def test_lines_of_classes_are_columns_of_their_own(rows):
    schema = learned(rows, 3)
    assert schema.features[1:4] == ("trees 1", "trees 2", "trees 3")
    assert schema.extend(rows.X[:1], ["c"]).tolist() == [[rows.X[0, 0], 2, 4, 6, 2, 4, 6]]


def test_only_the_columns_that_are_shown_are_features(rows):
    assert learned(rows, 3, shown=2).features == ("x", "trees 1", "trees 2")


def test_the_top_level_has_boosting():
    from conjoin.learners.boosting import Boosting

    assert conjoin.Boosting is Boosting
    assert "Boosting" in dir(conjoin)


def part(table, n=20):
    return table[table["shop"] == "shop 0"].head(n)


@pytest.mark.parametrize("name", ["boosted", "graded"])
def test_a_new_dataset_gets_a_model_with_all_features(name, request, bent_shops, graded_shops):
    result = request.getfixturevalue(name)
    table = part(graded_shops if name == "graded" else bent_shops)
    place = result.assign(table, table["sales"])
    for line in place.model.lines:
        assert tuple(line.coef) == result.features
        used = [result.features[j] for j in result.analysis.placement.columns]
        assert not any(value for key, value in line.coef.items() if key not in used)
    more = result.adding({"new shop": place})
    predicted = more.predict(table, "new shop", on_unseen="raise")
    rows = result.predictor.encode_new(table)
    linear = [line.intercept + rows @ [*line.coef.values()] for line in place.model.lines]
    if name == "boosted":
        assert np.allclose(predicted, linear[0])
        assert place.errors["own"] < 10 * place.errors["pooled"]
    else:
        best = np.array(result.classes, dtype=object)[np.argmax(linear, axis=0)]
        assert np.array_equal(predicted, best)


def test_the_result_with_lines_has_no_models_that_use_the_learner(boosted, bent_shops):
    table = part(bent_shops)
    lines = boosted.adding({"new": boosted.assign(table, table["sales"])}).linear
    assert lines.features == boosted.schema.inputs and not lines.added
    assert lines.predict(table).shape == (20,)


def test_a_new_dataset_is_unknown_to_the_learner_whatever_its_name(boosted, bent_shops):
    table = part(bent_shops)
    own, _ = boosted.predictor.encode(table, "shop 0")
    assert not np.array_equal(boosted.predictor.encode_new(table), own)
    assert boosted.schema.predictions.datasets.keys() == set(boosted.labels)


def test_new_datasets_are_placed_by_the_inputs_and_the_learner_without_names(boosted):
    placement = boosted.analysis.placement
    names = [boosted.features[j] for j in placement.columns]
    assert boosted.learner == "boosting"
    assert names == [*boosted.schema.inputs, "boosting (pooled)"]
    assert placement.basis.center.shape == (len(names),)


def test_where_lines_lead_new_datasets_are_placed_by_the_inputs(boosted):
    lines = replace(boosted.analysis, main=boosted.analysis.linear, _found={})
    inputs = len(boosted.schema.inputs)
    assert lines.placement.columns.tolist() == list(range(inputs))


def test_the_cluster_of_a_known_dataset_is_found_again():
    rng = np.random.default_rng(1)
    tables = {}
    for k in range(6):
        X = rng.uniform(-2, 2, (80, 2))
        y = 3 * np.abs(X[:, 0]) + (4 if k < 3 else -4) * X[:, 1] + rng.normal(0, 0.3, 80)
        tables[f"d{k}"] = {"a": X[:, 0], "b": X[:, 1], "y": y}
    new = {"left": tables.pop("d2"), "right": tables.pop("d5")}
    result = conjoin.partition(tables, target="y", learner=QUICKEST)
    for table, known in zip(new.values(), ("d0", "d4")):
        some = {name: column[:20] for name, column in table.items()}
        place = result.assign(some, some["y"])
        assert place.cluster == result.labels[known]
        more = result.adding({"new": place})
        errors = more.predict(table, "new") - table["y"]
        assert np.mean(errors[20:] ** 2) < 0.5 * result.assign(table, table["y"]).errors["pooled"]


def test_unseen_datasets_get_the_nearest_cluster(boosted, bent_shops):
    table = part(bent_shops).assign(shop="unseen")
    one, two = (
        replace(
            boosted.predictor, clusters=boosted.models[:1] * c, members=boosted.clusters[:1] * c
        )
        for c in (1, 2)
    )
    rows = boosted.predictor.encode_new(table)
    names, options = ["unseen"] * len(rows), PredictionOptions(on_unseen="nearest", limit=False)
    # A single cluster is no more than the pooled model.
    pooled = one.predict(rows, names, PredictionOptions(limit=False)).linear
    assert np.array_equal(one.predict(rows, names, options, {"unseen": 0}).linear, pooled)
    # Of several, the nearest one predicts, as if the dataset were one of its own.
    found = two.predict(rows, names, options, {"unseen": 1}).linear
    line, X = boosted.models[0], boosted.schema.encode(to_frame(table, "X"))
    own = [
        line.intercept + boosted.schema.extend(X, [name] * len(X)) @ [*line.coef.values()]
        for name in boosted.clusters[0]
    ]
    assert np.allclose(found[:, 0], np.mean(own, axis=0))
