"""`partition` and the estimators on features of a representation: honest, in step, kept."""

import pickle
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

import conjoin
from conjoin.datasets import load_seoul_bikes, make_class_clusters, make_clusters
from conjoin.errors import ArgumentError, ConjoinWarning, DataError
from conjoin.moments.folds import deal_share
from conjoin.report.summarize import cautions, summarize

pytest.importorskip("torch")

from conjoin.representations import (  # noqa: E402
    MLP,
    Features,
    Function,
    Heads,
    Layers,
    Representation,
    Tap,
    Transformer,
    as_representation,
    embed,
)


def squares(X):
    return np.hstack([X, X**2])


def bent(K=4, n=150, seed=0):
    """Datasets in two clusters whose target is no line."""
    rng = np.random.default_rng(seed)
    frames = {}
    for k in range(K):
        X = rng.standard_normal((n, 3))
        slope = 3.0 if k < K // 2 else -3.0
        y = slope * np.abs(X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(n)
        frames[f"d{k + 1}"] = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    return frames


@pytest.fixture(scope="module")
def frames():
    return bent()


@pytest.fixture(scope="module")
def result(frames):
    return conjoin.partition(frames, target="y", representation="mlp2")


CHOICES = {
    "mlp1": "mlp1",
    "mlp": MLP(hidden=2, rate=0.01, epochs=20),
    "pca": PCA(2),
    "target": PLSRegression(2),
    "function": squares,
}


def test_a_network_finds_what_lines_cannot(frames, result):
    linear = conjoin.partition(frames, target="y")
    assert result.clusters == [["d1", "d2"], ["d3", "d4"]]
    assert result.errors["auto"].error < 0.6 * linear.errors["auto"].error
    assert linear.representation is None
    assert result.features == result.representation.names
    assert set(result.columns) == {"a", "b", "c"}


@pytest.mark.parametrize("name", CHOICES)
def test_raw_rows_are_predicted_whatever_the_representation(frames, name):
    result = conjoin.partition(frames, target="y", representation=CHOICES[name])
    X = frames["d1"].drop(columns="y")
    rows = result.representation.transform(X.to_numpy())
    np.testing.assert_array_equal(result.representation.transform(X[["c", "a", "b"]]), rows)
    model = result.coefficients["d1"]
    np.testing.assert_allclose(
        result.predict(X, "d1", limit=False), model.predict(rows, limit=False), rtol=1e-10
    )
    np.testing.assert_array_equal(result.predict(X.to_numpy(), "d1"), result.predict(X, "d1"))
    known = frames["d2"].head(60)
    assert result.assign(known.drop(columns="y"), known["y"]).cluster == result.labels["d2"]
    assert np.isfinite(result.predict(X, "new", on_unseen="nearest")).all()
    assert result.explain("d1")


@pytest.mark.parametrize("name", CHOICES)
def test_order_of_rows_and_datasets_changes_nothing(frames, name):
    rng = np.random.default_rng(1)
    shuffled = {
        key: frames[key].iloc[rng.permutation(len(frames[key]))] for key in reversed(frames)
    }
    here, there = (
        conjoin.partition(data, target="y", representation=CHOICES[name], random_state=3)
        for data in (frames, shuffled)
    )
    assert here.clusters == there.clusters
    for key, frame in frames.items():
        X = frame.drop(columns="y")
        np.testing.assert_allclose(here.predict(X, key), there.predict(X, key), rtol=1e-9)
    for strategy, estimate in here.errors.items():
        assert there.errors[strategy].error == pytest.approx(estimate.error, rel=1e-9)


def test_features_out_of_step_with_their_targets_would_be_noticed(frames):
    """The check above can fail: with targets of other rows, errors are those of noise."""
    rng = np.random.default_rng(0)
    broken = {k: f.assign(y=rng.permutation(f["y"].to_numpy())) for k, f in frames.items()}
    good, bad = (
        conjoin.partition(data, target="y", representation="mlp1") for data in (frames, broken)
    )
    assert bad.errors["auto"].error > 3 * good.errors["auto"].error


def test_the_seed_is_passed_on_to_networks_given_by_name(frames, result):
    again = conjoin.partition(frames, target="y", representation="mlp2")
    other = conjoin.partition(frames, target="y", representation="mlp2", random_state=1)
    X = frames["d1"].drop(columns="y")
    np.testing.assert_array_equal(again.predict(X, "d1"), result.predict(X, "d1"))
    assert not np.allclose(other.predict(X, "d1"), result.predict(X, "d1"))


def test_names_of_columns_change_nothing(frames, result):
    renamed = {
        k: f.rename(columns={"a": "z", "b": "y", "c": "x", "y": "t"}) for k, f in frames.items()
    }
    other = conjoin.partition(renamed, target="t", representation="mlp2")
    np.testing.assert_array_equal(
        other.predict(renamed["d1"], "d1"), result.predict(frames["d1"], "d1")
    )


# --- honesty -------------------------------------------------------------------------------------


def test_errors_are_honest_unless_all_rows_teach():
    rng = np.random.default_rng(0)
    noise = {
        f"d{k}": {**{f"x{j}": rng.standard_normal(150) for j in range(8)},
                  "y": rng.standard_normal(150)}
        for k in range(4)
    }  # fmt: skip
    wide = MLP(width=24, rate=0.02, epochs=300)
    honest, literal = (
        conjoin.partition(noise, target="y", representation=wide, learn_share=share)
        for share in (0.5, 1.0)
    )
    used = honest.representation.used
    assert (honest.representation.taught, used) == (300, 300)
    chance = 3 * np.sqrt(2 / used)  # of the mean of so many squares
    assert min(e.error for e in honest.errors.values()) > 1 - chance
    assert literal.errors["pooled"].error < 0.6
    assert literal.representation.taught == literal.representation.used == 600
    assert literal.representation.flatters and not honest.representation.flatters
    assert "the same rows" in literal.representation.description
    words = "errors are validated, so they are too low"
    facts = (cautions(one) for one in (literal, honest))
    assert [any(words in text for text in found) for found in facts] == [True, False]


def test_splines_are_worth_a_try_and_seeds_matter_where_rows_are_few():
    """What the page on representations says of them."""
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
    assert curves < 0.95 * network < network < 0.98 * lines
    few = bikes.query("hour < 4").groupby("hour").head(80)
    errors = [error(few, "mlp1", seed) for seed in range(6)]
    assert max(errors) > 1.15 * min(errors)


@pytest.mark.slow
def test_errors_of_the_bikes_hold_on_rows_kept_aside():
    bikes = pd.DataFrame(load_seoul_bikes())
    aside = np.random.default_rng(0).random(len(bikes)) < 0.25
    validated, found = {}, {}
    splines = make_pipeline(StandardScaler(), SplineTransformer())
    choices = {None: None, "mlp1": "mlp1", "mlp2": "mlp2", "splines": splines}
    for name, representation in choices.items():
        result = conjoin.partition(
            bikes[~aside], target="rented_bikes", by="hour", representation=representation
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConjoinWarning)  # of rows beyond limits
            error = result.predict(bikes[aside]) - bikes[aside]["rented_bikes"]
        validated[name], found[name] = (
            result.errors["auto"].error ** 0.5,
            np.sqrt(np.mean(error**2)),
        )
    for name in ("mlp1", "mlp2", "splines"):
        assert found[name] < 0.85 * found[None]
        assert found[name] == pytest.approx(validated[name], rel=0.05)


def test_rows_that_teach_are_dealt_inside_datasets_and_leave_one():
    rng = np.random.default_rng(0)
    sizes = np.array([1, 2, 3, 10, 101])
    starts = np.append(0, np.cumsum(sizes))
    X, y = rng.standard_normal((117, 2)), rng.standard_normal(117)
    for share, expected in ((0.5, [0, 1, 1, 5, 50]), (0.9, [0, 1, 2, 9, 90]), (0.999, None)):
        teach = deal_share(X, y, starts, ("a", "b"), share, 0)
        counts = np.add.reduceat(teach, starts[:-1], dtype=int)
        assert (counts < sizes).all()
        if expected is not None:
            assert counts.tolist() == expected
    order = np.concatenate([i + rng.permutation(j - i) for i, j in zip(starts, starts[1:])])
    again = deal_share(X[order], y[order], starts, ("a", "b"), 0.5, 0)
    np.testing.assert_array_equal(again, deal_share(X, y, starts, ("a", "b"), 0.5, 0)[order])
    assert (deal_share(X, y, starts, ("a", "b"), 0.5, 1) != again).any()


@pytest.mark.parametrize(
    "representation, learns",
    [
        (PCA(2), False),
        (make_pipeline(StandardScaler(), PolynomialFeatures(2)), False),
        (PLSRegression(2), True),
        (make_pipeline(StandardScaler(), PLSRegression(2)), True),
        (make_pipeline(SelectKBest(k=2), StandardScaler()), False),
        (squares, False),
        (MLP(), True),
        ("mlp1", True),
        (Transformer(PCA(2), target=True), True),
    ],
)
def test_what_learns_from_the_target_is_known(representation, learns):
    assert as_representation(representation).learns_from_target is learns


def test_a_transformer_without_need_does_not_see_the_target(frames):
    class Spy(PCA):
        def fit(self, X, y=None):
            assert y is None
            return super().fit(X)

    result = conjoin.partition(frames, target="y", representation=Spy(2))
    assert (result.representation.taught, result.representation.used) == (600, 600)
    assert result.representation.description.endswith("without the target, 600 rows")
    assert not result.representation.flatters


def test_what_needs_the_target_and_does_not_say_so_is_not_given_it(frames):
    chosen = SelectKBest(f_regression, k=2)
    with pytest.raises(DataError, match=r"cannot be fitted: .*not given the target.*target=True"):
        conjoin.partition(frames, target="y", representation=chosen)
    result = conjoin.partition(frames, target="y", representation=Transformer(chosen, target=True))
    assert (result.representation.taught, result.representation.used) == (300, 300)


def test_a_tapped_network_uses_all_rows(frames):
    torch = pytest.importorskip("torch")
    network = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
    result = conjoin.partition(frames, target="y", representation=Tap(network, "1"))
    assert result.representation.used == 600
    assert "layer '1' of Sequential" in str(result.representation)
    heads = Heads.of(result.representation.features, result.using("clusters"))
    assert heads.labels == result.labels


# --- what the result knows -----------------------------------------------------------------------


def test_the_result_knows_its_representation(result):
    learned = result.representation
    assert (learned.rows, learned.taught, learned.used) == (600, 300, 300)
    assert learned.description.startswith("MLP2 (two hidden layers of 16 units), trained on 300 of")
    assert "columns and target standardised; models are of the other 300" in str(learned)
    assert len(learned.losses) == len(learned.held_out) > 5
    assert learned.losses[-1] < learned.losses[0]
    assert result.settings["representation"] == "mlp2"
    assert sum(result.coefficients[name].rows for name in result.labels) == 300


def test_the_report_says_so(result, tmp_path):
    result.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "MLP2 (two hidden layers of 16 units)" in page
    assert "--representation mlp2" in page
    facts = summarize(result)["representation"]
    assert facts["taught"] == 300 and facts["losses"]


def test_heads_go_on_the_network(frames, result):
    clusters = result.using("clusters")
    heads = Heads.of(result.representation.features, clusters)
    X = frames["d3"].drop(columns="y")
    np.testing.assert_allclose(
        heads.predict(X.to_numpy(), "d3"), clusters.predict(X, "d3"), rtol=1e-9
    )


def test_units_that_are_dead_are_left_out(frames):
    result = conjoin.partition(
        frames,
        target="y",
        representation=lambda X: np.column_stack([X[:, 0], 0 * X[:, 1], X[:, 1]]),
    )
    assert result.features == ("unit1", "unit3")
    loaded = result.predict(frames["d1"].drop(columns="y"), "d1")
    assert np.isfinite(loaded).all()


def test_progress_goes_on_after_training(frames):
    told = []
    result = conjoin.partition(
        frames,
        target="y",
        representation="mlp1",
        strategy="auto",
        progress=lambda done, total: told.append((done, total)),
    )
    epochs = len(result.representation.losses)
    done = [step for step, _ in told]
    assert done == sorted(done) and len(told) > epochs
    assert all(step <= total for step, total in told)
    assert told[-1][0] == told[-1][1]


# --- targets and methods -------------------------------------------------------------------------


@pytest.mark.parametrize("sizes, classes", [((2, 2), 2), ((2, 2), 3)])
@pytest.mark.parametrize("representation", ["mlp1", MLP(task="regression", rate=0.01)])
def test_classes(sizes, classes, representation, tmp_path):
    shops = make_class_clusters(sizes=sizes, n=120, p=3, classes=classes, random_state=0).tables()
    result = conjoin.partition(shops, target="y", representation=representation)
    assert result.representation.map.settings["task"] == "classification"
    assert "columns standardised" in str(result.representation)
    X = {name: column for name, column in shops["d1"].items() if name != "y"}
    probabilities = result.predict_proba(X, "d1")
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    result.save(tmp_path / "model.json")
    loaded = conjoin.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_proba(X, "d1"), probabilities)
    assert loaded.scores == result.scores


