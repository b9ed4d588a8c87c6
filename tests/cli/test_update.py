"""`conjoin update` adds rows to a model file, and says what changed."""

import csv
import json

import pytest
from typer.testing import CliRunner

from conjoin.cli.main import app
from conjoin.datasets import make_clusters
from conjoin.result.load import load


def write(path, tables, rows):
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        names = list(next(iter(tables.values())))
        lines.writerow(["store", *names])
        for store, table in tables.items():
            lines.writerows([store, *(table[name][i] for name in names)] for i in rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model, its rows and new ones."""
    folder = tmp_path_factory.mktemp("update")
    tables = make_clusters(sizes=(2, 2), n=60, p=2, distance=2.0).tables()
    write(folder / "old.csv", tables, range(40))
    write(folder / "new.csv", tables, range(40, 60))
    asked = f"partition {folder}/old.csv --target y --by store --learner linear --keep-moments"
    found = CliRunner().invoke(app, [*asked.split(), "--save", f"{folder}/model.json"])
    assert found.exit_code == 0, found.output
    return folder


def test_rows_are_added_and_the_model_is_written(folder):
    out = folder / "next.json"
    asked = ["update", f"{folder}/model.json", f"{folder}/new.csv"]
    found = CliRunner().invoke(app, [*asked, "-o", str(out)])
    assert found.exit_code == 0, found.output
    assert "Added 80 rows of 4 datasets." in found.output
    assert "No dataset changed its cluster." in found.output
    assert load(out).coefficients["d1"].rows == 60
    assert load(out).settings["data"] == ["old.csv", "new.csv"]
    again = CliRunner().invoke(app, ["update", str(out), f"{folder}/new.csv"])
    assert again.exit_code == 2 and "are in the result already" in again.output


def test_json_has_what_changed(folder):
    asked = ["update", f"{folder}/model.json", f"{folder}/new.csv", "--free", "--json"]
    found = json.loads(CliRunner().invoke(app, asked).stdout)
    assert found["clusters"] == [["d1", "d2"], ["d3", "d4"]] and not found["settled"]
    assert found["rows"] == {"d1": 20, "d2": 20, "d3": 20, "d4": 20}
