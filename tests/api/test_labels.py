"""Class labels in files: words, truth values, and files that differ."""

import numpy as np
import pandas as pd
import pytest

import conjoin
from conjoin.errors import ConjoinWarning, DataError


def test_files_of_different_kinds_of_labels_are_named(tmp_path):
    table = pd.DataFrame({"x": np.arange(20.0), "y": np.arange(20) % 3 > 0})
    table.assign(y=np.where(table.y, "yes", "no")).to_csv(tmp_path / "one.csv", index=False)
    table.to_parquet(tmp_path / "two.parquet")
    words = r"'y' is text in dataset 'a \(one.csv\)' and true/false in dataset 'b \(two.parquet\)'"
    with pytest.raises(DataError, match=words):
        conjoin.compare(tmp_path / "one.csv", tmp_path / "two.parquet", target="y")


@pytest.mark.parametrize("words", [("True", "False"), ("true", "false"), ("TRUE", "FALSE")])
def test_true_and_false_of_a_csv_file_are_truth_values(words, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.standard_normal(90), "shop": np.repeat(["a", "b", "c"], 30)})
    table["y"] = table.x + rng.standard_normal(90) > 0
    written = table.assign(y=np.where(table.y, *words))
    written.loc[5, "y"] = None
    written.to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(ConjoinWarning, match="1 of 90 rows is left out"):
        result = conjoin.partition(tmp_path / "t.csv", target="y", by="shop")
    assert result.classes == (False, True)
    assert np.mean(result.predict(table) == table.y) > 0.6
    # Text stays text where it is more than these words, or where types are known.
    written.loc[5, "y"] = "maybe"
    written.to_csv(tmp_path / "t.csv", index=False)
    assert len(conjoin.partition(tmp_path / "t.csv", target="y", by="shop").classes) == 3
    written.loc[5, "y"] = words[0]
    written.to_parquet(tmp_path / "t.parquet")
    assert conjoin.partition(tmp_path / "t.parquet", target="y", by="shop").classes == words[::-1]
