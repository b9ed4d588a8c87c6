"""A model of Parquet, whose dates are dates, and CSV files, in which they are text."""

import json

import numpy as np
import pandas as pd
import pytest

import conjoin

PLAIN = {"learner": "linear", "keep_moments": True}


@pytest.fixture(scope="module")
def dated(tmp_path_factory):
    """Rows of 3 stores and a model of the first two, with dates as dates; their files."""
    path, rng = tmp_path_factory.mktemp("dated"), np.random.default_rng(0)
    days = pd.date_range("2023-01-01", "2024-12-31")
    parts = []
    for name in ("a", "b", "S46"):
        n = 60 if name != "S46" else 12
        when, price = rng.choice(days, n), rng.standard_normal(n)
        y = price + 0.1 * rng.standard_normal(n)
        parts.append(pd.DataFrame({"store": name, "day": when, "price": price, "y": y}))
    table = pd.concat(parts, ignore_index=True)
    old, new = table[table["store"] != "S46"], table[table["store"] == "S46"]
    old.to_parquet(path / "old.parquet", index=False)
    old.to_csv(path / "old.csv", index=False)
    new.to_csv(path / "new.csv", index=False)
    new.to_parquet(path / "new.parquet", index=False)
    odd = new.assign(day=new["day"].dt.strftime("%Y-%m-%d"))
    odd.assign(day=["2023-13-45", *odd["day"][1:]]).to_csv(path / "odd.csv", index=False)
    with pytest.warns(conjoin.ConjoinWarning, match="'day' is a date"):
        result = conjoin.partition(old, target="y", by="store", **PLAIN)
    result.save(path / "m.json", evidence=True)
    return path


def test_csv_is_predicted_like_parquet_and_again(conjoin_, dated, tmp_path):
    files = [tmp_path / f"{k}.csv" for k in range(3)]
    inputs = [dated / "old.parquet", dated / "old.csv", files[0]]
    for data, out in zip(inputs, files):
        done = conjoin_("predict", dated / "m.json", data, "-o", out)
        assert (done.code, done.err) == (0, "")
    first, *others = (pd.read_csv(one)["prediction"].tolist() for one in files)
    assert others == [first, first]
    again = conjoin.load(dated / "m.json").predict(pd.read_csv(dated / "old.csv"))
    assert again.tolist() == first


def test_check_and_update_take_csv(conjoin_, dated, tmp_path):
    done = conjoin_("check", dated / "m.json", dated / "old.csv")
    assert done.code in (0, 3) and done.err == ""
    done = conjoin_("update", dated / "m.json", dated / "new.csv", "-o", tmp_path / "n.json")
    assert done.code == 0, done.err
    assert "S46" in conjoin.load(tmp_path / "n.json").labels


def test_a_dataset_that_was_assigned_later_is_explained(conjoin_, dated, tmp_path):
    model = tmp_path / "m2.json"
    done = conjoin_("assign", dated / "m.json", dated / "new.csv", "--save", model)
    assert (done.code, done.err) == (0, "")
    done = conjoin_("explain", model, "S46")
    assert done.code == 0, done.err
    assert "'S46' was not there at fitting: assign gave it a model" in " ".join(done.out.split())
    assert "closest cluster" in done.out and " 12 " in done.out
    found = json.loads(conjoin_("explain", model, "S46", "--json").out)
    there = json.loads(conjoin_("assign", dated / "m.json", dated / "new.parquet", "--json").out)
    assert found["datasets"][0]["probability"] == there["datasets"][0]["probability"]
    with pytest.raises(conjoin.ConjoinError, match=r"are in added\['S46'\]"):
        conjoin.load(model).explain("S46")


def test_assign_without_a_file_names_the_next_step(conjoin_, dated):
    done = conjoin_("assign", dated / "m.json", dated / "new.csv")
    assert done.out.endswith("Nothing was written; name a file for the new models with --save.\n")


@pytest.mark.parametrize("command", ["predict", "assign", "check", "update"])
def test_the_file_is_named(conjoin_, dated, tmp_path, command):
    output = ["-o", tmp_path / "out.csv"] if command == "predict" else []
    done = conjoin_(command, dated / "m.json", dated / "odd.csv", *output)
    assert done.code == 2
    assert f"Column 'day' of {str(dated / 'odd.csv')!r} was a date at fitting" in done.err
    assert "such as '2023-13-45'; write dates like 2024-01-31" in done.err
