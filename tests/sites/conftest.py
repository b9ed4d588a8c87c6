from collections.abc import Callable
from pathlib import Path

import pytest

from conjoin.sites import Plan, carry
from conjoin.sites.rows import read_rows
from conjoin.sites.serve import answer_file
from tests.sites.clinics import Tables, clinics, export_all, ledger_of, plan_of


@pytest.fixture
def pair(tmp_path) -> tuple[Tables, Plan, list[Path]]:
    """Two clinics with a target of classes, and their files."""
    tables, plan = clinics("logistic", sites=2, rows=300), plan_of("logistic", folds=2)
    return tables, plan, export_all(tables, plan, tmp_path)


@pytest.fixture
def quick(monkeypatch) -> Callable[[Tables, Plan, Path], None]:
    """Sites that answer as soon as a round is written, in the same process."""

    def use(tables: Tables, plan: Plan, folder: Path) -> None:
        sites = {name: read_rows(table, plan, name) for name, table in tables.items()}
        ledgers = {name: ledger_of(folder, name) for name in tables}

        def answer_all(carrier, silent, number):
            for name in silent:
                path = carry.round_path(folder, name, number)
                out = carry.answer_path(folder, name, number)
                ledgers[name] = answer_file(sites[name], path, out, ledgers[name])

        monkeypatch.setattr(carry.FolderCarrier, "_await", answer_all)

    return use
