import numpy as np
import pytest

from conjoin.families import Response
from conjoin.moments import made
from conjoin.strategies.stacking import (
    cross_products,
    find_weights,
    find_weights_in_parts,
    share_of_total,
    stacked_weights,
    working_errors,
)


def share(gain, unit):
    return share_of_total(np.bincount(unit, gain))


def products(errors, units=50):
    n = len(errors)
    return cross_products(errors, np.full(n, 1 / n), np.arange(n) % units)


def test_weights_of_rows_in_parts_are_those_of_all_rows(monkeypatch):
    rng = np.random.default_rng(0)
    y, unit, counts = rng.normal(size=300), np.repeat(np.arange(30), 10), rng.uniform(size=300)
    predictions = [y[:, None] + rng.normal(0, s, (300, 1)) for s in (0.5, 1.0)]
    kept = np.arange(300) % 5 > 0
    some = np.stack([one[kept] for one in predictions])
    whole = find_weights(some, y[kept], Response(), counts[kept], unit[kept], 0)
    assert np.array_equal(find_weights_in_parts(predictions, y, counts, unit, kept, 0), whole)
    monkeypatch.setattr(made, "MOST_AT_ONCE", 50)
    monkeypatch.setattr(made, "PART_ROWS", 70)
    parts = find_weights_in_parts(predictions, y, counts, unit, kept, 0)
    assert parts == pytest.approx(whole, rel=1e-9)


def test_two_predictions_that_err_differently_are_averaged():
    rng = np.random.default_rng(0)
    weights = stacked_weights(products(rng.normal(size=(2000, 2))), seed=0)
    assert weights == pytest.approx([0.5, 0.5], abs=0.05)
    assert weights.sum() == pytest.approx(1)


def test_a_bad_prediction_gets_no_weight():
    rng = np.random.default_rng(0)
    e = rng.normal(size=(2000, 1))
    errors = np.hstack([e, 3 * e + rng.normal(size=(2000, 1))])
    assert stacked_weights(products(errors), seed=0) == pytest.approx([1, 0], abs=1e-3)


def test_equal_predictions_share_their_weight():
    e = np.random.default_rng(0).normal(size=(500, 1))
    assert stacked_weights(products(np.hstack([e, e])), seed=0) == pytest.approx(
        [0.5, 0.5], abs=1e-4
    )


def test_few_rows_leave_weight_with_both():
    rng = np.random.default_rng(3)
    weights = stacked_weights(products(rng.normal(size=(12, 2)), units=12), seed=0)
    assert np.all(weights > 0.02)


def test_perfect_predictions_share_their_weight():
    assert stacked_weights(np.zeros((4, 3, 3)), seed=0) == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("family", ["logistic", "poisson"])
def test_the_better_likelihood_gets_the_weight(family):
    rng = np.random.default_rng(0)
    eta = rng.normal(size=(3000, 1))
    if family == "logistic":
        response = Response("logistic", ("no", "yes"))
        y = (rng.uniform(size=3000) < 1 / (1 + np.exp(-2 * eta[:, 0]))).astype(float)
    else:
        response, y = Response("poisson"), rng.poisson(np.exp(2 * eta[:, 0])).astype(float)
    linear = np.stack([2 * eta, np.zeros_like(eta)])
    weights = find_weights(linear, y, response, np.full(3000, 1 / 3000), np.arange(3000) % 50, 0)
    assert weights[0] > 0.97


def test_classes_have_an_error_for_each_line():
    response = Response("logistic", (0, 1, 2))
    errors = working_errors(np.zeros((2, 5, 3)), np.zeros(5), response)
    assert errors.shape == (15, 2)


def test_the_share_of_a_gain_grows_with_its_certainty():
    gain = np.random.default_rng(0).normal(size=400)
    unit = np.arange(400) // 10
    assert share(gain - gain.mean() - 0.1, unit) == 0.0  # a loss
    shares = [share(gain - gain.mean() + more, unit) for more in (0.01, 0.1, 1.0)]
    assert 0 < shares[0] < 0.5
    assert shares[2] == 1.0
    assert shares == sorted(shares)
    assert share(np.ones(3), np.zeros(3, dtype=int)) == 1.0  # one unit has no spread


def test_gains_that_cannot_be_squared_have_the_same_share():
    gain, unit = np.random.default_rng(0).normal(0.1, 1.0, size=40), np.arange(40) // 4
    assert share(gain * 2.0**800, unit) == share(gain, unit) < 1
