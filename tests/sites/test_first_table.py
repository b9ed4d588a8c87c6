import numpy as np
import pytest

from conjoin.errors import ConjoinError, ConjoinWarning
from conjoin.sites import make_plan
from conjoin.sites.first_table import columns_of_file, columns_of_table


def test_a_table_is_described_without_a_value_of_one_row():
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, 200)
    age[:30] = np.nan
    table = {
        "y": rng.standard_normal(200),
        "age": age,
        "ill": rng.integers(0, 2, 200),
        "ward": np.array(["a"] * 100 + ["b"] * 93 + ["c"] * 7),
        "id": np.array([f"p{k}" for k in range(200)]),
    }
    with pytest.warns(ConjoinWarning, match="'id' is not in the plan: text with 200 different"):
        found = columns_of_table(table, "y")
    assert found["y"] == {"type": "number"}
    assert found["age"]["missing"]
    assert found["age"]["fill"] == float(f"{np.nanmean(age):.2g}")
    assert found["ill"] == {"type": "flag"}
    assert found["ward"]["levels"] == ["a", "b"]
    assert "id" not in found
    assert make_plan(found, "y").complete == ("ill",)
    del table["id"]
    assert columns_of_table(table, "ill", family="logistic")["ill"]["classes"] == [0, 1]


def test_the_name_of_a_rare_class_stays(tmp_path):
    rows = {"x": np.arange(90.0), "fate": np.array(["home", "ward"] * 40 + ["lost"] * 10)}
    with pytest.raises(ConjoinError, match=r"Class 'lost' of target 'fate' has fewer than 11 rows"):
        columns_of_table(rows, "fate")
    rows["fate"][0] = "lost"
    found = columns_of_table(rows, "fate")["fate"]
    assert found == {"type": "class", "classes": ["home", "lost", "ward"]}


def test_files_of_columns_are_checked(tmp_path):
    path = tmp_path / "columns.json"
    for bad, sentence in (("[", "is no JSON"), ("[1]", "describes no columns")):
        path.write_text(bad)
        with pytest.raises(ConjoinError, match=sentence):
            columns_of_file(path)
    with pytest.raises(ConjoinError, match="cannot be read"):
        columns_of_file(tmp_path / "none.json")
