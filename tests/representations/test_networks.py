"""Networks by name: settings that depend on the number of rows; networks as plain numbers."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed (extra nn)")

from conjoin.errors import DataError  # noqa: E402
from conjoin.representations import MLP, Layers, Network  # noqa: E402
from conjoin.representations.networks import is_network  # noqa: E402


@pytest.mark.parametrize(
    "rows, epochs, batch, hold_out",
    [(10, 30, 32, 0.0), (49, 30, 32, 0.0), (50, 300, 32, 0.1), (5_000, 128, 64, 0.1),
     (1_000_000, 20, 64, 0.1)],
)  # fmt: skip
def test_fewer_rows_get_more_epochs(rows, epochs, batch, hold_out):
    settings = Network(hidden=2, random_state=3).settings(rows, 5)
    assert (settings.epochs, settings.batch, settings.hold_out) == (epochs, batch, hold_out)
    assert (settings.hidden, settings.width, settings.random_state) == (2, 16, 3)
    assert Network().settings(rows, 40).width == 40


def test_a_network_by_name_learns_where_the_papers_settings_do_not():
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((400, 4)), rng.standard_normal((2_000, 4))

    def bent(X):
        return np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]

    left = {}
    for network in (Network(hidden=2), MLP(hidden=2)):
        features = network.fit(X, bent(X) + 0.3 * rng.standard_normal(400))
        left[type(network)] = np.mean((features.predict(new) - bent(new)) ** 2) / np.var(bent(new))
    assert left[Network] < 0.2
    assert left[MLP] > 0.9


def test_training_that_diverges_starts_again_with_a_smaller_rate(monkeypatch):
    tried = []
    train = Network._train

    def diverging(self, rows, rate, progress):
        tried.append(rate)
        if len(tried) < 3:
            raise DataError("Training of the network diverged.")
        return train(self, rows, rate, progress)

    monkeypatch.setattr(Network, "_train", diverging)
    X = np.random.default_rng(0).standard_normal((60, 2))
    assert Network().fit(X, X[:, 0]).settings.rate == 1e-4
    assert tried == [0.01, 0.001, 1e-4]


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_plain_numbers_are_the_same_network(task):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    y = X[:, 0] if task == "regression" else np.sign(X[:, 0])
    network = MLP(hidden=2, width=5, rate=0.01, task=task).fit(X, y)
    assert is_network(network)
    layers = Layers.of(network)
    again = Layers.from_plain(layers.to_plain(np.ndarray.tolist), np.array)
    np.testing.assert_allclose(layers.transform(X), network.transform(X), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(again.transform(X), layers.transform(X))
    np.testing.assert_array_equal(again.network().predict(X), network.predict(X))
    assert again.describe() == "MLP2 (two hidden layers of 5 units)"
    target = "and target " if task == "regression" else ""
    assert again.training() == f"10 epochs, columns {target}standardised"
    with pytest.raises(DataError, match="trained on 3 columns"):
        layers.transform(X[:, :2])
