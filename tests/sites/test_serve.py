import threading

import pytest

import conjoin
from conjoin.errors import ConjoinError, DataError, SilentSitesError
from conjoin.sites import carry, export, open_study
from conjoin.sites.rows import read_rows
from conjoin.sites.rules import Rules
from conjoin.sites.serve import answer_file, serve
from tests.sites.clinics import ledger_of


def test_rounds_by_hand_and_in_a_folder_give_the_same(pair, tmp_path):
    tables, plan, paths = pair
    rows = {name: read_rows(table, plan, name) for name, table in tables.items()}
    with pytest.raises(ConjoinError, match=r"Round 1 is written for 2 sites .*rounds are left"):
        conjoin.compare(*paths)
    for name, one in rows.items():
        asked, answered = carry.round_path(tmp_path, name, 1), carry.answer_path(tmp_path, name, 1)
        answer_file(one, asked, answered, ledger_of(tmp_path, name))
    with pytest.raises(ConjoinError, match="Round 2 is written"):
        conjoin.compare(*paths)
    sites = [
        threading.Thread(target=serve, args=(one, tmp_path, ledger_of(tmp_path, name)),
                         kwargs={"idle": 3.0})
        for name, one in rows.items()
    ]  # fmt: skip
    for site in sites:
        site.start()
    result = conjoin.partition(open_study(paths, wait=60))
    for site in sites:
        site.join()
    pooled = conjoin.partition(tables, target="y", learner="linear", folds=2)
    assert result.clusters == pooled.clusters
    assert ledger_of(tmp_path, "clinic_1").numbers(plan.checksum) > 100


def test_no_round_is_answered_with_a_row_less_than_was_exported(pair, tmp_path):
    tables, plan, paths = pair
    table, ledger = tables["clinic_1"], ledger_of(tmp_path, "clinic_1")
    export(table, plan, "clinic_1", ledger=ledger.folder).save(tmp_path / "again.json")
    with pytest.raises(ConjoinError, match="Round 1 is written"):
        conjoin.compare(*paths)
    asked, answered = carry.round_path(tmp_path, "clinic_1", 1), tmp_path / "answer.json"
    fewer = {name: values[1:] for name, values in table.items()}
    register = ledger_of(tmp_path, "clinic_1")
    with pytest.raises(DataError, match=r"export 1 differ in 1 row;"):
        answer_file(read_rows(fewer, plan, "clinic_1"), asked, answered, register)
    assert not answered.exists()
    answer_file(read_rows(table, plan, "clinic_1"), asked, answered, register)


def test_a_refusal_ends_the_wait_and_its_reason_stays_at_the_site(pair, tmp_path):
    tables, plan, paths = pair
    strict = Rules(numbers=0.01)
    rows = {name: read_rows(table, plan, name, rules=strict) for name, table in tables.items()}
    said = []

    def answer(name):
        try:
            serve(rows[name], tmp_path, ledger_of(tmp_path, name), idle=60.0)
        except DataError as error:
            said.append(str(error))

    sites = [threading.Thread(target=answer, args=(name,)) for name in rows]
    for site in sites:
        site.start()
    with pytest.raises(SilentSitesError, match=r"refused round 1, for a reason that only they see"):
        conjoin.partition(open_study(paths, wait=60))
    for site in sites:
        site.join()
    assert "numbers in all rounds" in said[0]
    assert carry.refused_path(tmp_path, "clinic_1", 1).read_text() == "The site did not answer.\n"
