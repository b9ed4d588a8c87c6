from pathlib import Path

import pytest

from conjoin.sites import Plan
from tests.sites.clinics import Tables, clinics, export_all, plan_of


@pytest.fixture
def pair(tmp_path) -> tuple[Tables, Plan, list[Path]]:
    """Two clinics with a target of classes, and their files."""
    tables, plan = clinics("logistic", sites=2, rows=300), plan_of("logistic", folds=2)
    return tables, plan, export_all(tables, plan, tmp_path)
