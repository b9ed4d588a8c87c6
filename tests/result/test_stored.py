"""The analysis of a result that was read from a file."""

import numpy as np
import pytest

import conjoin
from conjoin.datasets import make_clusters
from conjoin.errors import ArgumentError


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    result = conjoin.partition(make_clusters(sizes=(3, 2), n=40, distance=1.0).tables(), target="y")
    path = tmp_path_factory.mktemp("stored") / "model.json"
    result.save(path, evidence=True)
    return result, conjoin.load(path)


def test_what_was_found_is_in_the_file(both):
    result, loaded = both
    assert loaded.errors == result.errors
    assert repr(loaded.improvements()) == repr(result.improvements())
    assert np.array_equal(loaded.stability().frequencies, result.stability().frequencies)
    for line in result.ledger():
        sides = line.left, line.right
        assert loaded.analysis.join_change(*sides) == result.analysis.join_change(*sides)
    assert np.isnan(loaded.analysis.join_change(["d1"], ["d5"])).all()


def test_what_is_not_in_the_file_is_said(both):
    _, loaded = both
    with pytest.raises(ArgumentError, match="without the comparison of 'full'"):
        loaded.improvements("full")
    with pytest.raises(ArgumentError, match="is not in the file"):
        loaded.using("full")
