"""`conjoin assign`: new datasets get a model from their rows with known target."""

import importlib
import json
import time

import pandas as pd
import pytest


@pytest.fixture
def new(frames, tmp_path):
    """Ten rows of two datasets that the model does not know, and their remaining rows."""
    parts = [frames[k].iloc[i : i + 10].assign(store=k.upper()) for k, i in (("d1", 0), ("d3", 50))]
    pd.concat(parts).to_csv(tmp_path / "new.csv", index=False)
    return tmp_path / "new.csv"


def test_it_says_where_new_datasets_belong(conjoin_, new):
    done = conjoin_("assign", "long.json", new)
    assert done.code == 0, done.err
    assert done.err == ""
    lines = done.out.splitlines()
    assert lines[0].split() == (
        "new dataset closest cluster its datasets rows its model cluster's model for all".split()
    )
    assert lines[2].startswith("D1 ") and "d1, d2" in lines[2] and " 10 " in lines[2]
    assert lines[3].startswith("D3 ") and " d3 " in lines[3]


def test_saved_models_predict_the_new_datasets(conjoin_, new, tmp_path):
    out, model = tmp_path / "out.csv", tmp_path / "more.json"
    done = conjoin_("assign", "long.json", new, "--save", model, "-o", out)
    assert done.code == 0, done.err
    assert f"20 rows with columns 'prediction', 'model' written to {out}" in done.out
    assert done.out.endswith(f"next: conjoin predict {model} DATA -o OUT\n")
    first = pd.read_csv(out)
    assert set(first["model"]) == {"assigned"}
    again = conjoin_("predict", model, new, "-o", out, "--on-unseen", "raise")
    assert again.code == 0, again.err
    assert pd.read_csv(out)["prediction"].tolist() == first["prediction"].tolist()
    known = conjoin_("explain", model, "d1")
    assert known.code == 0


def test_json(conjoin_, new):
    found = json.loads(conjoin_("assign", "long.json", new, "--json").out)
    assert found["family"] == "gaussian"
    first = found["datasets"][0]
    assert first["dataset"] == "D1" and first["members"] == ["d1", "d2"]
    assert set(first["errors"]) == {"own", "cluster", "pooled"}


def test_other_columns_may_name_datasets(conjoin_, new, tmp_path):
    pd.read_csv(new).rename(columns={"store": "shop"}).to_csv(new, index=False)
    out = tmp_path / "out.csv"
    done = conjoin_("assign", "long.json", new, "--by", "shop", "-o", out)
    assert done.code == 0, done.err
    assert set(pd.read_csv(out)["model"]) == {"assigned"}


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ("long.parquet", [], "There is no new dataset: 'd1', 'd2', 'd3' were there at fitting"),
        ("no_target.csv", [], "The target 'y' is missing in all"),
        ("text_target.csv", ["-b", "x1"], "but now it has the value 'a'"),
        ("absent.csv", [], "absent.csv"),
        ("long.parquet", ["--by", "shop"], "'shop'"),
        ("long.parquet", ["-o", "out.txt"], "unknown ending"),
        ("long.parquet", ["--save", "absent/model.json"], "cannot be written"),
    ],
)
def test_bad_input_gets_one_sentence(conjoin_, data, options, message):
    done = conjoin_("assign", "long.json", data, *options)
    assert done.code == 2
    assert done.out == ""
    assert message in done.err
    assert done.err.startswith("Error: ") and done.err.count("\n") == 1


@pytest.mark.parametrize("command", ["assign", "explain"])
def test_long_runs_write_lines_of_progress(conjoin_, new, monkeypatch, command):
    module, name = {"assign": ("file_assignment", "assign"), "explain": ("load", "load")}[command]
    place = importlib.import_module(f"conjoin.result.{module}")
    quick = getattr(place, name)

    def slowly(*arguments, **options):
        time.sleep(0.3)
        return quick(*arguments, **options)

    monkeypatch.setattr(place, name, slowly)
    monkeypatch.setattr("conjoin.progress.EVERY", 0.1)
    done = conjoin_(command, "long.json", *([new] if command == "assign" else []))
    assert done.code == 0, done.err
    shares = [int(line.split()[1]) for line in done.err.splitlines() if line.endswith("s")]
    assert len(shares) > 1
    assert shares == sorted(shares)
    assert done.err.startswith("Assigning: 0 %" if command == "assign" else "Explaining: 0 %")
    assert (50 in shares) is (command == "assign")  # one of two datasets is done
