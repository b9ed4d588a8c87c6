"""Principal components of all rows, and the choice of clusters, datasets and points."""

import numpy as np
import pytest

from conjoin.representations.picture import DATASETS, POINTS, project, take_picture

RNG = np.random.default_rng(0)
STRETCH = np.array([5.0, 2.0, 0.1])
TURN = np.linalg.qr(RNG.standard_normal((3, 3)))[0]


def rows_of(sizes):
    codes = np.repeat(np.arange(len(sizes)), sizes)
    return 10 + (RNG.standard_normal((len(codes), 3)) * STRETCH) @ TURN.T, codes


def test_coordinates_are_principal_components_of_all_rows():
    features, codes = rows_of([40, 60])
    found = project(features, codes, 2)
    centred = features - features.mean(axis=0)
    _, values, Vt = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(found.explained, values[:2] ** 2 / np.sum(values**2), rtol=1e-12)
    for k, points in enumerate(found.points):
        expected = centred[codes == k] @ Vt[:2].T
        np.testing.assert_allclose(
            np.sort(np.abs(points), axis=0), np.sort(np.abs(expected), axis=0), atol=1e-10
        )
    # The largest coordinate decides the sign of a component.
    mirrored = project(2 * features.mean(axis=0) - features, codes, 2)
    np.testing.assert_allclose(np.sort(-mirrored.points[0], axis=0)[0], found.points[0].min(axis=0))


def test_the_order_of_rows_changes_nothing():
    features, codes = rows_of([1000, 400, 30])
    order = np.random.default_rng(1).permutation(len(codes))
    one, other = project(features, codes, 3), project(features[order], codes[order], 3)
    for a, b in zip(one.points, other.points):
        np.testing.assert_allclose(a, b, atol=1e-9)
    assert [len(points) for points in one.points] == [POINTS, POINTS, 30]


@pytest.mark.parametrize("width", [1, 2])
def test_one_or_two_features_are_enough(width):
    features = np.arange(20.0).reshape(-1, width)
    found = project(features, np.zeros(len(features), dtype=int), 1)
    assert found.explained == pytest.approx((1.0, 0.0))
    constant = project(np.ones((5, width)), np.zeros(5, dtype=int), 1)
    assert constant.explained == (0.0, 0.0)


def test_clusters_of_most_datasets_come_first_then_of_most_rows():
    sizes = [10, 10, 50, 50, 20, 90, 10, 10, 70]
    labels = np.array([0, 0, 1, 1, 2, 3, 4, 4, 5])
    names = [f"d{k}" for k in range(9)]
    features, codes = rows_of(sizes)
    picture = take_picture(project(features, codes, 9), names, labels)
    assert [panel.cluster for panel in picture.panels] == [0, 1, 3, 4]
    assert [panel.datasets for panel in picture.panels][1:3] == [("d2", "d3"), ("d5",)]
    assert [panel.rows for panel in picture.panels] == [20, 100, 90, 20]
    assert [len(panel.points) for panel in picture.panels] == [20, 100, 90, 20]


def test_points_are_spread_evenly_and_belong_to_their_datasets():
    sizes = [4000, 500, 20, 150]
    features, codes = rows_of(sizes)
    features += 1000 * codes[:, None]  # so that a point shows its dataset
    projection = project(features, codes, 4)
    (panel,) = take_picture(projection, list("abcd"), np.zeros(4, dtype=int)).panels
    assert panel.datasets == ("a", "b", "c", "d")
    counts = np.bincount(panel.dataset)
    assert counts.sum() == POINTS
    assert counts.tolist() == [94, 93, 20, 93]
    for i, name in enumerate(panel.datasets):
        own = projection.points["abcd".index(name)]
        drawn = panel.points[panel.dataset == i]
        assert own[:, 0].min() <= drawn[:, 0].min() <= drawn[:, 0].max() <= own[:, 0].max()
        assert abs(np.median(drawn[:, 0]) - np.median(own[:, 0])) < 2


def test_the_largest_of_many_datasets_are_drawn():
    sizes = np.arange(1, 13)
    features, codes = rows_of(sizes)
    names = [str(size) for size in sizes]
    (panel,) = take_picture(project(features, codes, 12), names, np.zeros(12, dtype=int)).panels
    assert panel.datasets == tuple(names[-DATASETS:])
    assert panel.others == 4
    assert panel.rows == sizes.sum()
