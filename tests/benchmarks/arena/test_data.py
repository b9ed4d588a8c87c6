from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.arena.data import (
    ArenaSet,
    encode,
    mean_over_groups,
    row_weights,
    shared_data,
    splits,
    standardise,
    task_of,
)
from benchmarks.arena.sides import SIDES


def check_split(data: ArenaSet, share: float, seed: int) -> None:
    train, test = splits(data, share, seed)
    assert not set(train) & set(test)
    assert sorted([*train, *test]) == list(range(len(data.y)))
    for group in set(data.groups):
        size = int(np.sum(data.groups == group))
        trained = int(np.sum(data.groups[train] == group))
        assert trained == max(1, int(np.floor(share * size + 0.5)))


@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    "name",
    [
        "regression sleepstudy",
        "regression radon",
        "classification contraception",
        "classification school_band",
    ],
)
def test_splits_are_disjoint_and_train_every_group(
    data_root: Path, name: str, share: float, seed: int
) -> None:
    side, set_name = name.split()
    check_split(SIDES[side].load(set_name), share, seed)


def test_splits_of_a_group_of_one_row(made: ArenaSet) -> None:
    check_split(made, 0.1, 0)
    assert "one" not in made.groups[splits(made, 0.1, 0).test]


def test_splits_depend_on_seed_only_and_are_nested(made: ArenaSet) -> None:
    first, again, other = (splits(made, 0.5, seed).train for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert set(splits(made, 0.1, 0).train) <= set(first)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1])
def test_splits_refuse_a_share_outside(made: ArenaSet, share: float) -> None:
    with pytest.raises(ValueError, match="share must lie between 0 and 1"):
        splits(made, share, 0)


def test_standardising_sees_training_rows_only(made: ArenaSet) -> None:
    split = splits(made, 0.5, 0)
    X_train, X_test, columns = standardise(made, split)
    np.testing.assert_allclose(X_train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X_train.std(axis=0), 1)
    changed = made.X.copy()
    changed[split.test] += 100.0
    other = ArenaSet(made.name, changed, made.y, made.groups, made.columns)
    again, moved, _ = standardise(other, split)
    np.testing.assert_array_equal(again, X_train)
    shift = 100.0 / made.X[split.train].std(axis=0)
    np.testing.assert_allclose(moved - X_test, np.broadcast_to(shift, X_test.shape))
    assert columns == made.columns


def test_standardising_drops_columns_constant_in_training(made: ArenaSet) -> None:
    split = splits(made, 0.5, 0)
    lonely = made.X.copy()
    lonely[:, 2] = 0
    lonely[split.test[0], 2] = 1
    X_train, X_test, columns = standardise(
        ArenaSet(made.name, lonely, made.y, made.groups, made.columns), split
    )
    assert columns == ("a", "b")
    assert X_train.shape[1] == X_test.shape[1] == 2


def test_encoding_of_every_kind_of_column() -> None:
    table = pd.DataFrame(
        {
            "number": [1.0, np.nan, 3.0, 5.0],
            "together": [np.nan if i == 1 else float(i) for i in range(4)],
            "flag": [True, False, True, True],
            "text": ["u", "v ", "v", None],
            "code": [7, 8, 7, 9],
            "constant": [2, 2, 2, 2],
        }
    )
    encoded = encode(table, categories=["code", "absent"])
    assert list(encoded.columns) == [
        "number", "together", "flag", "text=missing", "text=u", "code=8", "code=9",
    ]  # fmt: skip
    assert encoded["number"].tolist() == [1.0, 3.0, 3.0, 5.0]
    assert encoded["text=u"].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_encoding_leaves_out_text_of_many_levels() -> None:
    table = pd.DataFrame({"name": [f"n{i}" for i in range(13)], "x": np.arange(13)})
    assert list(encode(table).columns) == ["x"]


def test_missing_data_folder_is_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CONJOIN_SHARED", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="CONJOIN_SHARED"):
        shared_data()


def test_task_holds_the_rows_of_the_split(made: ArenaSet) -> None:
    split = splits(made, 0.5, 0)
    task = task_of(made, split)
    np.testing.assert_array_equal(task.y_train, made.y[split.train])
    np.testing.assert_array_equal(task.groups_test, made.groups[split.test])
    assert len(task.X_train) == len(split.train) and len(task.X_test) == len(split.test)


def test_row_weights_give_the_mean_over_groups() -> None:
    losses = np.array([1.0, 3.0, 4.0, 0.5])
    groups = np.array(["a", "a", "b", "c"], dtype=object)
    assert mean_over_groups(losses, groups) == pytest.approx((2.0 + 4.0 + 0.5) / 3)
    assert row_weights(groups) @ losses == pytest.approx(mean_over_groups(losses, groups))
