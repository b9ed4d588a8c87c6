"""Two datasets judged apart and together on the same held-out rows."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from conjoin.families import Response
from conjoin.learners.boosting import Boosting
from conjoin.learners.foreign import Foreign
from conjoin.learners.paired import (
    FOLDS,
    INNER,
    deal_repeatedly,
    losses_of,
    paired_losses,
    repeats_for,
)
from conjoin.learners.rows import LearnerRows

LINES = Foreign.of(LinearRegression(), 0)


def rows_of(n, seed=0, p=3, noise=False):
    rng = np.random.default_rng(seed)
    X, dataset = rng.standard_normal((2 * n, p)), np.repeat([0, 1], n)
    y = rng.standard_normal(2 * n) + (0 if noise else X.sum(axis=1))
    names = tuple(f"x{j}" for j in range(p))
    return LearnerRows(X, y, np.ones(2 * n), dataset, 2, names, (), named=False)


def test_folds_are_balanced_in_every_dataset_and_differ_between_repeats():
    rows = rows_of(50)
    dealt = deal_repeatedly(rows.X, rows, 3, 0)
    for fold in dealt.fold:
        counts = [np.bincount(fold[rows.dataset == k], minlength=FOLDS) for k in (0, 1)]
        assert np.ptp(counts) == 0
    assert np.mean(dealt.fold[0] == dealt.fold[1]) < 0.4
    assert dealt.unit is None
    for r in range(3):  # all inner groups are in every training part
        for f in range(FOLDS):
            assert len(np.unique(dealt.inner[r][dealt.fold[r] != f])) == INNER


def test_rows_of_a_rare_class_are_spread_over_folds():
    rows = rows_of(60)
    y = np.zeros(120)
    y[[*range(5), *range(60, 70)]] = 1
    rows = replace(rows, y=y, response=Response("logistic", ("no", "yes")))
    fold = deal_repeatedly(rows.X, rows, 1, 0).fold[0]
    assert sorted(fold[:5]) == [0, 1, 2, 3, 4]
    assert np.ptp(np.bincount(fold[60:70], minlength=5)) == 0


def test_copies_stay_in_one_fold_and_are_one_unit():
    rows = rows_of(40)
    rows = rows.take(np.concatenate([np.arange(80), [3, 3, 50]]))
    rows = rows.take(np.argsort(rows.dataset, kind="stable"))
    dealt = deal_repeatedly(rows.X, rows, 2, 0)
    same = np.flatnonzero((rows.X == rows.X[3]).all(axis=1))
    assert len(same) == 3
    assert np.ptp(dealt.fold[:, same], axis=1).max() == 0
    assert len(np.unique(dealt.unit)) == 80 and np.ptp(dealt.unit[same]) == 0


def test_losses_are_those_of_models_that_have_not_seen_the_rows():
    rows = rows_of(30)
    dealt = deal_repeatedly(rows.X, rows, 1, 0)
    found = paired_losses(LINES, rows, dealt)
    held_out = dealt.fold[0] == 2
    joined = LINES.fit(rows.take(~held_out), {})
    np.testing.assert_allclose(
        found.joined[held_out], losses_of(joined, rows.take(held_out)), rtol=1e-10
    )
    own = rows.dataset == 1
    separate = LINES.fit(rows.take(~held_out & own), {})
    judged = held_out & own
    np.testing.assert_allclose(
        found.separate[judged], losses_of(separate, rows.take(judged)), rtol=1e-10
    )


def test_models_of_all_rows_come_from_the_same_sides():
    rows = rows_of(30)
    dealt = deal_repeatedly(rows.X, rows, 1, 0)
    sides = paired_losses(LINES, rows, dealt).sides
    model, settings = sides[0].train(dealt.inner[0])
    expected = LINES.fit(rows.take(rows.dataset == 0), {})
    assert settings == {}
    np.testing.assert_allclose(
        model.predict(rows.X, rows.dataset), expected.predict(rows.X, rows.dataset)
    )


def test_the_order_of_rows_changes_only_the_order_of_losses():
    rows = rows_of(30)
    order = np.random.default_rng(0).permutation(60)
    shuffled = rows.take(order)
    one = deal_repeatedly(rows.X, rows, 2, 0)
    other = deal_repeatedly(shuffled.X, shuffled, 2, 0)
    np.testing.assert_array_equal(one.take(order).fold, other.fold)
    np.testing.assert_array_equal(one.take(order).rank, other.rank)


def test_repeats_fall_with_the_rows_and_the_work():
    assert repeats_for(LINES, 400) == 3
    assert repeats_for(Boosting(), 400) == 2
    assert repeats_for(Boosting(rounds=5, leaves=4), 400) == 3
    assert repeats_for(LINES, 100_000) == 1


@pytest.mark.parametrize("seed", range(3))
def test_pure_noise_is_judged_without_optimism(seed):
    rows = rows_of(60, seed, noise=True)
    learner = Boosting(rate=0.1, shape="small")
    found = paired_losses(learner, rows, deal_repeatedly(rows.X, rows, 1, 0))
    spread = np.var(rows.y, ddof=1)
    for losses in (found.separate, found.joined):
        # The mean loss is at least the variance, but for chance: its standard error is 10 %.
        assert losses.mean() > 0.97 * spread
