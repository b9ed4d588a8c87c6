import numpy as np
import pytest

from conjoin.grouping.search import evidence_partition
from conjoin.models.partial import SLOPES, fit_variances, posterior
from tests.collections_ import make
from tests.grouping.objectives import same_partition


def test_evidence_finds_clear_clusters():
    truth = make("clusters", K=12, n=300, p=3, clusters=3, seed=1)
    found = evidence_partition(truth.moments, fit_variances(truth.moments, SLOPES))
    assert same_partition(found, truth.labels)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_evidence_works_with_few_rows(n):
    truth = make("continuum", K=6, n=n, p=5)
    found = evidence_partition(truth.moments, fit_variances(truth.moments, SLOPES))
    assert found.shape == (6,)


def test_partially_pooled_coefficients_are_near_where_datasets_are_alike():
    truth = make("clusters", K=9, n=40, p=4, clusters=3)
    hyper = fit_variances(truth.moments, SLOPES)
    near = posterior(truth.moments, hyper).beta
    distance = np.linalg.norm(near[:, None] - near, axis=-1) + 1e9 * np.eye(9)
    assert (truth.labels[distance.argmin(axis=1)] == truth.labels).all()
