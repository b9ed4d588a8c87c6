"""Linear models become weights on the activations of a network."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed (extra nn)")

from conjoin import LinearFit  # noqa: E402
from conjoin.errors import ArgumentError, DataError  # noqa: E402
from conjoin.representations.torch.from_models import (  # noqa: E402
    class_labels,
    head_weights,
    is_result,
)

NAMES = ["unit1", None, "unit3"]  # the second activation is in no model
MODELS = {
    "a": LinearFit(1.0, {"unit3": 2.0}, 10, 0.1, {"unit1": (-1.0, 1.0), "unit3": (0.0, 4.0)}),
    "b": LinearFit(-1.0, {"unit1": 3.0, "unit3": 5.0}, 10, 0.1),
}


def test_activations_without_a_coefficient_get_zero():
    found = head_weights(MODELS, NAMES, limit=False)
    assert found.slopes.tolist() == [[[0.0, 0.0, 2.0]], [[3.0, 0.0, 5.0]]]
    assert found.intercepts.tolist() == [[1.0], [-1.0]]
    assert (found.labels, found.loss, found.classes) == ({"a": 0, "b": 1}, "squared", None)
    assert np.isinf(found.limits).all()


def test_limits_are_those_of_the_models():
    low, high = head_weights(MODELS, NAMES, limit=True).limits
    assert low.tolist() == [-1.0, -np.inf, 0.0]
    assert high.tolist() == [1.0, np.inf, 4.0]


def test_counts_get_the_loss_of_poisson():
    count = LinearFit(1.0, {"unit1": 2.0}, 10, 0.1, family="poisson")
    assert head_weights({"a": count}, NAMES, limit=False).loss == "poisson"


def test_classes_are_plain_values_and_as_many_as_the_outputs_need():
    assert class_labels("squared", 1, None) == ()
    assert class_labels("logistic", 1, None) == (0, 1)
    assert class_labels("softmax", 3, np.array(["x", "y", "z"])[[0, 1, 2]].tolist()) == (
        "x",
        "y",
        "z",
    )
    with pytest.raises(ArgumentError, match="classes='abc' has 3 labels; expected 2"):
        class_labels("logistic", 1, "abc")


def test_models_without_a_network_are_refused():
    with pytest.raises(ArgumentError, match="models is empty"):
        head_weights({}, NAMES, limit=False)
    with pytest.raises(DataError, match="feature 'unit3', which is not an activation"):
        head_weights(MODELS, ["unit1", "unit2"], limit=False)
    assert not is_result(MODELS)
