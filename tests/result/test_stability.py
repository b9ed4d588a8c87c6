"""How often datasets are together, from partitions of resamples."""

import numpy as np
import pytest

from conjoin.result.stability import Stability

LABELS = np.array([[0, 0, 0, 1], [0, 0, 1, 1], [0, 0, 1, 2]])


@pytest.fixture
def found():
    return Stability(("a", "b", "c", "d"), LABELS, 0.4)


def test_frequencies(found):
    assert found.together("a", "b") == 1
    assert found.together("a", "c") == pytest.approx(1 / 3)
    assert found.frequencies[2, 3] == found.together("c", "d") == pytest.approx(1 / 3)
    assert np.allclose(np.diag(found.frequencies), 1)
    assert found.between(["a", "b"], ["c"]) == pytest.approx(1 / 3)


def test_clusters(found):
    assert found.inside(["a", "b"]) == 1
    assert found.inside(["a", "b", "c"]) == pytest.approx((1 + 1 / 3 + 1 / 3) / 3)
    assert found.inside(["d"]) == pytest.approx(2 / 3)
    assert found.shaky and found.resamples == 3


def test_halves_that_agree_on_other_clusters_are_shaky():
    """Nearly every half puts all into one cluster, while three clusters are in use."""
    labels = np.zeros((10, 6), dtype=int)
    labels[0, 5] = 1
    shown, names = np.array([0, 0, 1, 1, 2, 2]), tuple("abcdef")
    assert not Stability(names, labels, 0.8).shaky
    found = Stability(names, labels, 0.8, shown)
    assert found.with_shown < 0.1 and found.finds_others and found.shaky
    assert found.sizes.tolist() == [2, *[1] * 9]
    same = Stability(names, np.tile(shown, (10, 1)), 1.0, shown)
    assert same.with_shown == 1 and not same.shaky
