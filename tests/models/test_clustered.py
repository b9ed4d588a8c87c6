"""The scatter of clusters against its definitions."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.linalg import sqrtm

from conjoin.models.clustered import clustered_scatter
from conjoin.models.scatter import Scatter

RNG = np.random.default_rng(0)
Z = np.column_stack([np.ones(90), RNG.standard_normal((90, 2))])
T, W = RNG.standard_normal(90), RNG.uniform(0.5, 2, 90)
STARTS = np.array([0, 40, 90])


def test_clusters_of_one_row_are_the_rows():
    found = clustered_scatter(Z, T, W, STARTS, np.arange(90))
    rows = Scatter.of_rows(Z, T, W, STARTS)
    for name in ("unbiased", "cautious", "nu", "inflation", "heavy"):
        assert_allclose(getattr(found, name), getattr(rows, name), atol=1e-10)


def test_both_corrections_are_those_of_bell_and_mccaffrey():
    who = np.arange(90) // 7
    found = clustered_scatter(Z, T, np.ones(90), STARTS, who)
    X, y, own = Z[:40], T[:40], who[:40]
    H = X @ np.linalg.inv(X.T @ X) @ X.T
    e = y - H @ y
    for power, meat in ((0.5, found.unbiased[0]), (1.0, found.cautious[0])):
        expected = np.zeros((3, 3))
        for one in np.unique(own):
            rows = own == one
            left = np.eye(rows.sum()) - H[np.ix_(rows, rows)]
            root = np.linalg.inv(sqrtm(left).real if power == 0.5 else left)
            score = X[rows].T @ root @ e[rows]
            expected += np.outer(score, score)
        assert_allclose(meat, expected, rtol=1e-8)


def test_a_cluster_in_two_datasets_counts_in_each_and_names_do_not_matter():
    who = np.tile(np.arange(10), 9)
    renamed = np.random.default_rng(1).permutation(10)[who]
    one, two = (clustered_scatter(Z, T, W, STARTS, x) for x in (who, renamed))
    assert_allclose(one.unbiased, two.unbiased, rtol=1e-10)


def test_a_dataset_of_one_person_has_one_degree_of_freedom():
    found = clustered_scatter(Z, T, W, STARTS, np.repeat([0, 1], [40, 50]))
    assert_allclose(found.nu, 1.0)
    assert np.isfinite(found.cautious).all()


def test_datasets_in_portions_give_the_same(monkeypatch):
    who = np.arange(90) // 4
    whole = clustered_scatter(Z, T, W, STARTS, who)
    monkeypatch.setattr("conjoin.models.clustered.BLOCK_VALUES", 9 * 45)
    assert_allclose(clustered_scatter(Z, T, W, STARTS, who).cautious, whole.cautious, rtol=1e-12)
