import json
from dataclasses import replace

import numpy as np
import pytest

import conjoin
from conjoin.errors import ArgumentError, DataError, ReadError
from conjoin.result.document import checksum
from conjoin.sites import export, make_plan
from conjoin.sites.private_export import bounds_of, noise_in
from conjoin.sites.receive import receive
from tests.sites.clinics import clinics, plan_of

BOUNDS = {"age": (0, 100), "dose": (0, 1), "y": (-4, 4)}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, plan = tmp_path_factory.mktemp("private"), plan_of()
    paths = []
    for name, table in clinics(sites=4, rows=4000).items():
        paths.append(folder / f"{name}.json")
        export(table, plan, name, epsilon=8.0, bounds=BOUNDS).save(paths[-1])
    return paths


def test_the_file_states_the_promise_and_no_exact_number(files):
    content = json.loads(files[0].read_text())["content"]
    assert content["privacy"]["epsilon"] == 8.0
    assert "times as probable" in content["privacy"]["promise"]
    (dataset,) = content["datasets"]
    assert dataset["levels"] == {} and dataset["scatter"] is None
    assert dataset["center"][:2] == [50.0, 0.5]  # of the bounds, not of the rows
    assert abs(dataset["n"][0] - 4000) < 200


def test_a_promise_does_not_hide_that_exact_sums_left_before(tmp_path):
    (table,) = clinics(sites=1, rows=300).values()
    export(table, plan_of(), "clinic_1", ledger=tmp_path).save(tmp_path / "exact.json")
    found = export(table, plan_of(), "clinic_1", ledger=tmp_path, epsilon=1.0, bounds=BOUNDS)
    assert "Sums without noise have left this site before (ledger entry 1)" in found.describe()
    assert "clinic_1: about " in found.describe()  # the number of rows is noisy too
    with pytest.raises(ArgumentError, match="needed for 'age', 'dose', 'y'"):
        export(table, plan_of(), "clinic_1", epsilon=1.0, bounds={**BOUNDS, "dosis": (0, 1)})


def test_decisions_are_made_from_noisy_files(files):
    found = conjoin.partition(files)
    slopes = [fit.coef["dose"] for fit in found.coefficients.values()]
    assert slopes == pytest.approx([1.5] * 4, abs=0.5)  # the noise is some 0.05


def test_the_result_states_the_promise_wherever_it_is_shown(files, tmp_path):
    found = conjoin.partition(files)
    promise = "allow for the noise. Differential privacy with epsilon 8 and delta 1e-06"
    assert promise in found.notices[0] and promise in str(found)
    found.report(tmp_path / "page.html")
    assert promise in (tmp_path / "page.html").read_text()
    found.save(tmp_path / "model.json")
    assert promise in conjoin.load(tmp_path / "model.json").notices[0]
    assert promise in conjoin.compare(*files[:2]).notices[0]
    assert "share one budget" in json.loads(files[0].read_text())["content"]["privacy"]["budget"]


def test_intervals_of_errors_are_wider_for_the_noise(files):
    received = receive(files)
    shares = received.noise_shares()
    assert np.all(shares > 0) and np.all(shares < 0.1)
    analysis = conjoin.partition(files).analysis
    exact = replace(analysis, study=replace(analysis.study, noise_shares=None), _found={})
    for name, one in analysis.errors.items():
        low, high = exact.errors[name].interval
        assert one.interval[0] < low < high < one.interval[1]


def test_noise_lowers_the_information_of_a_dataset(files):
    received = receive(files)
    basis = received.basis()
    with_noise = received.moments(basis, 2).G.sum(axis=1)
    plain = np.stack([one.products.sum(axis=0) for one in received.datasets])
    assert all(one.noise is not None for one in received.datasets)
    assert np.all(with_noise[:, 0, 0] < plain[:, 0, 0])


@pytest.mark.parametrize("damage", ["noise", "added", "epsilon"])
def test_a_file_without_a_full_statement_is_refused(files, tmp_path, damage):
    document = json.loads(files[0].read_text())
    document["content"]["privacy"][damage] = {} if damage == "added" else -1.0
    document["checksum"] = checksum(document["content"])
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ReadError, match="statement of privacy|noise is not above zero"):
        receive([path])


def test_bounds_come_from_the_plan_or_are_asked_for():
    columns = {"age": {"type": "number", "limits": [0, 100]}, "y": "number",
               "sex": {"type": "category", "levels": ["f", "m"]}}  # fmt: skip
    plan = make_plan(columns, "y")
    found = bounds_of(plan, {"y": (0, 10)})
    assert found.low.tolist() == [0, 0, 0, 0] and found.high.tolist() == [100, 1, 1, 10]
    assert found.levels.tolist() == [False, True, True, False]
    with pytest.raises(ArgumentError, match="needs bounds for 'y'"):
        bounds_of(plan, {})
    with pytest.raises(ArgumentError, match="A bound is given for 'agee'"):
        bounds_of(plan, {"agee": (0, 1)})
    with pytest.raises(ArgumentError, match="targets that are numbers"):
        bounds_of(plan_of("poisson"), BOUNDS)


def test_noise_of_a_plain_file_is_none():
    assert noise_in(None, "a") is None


def test_the_ledger_stands_before_the_file(tmp_path):
    plan, (name, table) = plan_of(), next(iter(clinics(sites=1).items()))
    first = export(table, plan, name, ledger=tmp_path)
    assert not (tmp_path / "conjoin-ledger.json").exists()  # nothing is written yet
    first.save(tmp_path / "a.json")
    export(table, plan, name, ledger=tmp_path).save(tmp_path / "b.json")
    fewer = {column: values[1:] for column, values in table.items()}
    with pytest.raises(DataError, match="differ in 1 row; at least 11.*send the earlier file"):
        export(fewer, plan, name, ledger=tmp_path)
    # With noise the difference may leave, and the budget is counted.
    for _ in range(2):
        noisy = export(fewer, plan, name, ledger=tmp_path, epsilon=4.0, bounds=BOUNDS)
        noisy.save(tmp_path / "c.json")
    assert noisy.content["privacy"]["spent"][0] == 8.0
    with pytest.raises(ArgumentError, match="spent 8 of 10"):
        export(fewer, plan, name, ledger=tmp_path, epsilon=4.0, bounds=BOUNDS)


def test_a_site_does_not_follow_a_plan_with_looser_rules_unasked():
    from conjoin.sites import Rules

    plan = plan_of(rules=Rules(rows=5), i_know=True)
    table = clinics(sites=1)["clinic_1"]
    with pytest.raises(ArgumentError, match="only be made stricter: rows is 5"):
        export(table, plan, "clinic_1")
    export(table, plan, "clinic_1", i_know=True)
    export(table, plan, "clinic_1", rules=Rules())
