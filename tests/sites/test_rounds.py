import numpy as np
import pytest

import conjoin
from conjoin.errors import ConjoinError, DataError
from conjoin.result.checked import Fault
from conjoin.sites import carry, make_plan
from conjoin.sites.document import ROUND, read_document
from conjoin.sites.rounds import answer_round, check_round_content
from conjoin.sites.rows import read_rows
from conjoin.sites.serve import answer_file, open_rounds
from tests.sites.clinics import (
    COLUMNS,
    TARGETS,
    clinics,
    export_all,
    largest_difference,
    ledger_of,
    partition_of_rows,
    plan_of,
)


@pytest.mark.parametrize(
    ("family", "rows"), [("logistic", 400), ("poisson", 400), ("classes", 1000)]
)
def test_rounds_give_what_pooled_rows_give(family, rows, quick, tmp_path):
    tables, plan = clinics(family, rows=rows), plan_of(family, folds=2)
    paths = export_all(tables, plan, tmp_path)
    quick(tables, plan, tmp_path)
    found = conjoin.partition(paths)
    pooled = partition_of_rows(tables, plan)
    assert found.clusters == [list(tables)[:5], list(tables)[5:]]
    assert largest_difference(found, pooled) < 1e-6
    rounds = len(list(tmp_path.glob("clinic_1.round_*.json")))
    assert 10 < rounds <= carry.USUAL_ROUNDS + 5


def test_a_round_or_an_answer_that_does_not_fit_is_refused(pair, tmp_path):
    tables, plan, paths = pair
    with pytest.raises(ConjoinError, match="Round 1"):
        conjoin.compare(*paths)
    rows = {name: read_rows(table, plan, name) for name, table in tables.items()}
    first = carry.round_path(tmp_path, "clinic_1", 1)
    out, ledger = tmp_path / "out.json", ledger_of(tmp_path, "clinic_1")
    with pytest.raises(ConjoinError, match="is for site 'clinic_1', but this is 'clinic_2'"):
        answer_file(rows["clinic_2"], first, out, ledger)
    other = read_rows(tables["clinic_1"], plan_of("logistic", folds=2), "clinic_1")
    with pytest.raises(ConjoinError, match="belongs to another plan"):
        answer_file(other, first, out, ledger)
    # A replayed answer: that of the other site under this site's name.
    for name in tables:
        answer_file(rows[name], carry.round_path(tmp_path, name, 1),
                    carry.answer_path(tmp_path, "clinic_1", 1), ledger)  # fmt: skip
    carry.answer_path(tmp_path, "clinic_2", 1).write_bytes(
        carry.answer_path(tmp_path, "clinic_1", 1).read_bytes()
    )
    with pytest.raises(ConjoinError, match=r"is of site 'clinic_2' to another round"):
        conjoin.compare(*paths)


def test_a_site_that_has_no_row_of_a_class(quick, tmp_path):
    tables, plan = clinics("classes", sites=3, rows=1500), plan_of("classes", folds=2)
    first = tables["clinic_1"]
    known = first["y"] != "other"
    tables["clinic_1"] = {name: values[known] for name, values in first.items()}
    paths = export_all(tables, plan, tmp_path)
    quick(tables, plan, tmp_path)
    found = conjoin.partition(paths)
    assert largest_difference(found, partition_of_rows(tables, plan)) < 1e-6
    # There is no likelihood of a class without rows, so no verdict on this site.
    assert "undecided" in [line.verdict for line in found.ledger()]


def test_rounds_of_another_number_of_classes_are_refused(quick, tmp_path):
    tables, plan = clinics("classes", sites=2, rows=600), plan_of("classes", folds=2)
    paths = export_all(tables, plan, tmp_path)
    with pytest.raises(ConjoinError, match="Round 1"):
        conjoin.compare(*paths)
    rows = read_rows(tables["clinic_1"], plan, "clinic_1")
    content = read_document(carry.round_path(tmp_path, "clinic_1", 1), ROUND, check_round_content)
    assert content["outputs"] == 2
    with pytest.raises(Fault, match="expected 4"):
        check_round_content({**content, "outputs": 1})
    other = {**content, "outputs": 1}
    for question in other["questions"]:
        question["arrays"] = [
            np.array(values).reshape(-1, 4).tolist() if np.ndim(values) > 1 else values[:4]
            for values in question["arrays"]
        ]
    with pytest.raises(DataError, match="another number of classes"):
        answer_round(rows, other)


def test_rounds_work_where_a_column_of_the_plan_is_the_same_at_all_sites(quick, tmp_path):
    tables = clinics("logistic", sites=2, rows=300)
    for table in tables.values():
        table["ward"] = np.where(np.arange(len(table["y"])) < 7, "rare", "usual")  # is merged
    ward = {"type": "category", "levels": ["usual", "rare"], "other": False}
    plan = make_plan({**COLUMNS, "ward": ward, "y": TARGETS["logistic"]}, "y", folds=2)
    paths = export_all(tables, plan, tmp_path)
    quick(tables, plan, tmp_path)
    found = conjoin.compare(*paths)
    for table in tables.values():
        del table["ward"]
    smaller = make_plan({**COLUMNS, "y": TARGETS["logistic"]}, "y", folds=2)
    (tmp_path / "smaller").mkdir()
    paths = export_all(tables, smaller, tmp_path / "smaller")
    quick(tables, smaller, tmp_path / "smaller")
    assert found.verdict == conjoin.compare(*paths).verdict


def test_coefficients_that_single_out_rows_are_not_answered(pair, tmp_path):
    tables, plan, paths = pair
    with pytest.raises(ConjoinError, match="Round 1"):
        conjoin.compare(*paths)
    rows = read_rows(tables["clinic_1"], plan, "clinic_1")
    content = read_document(carry.round_path(tmp_path, "clinic_1", 1), ROUND, check_round_content)
    for question in content["questions"]:
        question["arrays"][0] = [0.0, 5000.0, 0.0, 0.0]
    with pytest.raises(ConjoinError, match="not answered, because it would disclose rows"):
        answer_round(rows, content)
    for question in content["questions"]:
        question["arrays"][0] = [0.0, 0.0, 0.0, 0.0]
    with pytest.raises(ConjoinError, match="numbers in all rounds"):
        answer_round(rows, content, sent=10_000)
    assert open_rounds(tmp_path, "clinic_1")[0][0] == 1
