import threading

import pytest

import conjoin
from conjoin.errors import ConjoinError
from conjoin.sites import carry, open_study
from conjoin.sites.rows import read_rows
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
