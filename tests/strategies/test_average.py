import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.strategies import average
from tests.collections_ import make
from tests.strategies.flow import equal, run


@pytest.mark.parametrize("kind", ["clusters", "continuum"])
def test_the_average_is_close_to_the_best_strategy(kind):
    truth = make(kind, K=40, n=20, p=5, clusters=3)
    found = run(truth)
    errors = {name: truth.error(one.coef) for name, one in found.fits.items()}
    auto = truth.error(found.auto.coef)
    assert auto < 1.15 * min(errors.values())
    assert auto < 0.7 * min(errors["separate"], errors["pooled"])
    assert found.weights.sum() == pytest.approx(1)
    assert found.weights[list(found.fits).index("separate")] == 0


def test_planted_clusters_cost_at_most_a_fifth_more_than_known_ones():
    ratios = []
    for seed in range(5):
        truth = make("clusters", K=30, n=30, p=6, clusters=3, seed=seed)
        ratios.append(truth.error(run(truth).auto.coef) / truth.error(known_clusters(truth)))
    assert np.mean(ratios) < 1.2


def known_clusters(truth):
    beta = np.empty_like(truth.moments.h)
    for c in np.unique(truth.labels):
        union = truth.moments[truth.labels == c].union()
        beta[truth.labels == c] = np.linalg.solve(union.G, union.h)
    return beta


def test_soft_weights_fall_with_the_distance_to_the_best():
    w, K = np.ones(10), 10
    rng = np.random.default_rng(0)
    base = rng.uniform(1, 2, (2, K))
    noise = rng.normal(0, 0.05, (2, K))
    close, worse = base + noise, base * 1.2
    weights = average.soft_weights(np.stack([base, close, worse, base * 2]), w, equal(K))
    assert weights[3] == 0  # more than half again as large
    assert weights[0] > 0.2
    assert weights[1] > 0.2
    assert weights[2] < 0.01
    assert average.soft_weights(np.stack([base, base]), w, equal(K)).tolist() == [0.5, 0.5]


def test_differences_are_paired_by_dataset_from_eight_on():
    rng = np.random.default_rng(0)
    losses = rng.uniform(1, 2, (3, 5, 8))
    assert average.paired_parts(losses, np.ones(8), equal(8)).shape == (3, 8)
    assert average.paired_parts(losses[..., :7], np.ones(7), equal(7)).shape == (3, 35)


def test_errors_and_standard_errors_are_those_of_a_plain_calculation():
    rng = np.random.default_rng(0)
    losses, w = rng.uniform(1, 2, (2, 4, 9)), rng.uniform(10, 20, 9)
    mean, behind, spread = average.summarise(losses, w, equal(9))
    by_dataset = losses.sum(axis=1) / w
    assert_allclose(mean, by_dataset.mean(axis=1))
    difference = by_dataset - by_dataset[np.argmin(mean)]
    assert_allclose(behind, difference.mean(axis=1))
    assert_allclose(spread, difference.std(axis=1, ddof=1) / 3)


def test_strategies_without_levels_are_left_out_where_datasets_have_one_row():
    single = make("continuum", K=12, p=2, sizes=[1] * 12).moments
    larger = make("continuum", K=12, p=2, sizes=[5] * 12).moments
    assert not average.is_averaged("pooled", single)
    assert average.is_averaged("pooled", larger)
    assert not average.is_averaged("separate", larger)
