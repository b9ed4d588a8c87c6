"""The paper's networks: activations, training, seeds, files."""

import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra nn)")

from conjoin.datasets import make_clusters  # noqa: E402
from conjoin.errors import ArgumentError, DataError  # noqa: E402
from conjoin.moments import Basis  # noqa: E402
from conjoin.representations import (  # noqa: E402
    MLP,
    MLPFeatures,
    Network,
    as_representation,
    embed,
)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5)) * [1, 10, 0.1, 1, 1] + [0, 2000, 0, 0, 5]
    y = 50 + 10 * np.maximum(X[:, 0], 0) + X[:, 3] * X[:, 4] + rng.standard_normal(300)
    return X, y


FAST = {"rate": 0.01, "epochs": 15}


def by_hand(features, X):
    """The network in NumPy: standardise, then Linear and ReLU in turns."""
    e = (X - features.basis.center) / features.basis.scale
    for layer in features.body[1::2]:
        e = np.maximum(e @ layer.weight.numpy().T + layer.bias.numpy(), 0)
    out = e @ features.head.weight.numpy().T + features.head.bias.numpy()
    return e, out


@pytest.mark.parametrize("hidden", [1, 2])
def test_features_are_the_penultimate_activations(rows, hidden):
    X, y = rows
    features = MLP(hidden=hidden, **FAST).fit(X, y)
    e, out = by_hand(features, X)
    np.testing.assert_allclose(features.transform(X), e, atol=1e-12)
    basis = features.basis
    np.testing.assert_allclose(
        features.predict(X), out[:, 0] * basis.target_scale + basis.target_center
    )
    assert e.min() == 0 and e.shape == (300, 5)
    assert [tuple(layer.weight.shape) for layer in features.body[1::2]] == [(5, 5)] * hidden


def test_defaults_are_the_papers():
    spec = MLP()
    assert (spec.batch, spec.epochs, spec.rate, spec.momentum) == (64, 10, 1e-4, 0.9)
    assert spec.weight_decay == 0
    assert as_representation("mlp2", 7) == Network(hidden=2, random_state=7)


def test_one_step_of_descent_by_hand(rows):
    # One batch of all rows, one epoch: weights move by rate times the gradient, found here by
    # differences.
    X, y = rows
    still = MLP(epochs=0).fit(X, y)
    moved = MLP(epochs=1, batch=300, rate=0.1, weight_decay=0.5).fit(X, y)
    t = still.basis.response(y)

    def loss():
        return np.mean((by_hand(still, X)[1][:, 0] - t) ** 2)

    weight = still.head.weight
    for j in range(5):
        before = float(weight[0, j])
        values = []
        for step in (1e-6, -1e-6):
            weight[0, j] = before + step
            values.append(loss())
        weight[0, j] = before
        gradient = (values[0] - values[1]) / 2e-6 + 0.5 * before
        assert float(moved.head.weight[0, j]) == pytest.approx(before - 0.1 * gradient, abs=1e-7)


def test_rows_and_labels_stay_in_step_whatever_the_order(rows):
    # Fails as soon as features, labels or weights are shuffled apart.
    X, y = rows
    w = np.linspace(0.5, 2, 300)
    order = np.random.default_rng(3).permutation(300)
    features, values = MLP(**FAST).fit_transform(X, y, w)
    others, other_values = MLP(**FAST).fit_transform(X[order], y[order], w[order])
    np.testing.assert_array_equal(other_values, values[order])
    np.testing.assert_array_equal(others.predict(X), features.predict(X))
    # And the network has learned: with labels out of step it could not.
    wrong = MLP(**FAST).fit(X, y[order])
    spread = np.var(y)
    assert np.mean((features.predict(X) - y) ** 2) < 0.6 * spread
    assert np.mean((wrong.predict(X) - y) ** 2) > 0.9 * spread


def test_order_of_datasets_does_not_matter():
    stores = make_clusters(sizes=(2, 2), n=40, p=3).tables()
    forth = embed(MLP(**FAST), stores, target="y")
    back = embed(MLP(**FAST), dict(reversed(stores.items())), target="y")
    for name, table in forth.tables.items():
        for column, values in table.items():
            np.testing.assert_array_equal(back.tables[name][column], values)


def test_the_seed_decides_alone(rows):
    X, y = rows
    torch.manual_seed(1)
    one = MLP(**FAST).fit(X, y).transform(X)
    state = torch.get_rng_state()
    torch.manual_seed(2)
    np.testing.assert_array_equal(MLP(**FAST).fit(X, y).transform(X), one)
    other = MLP(random_state=1, **FAST).fit(X, y).transform(X)
    assert np.abs(other - one).max() > 0.1
    torch.manual_seed(1)
    assert torch.equal(torch.get_rng_state(), state)  # torch's own stream was not drawn from


def test_threads_are_left_as_they_were(rows):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        MLP(epochs=1).fit(*rows)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_columns_and_target_are_standardised_and_recorded(rows):
    X, y = rows
    features = MLP(epochs=1).fit(X, y)
    expected = Basis.from_rows(X, y)
    np.testing.assert_allclose(features.basis.center, expected.center)
    np.testing.assert_allclose(features.basis.scale, expected.scale)
    assert features.basis.target_center == pytest.approx(y.mean())
    # A change of units changes nothing.
    units, shift = np.array([10.0, 0.1, 3.0, 1.0, 1.0]), np.arange(5.0)
    changed = MLP(epochs=1).fit(X * units + shift, 1000 * y)
    assert np.corrcoef(changed.predict(X * units + shift), features.predict(X))[0, 1] > 1 - 1e-9
    raw = MLP(epochs=0, standardise=False).fit(X, y)
    np.testing.assert_array_equal(raw.basis.center, 0)
    assert (raw.basis.target_center, raw.basis.target_scale) == (0, 1)


