"""Scores of probabilities: as scikit-learn has them, and on the rows that were left out."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

import conjoin
from conjoin.errors import ArgumentError
from conjoin.models.glm_families import POISSON
from conjoin.result.scores import HeldOut, auc, calibrate, score, wilson
from tests.report.results import choices, counts

SIZES = (40, 3, 60, 25)


def draw(classes, seed=0):
    """Rows of datasets with rounded probabilities, so that some are tied, and weights."""
    rng = np.random.default_rng(seed)
    n = sum(SIZES)
    P = np.round(rng.dirichlet(np.ones(classes), n), 2) + 1e-3
    P /= P.sum(axis=1, keepdims=True)
    y = (P.cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1).clip(0, classes - 1)
    return HeldOut(P, y, rng.uniform(0.5, 2, n), np.repeat(np.arange(len(SIZES)), SIZES))


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_scikit_learn(classes, weighted):
    held_out = draw(classes)
    w = held_out.w if weighted else np.ones(len(held_out.y))
    held_out = HeldOut(held_out.P, held_out.y, w, held_out.dataset)
    labels = np.arange(classes)
    found = score(held_out, tuple("abcd"), tuple(f"c{c}" for c in labels))
    for k, name in enumerate("abcd"):
        own = held_out.dataset == k
        P, y, w = held_out.P[own], held_out.y[own], held_out.w[own]
        given = {"sample_weight": w, "labels": labels}
        one = found.scores[name]
        assert one.rows == SIZES[k]
        assert one.log_loss == pytest.approx(log_loss(y, P, **given))
        by_class = [brier_score_loss(y == c, P[:, c], sample_weight=w) for c in labels]
        assert one.brier == pytest.approx(by_class[1] if classes == 2 else sum(by_class))
        assert sum(one.shares.values()) == pytest.approx(1)
        assert one.shares["c0"] == pytest.approx(w[y == 0].sum() / w.sum())
        there = [c for c in labels if 0 < np.sum(y == c) < len(y)]
        areas = [roc_auc_score(y == c, P[:, c], sample_weight=w) for c in there]
        expected = np.mean(areas) if areas else np.nan
        assert one.auc == pytest.approx(expected, nan_ok=True)


def test_auc_of_all_classes_is_one_against_the_rest():
    held_out = draw(3)
    own = held_out.dataset == 2
    P, y = held_out.P[own], held_out.y[own]
    found = auc(P, y, np.ones(len(y)), np.zeros(len(y), dtype=int), 1)[0]
    assert found == pytest.approx(roc_auc_score(y, P, multi_class="ovr", average="macro"))


def test_a_dataset_of_one_class_has_no_auc():
    P = np.array([[0.3, 0.7], [0.4, 0.6], [0.8, 0.2], [0.1, 0.9]])
    found = score(
        HeldOut(P, np.array([1, 1, 0, 1]), np.ones(4), np.array([0, 0, 1, 1])), ("a", "b"), (0, 1)
    )
    assert np.isnan(found.scores["a"].auc)
    assert found.scores["b"].auc == 1.0
    assert found.means()["auc"] == 1.0


@pytest.mark.parametrize("classes", [2, 3])
def test_calibration_is_that_of_scikit_learn(classes):
    held_out = draw(classes)
    bins = calibrate(held_out.P, held_out.y, np.ones(len(held_out.y)))
    p, true = held_out.P[:, 1], held_out.y == 1
    if classes > 2:
        p = held_out.P.ravel()
        true = (held_out.y[:, None] == np.arange(classes)).ravel()
    observed, predicted = calibration_curve(true, p, n_bins=10)
    assert [b.observed for b in bins] == pytest.approx(observed)
    assert [b.predicted for b in bins] == pytest.approx(predicted)
    assert sum(b.rows for b in bins) == len(p)
    assert all(b.low <= b.predicted <= b.high for b in bins)
    assert all(b.interval[0] <= b.observed <= b.interval[1] for b in bins)


def test_rare_classes_have_bins_of_as_many_rows():
    rng = np.random.default_rng(0)
    p = rng.beta(1, 200, 2000)
    true = rng.random(2000) < p
    bins = calibrate(np.column_stack([1 - p, p]), true.astype(int), np.ones(2000))
    observed, predicted = calibration_curve(true, p, n_bins=10, strategy="quantile")
    assert [b.observed for b in bins] == pytest.approx(observed)
    assert [b.predicted for b in bins] == pytest.approx(predicted)
    assert {b.rows for b in bins} == {200}
    same = calibrate(np.full((9, 2), 0.5), np.arange(9) % 2, np.ones(9))
    assert [(b.predicted, b.rows) for b in same] == [(0.5, 9)]


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 10), (10, 10), (400, 1000)])
def test_intervals_are_wilsons(k, n):
    expected = binomtest(k, n).proportion_ci(0.9, method="wilson")
    assert wilson(k / n, n) == pytest.approx(tuple(expected))


def test_weights_that_all_double_change_nothing():
    held_out = draw(3)
    one, two = (calibrate(held_out.P, held_out.y, f * held_out.w) for f in (1, 2))
    for a, b in zip(one, two):
        assert (a.observed, *a.interval) == pytest.approx((b.observed, *b.interval))


# --- of a result ---------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("strategy", ["auto", "separate", "partial", "clusters"])
def test_scores_are_those_of_the_strategy_in_use(classes, strategy):
    result = choices(classes).using(strategy)
    assert list(result.scores) == list(result.labels)
    for name, one in result.scores.items():
        assert one.log_loss == pytest.approx(result.coefficients[name].error, rel=1e-9)
        assert list(one.shares) == list(result.classes)
        assert 0.5 < one.auc <= 1
    rows = sum(one.rows for one in result.scores.values())
    assert sum(b.rows for b in result.calibration) == rows * (1 if classes == 2 else classes)


def test_rows_are_predicted_by_the_coefficients_of_their_own_fold():
    rows = choices(2).analysis.study.given.rows
    K, F = rows.n.shape
    beta = np.zeros((F, K, 4))
    beta[..., 0] = np.arange(F)[:, None] - np.arange(K) / 10  # the log-odds tell the cell
    held_out = rows.held_out(beta)
    assert (np.diff(held_out.dataset) >= 0).all()
    odds = np.log(held_out.P[:, 1] / held_out.P[:, 0]) + held_out.dataset / 10
    fold = np.round(odds).astype(int)
    np.testing.assert_allclose(odds, fold, atol=1e-9)
    found = np.bincount(held_out.dataset * F + fold, minlength=K * F)
    np.testing.assert_array_equal(found.reshape(K, F), rows.n)


@pytest.mark.parametrize("classes", [2, 3])
def test_scores_come_back_from_a_file(tmp_path, classes):
    result = choices(classes)
    result.save(tmp_path / "model.json", evidence=True)
    loaded = conjoin.load(tmp_path / "model.json")
    assert loaded.scores == result.scores
    assert loaded.calibration == result.calibration


def test_numbers_and_counts_have_no_scores():
    frame = pd.DataFrame({"x": np.arange(40.0) % 7, "y": np.arange(40.0) % 5, "d": ["a", "b"] * 20})
    result = conjoin.partition(frame, target="y", by="d")
    for found in (result, counts()):
        with pytest.raises(ArgumentError, match="has no classes, so there are no scores"):
            _ = found.scores
        with pytest.raises(ArgumentError, match="has no classes"):
            _ = found.calibration
        assert found.analysis.scored("auto") is None


def test_a_file_without_scores_says_so(tmp_path):
    choices(2).save(tmp_path / "model.json", evidence=True)
    loaded = conjoin.load(tmp_path / "model.json")
    bare = dataclasses.replace(
        loaded, analysis=dataclasses.replace(loaded.analysis, known_scores=None)
    )
    with pytest.raises(ArgumentError, match="written without scores of probabilities"):
        _ = bare.scores


def test_a_dataset_may_have_one_row_or_one_class():
    rng = np.random.default_rng(0)
    parts = []
    for k, n in enumerate((60, 60, 20, 1)):
        x = rng.standard_normal(n)
        y = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * x)), "yes", "no")
        parts.append(pd.DataFrame({"x": x, "y": "no" if k == 2 else y, "d": f"d{k}"}))
    result = conjoin.partition(pd.concat(parts), target="y", by="d")
    assert np.isnan(result.scores["d2"].auc)
    assert result.scores["d2"].shares == {"no": 1.0, "yes": 0.0}
    assert np.isnan(result.scores["d3"].auc)


# --- counts --------------------------------------------------------------------------------------


def test_the_loss_of_counts_is_half_their_deviance():
    from sklearn.metrics import mean_poisson_deviance

    rng = np.random.default_rng(0)
    y, eta = rng.poisson(20, 100).astype(float), rng.normal(3, 0.2, 100)
    assert POISSON.loss(y, eta).mean() == pytest.approx(mean_poisson_deviance(y, np.exp(eta)) / 2)
    assert POISSON.loss(np.zeros(1), np.full(1, -50.0)) == pytest.approx(0)


def test_large_counts_have_weights():
    result = counts()
    assert sum(result.weights.values()) == pytest.approx(1)
    assert all(e.error > 0 for e in result.errors.values())
