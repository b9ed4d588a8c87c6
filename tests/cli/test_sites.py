"""`conjoin site`: three folders, one for the coordinator and two for the sites."""

import csv
import json

import pytest
from typer.testing import CliRunner

from conjoin.cli.main import app
from tests.sites.clinics import COLUMNS, TARGETS, clinics


def run(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("study")
    for family in ("gaussian", "logistic"):
        (path / family).mkdir()
        columns = {**COLUMNS, "y": TARGETS[family]}
        (path / family / "columns.json").write_text(json.dumps(columns))
        for name, table in clinics(family, sites=2, rows=200).items():
            (path / family / name).mkdir()
            with (path / family / name / "rows.csv").open("w", newline="") as file:
                csv.writer(file).writerows([list(table), *zip(*table.values())])
    return path


def plan_and_export(folder):
    plan = folder / "plan.json"
    made = run("site", "plan", "-t", "y", "--columns", folder / "columns.json", "-o", plan)
    assert made.exit_code == 0, made.output
    assert "What never leaves a site:" in made.output
    for name in ("clinic_1", "clinic_2"):
        export = ["site", "export", folder / name / "rows.csv", "--plan", plan, "--name", name]
        tried = run(*export, "--dry-run")
        assert "Nothing was written" in tried.output
        assert [one.name for one in (folder / name).iterdir()] == ["rows.csv"]
        weaker = run(*export, "--dry-run", "--min-rows", 3)
        assert "--min-rows 3 is weaker than the plan's 11" in weaker.output
        assert "Nothing was written" in run(*export, "--dry-run", "--min-rows", 12).output
        found = run(*export, "-o", folder / f"{name}.json")
        assert found.exit_code == 0, found.output
        assert "Not in the file:" in found.output
    return plan


def test_plan_export_and_decide(folder):
    plan_and_export(folder / "gaussian")
    found = run("compare", folder / "gaussian/clinic_1.json", folder / "gaussian/clinic_2.json")
    assert found.exit_code == 0, found.output
    assert "clinic_1.json" in found.output
    found = run("partition", folder / "gaussian", "--json")
    assert found.exit_code == 0, found.output
    assert json.loads(found.output)["clusters"]


def test_a_first_table_makes_a_plan_too(folder):
    path = folder / "gaussian" / "clinic_1" / "rows.csv"
    found = run("site", "plan", path, "-t", "y", "--ignore", "dose", "-o", folder / "first.json")
    assert found.exit_code == 0, found.output
    assert "dose" not in found.output
    found = run("site", "plan", "-t", "y", "-o", folder / "none.json")
    assert "Name either TABLE" in found.output


def test_rounds_by_hand(folder):
    place = folder / "logistic"
    plan = plan_and_export(place)
    asked = run("partition", place / "clinic_1.json", place / "clinic_2.json")
    assert "Round 1 is written for 2 sites" in asked.output
    for name in ("clinic_1", "clinic_2"):
        found = run("site", "answer", place / name / "rows.csv", "--plan", plan, "--name", name,
                    "--round", place / f"{name}.round_1.json",
                    "-o", place / f"{name}.answer_1.json")  # fmt: skip
        assert found.exit_code == 0, found.output
    asked = run("partition", place, "--wait", "0.01")
    assert "did not answer round 2" in asked.output
    served = run("site", "serve", place, place / "clinic_1" / "rows.csv", "--name", "clinic_1",
                 "--idle", "0.5")  # fmt: skip
    assert "Round 2 answered." in served.output
    assert (place / "clinic_1.answer_2.json").exists()


def test_differential_privacy_and_the_ledger_from_the_command_line(tmp_path):
    (table,) = clinics(sites=1, rows=200).values()
    rows = list(zip(*table.values()))
    for name, part in (("rows.csv", rows), ("fewer.csv", rows[1:])):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows([list(table), *part])
    (tmp_path / "columns.json").write_text(json.dumps({**COLUMNS, "y": TARGETS["gaussian"]}))
    plan, out = tmp_path / "plan.json", tmp_path / "out.json"
    run("site", "plan", "-t", "y", "--columns", tmp_path / "columns.json", "-o", plan)

    def export(file, *more):
        return run(
            "site", "export", tmp_path / file, "--plan", plan, "--name", "a", "-o", out, *more
        )

    assert export("rows.csv").exit_code == 0
    refused = export("fewer.csv")
    assert refused.exit_code != 0 and "differ in 1 row" in refused.output
    missing = export("fewer.csv", "--epsilon", 1)
    assert "--bound age=LOW:HIGH" in missing.output
    bounds = [word for one in ("age=0:100", "dose=0:1", "y=-4:4") for word in ("--bound", one)]
    found = export("fewer.csv", "--epsilon", 1, *bounds)
    assert found.exit_code == 0, found.output
    assert "2.72 times as probable" in found.output
    assert json.loads(out.read_text())["content"]["privacy"]["epsilon"] == 1.0
    for wrong in ("age=0", "age=5:1", "=0:1"):
        assert "COLUMN=LOW:HIGH" in export("rows.csv", "--epsilon", 1, "--bound", wrong).output
