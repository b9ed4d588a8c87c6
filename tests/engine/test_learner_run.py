import json
import re

import numpy as np
import pytest

import conjoin
from conjoin.engine.learner_run import _free
from conjoin.learners import boosting
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
    places, errors = result.analysis.rows.table.positions, []
    for k, name in enumerate(tables):
        w = np.array(tables[name]["w"])
        held = np.empty(80)
        own = slice(80 * k, 80 * (k + 1))
        held[places[own]] = result.analysis.entries["learner named"].held_out[own, 0]
        errors.append(np.average((tables[name]["y"] - held) ** 2, weights=w))
    assert model.errors["learner named"].error == pytest.approx(np.mean(errors))


@pytest.mark.learner
def test_where_laws_are_straight_the_default_is_within_one_percent_of_lines():
    rng = np.random.default_rng(0)
    beta, level = np.array([1.0, -1.0, 0.5]) + 0.5 * rng.normal(size=(4, 3)), rng.normal(size=4)
    tables, means = {}, {}
    for k in range(4):
        X = rng.normal(size=(430, 3))
        means[f"d{k}"] = X[30:], X[30:] @ beta[k] + level[k]
        y = X[:30] @ beta[k] + level[k] + rng.normal(size=30)
        tables[f"d{k}"] = {**dict(zip("abc", X[:30].T)), "y": y}
    result = conjoin.partition(tables, target="y")

    def error(found):
        """Return the expected squared error on new rows, whose noise has variance 1."""
        bias = [np.mean((found.predict(X, n) - mean) ** 2) for n, (X, mean) in means.items()]
        return 1 + np.mean(bias)

    assert result.learner == "linear"
    assert error(result) < 1.01 * error(result.linear)


def test_names_of_predictions_are_free_for_every_line():
    assert _free("boosting", ("a", "b"), 3) == "boosting"
    assert _free("boosting", ("boosting 1",), 3) == "boosting_"
    assert _free("boosting", ("boosting 4",), 3) == "boosting"
    assert _free("boosting", ("boosting", "boosting_"), 1) == "boosting__"


@pytest.mark.learner
@pytest.mark.parametrize("kind", ["number", "class", "count"])
def test_auto_gives_the_same_bits_for_any_threads_and_order_of_rows(kind, monkeypatch):
    """LightGBM gets several threads here, as it does from 20,000 rows on."""
    monkeypatch.setattr(boosting, "FEW_FOR_THREADS", 10)
    monkeypatch.setattr(boosting, "MOST_ROUNDS", 60)  # quick
    rng, tables = np.random.default_rng(0), bent_tables(datasets=2, n=60)
    for one in tables.values():
        if kind == "class":
            one["y"] = np.where(one["y"] > 0, "yes", "no")
        if kind == "count":
            one["y"] = rng.poisson(np.exp(one["y"] / 2))
    order = rng.permutation(60)
    mixed = {name: {c: v[order] for c, v in one.items()} for name, one in tables.items()}
    family = {"number": "gaussian", "class": "logistic", "count": "poisson"}[kind]
    new, found = bent_tables(seed=9, datasets=1, n=20)["d0"], []
    for threads, data in (("1", tables), ("2", tables), ("2", mixed)):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        result = conjoin.partition(data, target="y", family=family)
        predict = result.predict_proba if kind == "class" else result.predict
        trees = next(iter(result.schema.predictions.models.values()))
        # The text of trees also tells the number of threads.
        text = re.sub(r"num_threads: \d+", "", json.dumps(trees.to_plain([])))
        found.append((np.asarray(predict(new, "d1")), text))
    assert np.array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1] == found[2][1]
    np.testing.assert_allclose(found[2][0], found[0][0], rtol=1e-9, atol=1e-9)
