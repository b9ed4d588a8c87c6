"""Datasets with close coefficients join and distant ones do not, at all sizes."""

from functools import cache

import numpy as np
import pytest

import conjoin
from conjoin.datasets import make_class_clusters, make_class_pair

pytestmark = pytest.mark.slow

DISTANCES = (0.0, 0.7, 1.5, 3.0)
ROWS = (80, 320)
# Pairs of each distance and size. The standard error of a rate is up to 0.16: limits are wide.
PAIRS = 10
both = pytest.mark.parametrize("classes", [2, 3])


@cache
def decisions(classes, n, distance):
    """Rates of pairs joined, of "join", of "apart", and of lower validated errors when joined."""
    found = []
    for seed in range(PAIRS):
        pair = make_class_pair(4, n, distance, classes, random_state=seed)
        answer = conjoin.compare(*pair.tables().values(), target="y")
        better = answer.error_joined < answer.error_separate
        found.append((answer.join, answer.verdict == "join", answer.verdict == "apart", better))
    return tuple(np.mean(found, axis=0))


def curve(classes, n, which):
    return np.array([decisions(classes, n, distance)[which] for distance in DISTANCES])


@both
@pytest.mark.parametrize("n", ROWS)
def test_joins_fall_with_distance(classes, n):
    joined, said_join, said_apart, better = (curve(classes, n, which) for which in range(4))
    print(f"C={classes} n={n}: joined {joined}, join {said_join}, apart {said_apart} ({better})")
    assert joined[0] >= 0.7
    # With few rows, classes far apart leave hardly any information on how far they are: the gain
    # is overestimated there, validated errors are not.
    assert joined[-1] <= (0.4 if n < 100 else 0.0)
    assert better[0] >= 0.7
    assert better[-1] <= 0.1
    # The rates of two neighbouring distances may be out of order by chance, by at most two pairs.
    assert np.all(np.diff(joined) <= 2 / PAIRS)
    assert np.all(np.diff(said_apart) >= -2 / PAIRS)
    assert said_join[-1] == 0
    assert said_apart[0] <= 0.2


@both
def test_the_more_rows_the_smaller_the_distance_that_is_kept_apart(classes):
    few, many = (curve(classes, n, 0) for n in ROWS)
    assert np.all(many[2:] <= few[2:] + 1 / PAIRS)
    assert many[1:].sum() < few[1:].sum()
    assert curve(classes, ROWS[1], 2).sum() > curve(classes, ROWS[0], 2).sum()


@both
@pytest.mark.parametrize("seed", range(3))
def test_distant_clusters_are_recovered(classes, seed):
    far = make_class_clusters((4, 4), 250, 3, 5.0, classes, random_state=seed)
    result = conjoin.partition(far.tables(), target="y")
    assert result.labels == dict(far.labels)
    assert result.ledger()[-1].verdict == "apart"
    assert not result.ledger()[-1].joined


@both
def test_no_distance_makes_one_cluster(classes):
    found = []
    for seed in range(6):
        near = make_class_clusters((4, 4), 100, 3, 0.0, classes, random_state=seed)
        result = conjoin.partition(near.tables(), target="y")
        found.append(len(result.clusters))
        assert result.errors["auto"].error <= 1.01 * result.errors["pooled"].error
    # A join of equal datasets is undone where its error rises by more than a standard error, which
    # chance does for one join in six.
    assert found.count(1) >= 3
    assert max(found) <= 3


@both
def test_the_average_is_near_the_better_of_separate_and_pooled_at_every_distance(classes):
    for distance in (0.0, 1.0, 4.0):
        shops = make_class_clusters((3, 3), 60, 4, distance, classes)
        errors = conjoin.partition(shops.tables(), target="y").errors
        best = min(errors["separate"].error, errors["pooled"].error)
        assert errors["auto"].error <= 1.03 * best
