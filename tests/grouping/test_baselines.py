import numpy as np
import pytest

from conjoin.grouping.baselines import bic, chow, kmeans
from tests.collections_ import make

FINDERS = [chow, bic, kmeans]


@pytest.mark.parametrize("find", FINDERS)
def test_clear_clusters_are_not_mixed(find):
    truth = make("clusters", K=12, n=300, p=3, clusters=3, seed=1)
    found = find(truth.moments)
    labels = [set(found[truth.labels == c]) for c in range(3)]
    assert not (labels[0] & labels[1] or labels[0] & labels[2] or labels[1] & labels[2])
    # k-means by BIC splits clusters, since it counts no noise of the coefficients.
    assert sum(map(len, labels)) <= (12 if find is kmeans else 4)


@pytest.mark.parametrize("find", FINDERS)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_datasets_with_few_rows_get_labels(find, n):
    labels = find(make("continuum", K=6, n=n, p=5).moments)
    assert labels.shape == (6,)
    assert set(labels) == set(range(labels.max() + 1))


def test_a_stricter_level_of_chow_gives_more_clusters():
    moments = make("continuum", K=12, n=40, p=3, spread=0.2).moments
    counts = [chow(moments, level).max() + 1 for level in (1e-6, 0.05, 0.9)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_kmeans_repeats_with_its_seed():
    moments = make("clusters", K=12, n=40, p=3).moments
    np.testing.assert_array_equal(kmeans(moments, seed=3), kmeans(moments, seed=3))
