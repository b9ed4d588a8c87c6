import pytest

from conjoin.errors import ConjoinError
from conjoin.sites import open_study
from conjoin.sites.folder import as_study
from tests.sites.clinics import clinics, export_all, plan_of


def test_files_patterns_and_folders_name_a_study(tmp_path):
    plan = plan_of()
    paths = export_all(clinics(sites=2), plan, tmp_path)
    plan.save(tmp_path / "plan.json")
    (tmp_path / "other.json").write_text("{}")
    for named in (paths, str(tmp_path / "clinic_*.json"), tmp_path):
        assert as_study(named).exports == tuple(paths)
    assert as_study(tmp_path).plan.target == "y"
    for other in ("a.csv", {"x": [1]}, ["b.parquet"], "shop.duckdb::t", [], tmp_path / "none.json"):
        assert as_study(other) is None
    with pytest.raises(ConjoinError, match="names no file that a site exported"):
        open_study(tmp_path / "other.json")
