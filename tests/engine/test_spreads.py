"""Scores of held-out rows by family."""

import numpy as np
from numpy.testing import assert_allclose

from conjoin.engine.spreads import scores_of
from conjoin.families import Response


def test_scores_of_numbers_counts_and_classes():
    linear = np.array([[1.0], [2.0]])
    assert_allclose(scores_of(linear, np.array([3.0, 2.0]), Response()), [2, 0])
    counts = scores_of(np.log([[4.0], [9.0]]), np.array([6.0, 9.0]), Response("poisson"))
    assert_allclose(counts, [1, 0], atol=1e-12)
    classes = Response("logistic", ("no", "yes"))
    assert_allclose(scores_of(np.log([[3.0]]), np.array([1.0]), classes), [0.25])
