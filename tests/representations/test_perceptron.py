"""The gradient written by hand agrees with torch's automatic one, step by step."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra nn)")

from conjoin.representations.perceptron import Perceptron, train_perceptron  # noqa: E402
from conjoin.representations.torch.mlp import as_linear, first_layers  # noqa: E402
from conjoin.representations.torch.tools import train  # noqa: E402
from conjoin.representations.training import Training  # noqa: E402

N, P = 210, 5


def problem(hidden, outputs):
    rng = np.random.default_rng(hidden)
    X = rng.standard_normal((N, P))
    X[:20] = 0.0  # some rows alike
    t = rng.standard_normal(N) if outputs == 1 else rng.integers(outputs, size=N).astype(float)
    w = rng.uniform(0, 2, N)
    w[::7] = 0.0
    layers = first_layers((P, *[6] * hidden, outputs), rng)
    return layers, X, t, w


def as_torch(layers):
    parts = [part for W in layers for part in (as_linear(W), torch.nn.ReLU())][:-1]
    return torch.nn.Sequential(*parts).requires_grad_(True)


def losses_of(network, outputs):
    if outputs == 1:
        return lambda x, t: (network(x)[:, 0] - t) ** 2
    return lambda x, t: torch.nn.functional.cross_entropy(network(x), t, reduction="none")


def flat(network):
    pairs = [(p.weight.T, p.bias[None]) for p in network if hasattr(p, "weight")]
    return np.concatenate([torch.cat(pair).detach().numpy().ravel() for pair in pairs])


@pytest.mark.parametrize("outputs", [1, 2, 4])
@pytest.mark.parametrize("hidden", [1, 2, 3])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_every_step_agrees_with_automatic_differentiation(hidden, outputs, decay):
    layers, X, t, w = problem(hidden, outputs)
    training = Training(rate=0.05, weight_decay=decay)
    ours = Perceptron(layers, X, t, w, training, classes=outputs > 1)
    network = as_torch(layers)
    losses = losses_of(network, outputs)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9, weight_decay=decay)
    kind = torch.float64 if outputs == 1 else torch.int64
    x, target, weight = torch.tensor(X), torch.tensor(t).to(kind), torch.tensor(w)
    order = np.random.default_rng(0).permutation(N)
    for start in range(0, N, 40):  # the last batch is shorter
        rows = order[start : start + 40]
        loss = (weight[rows] * losses(x[rows], target[rows])).sum()
        optimizer.zero_grad()
        (loss / weight[rows].sum()).backward()
        optimizer.step()
        found, size = ours.step(rows)
        assert found == pytest.approx(loss.item(), rel=1e-12)
        assert size == pytest.approx(w[rows].sum())
        np.testing.assert_allclose(ours.theta, flat(network), rtol=1e-11, atol=1e-13)
    assert np.abs(ours.theta - np.concatenate([W.ravel() for W in layers])).max() > 0.01


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("hold_out", [0.0, 0.25])
def test_whole_trainings_agree(outputs, hold_out):
    layers, X, t, w = problem(2, outputs)
    training = Training(epochs=12, batch=16, rate=0.1, hold_out=hold_out, patience=1)
    rng = np.random.default_rng
    ours, history = train_perceptron(layers, X, t, w, training, rng(5), classes=outputs > 1)
    network = as_torch(layers)
    data = (torch.tensor(X), torch.tensor(t).to(torch.float64 if outputs == 1 else torch.int64))
    theirs = train(
        [*network.parameters()],
        losses_of(network, outputs),
        data,
        torch.tensor(w),
        training,
        rng(5),
    )
    np.testing.assert_allclose(np.concatenate([W.ravel() for W in ours]), flat(network), rtol=1e-9)
    np.testing.assert_allclose(history.train, theirs.train, rtol=1e-10)
    np.testing.assert_allclose(history.held_out, theirs.held_out, rtol=1e-10)
    assert len(history.train) < 12 if hold_out else len(history.train) == 12


def test_rows_of_weight_zero_change_nothing():
    layers, X, t, _ = problem(1, 3)
    network = Perceptron(layers, X, t, np.zeros(N), Training(rate=1.0), classes=True)
    before = network.parameters()
    assert network.step(np.arange(8)) == (0.0, 0.0)
    np.testing.assert_array_equal(network.theta, before)


def test_the_given_layers_stay_unchanged():
    layers, X, t, w = problem(1, 1)
    before = [W.copy() for W in layers]
    train_perceptron(layers, X, t, w, Training(rate=0.1), np.random.default_rng(0))
    for W, old in zip(layers, before):
        np.testing.assert_array_equal(W, old)
