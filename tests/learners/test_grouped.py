from dataclasses import dataclass, field

import numpy as np
import pytest

from conjoin.learners.crossfit import PredictedColumn
from conjoin.learners.grouped import FEWEST_ROWS, GroupedModel, grouped_column, has_enough
from conjoin.learners.rows import UNKNOWN, CrossFitted, LearnerRows


@dataclass
class Constant:
    """A model that predicts one value."""

    value: float

    def predict(self, X, dataset):
        return np.full((len(X), 1), self.value)

    def to_plain(self, objects):
        return {"kind": "constant", "value": self.value}


@dataclass
class Means:
    """A learner that predicts the mean of its rows."""

    named: list = field(default_factory=list)

    def cross_fit(self, rows, group, progress=None):
        means = [rows.y[group != g].mean() for g in range(5)]
        return CrossFitted(np.array(means)[group][:, None], {})

    def fit(self, rows, settings):
        self.named.append(rows.named)
        return Constant(rows.y.mean())


@pytest.fixture
def rows():
    """Three datasets: two alike with 60 rows each, one with few rows."""
    dataset = np.repeat([0, 1, 2], [60, 60, 20])
    y = np.where(dataset == 2, 9.0, 1.0) + 0.1 * (np.arange(140) % 2)
    return LearnerRows(np.zeros((140, 1)), y, np.ones(140), dataset, 3, ("x",), ())


def column_of(rows, labels):
    rest = PredictedColumn(np.full((140, 1), -1.0), Constant(-1.0), {"chosen": 1})
    learner = Means()
    group = np.arange(140) % 5
    return grouped_column(learner, rows, group, np.array(labels), rest), learner


def test_a_cluster_has_its_model_and_a_small_one_that_of_all_rows(rows):
    found, learner = column_of(rows, [0, 0, 1])
    assert np.allclose(found.held_out[:120], 1.05, atol=0.01)
    assert np.all(found.held_out[120:] == -1)
    assert set(found.model.models) == {0} and found.settings == {"chosen": 1}
    assert learner.named == [True]


def test_a_dataset_alone_is_not_named(rows):
    found, learner = column_of(rows, [0, 1, 2])
    assert set(found.model.models) == {0, 1}
    assert learner.named == [False, False]


def test_new_rows_get_the_model_of_their_cluster():
    model = GroupedModel(np.array([0, 1, 0]), {0: Constant(3.0)}, Constant(7.0))
    dataset = np.array([0, 1, 2, UNKNOWN])
    assert model.predict(np.zeros((4, 1)), dataset).ravel().tolist() == [3, 7, 3, 7]


def test_plain_values_name_every_cluster():
    model = GroupedModel(np.array([0, 1, 0]), {0: Constant(3.0)}, Constant(7.0))
    assert model.to_plain([]) == {
        "kind": "grouped",
        "labels": [0, 1, 0],
        "clusters": [0],
        "models": [{"kind": "constant", "value": 3.0}],
        "rest": {"kind": "constant", "value": 7.0},
    }


def test_rows_are_enough_if_groups_are_full_and_targets_vary():
    n = FEWEST_ROWS
    y, group = np.arange(float(n)), np.arange(n) % 5
    assert has_enough(y, group, 5)
    assert not has_enough(y[:-1], group[:-1], 5)
    assert not has_enough(y, np.minimum(group, 3), 5)
    assert not has_enough(np.where(group == 0, y, 1.0), group, 5)
