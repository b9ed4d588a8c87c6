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
