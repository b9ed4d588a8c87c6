import pytest

import conjoin
from conjoin.errors import ConjoinError
from conjoin.sites import open_study
from tests.sites.clinics import clinics, export_all


def test_a_silent_site_is_reported_and_can_be_left_out(pair, tmp_path):
    paths = [
        *pair[2],
        *export_all({"c": clinics("logistic", sites=1, seed=7)["clinic_1"]}, pair[1], tmp_path),
    ]
    with pytest.raises(ConjoinError, match=r"did not answer round 1 within 0.01 .*--without c\."):
        conjoin.partition(open_study(paths, wait=0.01))
    assert open_study(paths, without=["c"]).receive().names == ("clinic_1", "clinic_2")
    with pytest.raises(ConjoinError, match="There is no site 'x'"):
        open_study(paths, without=["x"]).receive()