def test_counts_are_learned_as_logarithms():
    rng = np.random.default_rng(0)
    frames = {}
    for name in "abc":
        X = rng.standard_normal((150, 2))
        y = rng.poisson(np.exp(1 + np.abs(X[:, 0])))
        frames[name] = pd.DataFrame(X, columns=["u", "v"]).assign(y=y)
    both = [
        conjoin.partition(frames, target="y", family="poisson", representation=one)
        for one in (None, "mlp1")
    ]
    assert both[1].errors["auto"].error < 0.8 * both[0].errors["auto"].error
    assert (both[1].predict(frames["a"][["u", "v"]], "a") > 0).all()
    center, _ = both[1].representation.map.target
    assert center == pytest.approx(np.mean(np.log1p(np.concatenate([f["y"] for f in frames.values()]))), abs=0.1)  # fmt: skip  # noqa: E501


@pytest.mark.parametrize("method", ["tuned", "bound", "direct", "kmeans", "validated"])
def test_other_methods_work_on_representations(frames, method):
    options = {"resamples": 50, "n": 30} if method == "tuned" else {}
    representation = Function(lambda X: np.column_stack([np.abs(X[:, 0]), X[:, 1]]))
    result = conjoin.partition(
        frames, target="y", representation=representation, method=method, **options
    )
    if method in ("tuned", "validated"):
        assert result.clusters == [["d1", "d2"], ["d3", "d4"]]
    assert result.method == method


