"""`conjoin check` prints a test report and ends with 3 if something needs a look."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import conjoin
from conjoin.cli.main import app


def write(path, noise, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(200)
    lines = zip(np.repeat(["north", "south"], 100), x, x + noise * rng.standard_normal(200))
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("store", "x", "y"), *lines])
    return str(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("check")
    data = write(path / "old.csv", 1.0, 0)
    conjoin.partition(data, target="y", by="store", learner="linear").save(path / "m.json")
    return path


def run(*arguments):
    return CliRunner().invoke(app, ["check", *map(str, arguments)])


def test_rows_as_promised_pass(folder):
    found = run(folder / "m.json", write(folder / "same.csv", 1.0, 1))
    assert found.exit_code == 0
    assert "Passed: 2 datasets checked" in found.output
    assert "north" in found.output


def test_a_broken_promise_ends_with_three_and_json_says_which(folder):
    new = write(folder / "worse.csv", 3.0, 1)
    found = run(folder / "m.json", new)
    assert found.exit_code == 3
    assert "Needs a look: 2 datasets with a higher error than promised" in found.output
    plain = run(folder / "m.json", new, "--json")
    assert plain.exit_code == 3
    assert [one["status"] for one in json.loads(plain.output)["datasets"]] == ["look", "look"]


def test_bad_input_ends_with_two(folder):
    (folder / "none.csv").write_text("store,x\nnorth,1\n")
    assert run(folder / "m.json", folder / "none.csv").exit_code == 2
