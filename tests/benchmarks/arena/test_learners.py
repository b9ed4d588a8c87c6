"""Boosters are no test requirements: their tests are skipped where a package is missing."""

import numpy as np
import pytest

from benchmarks.arena.data import ArenaSet, splits, task_of
from benchmarks.arena.learners import BOOSTERS, NAMES, SETTINGS, BoostedTrees, with_category
from benchmarks.arena.sides import SIDES


@pytest.mark.parametrize("side", SIDES.values(), ids=list(SIDES))
def test_every_learner_is_registered(side) -> None:
    missing = set(NAMES) - set(side.contestants)
    assert missing == ({"merf"} if side.name == "classification" else set())


def test_settings_name_the_booster_and_how_groups_share_it() -> None:
    assert len(SETTINGS) == 3 * len(BOOSTERS) + 2
    for name, setting in SETTINGS.items():
        assert name.startswith(f"{setting.booster}-{setting.sharing}")


def test_a_booster_that_is_missing_is_an_import_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BOOSTERS, "lightgbm", BOOSTERS["lightgbm"]._replace(package="no_such"))
    with pytest.raises(ImportError, match="no_such"):
        BoostedTrees("lightgbm-named")


def test_the_group_is_a_category_with_the_same_codes_in_both_parts(made: ArenaSet) -> None:
    task = task_of(made, splits(made, 0.5, 0))
    train, test = with_category(task)
    assert list(train.columns) == list(test.columns) and train.columns[-1] == "group"
    names = np.unique(task.groups_train.astype(str))
    for frame, groups in ((train, task.groups_train), (test, task.groups_test)):
        assert frame["group"].dtype == train["group"].dtype
        np.testing.assert_array_equal(names[frame["group"].astype(int)], groups.astype(str))
