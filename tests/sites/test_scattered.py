"""The scatter of residuals: one pass gives what all rows give, and no row is singled out."""

import numpy as np
import pytest

from conjoin.models.scatter import Scatter
from conjoin.sites import scattered
from conjoin.sites.fold_sums import FoldSums
from conjoin.sites.rules import Rules
from conjoin.sites.scattered import Standardised, scatter_of, scatter_to_plain


def standardised(X, y):
    center, scale, products = FoldSums.of(X, y, np.zeros(len(y), int), 1).standardised()
    return Standardised(X, y, center, scale, products.sum(axis=0))


def table(rows=3000):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((rows, 2)), rng.integers(0, 2, rows)])
    return X, X @ [1.0, 2.0, 3.0] + rng.standard_normal(rows) * (1 + X[:, 2])


@pytest.mark.parametrize("columns", [2, 3])  # without and with a flag
def test_one_pass_gives_what_all_rows_give(monkeypatch, columns):
    X, y = table()
    rows = standardised(X[:, :columns], y)
    monkeypatch.setattr(scattered, "BLOCK", 256)
    monkeypatch.setattr(scattered, "_discloses", None)  # it is not asked
    found = scatter_of(rows, None, Rules())
    Z, t = rows.all_rows()
    expected = Scatter.of_rows(Z, t, np.ones(len(t)), np.array([0, len(t)]))
    assert found is not None
    for name in ("unbiased", "cautious", "nu", "inflation", "heavy"):
        one, two = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9, err_msg=name)


def test_a_residual_that_makes_up_most_does_not_leave():
    X, y = table()
    y[7] += 1e6
    assert scatter_of(standardised(X, y), None, Rules()) is None
    assert scatter_to_plain(None) is None


def test_copies_of_rows_count_once():
    X, y = table(300)
    twice = standardised(np.concatenate([X, X]), np.concatenate([y, y]))
    found = scatter_of(twice, np.full(600, 2), Rules())
    plain = scatter_of(twice, None, Rules())
    assert found is not None and plain is not None
    assert np.all(np.diagonal(found.unbiased[0]) > 1.9 * np.diagonal(plain.unbiased[0]))
