"""Layers in double precision, and the number of threads."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra nn)")

from conjoin.representations.torch.tools import Limit, Standardise, linear, one_thread  # noqa: E402

X = np.array([[1.0, -4.0], [3.0, 8.0]])


def test_layers_compute_what_their_formulas_say():
    x = torch.tensor(X)
    standardise = Standardise(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    assert standardise(x).tolist() == [[0.0, -2.0], [1.0, 2.0]]
    assert Limit(np.array([2.0, -1.0]), np.array([2.5, 1.0]))(x).tolist() == [[2, -1], [2.5, 1]]
    layer = linear(np.array([0.5]), np.array([[1.0, 2.0]]))
    assert layer(x).tolist() == [[-6.5], [19.5]]


def test_layers_keep_double_precision_in_their_weights():
    third = np.array([1 / 3])
    state = {**Standardise(third, third).state_dict(), **linear(third, third[None]).state_dict()}
    assert {name: value.item() for name, value in state.items()} == dict.fromkeys(
        ("center", "scale", "weight", "bias"), 1 / 3
    )


def test_the_number_of_threads_is_restored_after_an_error():
    before = torch.get_num_threads()
    with pytest.raises(RuntimeError), one_thread():
        assert torch.get_num_threads() == 1
        raise RuntimeError
    assert torch.get_num_threads() == before