def test_tuned_works_on_networks(frames):
    result = conjoin.partition(
        frames, target="y", representation=MLP(), method="tuned", resamples=50, n=30
    )
    assert sorted(name for cluster in result.clusters for name in cluster) == sorted(frames)


def test_weights_and_files(frames, tmp_path):
    rng = np.random.default_rng(0)
    long = pd.concat([f.assign(store=k, w=rng.uniform(1, 3, len(f))) for k, f in frames.items()])
    long.to_csv(tmp_path / "long.csv", index=False)
    asked = {"target": "y", "by": "store", "weights": "w", "representation": "mlp1"}
    file = conjoin.partition(str(tmp_path / "long.csv"), **asked)
    memory = conjoin.partition(long, **asked)
    np.testing.assert_allclose(file.predict(long), memory.predict(long), rtol=1e-6)


def test_rows_of_lazy_frames_are_fetched(frames):
    pl = pytest.importorskip("polars")
    long = pd.concat([f.assign(store=k) for k, f in frames.items()])
    lazy = pl.from_pandas(long.reset_index(drop=True)).lazy()
    there = conjoin.partition(lazy, target="y", by="store", representation="mlp1")
    here = conjoin.partition(long, target="y", by="store", representation="mlp1")
    np.testing.assert_allclose(there.predict(long), here.predict(long), rtol=1e-9)


