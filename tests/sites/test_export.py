import numpy as np
import pytest

from conjoin.errors import ConjoinError
from conjoin.sites import export, make_plan
from tests.sites.clinics import COLUMNS, clinics, plan_of


def test_an_export_says_what_is_in_it_and_is_small(tmp_path):
    found = export(clinics(sites=1)["clinic_1"], plan_of(), "clinic_1")
    words = found.describe()
    assert "300 rows, 10 folds" in words
    assert "Rows, identifiers" in words.split("Not in the file:")[1]
    found.save(tmp_path / "a.json")
    assert (tmp_path / "a.json").stat().st_size < 12_000
    one = found.content["datasets"][0]
    rows = clinics(sites=1)["clinic_1"]
    assert one["levels"] == {"sex=m": int(np.sum(rows["sex"] == "m"))}
    text = (tmp_path / "a.json").read_text()
    assert not any(repr(float(extreme)) in text for extreme in (rows["age"].min(), rows["y"].max()))


def test_two_exports_that_differ_in_few_rows_are_refused(tmp_path):
    rows = clinics(sites=1)["clinic_1"]
    export(rows, plan_of(), "clinic_1", ledger=tmp_path).save(tmp_path / "a.json")
    fewer = {name: values[1:] for name, values in rows.items()}
    with pytest.raises(ConjoinError, match="would disclose rows"):
        export(fewer, plan_of(), "clinic_1", ledger=tmp_path)


def test_columns_with_long_tails_and_no_limits_are_named():
    rows = clinics(sites=1)["clinic_1"]
    rows["dose"] = rows["dose"] ** 12
    words = export(rows, plan_of(), "clinic_1").describe()
    note = words.split("Worth knowing:")[1]
    assert "no limits in the plan: dose." in note and 'a plan with "limits"' in note
    columns = {**COLUMNS, "dose": {"type": "number", "limits": [0, 1]}, "y": "number"}
    assert "Worth knowing" not in export(rows, make_plan(columns, "y"), "clinic_1").describe()
