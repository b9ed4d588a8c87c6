import pytest

import conjoin
from conjoin.api.request import Request
from conjoin.engine.from_sites import reduce_sites
from conjoin.errors import ConjoinError
from conjoin.sites import open_study
from tests.sites.clinics import clinics, export_all, plan_of


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return export_all(clinics(sites=3), plan_of(), tmp_path_factory.mktemp("study"))


def test_files_become_a_source_whose_rows_are_elsewhere(files):
    table = reduce_sites(open_study(files), Request(target="y"))
    assert table.names == ("clinic_1", "clinic_2", "clinic_3")
    assert table.sizes == (300, 320, 340)
    assert table.folds.shape == (3, 10)
    assert table.scatter is not None
    assert table.rows is None
    with pytest.raises(ConjoinError, match="only one dataset"):
        reduce_sites(open_study(files[:1]), Request(target="y"))


def test_options_that_need_rows_are_refused(files):
    for options in ({"by": "ward"}, {"learner": "boosting"}, {"method": "tuned"}, {"folds": 3}):
        with pytest.raises(
            ConjoinError, match=r"go with files of sites|files of sites do not have"
        ):
            conjoin.partition(files, **options)
    with pytest.raises(ConjoinError, match="not the target of the sites' plan"):
        conjoin.partition(files, target="z")
    with pytest.raises(ConjoinError, match="target is missing"):
        conjoin.partition(clinics())
