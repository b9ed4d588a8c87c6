import numpy as np
import pytest
import statsmodels.api as sm

from conjoin import linalg
from conjoin.models.scatter import Scatter
from conjoin.moments import Moments
from conjoin.moments.folds import fold_moments


def rows(seed=0, sizes=(40, 70), p=4, noise=lambda Z, r: r.standard_normal(len(Z))):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    Z = np.column_stack([np.ones(n), rng.standard_normal((n, p - 1))])
    t = Z @ rng.standard_normal(p) + noise(Z, rng)
    return Z, t, np.cumsum([0, *sizes])


def sandwich(meat, Z):
    inverse = np.linalg.inv(Z.T @ Z)
    return inverse @ meat @ inverse


@pytest.mark.parametrize("kind, name", [("HC2", "unbiased"), ("HC3", "cautious")])
def test_the_sandwich_is_that_of_statsmodels(kind, name):
    Z, t, starts = rows(noise=lambda Z, r: Z[:, 1] * r.standard_normal(len(Z)))
    found = getattr(Scatter.of_rows(Z, t, np.ones(len(t)), starts), name)
    for k, (i, j) in enumerate(zip(starts[:-1], starts[1:])):
        expected = sm.OLS(t[i:j], Z[i:j]).fit(cov_type=kind).cov_params()
        np.testing.assert_allclose(sandwich(found[k], Z[i:j]), expected, rtol=1e-9)


def test_weighted_rows_are_rows_times_the_root_of_their_weight():
    Z, t, starts = rows()
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(t))
    root = np.sqrt(w)
    weighted = Scatter.of_rows(Z, t, w, starts)
    plain = Scatter.of_rows(Z * root[:, None], t * root, np.ones(len(t)), starts)
    for name in ("unbiased", "cautious", "nu"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(plain, name), rtol=1e-9)


def test_with_equal_noise_the_degrees_of_freedom_are_near_two_thirds_of_the_rows():
    Z, t, starts = rows(sizes=(3000,), p=3)
    nu = Scatter.of_rows(Z, t, np.ones(len(t)), starts).nu[0]
    # Leverages vary from row to row, which costs some more.
    assert 0.3 * 3000 < nu < 0.7 * 3000


def test_one_wild_residual_leaves_few_degrees_of_freedom():
    Z, t, starts = rows(sizes=(60,))
    t[5] += 1e4
    assert Scatter.of_rows(Z, t, np.ones(60), starts).nu[0] < 5


def test_heavy_columns_are_seen_and_flags_are_not_heavy():
    rng = np.random.default_rng(2)
    Z, t, starts = rows(sizes=(200,))
    ones = np.ones(200)
    normal = Scatter.of_rows(Z, t, ones, starts)
    heavy = Scatter.of_rows(
        np.column_stack([Z, np.exp(2 * rng.standard_normal(200))]), t, ones, starts
    )
    flag = np.zeros(200)
    flag[7] = 1.0  # a flag of a single row has leverage one
    rare = Scatter.of_rows(np.column_stack([Z, flag]), t, ones, starts)
    assert not normal.heavy[0]
    assert heavy.heavy[0]
    assert not rare.heavy[0]
    assert np.isfinite(rare.cautious).all()
    # A residual that is all of the variance is a heavy tail too, a small dataset is none.
    wild = Scatter.of_rows(Z, t + 300 * flag, ones, starts)
    assert wild.heavy[0]
    few, few_t, few_starts = rows(sizes=(12, 12, 12))
    assert not Scatter.of_rows(few, few_t, np.ones(36), few_starts).heavy.any()


def test_inflation_is_one_for_equal_noise_and_right_for_noise_that_grows():
    Z, t, starts = rows(sizes=(2000,), p=2)
    assert Scatter.of_rows(Z, t, np.ones(2000), starts).inflation[0] == 1.0
    # Noise proportional to x: the variance of the slope is three times as large, two on average.
    Z, t, starts = rows(sizes=(2000,), p=2, noise=lambda Z, r: Z[:, 1] * r.standard_normal(len(Z)))
    assert Scatter.of_rows(Z, t, np.ones(2000), starts).inflation[0] == pytest.approx(2, rel=0.15)


