import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conjoin.sites.alone import stands_alone


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_no_combination_of_columns_gives_a_row_more_than_its_leverage(seed):
    rng = np.random.default_rng(seed)
    values = rng.standard_t(2, size=(30, 3))
    most = stands_alone(values, 11, 0.9).leverage
    Z = np.column_stack([np.ones(30), values])
    shares = (Z @ rng.normal(size=(4, 500))) ** 2
    shares /= shares.sum(axis=0)
    assert shares.max() <= most + 1e-9
    hat = Z @ np.linalg.pinv(Z)
    assert most == pytest.approx(np.diag(hat).max())


def test_one_far_value_stands_alone_in_its_column():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(50, 3))
    values[4, 1] = 200.0
    found = stands_alone(values, 11, 0.9)
    assert found.leverage > 0.99
    assert found.column == 1


def test_units_and_offsets_do_not_matter():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(60, 3))
    values[:5, 2] = values[:5, 0] + 1.0
    moved = values * np.array([1e-6, 1.0, 1e6]) + np.array([3.0, -1e4, 1e7])
    a, b = stands_alone(values, 11, 0.9), stands_alone(moved, 11, 0.9)
    assert a.leverage == pytest.approx(b.leverage, rel=1e-6)
    assert a.unexplained == pytest.approx(b.unexplained, rel=1e-6)


@pytest.mark.parametrize("few", [1, 3, 7])
def test_columns_that_add_up_in_all_but_few_rows_are_found(few):
    rng = np.random.default_rng(few)
    a, b, c, y = rng.normal(size=(4, 80))
    total = a + 2 * b - c
    total[:few] += rng.normal(size=few)
    found = stands_alone(np.column_stack([a, b, c, total, y]), 11, 0.9)
    assert found.few == few


def test_columns_that_always_add_up_single_out_no_row():
    rng = np.random.default_rng(3)
    a, b, y = rng.normal(size=(3, 200))
    found = stands_alone(np.column_stack([a, b, a + b, y]), 11, 0.9)
    assert found.few == 0
    assert found.leverage < 0.2
    assert found.unexplained > 0.9


def test_a_target_that_columns_give_exactly_is_explained():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 50))
    assert stands_alone(np.column_stack([a, b, 3 * a - b + 7]), 11, 0.9).unexplained < 1e-12


def test_constant_columns_and_no_weight_are_no_trouble():
    values = np.column_stack([np.full(30, 1e6), np.arange(30.0)])
    assert stands_alone(values, 11, 0.9).unexplained == 1.0
    assert stands_alone(values, 11, 0.9, np.zeros(30)).leverage == 1.0


def test_weights_on_one_row_single_it_out():
    rng = np.random.default_rng(5)
    weights = np.full(50, 1e-6)
    weights[3] = 0.25
    values = rng.normal(size=(50, 2))
    assert stands_alone(values, 1, 0.9, weights).leverage > 0.99
    assert stands_alone(values, 1, 0.9, np.full(50, 0.25)).leverage < 0.5
