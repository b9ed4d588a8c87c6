"""The torch module behind heads: limits, heads of rows, losses."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra nn)")

from conjoin.errors import ArgumentError, DataError  # noqa: E402
from conjoin.representations.torch.head_layers import HeadLayers  # noqa: E402

RNG = np.random.default_rng(0)
INTERCEPTS, SLOPES = RNG.standard_normal((2, 1)), RNG.standard_normal((2, 1, 3))
LOW, HIGH = np.full(3, -0.5), np.full(3, 0.5)
X = RNG.standard_normal((6, 3))
LABELS = np.array([0, 1, 1, 0, 1, 0])


@pytest.fixture
def layers():
    body = torch.nn.Identity()
    return HeadLayers(body, (INTERCEPTS, SLOPES), {"a": 0, "b": 1}, (LOW, HIGH))


def test_each_row_gets_the_clipped_line_of_its_head(layers):
    expected = INTERCEPTS[LABELS, 0] + (np.clip(X, LOW, HIGH) * SLOPES[LABELS, 0]).sum(axis=1)
    with torch.no_grad():
        found = layers(torch.tensor(X), torch.tensor(LABELS))[:, 0].numpy()
        one = layers.network("b")(torch.tensor(X))[:, 0].numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(one[LABELS == 1], expected[LABELS == 1], rtol=1e-12)


def test_rescaling_shifts_and_scales_the_outputs(layers):
    x, heads = torch.tensor(X), torch.tensor(LABELS)
    with torch.no_grad():
        before = layers(x, heads).numpy()
        layers.rescale(2.0, 3.0)
        np.testing.assert_allclose(layers(x, heads).numpy(), (before + 2) * 3, rtol=1e-12)


def test_losses_are_minus_the_log_likelihood():
    x, heads = torch.tensor(X), torch.tensor(LABELS)
    t = np.array([0.0, 1.0, 0.0, 1.0, 1.0, 0.0])
    score = INTERCEPTS[LABELS, 0] + (X * SLOPES[LABELS, 0]).sum(axis=1)
    wanted = {
        "squared": (score - t) ** 2,
        "logistic": np.log1p(np.exp(score)) - t * score,
        "poisson": np.exp(score) - t * score,
    }
    for loss, expected in wanted.items():
        layers = HeadLayers(torch.nn.Identity(), (INTERCEPTS, SLOPES), {"a": 0}, loss=loss)
        with torch.no_grad():
            found = layers.row_losses(x, heads, torch.tensor(t)).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_unknown_datasets_and_losses_are_refused(layers):
    assert layers.labels_of(["b", "a"], 2).tolist() == [1, 0]
    with pytest.raises(DataError, match="'c' has no head; expected one of 'a', 'b'"):
        layers.label_of("c")
    with pytest.raises(ArgumentError, match="loss='hinge' is unknown; expected one of squared"):
        HeadLayers(torch.nn.Identity(), (INTERCEPTS, SLOPES), {"a": 0}, loss="hinge")
