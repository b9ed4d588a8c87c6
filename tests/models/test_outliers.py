"""Gross errors are found; ordinary tails, however heavy, have none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conjoin.models import outliers
from conjoin.models.outliers import gross_errors, medians, robust_distances


def blocks(n, count):
    return np.linspace(0, n, count + 1).astype(np.int64)


LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "lognormal": lambda rng, n: np.exp(rng.normal(size=n)),
    "wide lognormal": lambda rng, n: np.exp(2 * rng.normal(size=n)),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "t of 3": lambda rng, n: rng.standard_t(3, size=n),
    "counts": lambda rng, n: rng.poisson(0.3, size=n).astype(float),
    "many zeros": lambda rng, n: np.where(rng.random(n) < 0.7, 0, np.exp(rng.normal(size=n))),
    "rare ones": lambda rng, n: (rng.random(n) < 0.01).astype(float),
}


@pytest.mark.parametrize("law", LAWS)
def test_ordinary_columns_have_none(law):
    rng = np.random.default_rng(1)
    draws = [LAWS[law](rng, n) for n in (40, 300, 3000) for _ in range(60)]
    alarms = sum(len(gross_errors(values, blocks(len(values), 3))) > 0 for values in draws)
    assert alarms <= 5  # of 180; the level is about one in a thousand for each of two tests


@pytest.mark.parametrize("law", [law for law in LAWS if law != "rare ones"])
@pytest.mark.parametrize("wrong", [99999999.0, -99999999.0])
def test_a_mistyped_value_is_found(law, wrong):
    rng = np.random.default_rng(2)
    for n in (60, 500, 5000):
        values = LAWS[law](rng, n)
        values[n // 3] = wrong
        assert n // 3 in gross_errors(values, blocks(n, 4))


def test_a_value_is_measured_in_its_own_dataset():
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.normal(1, 0.1, 400), rng.normal(1000, 100, 400)])
    values[5] = 100.0  # a hundred times too large, and in the middle of all values
    assert_array_equal(gross_errors(values, np.array([0, 400, 800])), [5])


def test_several_equal_errors_are_found_and_many_are_a_code():
    rng = np.random.default_rng(4)
    values = rng.normal(280, 10, 20_000)
    values[:10] = 0.0
    assert_array_equal(gross_errors(values, blocks(20_000, 4)), np.arange(10))
    values[:400] = 0.0
    assert len(gross_errors(values, blocks(20_000, 4))) == 0


def test_a_wrong_sign_is_found():
    rng = np.random.default_rng(5)
    values = rng.uniform(50, 150, 300)
    values[7] = -values[7] - 60
    assert_array_equal(gross_errors(values, blocks(300, 2)), [7])
    values[7] = -0.3  # just below zero: no typing error
    assert len(gross_errors(values, blocks(300, 2))) == 0


@pytest.mark.parametrize("n", [1, 5, 29])
def test_few_rows_have_none(n):
    values = np.zeros(n)
    values[0] = 1e9
    assert len(gross_errors(values, np.array([0, n]))) == 0


def test_constant_columns_and_empty_datasets():
    assert len(gross_errors(np.ones(100), np.array([0, 50, 50, 100]))) == 0
    values = np.random.default_rng(6).normal(size=100)
    values[3] = 1e6
    assert_array_equal(gross_errors(values, np.array([0, 50, 100])), [3])


def test_the_order_of_rows_and_the_unit_change_nothing():
    rng = np.random.default_rng(7)
    values = np.exp(rng.normal(size=1000))
    values[[3, 700]] = 1e7, 2e7
    starts, order = blocks(1000, 2), np.r_[rng.permutation(500), 500 + rng.permutation(500)]
    found = gross_errors(values, starts)
    assert_array_equal(found, [3, 700])
    assert_array_equal(np.sort(order[gross_errors(values[order], starts)]), found)
    assert_array_equal(gross_errors(-1e-3 * values + 5, starts), found)


def test_small_datasets_are_measured_against_all_rows():
    rng = np.random.default_rng(8)
    values = rng.normal(10, 1, 100)
    z = robust_distances(values, np.arange(0, 101, 2))
    middle = np.median(values)
    spread = 1.4826 * np.median(np.abs(values - middle))
    assert_allclose(z, np.abs(values - middle) / spread)


def test_medians_of_datasets():
    values, starts = np.array([3.0, 1, 2, 7, 5]), np.array([0, 3, 3, 5])
    assert_allclose(medians(values, starts, np.array([0, 0, 0, 2, 2])), [2, 0, 6])


def test_medians_of_many_datasets_are_those_of_each(monkeypatch):
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 9, 40)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    values, dataset = rng.normal(size=starts[-1]), np.repeat(np.arange(40), sizes)
    expected = [np.median(values[i:j]) if j > i else 0 for i, j in zip(starts[:-1], starts[1:])]
    assert_allclose(medians(values, starts, dataset), expected)
    monkeypatch.setattr(outliers, "MOST_PADDING", 0)
    assert_allclose(medians(values, starts, dataset), expected)
