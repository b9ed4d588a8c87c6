"""The search again in random halves of the rows, for a result."""

import numpy as np
import pytest

import conjoin
from conjoin.datasets import make_class_clusters, make_clusters
from conjoin.engine.stability import Contest, number_of_resamples
from conjoin.errors import ArgumentError
from conjoin.report.facts import facts


def test_clear_clusters_are_found_every_time():
    tables = make_clusters(sizes=(3, 2), n=80, p=3, distance=3.0).tables()
    found = conjoin.partition(tables, target="y").stability()
    assert found.agreement == 1
    assert found.resamples == number_of_resamples(5)
    assert not found.shaky


def test_classes_have_a_stability_too():
    tables = make_class_clusters(sizes=(2, 2), n=200, p=2, distance=4.0, random_state=1).tables()
    found = conjoin.partition(tables, target="y").stability()
    assert found.together("d1", "d2") > found.together("d1", "d3")


def test_it_depends_on_rows_and_seed_only():
    tables = make_clusters(sizes=(3, 3), n=40, p=3, distance=0.3, random_state=1).tables()
    one = conjoin.partition(tables, target="y").stability()
    shuffled = {name: {c: np.flip(v) for c, v in tables[name].items()} for name in reversed(tables)}
    two = conjoin.partition(shuffled, target="y").stability()
    assert one.agreement == pytest.approx(two.agreement)
    for a in tables:
        for b in tables:
            assert one.together(a, b) == two.together(a, b)


def test_methods_that_cannot_search_again_have_none():
    tables = make_clusters(sizes=(2, 2), n=40, p=2, distance=1.0).tables()
    for method in ("validated", "tuned"):
        result = conjoin.partition(tables, target="y", method=method)
        with pytest.raises(ArgumentError, match="cannot search again"):
            result.stability()


def test_noise_that_is_cut_into_clusters_is_shaky_or_one_cluster():
    """Datasets on a continuum have no clusters to find again."""
    rng = np.random.default_rng(0)
    tables = {}
    for k in range(14):
        x = rng.standard_normal((50, 3))
        y = x @ (0.35 * rng.standard_normal(3)) + rng.standard_normal(50)
        tables[f"set {k}"] = {**{f"x{j}": x[:, j] for j in range(3)}, "y": y}
    result = conjoin.partition(tables, target="y")
    assert len(result.clusters) > 1
    assert result.stability().shaky
    assert "the clusters are shaky" in facts(result)["sentences"][0]


def test_one_model_for_all_is_chosen_by_the_rows_that_count():
    """Clusters are better in the first fold and worse in the second."""
    clusters = np.array([[1.0] * 9, [3.0] * 9]) + 0.1 * np.arange(9)
    labels, weights = np.arange(9) % 2, np.full(9, 1 / 9)
    contest = Contest(clusters, np.full((2, 9), 2.0), weights, lead=1.0)
    first, second = np.tile([1.0, 0.0], (9, 1)), np.tile([0.0, 1.0], (9, 1))
    assert np.array_equal(contest.choose(labels, first), labels)
    assert contest.choose(labels, second).max() == 0
    assert contest.choose(np.zeros(9, dtype=int), first).max() == 0


def test_too_many_clusters_are_not_tried():
    even = np.ones((2, 9))
    contest = Contest(even, 2 * even, np.full(9, 1 / 9), lead=-1.0, most=3)
    labels = np.arange(9) % 3
    assert np.array_equal(contest.choose(labels, even.T), labels)
    assert contest.choose(np.arange(9) % 4, even.T).max() == 0


def test_a_choice_of_one_model_over_clusters_has_a_stability():
    """Validation prefers one model for all here; halves of the rows choose again."""
    tables = make_clusters(sizes=(3, 3), n=16, p=3, distance=0.9, random_state=13).tables()
    result = conjoin.partition(tables, target="y")
    assert len(result.clusters) == 1 and result.analysis.search.labels.max() > 0
    found = result.stability()
    assert found.resamples == 20
    assert found.labels.shape == (20, 6)
