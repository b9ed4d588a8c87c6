import json
from pathlib import Path

import numpy as np
import pytest

import conjoin
from conjoin.errors import ConjoinError
from conjoin.result.document import checksum
from conjoin.result.partition import Partition
from conjoin.sites import export, make_plan
from conjoin.sites.receive import receive
from tests.sites.clinics import (
    clinics,
    export_all,
    largest_difference,
    partition_of_rows,
    plan_of,
)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[Path]:
    return export_all(clinics(), plan_of(), tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def result(files) -> Partition:
    return conjoin.partition(files)


def test_nine_sites_equal_pooled_rows(result):
    tables = clinics()
    pooled = partition_of_rows(tables, plan_of())
    assert result.clusters == [list(tables)[:5], list(tables)[5:]]
    assert {line.verdict for line in result.ledger()} >= {"join", "apart"}
    assert largest_difference(result, pooled) < 1e-8


def test_files_give_the_same_in_any_order(files):
    one, two = receive(files), receive(files[::-1])
    assert one.names == two.names
    basis = one.basis()
    assert np.array_equal(one.moments(basis, 10).G, two.moments(two.basis(), 10).G)


def test_sites_that_lack_columns_equal_pooled_rows(tmp_path):
    columns = {
        "age": "number",
        "chol": {"type": "number", "fill": 240, "missing": True},
        "slope": {"type": "category", "levels": ["up", "flat", "(missing)"], "other": False},
        "y": "number",
    }
    plan = make_plan(columns, "y", folds=5)
    rng, tables = np.random.default_rng(1), {}
    for k in range(9):
        n = 300
        age, chol = rng.uniform(30, 70, n), rng.uniform(150, 350, n)
        slope = rng.choice(["up", "flat"], n)
        y = 0.02 * age + 0.01 * chol + (slope == "up") * (1 if k < 6 else -2) + rng.normal(size=n)
        table = {"age": age, "chol": chol, "slope": slope.astype(object), "y": y}
        if k % 3 == 0:
            table["chol"] = np.full(n, np.nan)
        if k % 3 == 1:
            table["chol"] = np.where(rng.uniform(size=n) < 0.5, np.nan, chol)
        if k == 8:
            del table["slope"]
        tables[f"h{k + 1}"] = table
    with pytest.warns(conjoin.ConjoinWarning, match="lacks column 'slope'"):
        paths = export_all(tables, plan, tmp_path)
        pooled = partition_of_rows(tables, plan)
    assert largest_difference(conjoin.partition(paths), pooled) < 1e-8


def test_a_site_may_hold_several_datasets(tmp_path):
    tables = clinics(sites=3)
    joined = {
        name: np.concatenate([t[name] for t in tables.values()]) for name in tables["clinic_1"]
    }
    joined["ward"] = np.repeat(["a", "b", "c"], [len(t["y"]) for t in tables.values()])
    export(joined, plan_of(), "clinic", by="ward").save(tmp_path / "clinic.json")
    received = receive([tmp_path / "clinic.json"])
    assert received.names == ("clinic | a", "clinic | b", "clinic | c")
    one = receive(export_all({"clinic_1": tables["clinic_1"]}, plan_of(), tmp_path))
    assert np.allclose(received.datasets[0].products, one.datasets[0].products, atol=1e-9)


def _changed(path: Path, folder: Path, change, *, sign: bool) -> Path:
    document = json.loads(path.read_text())
    change(document)
    if sign:
        document["checksum"] = checksum(document["content"])
    new = folder / path.name
    new.write_text(json.dumps(document))
    return new


def _set(*keys, value):
    def change(document):
        place = document["content"]
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "sign", "sentence"),
    [
        (_set("datasets", 0, "n", 0, value=31), False, "was changed after it was written"),
        (_set("datasets", 0, "n", 0, value=31), True, "number of rows does not fit"),
        (_set("datasets", 0, "center", 0, value=1e300), True, "expected a finite number"),
        (_set("datasets", 0, "products", 0, 4, value=-50.0), True, "not those of any rows"),
        (_set("datasets", 0, "products", 0, 4, value="7"), True, "no table of numbers"),
        (_set("datasets", 0, "scale", 0, value=0.0), True, "scale is not above zero"),
        (_set("datasets", 0, "scatter", "nu", value=-1.0), True, "no degrees of freedom"),
        (_set("rules", "rows", value=2), True, "rules allow more than the plan's"),
        (_set("plan", "seed", value=5), True, "does not fit the plan's checksum"),
        (_set("features", value=["age", "dose"]), True, "not those of its plan"),
        (lambda d: d.update(format_version=99), False, "reads format 1"),
        (lambda d: d.update(format="conjoin-site-plan"), False, "no site file of conjoin but plan"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(files, tmp_path, change, sign, sentence):
    path = _changed(files[0], tmp_path, change, sign=sign)
    with pytest.raises(ConjoinError, match=sentence):
        receive([path, *files[1:]])


def test_nan_truncated_and_empty_files_are_refused(files, tmp_path):
    text = files[0].read_text()
    for number, bad in enumerate((text[: len(text) // 2], text.replace("0.5", "NaN", 1), "")):
        path = tmp_path / f"bad_{number}.json"
        path.write_text(bad)
        with pytest.raises(ConjoinError, match="only part of one|was changed"):
            receive([path, *files[1:]])


def test_files_of_different_plans_and_of_one_site_twice_are_refused(files, tmp_path):
    with pytest.raises(ConjoinError, match="both of site 'clinic_1'"):
        receive([*files, files[0]])
    other = export_all({"clinic_1": clinics()["clinic_1"]}, plan_of(), tmp_path)
    with pytest.raises(ConjoinError, match="different plans"):
        receive([*other, *files[1:]])
    renamed = _changed(files[0], tmp_path, _set("site", value="clinic_x"), sign=True)
    with pytest.raises(ConjoinError, match="same sums"):
        receive([*files, renamed])
    with pytest.raises(ConjoinError, match="no file of a site"):
        table = tmp_path / "table.json"
        table.write_text("{}")
        conjoin.partition([*files, table])
