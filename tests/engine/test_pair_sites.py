import numpy as np
import pytest

import conjoin
from conjoin.errors import ConjoinError
from tests.sites.clinics import clinics, export_all, plan_of


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return export_all(clinics(sites=6), plan_of(), tmp_path_factory.mktemp("study"))


def test_two_sites_are_compared_as_their_rows_are(files):
    tables = clinics()
    for k in (1, 5):
        found = conjoin.compare(files[0], files[k])
        rows = conjoin.compare(tables["clinic_1"], tables[f"clinic_{k + 1}"], target="y")
        assert found.verdict == rows.verdict
        assert np.isclose(found.gain, rows.gain, rtol=1e-8)
        assert np.isclose(found.fit_joined.intercept, rows.fit_joined.intercept, rtol=1e-8)
    assert found.verdict == "apart"
    with pytest.raises(ConjoinError, match="reads rows"):
        conjoin.compare(files[0], files[1], method="gcv")
