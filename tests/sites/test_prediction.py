import numpy as np
import pytest

from conjoin.errors import ConjoinError
from conjoin.sites import encode, load_plan, with_trees
from conjoin.sites.receive import receive
from tests.sites.clinics import clinics, export_all, plan_of


def test_boosted_trees_are_a_column_of_every_site(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    tables, plan = clinics(sites=2), plan_of()
    X, y = encode(tables["clinic_1"], plan), tables["clinic_1"]["y"]
    options = {"objective": "regression", "verbose": -1, "num_leaves": 4, "num_threads": 1}
    booster = lightgbm.train(options, lightgbm.Dataset(X, y), 5)
    with_trees(plan, booster.model_to_string()).save(tmp_path / "plan.json")
    longer = load_plan(tmp_path / "plan.json")
    assert longer.schema.features == (*plan.schema.features, "trees")
    received = receive(export_all(tables, longer, tmp_path))
    predicted = booster.predict(encode(tables["clinic_2"], plan))
    assert received.datasets[1].center[3] == pytest.approx(predicted.mean(), rel=1e-9)
    assert received.datasets[1].scale[3] == pytest.approx(predicted.std(), rel=1e-9)
    with pytest.raises(ConjoinError, match="has trees already"):
        with_trees(longer, booster.model_to_string())
    with pytest.raises(ConjoinError, match="trees cannot be used"):
        with_trees(plan, "tree\n")
    # The text holds no smallest and largest values of the columns.
    assert "feature_infos=none none none" in longer.prediction["trees"]
    assert np.isfinite(received.mean).all()
