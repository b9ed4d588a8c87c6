import numpy as np
import pytest

import conjoin
from conjoin.datasets import make_clusters
from conjoin.engine import gain_map
from conjoin.result.details import VERDICTS

TABLES = make_clusters(sizes=(4, 4), n=60, p=2, distance=3.0).tables()


@pytest.fixture(scope="module")
def result():
    return conjoin.partition(TABLES, target="y")


def test_the_map_is_symmetric_and_agrees_with_the_ledger(result):
    found = result.analysis.details.map
    assert len(found.groups) == 8
    for table in (found.gain, found.low, found.high):
        assert np.array_equal(table, table.T, equal_nan=True)
    position = {group: i for i, group in enumerate(found.groups)}
    names = list(result.labels)
    for line in result.ledger():
        if len(line.left) == len(line.right) == 1:
            i, j = (position[names.index(side[0]),] for side in (line.left, line.right))
            assert found.gain[i, j] == pytest.approx(line.gain)
            assert VERDICTS[found.verdict[i, j]] == line.verdict


def test_the_merges_above_the_clusters_end_in_one(result):
    upper = result.analysis.details.upper
    assert len(upper) == len(result.clusters) - 1
    assert sorted((*upper[-1].left, *upper[-1].right)) == sorted(result.labels)
    assert not any(line.joined for line in upper)


def test_many_datasets_are_shown_as_groups(monkeypatch):
    monkeypatch.setattr(gain_map, "MOST_ON_MAP", 5)
    monkeypatch.setattr(gain_map, "GROUPS_ON_MAP", 3)
    found = conjoin.partition(TABLES, target="y").analysis.details.map
    assert len(found.groups) <= 3
    assert sorted(k for group in found.groups for k in group) == list(range(8))


def test_only_contested_pairs_are_judged_where_there_are_many(monkeypatch):
    monkeypatch.setattr(gain_map, "MOST_VERDICTS", 4)
    monkeypatch.setattr(gain_map, "MOST_CONTESTED", 6)
    found = conjoin.partition(TABLES, target="y").analysis.details.map
    assert np.count_nonzero(np.triu(found.verdict)) == 6
