import numpy as np
import pytest

import conjoin
from conjoin.engine.learner_run import _free
from tests.bent import QUICK, bent_tables


def test_a_column_of_the_table_keeps_its_name():
    tables = {n: {**t, "boosting": t["a"] ** 2} for n, t in bent_tables(datasets=2).items()}
    result = conjoin.partition(tables, target="y", learner=QUICK)
    assert "boosting" in result.schema.inputs
    assert "boosting_" in result.features
    assert len(set(result.features)) == len(result.features)


def test_weighted_rows_count_as_much_as_they_weigh():
    rng = np.random.default_rng(0)
    tables = bent_tables(datasets=3)
    for one in tables.values():
        one["w"] = rng.uniform(0.5, 2, len(one["y"]))
    result = conjoin.partition(tables, target="y", weights="w", learner=QUICK)
    model = result.using("learner named")
    errors = []
    for k, name in enumerate(tables):
        w = np.array(tables[name]["w"])
        held = result.analysis.entries["learner named"].held_out[80 * k : 80 * (k + 1), 0]
        errors.append(np.average((tables[name]["y"] - held) ** 2, weights=w))
    assert model.errors["learner named"].error == pytest.approx(np.mean(errors))


def test_names_of_predictions_are_free_for_every_line():
    assert _free("boosting", ("a", "b"), 3) == "boosting"
    assert _free("boosting", ("boosting 1",), 3) == "boosting_"
    assert _free("boosting", ("boosting 4",), 3) == "boosting"
    assert _free("boosting", ("boosting", "boosting_"), 1) == "boosting__"
