"""Core dependencies: few, with tested lower bounds, and under licences of the list."""

import json
import re
import tomllib
from email.message import Message
from pathlib import Path

import pytest

from scripts import supply_chain

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# A new one is added on purpose: everybody who installs conjoin installs it too.
CORE = """
    duckdb jinja2 lightgbm narwhals numpy pyarrow rich scikit-learn scipy threadpoolctl typer
"""


def test_core_dependencies_are_these():
    found = [supply_chain.name_of(one) for one in PROJECT["dependencies"]]
    assert sorted(found) == CORE.split()


def test_every_lower_bound_is_tested_with_that_version():
    oldest = dict(
        line.lower().split("==") for line in (ROOT / "constraints-oldest.txt").read_text().split()
        if "==" in line
    )  # fmt: skip
    for one in PROJECT["dependencies"]:
        name, bound = re.fullmatch(r"([\w-]+)>=([\d.]+)", one).groups()
        assert (oldest[name] + ".").startswith(bound + "."), one


def test_licences_of_core_dependencies_are_on_the_list(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["supply_chain"])
    assert supply_chain.main() == 0
    assert "numpy" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("head", "value", "licence"),
    [
        ("License-Expression", "MIT OR GPL-3.0-only", "MIT OR GPL-3.0-only"),
        ("Classifier", "License :: OSI Approved :: BSD License", "BSD-3-Clause"),
        ("License", "Apache License, Version 2.0\nand its text", "Apache-2.0"),
        ("License", "Only for friends", "Only for friends"),
        ("Summary", "nothing is said", "unknown"),
    ],
)
def test_licences_are_read_from_any_form_of_metadata(head, value, licence):
    class One:
        metadata = Message()

    One.metadata[head] = value
    assert supply_chain.licence_of(One()) == licence


def test_a_licence_that_is_not_on_the_list_is_noticed(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["supply_chain"])
    monkeypatch.setattr(supply_chain, "licence_of", lambda one: "GPL-3.0-only")
    assert supply_chain.main() == 1
    assert "not on the list" in capsys.readouterr().err


def test_the_bill_of_materials_names_every_package_once(tmp_path, monkeypatch, capsys):
    path = tmp_path / "bill.json"
    monkeypatch.setattr("sys.argv", ["supply_chain", "--bill", str(path)])
    supply_chain.main()
    bill = json.loads(path.read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    names = [one["name"] for one in bill["components"]]
    assert len(names) == len(set(names)) and {"numpy", "scipy"} <= set(names)
    assert all(one["purl"] == f"pkg:pypi/{one['name']}@{one['version']}"
               for one in bill["components"])  # fmt: skip
