"""What `scripts.campaign` stores: runs are added, and mended cases corrected."""

import json

import pytest

from scripts import campaign
from tests.campaign.cases import draw
from tests.campaign.promise import Outcome


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setattr(campaign, "STORED", tmp_path / "last.json")
    return lambda: json.loads((tmp_path / "last.json").read_text())


def test_a_run_that_starts_where_the_stored_one_ends_is_added(stored):
    campaign.store(0, {0: "result", 1: "hang"}, 3.2)
    assert campaign.end_of_stored() == 2
    campaign.store(2, {2: "result"}, 1.1)
    found = stored()
    assert found["cases"] == 3 and found["outcomes"] == {"hang": 1, "result": 2}
    assert found["broken"] == {"1": "hang"} and found["seconds"] == 4
    campaign.store(7, {7: "refused"}, 1.0)
    assert (stored()["seed"], stored()["cases"], stored()["broken"]) == (7, 1, {})


def test_mended_cases_are_corrected(stored, monkeypatch):
    outcomes = {1: Outcome("result"), 4: Outcome("hang")}
    monkeypatch.setattr(campaign, "one", lambda number, seconds: (draw(number), outcomes[number]))
    campaign.store(0, dict.fromkeys(range(5), "result") | {1: "ValueError", 4: "hang"}, 3.0)
    assert campaign.try_again(1.0) == 1
    assert stored()["outcomes"] == {"hang": 1, "result": 4}
    assert stored()["broken"] == {"4": "hang"}


def test_the_stored_run_of_the_repository_holds_together():
    kept = campaign.stored()
    assert sum(kept["outcomes"].values()) == kept["cases"] and kept["broken"] == {}
    assert set(kept["outcomes"]) == {"refused", "result"}
