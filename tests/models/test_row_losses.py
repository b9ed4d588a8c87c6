import numpy as np
import pytest

from conjoin.families import Response
from conjoin.models.row_losses import row_losses


def test_numbers_have_squared_errors():
    assert row_losses(np.array([[1.0], [2.0]]), np.array([3.0, 2.0]), Response()).tolist() == [4, 0]


def test_classes_have_log_losses():
    two = Response("logistic", ("no", "yes"))
    assert row_losses(np.zeros((1, 1)), np.array([1.0]), two)[0] == pytest.approx(np.log(2))
    three = Response("logistic", (0, 1, 2))
    assert row_losses(np.zeros((1, 3)), np.array([2.0]), three)[0] == pytest.approx(np.log(3))
    sure = row_losses(np.array([[-1000.0]]), np.array([1.0]), two)
    assert np.isfinite(sure).all()


def test_counts_have_half_deviances():
    losses = row_losses(np.log([[3.0], [1.0]]), np.array([3.0, 3.0]), Response("poisson"))
    assert losses[0] == pytest.approx(0, abs=1e-12)
    assert losses[1] == pytest.approx(3 * np.log(3) - 2)
