import sys
from types import SimpleNamespace

import pandas as pd
import pytest

from conjoin.errors import ReadError
from conjoin.paper.tables import fetch


def test_without_the_package_or_a_network_the_error_names_the_set(tmp_path):
    with pytest.raises(ReadError, match=r"Set SBSD .*(ucimlrepo|could not be downloaded)"):
        list(fetch.fetch_sets(tmp_path))


def test_sets_that_exist_are_not_downloaded(paper_data):
    assert list(fetch.fetch_sets(paper_data)) == []


def test_missing_sets_are_written_as_csv(tmp_path, monkeypatch):
    frame = pd.DataFrame({"a": [1, 2]})
    answer = SimpleNamespace(data=SimpleNamespace(original=frame))
    package = SimpleNamespace(fetch_ucirepo=lambda id: answer)
    monkeypatch.setitem(sys.modules, "ucimlrepo", package)
    paths = list(fetch.fetch_sets(tmp_path))
    assert len(paths) == len(fetch.UCI)
    assert all(path.read_text() == "a\n1\n2\n" for path in paths)
    assert list(fetch.fetch_sets(tmp_path)) == []
