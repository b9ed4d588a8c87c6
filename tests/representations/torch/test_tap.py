"""Layers of a torch network as features."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra nn)")

from conjoin.errors import ArgumentError, DataError  # noqa: E402
from conjoin.representations import Tap, as_representation  # noqa: E402


@pytest.fixture
def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 3, 2),
        torch.nn.BatchNorm2d(3),
        torch.nn.Dropout(0.5),
        torch.nn.ReLU(inplace=True),
        torch.nn.Flatten(),
        torch.nn.Linear(27, 4),
        torch.nn.ReLU(inplace=True),
        torch.nn.Linear(4, 2),
    )


@pytest.fixture
def images():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 16))
    return X, X[:, 0]


def forward(network, X, layers):
    network.eval()
    with torch.no_grad():
        return network[:layers](torch.tensor(X, dtype=torch.float32).reshape(-1, 1, 4, 4))


def test_the_hook_sees_the_layer_and_is_taken_off(network, images):
    X, y = images
    network.train()
    features, values = Tap(network, layer="6", shape=(1, 4, 4), batch=7).fit_transform(X, y)
    assert network.training and network[2].training  # as they were
    assert not any(part._forward_hooks for part in network.modules())
    np.testing.assert_allclose(values, forward(network, X, 7).numpy(), atol=1e-5)
    assert features.names == ("unit1", "unit2", "unit3", "unit4")


def test_a_layer_before_one_that_works_in_place_is_seen_as_it_was(network, images):
    X, y = images
    values = Tap(network, layer="5", shape=(1, 4, 4)).fit(X, y).transform(X)
    np.testing.assert_allclose(values, forward(network, X, 6).numpy(), atol=1e-5)
    assert values.min() < 0


def test_outputs_of_many_dimensions_are_laid_out(network, images):
    X, y = images
    values = Tap(network, layer="0", shape=(1, 4, 4)).fit(X, y).transform(X)
    assert values.shape == (50, 27)
    np.testing.assert_allclose(values, forward(network, X, 1).numpy().reshape(50, 27), atol=1e-5)


def test_rows_may_come_in_their_own_shape(network, images):
    X, y = images
    flat = Tap(network, layer="", shape=(1, 4, 4)).fit(X, y).transform(X)
    shaped = Tap(network, layer="").fit(X.reshape(50, 1, 4, 4), y).transform(X.reshape(50, 1, 4, 4))
    np.testing.assert_array_equal(shaped, flat)


def test_rows_stay_with_their_labels_whatever_the_order(network, images):
    X, y = images
    order = np.random.default_rng(1).permutation(50)
    tap = Tap(network, layer="6", shape=(1, 4, 4))
    _, values = tap.fit_transform(X, y)
    _, others = tap.fit_transform(X[order], y[order])
    np.testing.assert_array_equal(others, values[order])


def test_networks_in_double_precision_and_without_weights():
    X = np.random.default_rng(0).standard_normal((20, 3))
    double = torch.nn.Sequential(torch.nn.Linear(3, 2).double(), torch.nn.Tanh())
    expected = np.tanh(X @ double[0].weight.detach().numpy().T + double[0].bias.detach().numpy())
    np.testing.assert_allclose(Tap(double, "1").fit(X, X[:, 0]).transform(X), expected, atol=1e-14)
    plain = torch.nn.Sequential(torch.nn.ReLU())
    np.testing.assert_array_equal(Tap(plain, "0").fit(X, X[:, 0]).transform(X), np.maximum(X, 0))


class Odd(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.unused = torch.nn.LSTM(3, 2, batch_first=True), torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.used(x[:, None])[0].mean(dim=(0, 1))


def test_layers_that_cannot_be_tapped_get_a_sentence(network, images):
    X = np.random.default_rng(0).standard_normal((20, 3))
    with pytest.raises(ArgumentError, match="layer='used2' is not a layer.*'used', 'unused'"):
        Tap(Odd(), "used2")
    for layer, message in {
        "unused": "not used",
        "used": "one tensor with a line for each row",
        "": "one tensor with a line for each row",
    }.items():
        with pytest.raises(DataError, match=message):
            Tap(Odd(), layer).fit(X, X[:, 0])
    with pytest.raises(DataError, match="25 values, but a row has 16"):
        Tap(network, "6", shape=(1, 5, 5)).fit(*images)
    with pytest.raises(ArgumentError, match="Tap\\(module, layer"):
        as_representation(network)


def test_rows_of_another_width_and_what_is_no_network_get_a_sentence(network):
    X = np.random.default_rng(0).standard_normal((20, 3))
    with pytest.raises(DataError, match=r"rows of 3 columns \(mat1 and mat2 .*check its input"):
        Tap(torch.nn.Linear(4, 2), "").fit(X, X[:, 0])
    for module in (object(), torch.nn.Linear, "network"):
        with pytest.raises(ArgumentError, match="is not a torch module; expected a network"):
            Tap(module, "")
    with pytest.raises(ArgumentError, match="batch='all' .*whole number >= 1"):
        Tap(network, "6", batch="all")


def test_a_network_that_draws_at_random_is_refused():
    class Noisy(torch.nn.Module):
        def forward(self, x):
            return x + torch.randn_like(x)

    X = np.random.default_rng(0).standard_normal((20, 3))
    with pytest.raises(DataError, match="would not match their targets"):
        Tap(Noisy(), "").fit(X, X[:, 0])