def test_folds_give_the_same_scatter_on_average():
    ratios = []
    for seed in range(40):
        Z, t, starts = rows(seed, (400,), 3, lambda Z, r: Z[:, 1] * r.standard_normal(len(Z)))
        fold = np.random.default_rng(seed).permutation(400) % 10
        moments = fold_moments(Z, t, np.ones(400), starts, fold, 10)
        by_rows = Scatter.of_rows(Z, t, np.ones(400), starts)
        by_folds = Scatter.of_folds(moments)
        inverse = linalg.inverse(Moments.from_rows(Z, t).G)
        traces = [np.trace(inverse @ one.unbiased[0]) for one in (by_folds, by_rows)]
        ratios.append(traces[0] / traces[1])
        assert by_folds.nu[0] == 9.0
    assert np.mean(ratios) == pytest.approx(1, abs=0.15)


def test_small_datasets_take_equal_noise_from_folds():
    Z, t, starts = rows(sizes=(12, 400))
    fold = np.arange(412) % 10
    found = Scatter.of_folds(fold_moments(Z, t, np.ones(412), starts, fold, 10))
    assert np.isfinite(found.unbiased).all()
    assert found.inflation[0] == pytest.approx(1, abs=0.5)


def test_scores_of_a_union_add_up():
    Z, t, starts = rows(sizes=(30, 50, 60))
    each = Scatter.of_rows(Z, t, np.ones(len(t)), starts)
    n = np.diff(starts).astype(float)
    both = each.stack([np.array([0, 2])], n)
    np.testing.assert_allclose(both.unbiased[0], each.unbiased[0] + each.unbiased[2])
    assert both.nu[0] > max(each.nu[0], each.nu[2]) * 0.9
    single = each.stack([np.array([1]), np.array([2])], n)
    np.testing.assert_array_equal(single.cautious, each.cautious[[1, 2]])


def test_datasets_without_residuals_have_finite_scatter():
    Z, t, starts = rows(sizes=(3, 1, 40), p=4)
    found = Scatter.of_rows(Z, t, np.ones(len(t)), starts)
    for name in ("unbiased", "cautious", "nu", "inflation"):
        assert np.isfinite(getattr(found, name)).all()


def test_copies_of_rows_are_one_observation():
    Z, t, starts = rows(sizes=(50, 80))
    once = Scatter.of_rows(Z, t, np.ones(len(t)), starts)
    copies = np.repeat(np.arange(len(t)), 5)
    many = Scatter.of_rows(
        Z[copies], t[copies], np.ones(len(copies)), 5 * starts, np.full(len(copies), 5)
    )
    # G is five times as large, so the covariance is the same if the scores' is 25 times as large.
    np.testing.assert_allclose(many.unbiased, 25 * once.unbiased, rtol=1e-9)
    np.testing.assert_allclose(many.cautious, 25 * once.cautious, rtol=1e-9)
    np.testing.assert_allclose(many.nu, once.nu, rtol=1e-9)


@pytest.mark.parametrize("copies", [False, True])
def test_rows_in_parts_have_the_same_scatter(copies, monkeypatch):
    rng = np.random.default_rng(0)
    starts = np.array([0, 40, 100, 130, 200])
    Z = np.column_stack([np.ones(200), rng.standard_normal((200, 2)), rng.random(200) > 0.9])
    t, w = Z @ [1.0, 2.0, 3.0, 4.0] + rng.standard_normal(200), rng.random(200) + 0.5
    repeats = np.where(np.arange(200) % 7, 1, 2) if copies else None
    moments = Moments.by_dataset(Z, t, starts, w)
    whole = Scatter.of_rows(Z, t, w, starts, repeats, moments)
    monkeypatch.setattr("conjoin.moments.folds.MOST_AT_ONCE", 10)
    monkeypatch.setattr("conjoin.moments.folds.PART_ROWS", 64)
    parts = Scatter.in_parts(lambda rows: Z[rows], t, w, starts, repeats, moments)
    for name in ("unbiased", "cautious", "nu", "heavy", "inflation"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12)


def test_rows_that_are_fitted_exactly_are_known_by_their_parts():
    Z, t, starts = rows(sizes=(30, 40))
    flag = np.zeros(70)
    flag[3] = 1.0
    Z = np.column_stack([Z, flag])
    found = Scatter.of_rows(Z, t, np.ones(70), starts)
    assert np.allclose(found.alone[0, 0], np.outer(Z[3], Z[3]))
    assert not found.alone[1].any() and not found[[1]].alone.any()
    assert found.stack([np.array([0, 1]), np.array([0])], np.array([30.0, 40.0])).alone[1].any()
    assert Scatter.of_rows(Z[30:], t[30:], np.ones(40), np.array([0, 40])).alone is None