# --- files ---------------------------------------------------------------------------------------


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


def test_numbers_of_a_network_map_as_the_network_does(result):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    layers = result.representation.map
    assert isinstance(layers, Layers)
    np.testing.assert_allclose(
        layers.transform(X), result.representation.features.transform(X), rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("name", ["pca", "function"])
def test_code_is_not_saved(frames, name, tmp_path):
    result = conjoin.partition(frames, target="y", representation=CHOICES[name])
    with pytest.raises(ArgumentError, match="cannot be saved: it is code.*Pickle the result"):
        result.save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


# --- estimators ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows(frames):
    long = pd.concat([f.assign(store=k) for k, f in frames.items()], ignore_index=True)
    return long.drop(columns="y"), long["y"]


@pytest.mark.parametrize("representation", ["mlp1", MLP(rate=0.01), PCA(2)])
def test_estimators_clone_pickle_and_agree_with_partition(rows, frames, representation):
    X, y = rows
    model = clone(conjoin.JoinRegressor(by="store", representation=representation)).fit(X, y)
    result = conjoin.partition(frames, target="y", representation=representation)
    np.testing.assert_allclose(model.predict(X.head(5)), result.predict(X.head(5), "d1"), rtol=1e-6)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_estimators_save_networks(rows, tmp_path):
    X, y = rows
    for representation in ("mlp1", MLP(rate=0.01, width=7)):
        model = conjoin.JoinRegressor(by="store", representation=representation).fit(X, y)
        model.save(tmp_path / "model.json")
        loaded = conjoin.JoinRegressor.load(tmp_path / "model.json")
        assert loaded.get_params() == model.get_params()
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    model = conjoin.JoinRegressor(by="store", representation=PCA(2)).fit(X, y)
    with pytest.raises(ArgumentError, match="cannot be saved: it is code"):
        model.save(tmp_path / "other.json")


def test_a_search_over_representations(rows):
    X, y = rows
    search = GridSearchCV(
        conjoin.JoinRegressor(by="store"),
        {"representation": [None, "mlp1", PCA(2)]},
        cv=KFold(2, shuffle=True, random_state=0),
    ).fit(X, y)
    assert search.best_params_ == {"representation": "mlp1"}
    nested = conjoin.JoinRegressor(by="store", representation=PCA(2))
    assert nested.set_params(representation__n_components=1).representation.n_components == 1


def test_one_dataset(rows, tmp_path):
    X, y = rows[0].query("store == 'd1'").drop(columns="store"), rows[1][: len(bent()["d1"])]
    with pytest.warns(ConjoinWarning, match="only one dataset"):
        plain = conjoin.JoinRegressor().fit(X, y)
    with pytest.warns(ConjoinWarning, match="only one dataset"):
        model = conjoin.JoinRegressor(representation="mlp1").fit(X, y)
    assert model.score(X, y) > plain.score(X, y) + 0.2
    assert model.result_.representation.used == 75
    model.save(tmp_path / "one.json")
    loaded = conjoin.JoinRegressor.load(tmp_path / "one.json")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with pytest.warns(ConjoinWarning, match="only one dataset"):
        classes = conjoin.JoinClassifier(representation="mlp1").fit(
            X, y > y.median(), sample_weight=np.full(len(y), 2.0)
        )
    assert classes.score(X, y > y.median()) > 0.7


# --- few rows, and what is refused ---------------------------------------------------------------


def test_few_rows(frames):
    few = {k: f.head(n) for (k, f), n in zip(frames.items(), (1, 2, 3, 9))}
    result = conjoin.partition(few, target="y", representation="mlp2")
    assert (result.representation.taught, result.representation.used) == (6, 9)
    assert not result.representation.held_out
    assert np.isfinite(result.predict(few["d4"].drop(columns="y"), "d4")).all()


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
        ({"representation": "mlp1", "learn_share": 0}, "learn_share=0 is no share"),
        ({"representation": "mlp1", "learn_share": 1.5}, "learn_share=1.5 is no share"),
        ({"representation": "mlp1", "learn_share": 0.001}, "no row is left to teach"),
        ({"representation": "mlp1", "learn_share": "half"}, "learn_share='half' is no share"),
        ({"representation": "mlp1", "learn_share": None}, "learn_share=None is no share"),
        ({"learn_share": 0.3}, "learn_share=0.3 is for a representation.*representation='mlp1'"),
        ({"representation": PCA}, r"representation=PCA is a class; .*such as PCA\(\)"),
        ({"representation": MLP}, r"representation=MLP is a class; .*such as MLP\(\)"),
        ({"representation": lambda X: 0 * X}, "is the same in all rows; let its features differ"),
        ({"representation": Broken()}, "not finite; it must give a finite number"),
        ({"representation": lambda X: X[:3]}, "for 32 rows; expected one line"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(frames, asked, message):
    with pytest.raises((ArgumentError, DataError), match=message):
        conjoin.partition(frames, target="y", **asked)


def test_a_network_of_another_width_is_told_the_columns(frames):
    torch = pytest.importorskip("torch")
    more = {name: frame.assign(one=1.0) for name, frame in frames.items()}
    tap = Tap(torch.nn.Linear(4, 2), "")
    message = (
        r"cannot take rows of 3 columns \(mat1 and mat2 .*check its input. After encoding there "
        "are 3: 'a', 'b', 'c'; left out, since the same in all rows: 'one'."
    )
    for call in (conjoin.partition, lambda data, **asked: embed(tap, data, target="y")):
        with (
            pytest.raises(DataError, match=message),
            pytest.warns(ConjoinWarning, match="one value in all datasets"),
        ):
            call(more, target="y", representation=tap)


def test_two_datasets_are_compared_without(frames):
    with pytest.raises(ArgumentError, match="compare has no representation; .*partition"):
        conjoin.compare(frames["d1"], frames["d3"], target="y", representation="mlp1")


def test_a_share_without_a_representation_is_no_fault_in_a_search(rows):
    X, y = rows
    model = conjoin.JoinRegressor(by="store", learn_share=0.3).fit(X, y)
    assert model.result_.representation is None


def test_one_row_each_teaches_nothing(frames):
    single = {f"s{i}": frames["d1"].iloc[[i]] for i in range(6)}
    with pytest.raises(DataError, match="no row is left to teach.*learn_share=1"):
        conjoin.partition(single, target="y", representation="mlp1")


def test_without_torch_a_name_says_how_to_get_it(frames, monkeypatch):
    for name in [n for n in sys.modules if n == "torch" or "conjoin.representations.torch" in n]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(conjoin.ConjoinError, match=r"run pip install 'conjoin\[nn\]'"):
        conjoin.partition(frames, target="y", representation="mlp1")


def test_a_network_that_diverges_is_trained_with_smaller_steps():
    stores = make_clusters(sizes=(2,), n=200, p=4, random_state=0).tables()
    for table in stores.values():
        table["y"][:2] = 1e6
    result = conjoin.partition(stores, target="y", representation="mlp1")
    assert np.isfinite(result.errors["auto"].error)
