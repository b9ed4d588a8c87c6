"""A model against new rows: errors, intervals and joins."""

import numpy as np
import pytest

import conjoin
from conjoin.errors import DataError
from conjoin.result.checking import check_table, p_value


def stores(seed, slope=(1, 1, 1, -3), n=100, noise=1.0):
    rng = np.random.default_rng(seed)
    K = len(slope)
    store, x = np.repeat([f"s{k}" for k in range(K)], n), rng.standard_normal(K * n)
    y = np.repeat(slope, n) * x + noise * rng.standard_normal(K * n)
    return {"store": store, "x": x, "y": y, "day": np.tile(np.arange(n), K)}


@pytest.fixture(scope="module")
def found():
    return conjoin.partition(
        stores(0), target="y", by="store", learner="linear", ignore=["day"], time="day"
    )


def test_rows_like_those_at_fitting_pass(found):
    passed = [check_table(found, stores(seed)).passed for seed in range(1, 21)]
    assert sum(passed) >= 17
    one = check_table(found, stores(1)).datasets[0]
    assert (one.name, one.rows, one.status) == ("s0", 100, "ok")
    assert 0.8 < one.inside <= 1


def test_a_dataset_that_changed_needs_a_look_and_so_does_its_join(found):
    check = check_table(found, stores(1, slope=(1, 1, 4, -3)))
    assert [one.status for one in check.datasets] == ["ok", "ok", "look", "ok"]
    assert not check.passed
    looks = [one for one in check.joins if one.status == "look"]
    assert looks
    assert all("s2" in one.left + one.right and one.today == "apart" for one in looks)


def test_new_datasets_and_few_rows_are_named(found):
    data = stores(1)
    data["store"] = np.where(data["store"] == "s1", "other", data["store"])
    keep = (data["store"] != "s0") | (data["day"] < 3)
    check = check_table(found, {name: column[keep] for name, column in data.items()})
    status = {one.name: one.status for one in check.datasets}
    assert status == {"other": "new", "s0": "few rows", "s2": "ok", "s3": "ok"}


def test_dependent_losses_are_counted_in_blocks_of_time():
    rng = np.random.default_rng(0)
    slow = np.repeat(rng.standard_normal(10) ** 2, 20)
    time = np.arange(200.0)
    assert p_value(slow, 0.3, 10_000, time) > p_value(slow, 0.3, 10_000, np.zeros(200))


def test_a_missing_column_is_an_error(found):
    data = stores(1)
    del data["y"]
    with pytest.raises(DataError, match="data lacks column 'y'"):
        check_table(found, data)