def test_a_row_of_weight_two_pulls_like_two_rows(rows):
    X, y = rows
    still = {"epochs": 1, "batch": 1000, "standardise": False, "rate": 1e-8}
    twice = MLP(**still).fit(np.vstack([X, X[:50]]), np.append(y, y[:50]))
    weighted = MLP(**still).fit(X, y, np.repeat([2.0, 1.0], [50, 250]))
    np.testing.assert_allclose(weighted.head.weight, twice.head.weight, atol=1e-12)


def test_classes_are_learned(rows):
    X, _ = rows
    y = np.where(X[:, 0] > 0.5, "high", np.where(X[:, 3] > 0, "middle", "low"))
    features = MLP(task="classification", rate=0.05, epochs=30).fit(X, y)
    probabilities = features.predict(X)
    assert features.classes == ["high", "low", "middle"]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert np.mean(np.array(features.classes)[probabilities.argmax(axis=1)] == y) > 0.8
    assert features.loss_history.train[-1] < 0.6 < features.loss_history.train[0]
    with pytest.raises(DataError, match="only one class"):
        MLP(task="classification").fit(X, np.zeros(300))


def test_early_stopping_keeps_the_best_weights(rows):
    X, _ = rows
    y = np.random.default_rng(1).standard_normal(300)  # nothing to learn, so learning hurts
    spec = MLP(hold_out=0.3, patience=2, epochs=200, rate=0.05, batch=8, width=40)
    features = spec.fit(X, y)
    held = features.loss_history.held_out
    assert len(held) < 200
    assert len(held) == np.argmin(held) + 1 + 2
    assert len(features.loss_history.train) == len(held)
    best = MLP(**{**vars(spec), "epochs": int(np.argmin(held)) + 1}).fit(X, y)
    np.testing.assert_array_equal(best.transform(X), features.transform(X))


def test_progress_counts_epochs(rows):
    steps = []
    MLP(epochs=3).fit(*rows, progress=lambda done, total: steps.append((done, total)))
    assert steps == [(1, 3), (2, 3), (3, 3)]


def test_a_saved_network_is_the_same(rows, tmp_path):
    X, y = rows
    features = MLP(hidden=2, hold_out=0.2, **FAST).fit(X, y)
    features.save(tmp_path / "mlp.pt")
    loaded = MLPFeatures.load(tmp_path / "mlp.pt")
    np.testing.assert_array_equal(loaded.transform(X), features.transform(X))
    np.testing.assert_array_equal(loaded.predict(X), features.predict(X))
    assert loaded.settings == features.settings
    assert loaded.loss_history == features.loss_history
    classes = MLP(task="classification", epochs=1).fit(X, np.where(y > 55, "a", "b"))
    classes.save(tmp_path / "classes.pt")
    assert MLPFeatures.load(tmp_path / "classes.pt").classes == ["a", "b"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"hidden": 0}, "hidden=0"),
        ({"width": 0}, "width=0"),
        ({"rate": 0}, "rate=0"),
        ({"momentum": 1.0}, "momentum=1.0"),
        ({"hold_out": -0.1}, "hold_out=-0.1"),
        ({"weight_decay": -1}, "weight_decay=-1"),
        ({"task": "ranking"}, "task='ranking'"),
        ({"random_state": -1}, "random_state=-1"),
        ({"random_state": None}, "random_state=None .*whole number >= 0"),
        ({"random_state": "x"}, "random_state='x' .*whole number >= 0"),
        ({"epochs": 1.5}, "epochs=1.5"),
        ({"rate": "low"}, "rate='low' is not a number"),
    ],
)
def test_wrong_settings_get_a_sentence(wrong, message):
    with pytest.raises(ArgumentError, match=message):
        MLP(**wrong)


def test_what_cannot_be_trained_on_gets_a_sentence(rows):
    X, y = rows
    with pytest.raises(DataError, match="diverged in epoch 1; choose a smaller rate"):
        MLP(rate=1e6).fit(X, y)
    with pytest.raises(DataError, match="of 2 rows leaves no rows"):
        MLP(hold_out=0.1).fit(X[:2], y[:2])
    with pytest.raises(DataError, match="takes rows and columns"):
        MLP().fit(X[:, :4].reshape(300, 2, 2), y)
    features = MLP(epochs=0).fit(X, y)
    with pytest.raises(DataError, match="trained on 5 columns"):
        features.transform(X[:, :4])
    assert features.transform(X[:0]).shape == (0, 5)


def test_without_torch_there_is_one_clear_sentence():
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'torch': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import conjoin.representations as r\n"
        "r.Function, r.Transformer, r.embed\n"
        "try: r.MLP\n"
        "except ValueError as error: print(isinstance(error, ImportError), error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == (
        "True Neural networks need torch, which is not installed; run pip install 'conjoin[nn]'.\n"
    )
