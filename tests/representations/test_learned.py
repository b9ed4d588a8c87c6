"""Which rows train a representation, what the result knows of it, and how it is saved."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

import conjoin
from conjoin.datasets import load_seoul_bikes
from conjoin.errors import ArgumentError, ConjoinWarning, DataError
from conjoin.report.facts import facts

pytest.importorskip("torch", reason="torch is not installed (extra nn)")

from conjoin.representations import (  # noqa: E402
    MLP,
    Features,
    Heads,
    Layers,
    Representation,
    Tap,
    Transformer,
    embed,
)
from conjoin.representations.learned import _aligned  # noqa: E402


def test_pure_noise_validates_at_its_variance_though_all_rows_train():
    rng = np.random.default_rng(0)
    noise = {
        f"d{k}": {**{f"x{j}": rng.standard_normal(150) for j in range(8)},
                  "y": rng.standard_normal(150)}
        for k in range(4)
    }  # fmt: skip
    wide = MLP(width=24, rate=0.02, epochs=100)
    result = conjoin.partition(noise, target="y", representation=wide)
    learned = result.representation
    assert (learned.train_rows, learned.model_rows, learned.groups) == (600, 600, 5)
    assert learned.description.endswith("cross-fitted in 5 groups")
    chance = 3 * np.sqrt(2 / 600)  # of the mean of so many squares
    assert min(e.error for e in result.errors.values()) > 1 - chance
    assert result.errors["auto"].error == pytest.approx(1.0, abs=chance)
    # The map of all rows follows the noise of its training rows, so it must not be judged on them.
    y = np.concatenate([one["y"] for one in noise.values()])
    Z = np.concatenate([learned.transform(one) for one in map(pd.DataFrame, noise.values())])
    design = np.column_stack([np.ones(600), Z])
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    assert np.mean(residual**2) < 0.8
    assert not learned.is_optimistic
    assert not any("too low" in text for text in facts(result)["cautions"])


def test_features_of_held_out_rows_stand_in_the_basis_of_the_map_of_all_rows():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((200, 3))
    turned = values @ rng.standard_normal((3, 3)) + 5.0  # the same features in another basis
    own = np.arange(200) < 50
    np.testing.assert_allclose(_aligned(turned, values, own), values[own], atol=1e-9)
    fewer = _aligned(turned[:, :2], values, own)  # a map with other features, such as a selection
    assert fewer.shape == (50, 3)


def test_splines_beat_a_network_and_seeds_matter_little_though_rows_are_few():
    """The statements in docs/representations.md hold."""
    bikes = pd.DataFrame(load_seoul_bikes()).query("hour < 6")
    splines = make_pipeline(StandardScaler(), SplineTransformer())

    def error(data, representation, seed=0):
        result = conjoin.partition(
            data,
            target="rented_bikes",
            by="hour",
            representation=representation,
            random_state=seed,
        )
        return result.errors["auto"].error ** 0.5

    lines, network, curves = (error(bikes, one) for one in (None, "mlp1", splines))
    assert curves < 0.97 * network < network < 0.95 * lines
    few = bikes.query("hour < 4").groupby("hour").head(80)
    errors = [error(few, "mlp1", seed) for seed in range(3)]
    assert max(errors) < 1.05 * min(errors)


@pytest.mark.slow
def test_validated_errors_of_the_bikes_hold_on_new_rows():
    bikes = pd.DataFrame(load_seoul_bikes())
    new = np.random.default_rng(0).random(len(bikes)) < 0.25
    validated, found = {}, {}
    splines = make_pipeline(StandardScaler(), SplineTransformer())
    choices = {None: None, "mlp1": "mlp1", "mlp2": "mlp2", "splines": splines}
    for name, representation in choices.items():
        result = conjoin.partition(
            bikes[~new], target="rented_bikes", by="hour", representation=representation
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConjoinWarning)  # of rows beyond limits
            error = result.predict(bikes[new]) - bikes[new]["rented_bikes"]
        validated[name], found[name] = (
            result.errors["auto"].error ** 0.5,
            np.sqrt(np.mean(error**2)),
        )
    for name in ("mlp1", "mlp2", "splines"):
        assert found[name] < 0.85 * found[None]
        assert found[name] == pytest.approx(validated[name], rel=0.05)


def test_a_transformer_that_does_not_need_the_target_does_not_get_it(frames):
    class Spy(PCA):
        def fit(self, X, y=None):
            assert y is None
            return super().fit(X)

    result = conjoin.partition(frames, target="y", representation=Spy(2))
    assert (result.representation.train_rows, result.representation.model_rows) == (600, 600)
    assert result.representation.description.endswith("without the target, on all 600 rows")
    assert not result.representation.is_optimistic


def test_a_transformer_whose_tags_hide_its_need_for_the_target_fails_with_advice(frames):
    chosen = SelectKBest(f_regression, k=2)
    with pytest.raises(DataError, match=r"cannot be fitted: .*did not get the target.*target=True"):
        conjoin.partition(frames, target="y", representation=chosen)
    result = conjoin.partition(frames, target="y", representation=Transformer(chosen, target=True))
    assert result.representation.groups == 5


def test_a_tapped_network_uses_all_rows(frames):
    torch = pytest.importorskip("torch")
    network = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
    result = conjoin.partition(frames, target="y", representation=Tap(network, "1"))
    assert result.representation.model_rows == 600
    assert "layer '1' of Sequential" in str(result.representation)
    heads = Heads.of(result.representation.features, result.using("clusters"))
    assert heads.labels == result.labels


def test_the_result_knows_its_representation(result):
    learned = result.representation
    assert (learned.rows, learned.train_rows, learned.model_rows) == (600, 600, 600)
    assert learned.description.startswith("MLP2 (two hidden layers of 16 units), trained on all 6")
    assert "columns and target standardised; cross-fitted in 5 groups" in str(learned)
    assert len(learned.losses) == len(learned.held_out) > 5
    assert learned.losses[-1] < learned.losses[0]
    assert result.settings["representation"] == "mlp2"
    assert sum(result.coefficients[name].rows for name in result.labels) == 600


def test_the_report_describes_the_representation(result, tmp_path):
    result.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "MLP2 (two hidden layers of 16 units)" in page
    assert "--representation mlp2" in page
    found = facts(result)["representation"]
    assert found["taught"] == 600 and found["losses"]


def test_heads_predict_as_the_models_of_clusters(frames, result):
    clusters = result.using("clusters")
    heads = Heads.of(result.representation.features, clusters)
    X = frames["d3"].drop(columns="y")
    np.testing.assert_allclose(
        heads.predict(X.to_numpy(), "d3"), clusters.predict(X, "d3"), rtol=1e-9
    )


def test_networks_are_saved_with_the_models(frames, result, tmp_path):
    path = tmp_path / "model.json"
    result.save(path)
    loaded = conjoin.load(path)
    X = frames["d2"].drop(columns="y")
    np.testing.assert_array_equal(loaded.predict(X, "d2"), result.predict(X, "d2"))
    assert str(loaded.representation) == str(result.representation)
    assert loaded.representation.losses == result.representation.losses
    heads = Heads.of(loaded.representation.features, loaded)
    assert heads.labels == result.labels
    network = loaded.representation.features
    rows = X.to_numpy()
    np.testing.assert_allclose(
        network.predict(rows), result.representation.features.predict(rows), rtol=1e-12
    )
    np.testing.assert_array_equal(
        loaded.representation.transform(X), result.representation.transform(rows)
    )


def test_saved_networks_predict_without_torch(frames, result, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    result.save(path)
    X = frames["d2"].drop(columns="y")
    expected = result.predict(X, "d2")
    for name in [n for n in sys.modules if n == "torch" or "conjoin.representations.torch" in n]:
        monkeypatch.setitem(sys.modules, name, None)
    np.testing.assert_array_equal(conjoin.load(path).predict(X, "d2"), expected)


def test_plain_numbers_map_rows_as_the_torch_network(result):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    layers = result.representation.map
    assert isinstance(layers, Layers)
    np.testing.assert_allclose(
        layers.transform(X), result.representation.features.transform(X), rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("representation", [PCA(2), np.abs], ids=["transformer", "function"])
def test_code_is_not_saved(frames, representation, tmp_path):
    result = conjoin.partition(frames, target="y", representation=representation)
    with pytest.raises(ArgumentError, match="cannot be saved: it is code.*Pickle the result"):
        result.save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


class Broken(Representation):
    learns_from_target = False

    def _fit(self, rows, progress):
        return BrokenFeatures()


class BrokenFeatures(Features):
    names = ("unit1",)

    def _map(self, X):
        return np.full((len(X), 1), np.inf)


@pytest.mark.parametrize(
    "asked, message",
    [
        ({"representation": "mlp3"}, "representation='mlp3' .*expected 'mlp1', 'mlp2'"),
        ({"representation": 7}, "representation=7 .*expected 'mlp1', 'mlp2'"),
        (
            {"representation": "mlp1", "learn_share": 0.5},
            "learn_share=0.5: networks are cross-fitted now.*Leave it out",
        ),
        ({"representation": PCA}, r"representation=PCA is a class; .*such as PCA\(\)"),
        ({"representation": MLP}, r"representation=MLP is a class; .*such as MLP\(\)"),
        (
            {"representation": lambda X: 0 * X},
            "has the same value in all rows; return features that vary",
        ),
        ({"representation": Broken()}, "not finite; expected a finite number"),
        ({"representation": lambda X: X[:3]}, "for 32 rows; expected one line"),
    ],
)
def test_unusable_arguments_are_refused(frames, asked, message):
    with pytest.raises((ArgumentError, DataError), match=message):
        conjoin.partition(frames, target="y", **asked)


def test_the_error_of_a_network_of_another_width_names_the_columns(frames):
    torch = pytest.importorskip("torch")
    more = {name: frame.assign(one=1.0) for name, frame in frames.items()}
    tap = Tap(torch.nn.Linear(4, 2), "")
    message = (
        r"cannot take rows of 3 columns \(mat1 and mat2 .*check its input. After encoding there "
        "are 3: 'a', 'b', 'c'; left out because they have the same value in all rows: 'one'."
    )
    for call in (conjoin.partition, lambda data, **asked: embed(tap, data, target="y")):
        with (
            pytest.raises(DataError, match=message),
            pytest.warns(ConjoinWarning, match="one value in all datasets"),
        ):
            call(more, target="y", representation=tap)


def test_rows_that_are_too_few_to_cross_fit_are_refused(frames):
    single = {f"s{i}": frames["d1"].iloc[[i]] for i in range(2)}
    with pytest.raises(DataError, match="rows are too few to cross-fit.*representation=None"):
        conjoin.partition(single, target="y", representation="mlp1")


def test_without_torch_a_network_name_gives_the_install_command(frames, monkeypatch):
    for name in [n for n in sys.modules if n == "torch" or "conjoin.representations.torch" in n]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(conjoin.ConjoinError, match=r"run pip install 'conjoin\[nn\]'"):
        conjoin.partition(frames, target="y", representation="mlp1")
