"""Heads predict as the linear models, are trained further, and are saved."""

from dataclasses import dataclass

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra nn)")

import conjoin  # noqa: E402
from conjoin import LinearFit  # noqa: E402
from conjoin.datasets import (  # noqa: E402
    make_class_clusters,
    make_clusters,
    make_count_clusters,
)
from conjoin.errors import ArgumentError, DataError  # noqa: E402
from conjoin.representations import MLP, Function, Heads, Tap, embed, embed_arrays  # noqa: E402
from conjoin.representations.training import Training  # noqa: E402

TOLERANCE = {"rtol": 1e-6, "atol": 1e-9}
EXACT = {"rtol": 1e-10, "atol": 1e-10}
ZERO_WEIGHTS = np.zeros((1, 1)), np.zeros((1, 1, 4))


@pytest.fixture(scope="module")
def stores():
    return make_clusters(sizes=(2, 2), n=100, p=4, distance=2.0)


def own_network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Linear(6, 1))


SOURCES = {
    "mlp1": lambda: MLP(rate=0.01),
    "mlp2": lambda: MLP(hidden=2, rate=0.01, width=9),
    "own": lambda: Tap(own_network(), layer="1"),  # in single precision
}


@pytest.fixture(scope="module", params=SOURCES)
def fitted(request, stores):
    embedding = embed(SOURCES[request.param](), stores.tables(), target="y")
    result = conjoin.partition(embedding.tables, target="y", strategy="clusters")
    return embedding, result


@pytest.mark.filterwarnings("ignore:.*rows lie far outside:conjoin.ConjoinWarning")
def test_heads_predict_what_the_linear_models_predict(fitted, stores):
    embedding, result = fitted
    heads = Heads.of(embedding, result)
    assert len(heads.heads) == len(result.clusters)
    rng = np.random.default_rng(1)
    for name in stores.names:
        X = np.vstack([stores.X[name], 5 * rng.standard_normal((50, 4))])  # some beyond the limits
        columns = embedding.transform({f"x{j + 1}": x for j, x in enumerate(X.T)})
        expected = result.models[result.labels[name]].predict(columns)
        np.testing.assert_allclose(heads.predict(X, name), expected, **TOLERANCE)
        np.testing.assert_allclose(result.predict(columns, name), expected, **TOLERANCE)
        with torch.no_grad():
            alone = heads.network(name)(torch.tensor(X))[:, 0].numpy()
        np.testing.assert_allclose(alone, expected, **TOLERANCE)


def test_limits_can_be_left_out(fitted, stores):
    embedding, result = fitted
    heads = Heads.of(embedding, result, limit=False)
    X = 20 * stores.X["d1"]
    columns = embedding.transform({f"x{j + 1}": x for j, x in enumerate(X.T)})
    expected = result.models[result.labels["d1"]].predict(columns, limit=False)
    np.testing.assert_allclose(heads.predict(X, "d1"), expected, **TOLERANCE)
    assert np.abs(Heads.of(embedding, result).predict(X, "d1") - expected).max() > 1


def test_rows_of_many_datasets_get_each_their_own_head(fitted, stores):
    embedding, result = fitted
    heads = Heads.of(embedding, result)
    X = np.vstack([stores.X[name] for name in stores.names])
    names = np.repeat(stores.names, 100)
    order = np.random.default_rng(0).permutation(len(X))
    whole = heads.predict(X[order], names[order])
    parts = np.concatenate([heads.predict(stores.X[name], name) for name in stores.names])
    np.testing.assert_allclose(whole, parts[order], **TOLERANCE)
    labels = torch.tensor([heads.labels[name] for name in names])
    with torch.no_grad():
        np.testing.assert_allclose(heads(torch.tensor(X), labels)[:, 0], parts, **TOLERANCE)


def test_a_head_for_each_dataset_from_a_mapping_of_models(fitted, stores):
    embedding, result = fitted
    averaged = result.using("auto")
    heads = Heads.of(embedding, averaged.coefficients)
    assert len(heads.heads) == 4
    for name in stores.names:
        columns = embedding.transform(stores.tables()[name])
        expected = averaged.predict(columns, name)
        np.testing.assert_allclose(heads.predict(stores.X[name], name), expected, **TOLERANCE)


def test_saved_heads_predict_the_same_to_the_last_digit(fitted, stores, tmp_path):
    embedding, result = fitted
    heads = Heads.of(embedding, result)
    heads.save(tmp_path / "heads.pt")
    content = torch.load(tmp_path / "heads.pt", weights_only=True)  # nothing but tensors and values
    assert content["conjoin"] == "heads"
    if "layer" in content:
        with pytest.raises(ArgumentError, match="pass module="):
            Heads.load(tmp_path / "heads.pt")
        other = own_network()
        torch.nn.init.zeros_(other[0].weight)
        loaded = Heads.load(tmp_path / "heads.pt", module=other)
    else:
        loaded = Heads.load(tmp_path / "heads.pt")
    assert loaded.labels == heads.labels
    for name in stores.names:
        X = 3 * stores.X[name]
        np.testing.assert_array_equal(loaded.predict(X, name), heads.predict(X, name))


def test_a_constant_activation_and_a_target_named_like_one_are_handled(stores):
    network = own_network()
    with torch.no_grad():
        network[0].bias[2] = -1e6
    tables = {
        name: {("unit1" if column == "y" else column): x for column, x in table.items()}
        for name, table in stores.tables().items()
    }
    embedding = embed(Tap(network, layer="1"), tables, target="unit1")
    assert embedding.columns[0] == "unit1_" and "unit3" not in embedding.columns
    result = conjoin.partition(embedding.tables, target="unit1", strategy="clusters")
    heads = Heads.of(embedding, result)
    expected = result.predict(embedding.tables["d2"], "d2")
    np.testing.assert_allclose(heads.predict(stores.X["d2"], "d2"), expected, **TOLERANCE)
    assert all(head.weight[0, 2] == 0 for head in heads.heads)


def test_heads_are_a_copy(fitted, stores):
    embedding, result = fitted
    heads = Heads.of(embedding, result)
    before = embedding.features.transform(stores.X["d1"])
    with torch.no_grad():
        for parameter in heads.parameters():
            parameter.zero_()
    np.testing.assert_array_equal(embedding.features.transform(stores.X["d1"]), before)


@pytest.mark.parametrize("body", [False, True])
def test_finetuning_starts_from_the_heads(fitted, stores, body):
    embedding, result = fitted
    heads = Heads.of(embedding, result)
    X = np.vstack([stores.X[name] for name in stores.names])
    y = 1000 * np.concatenate([stores.y[name] for name in stores.names]) + 5000
    names = np.repeat(stores.names, 100)
    far = Heads.of(embedding, result)
    error = np.mean((far.predict(X, names) - y) ** 2)
    steps = Training(epochs=30, rate=0.02)
    tuned = far.finetune(X, y, names, body=body, training=steps, random_state=1)
    assert np.mean((tuned.predict(X, names) - y) ** 2) < 0.3 * error
    np.testing.assert_array_equal(far.predict(X, names), heads.predict(X, names))  # unchanged
    moved = np.abs(
        tuned.body(torch.tensor(X)).detach().numpy() - far.body(torch.tensor(X)).detach().numpy()
    ).max()
    assert (moved > 1e-3) == body
    assert len(tuned.loss_history.train) == 30
    order = np.random.default_rng(0).permutation(len(X))
    again = far.finetune(
        X[order], y[order], names[order], body=body, training=steps, random_state=1
    )
    np.testing.assert_array_equal(again.predict(X, names), tuned.predict(X, names))


def test_no_epochs_change_nothing(fitted, stores):
    embedding, result = fitted
    heads = Heads.of(embedding, result)
    tuned = heads.finetune(stores.X["d1"], stores.y["d1"], "d1", training=Training(epochs=0))
    ours, theirs = (h.predict(stores.X["d1"], "d1") for h in (tuned, heads))
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)


OUTCOMES = {
    "gaussian": lambda: make_clusters(sizes=(2, 2), n=100, p=4, distance=2.0).tables(),
    "poisson": lambda: make_count_clusters(sizes=(2, 2), n=100, p=4).tables(),
    "two classes": lambda: make_class_clusters(sizes=(2, 2), n=100, p=4).tables(),
    "three classes": lambda: make_class_clusters(sizes=(2, 2), n=150, p=4, classes=3).tables(),
}


def fit_outcomes(kind):
    tables = OUTCOMES[kind]()
    classes = "classes" in kind
    family = "logistic" if classes else kind
    representation = MLP(rate=0.01, task="classification" if classes else "regression")
    X = {
        name: np.column_stack([table[f"x{j}"] for j in range(1, 5)])
        for name, table in tables.items()
    }
    embedding = embed_arrays(representation, {name: (X[name], tables[name]["y"]) for name in X})
    result = conjoin.partition(embedding.tables, target="y", strategy="clusters", family=family)
    return X, tables, embedding, result


@pytest.fixture(scope="module", params=OUTCOMES)
def outcomes(request):
    return fit_outcomes(request.param)


@pytest.mark.parametrize("strategy", ["clusters", "auto"])
def test_targets_of_every_kind_are_predicted_as_by_the_result(outcomes, strategy, tmp_path):
    X, _, embedding, result = outcomes
    result = result.using(strategy)
    models = result if strategy == "clusters" else result.coefficients
    Heads.of(embedding, models).save(tmp_path / "heads.pt")
    sources = (embedding, embedding.features)
    made = [Heads.of(source, models) for source in sources]
    for heads in (*made, Heads.load(tmp_path / "heads.pt")):
        assert heads.response.classes == result.classes
        for name, rows in X.items():
            columns = embedding.tables[name]
            found, expected = heads.predict(rows, name), result.predict(columns, name)
            if not result.classes:
                np.testing.assert_allclose(found, expected, **EXACT)
                continue
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
            probabilities = heads.predict_proba(rows, name)
            np.testing.assert_allclose(probabilities, result.predict_proba(columns, name), **EXACT)


@pytest.mark.parametrize("kind", ["two classes", "three classes"])
def test_heads_are_trained_on_labels_of_classes(kind):
    X, tables, embedding, result = fit_outcomes(kind)
    heads = Heads.of(embedding, result)
    assert len(heads.response.classes) == (2 if kind == "two classes" else 3)
    steps = Training(epochs=20, rate=0.05)
    tuned = heads.finetune(X["d1"], tables["d1"]["y"], "d1", training=steps)
    assert tuned.loss_history.train[-1] < tuned.loss_history.train[0]
    assert tuned.response == heads.response
    with pytest.raises(DataError, match="label 'other', which is not in the training data"):
        heads.finetune(X["d1"], ["other"] * len(X["d1"]), "d1")


def test_heads_with_a_score_for_each_class(stores, tmp_path):
    features = MLP(task="classification", rate=0.05, epochs=20).fit(
        stores.X["d1"], stores.y["d1"] > 0
    )
    slopes = features.head.weight.numpy()[None]
    intercepts = features.head.bias.numpy()[None]
    heads = Heads(features.body, (intercepts, slopes), {"d1": 0}, loss="softmax")
    assert heads.outputs(stores.X["d1"], "d1").shape == (100, 2)
    probabilities = features.predict(stores.X["d1"])
    np.testing.assert_allclose(heads.predict_proba(stores.X["d1"], "d1"), probabilities, rtol=1e-10)
    found = heads.predict(stores.X["d1"], "d1")
    np.testing.assert_array_equal(found, probabilities.argmax(axis=1))
    tuned = heads.finetune(stores.X["d1"], stores.y["d1"] > 0, "d1")
    assert tuned.loss_history.train[-1] < tuned.loss_history.train[0]
    heads.save(tmp_path / "heads.pt")
    assert Heads.load(tmp_path / "heads.pt").loss == "softmax"


@dataclass
class Lines:
    """A model of several lines, as of a logistic regression."""

    lines: tuple
    limits: dict
    classes: tuple = ("a", "b", "c")


def test_models_of_several_lines_become_heads_of_several_outputs(fitted, stores):
    embedding, result = fitted
    known = embedding.columns
    lines = tuple(
        LinearFit(float(i), dict.fromkeys(known[i:], 1.0 + i), 100, 1.0) for i in range(3)
    )
    heads = Heads.of(embedding, {"d1": Lines(lines, {})})
    columns = embedding.transform(stores.tables()["d1"])
    expected = np.column_stack([line.predict(columns) for line in lines])
    np.testing.assert_allclose(heads.outputs(stores.X["d1"], "d1"), expected, **TOLERANCE)
    assert heads.loss == "softmax"
    assert heads.response.classes == ("a", "b", "c")
    one = Heads.of(embedding, {"d1": Lines(lines[:1], {}, ("a", "b"))})
    assert one.loss == "logistic"


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_finetuning_by_a_likelihood_reaches_its_optimum(stores, loss):
    # With an intercept alone that is the mean rate.
    features = MLP(epochs=0).fit(stores.X["d1"], stores.y["d1"])
    rng = np.random.default_rng(0)
    y = rng.binomial(1, 0.3, 100) if loss == "logistic" else rng.poisson(3, 100)
    low, high = np.zeros(4), np.zeros(4)  # no activation gets through
    heads = Heads(
        features.body, (np.zeros((1, 1)), np.zeros((1, 1, 4))), {"d1": 0}, (low, high), loss
    )
    steps = Training(epochs=300, rate=0.05, batch=100)
    tuned = heads.finetune(stores.X["d1"], y, "d1", training=steps)
    classes = loss == "logistic"
    found = (tuned.predict_proba if classes else tuned.predict)(stores.X["d1"], "d1")
    rate = found[:, 1] if classes else found
    np.testing.assert_allclose(rate, y.mean(), rtol=1e-3)


def test_what_cannot_have_heads_is_refused(fitted, stores):
    embedding, result = fitted
    with pytest.raises(ArgumentError, match="FunctionFeatures is not a network"):
        Heads.of(Function(np.abs).fit(stores.X["d1"], stores.y["d1"]), result)
    with pytest.raises(ArgumentError, match="models is empty"):
        Heads.of(embedding, {})
    plain = conjoin.partition(stores.tables(), target="y", strategy="clusters")
    with pytest.raises(DataError, match="feature 'x1', which is not an activation"):
        Heads.of(embedding, plain)
    heads = Heads.of(embedding, result)
    with pytest.raises(DataError, match="'d9' has no head"):
        heads.predict(stores.X["d1"], "d9")
    with pytest.raises(DataError, match="2 names, but X has 100 rows"):
        heads.predict(stores.X["d1"], ["d1", "d2"])
    with pytest.raises(ArgumentError, match="no probabilities; use predict"):
        heads.predict_proba(stores.X["d1"], "d1")
    with pytest.raises(ArgumentError, match="has 3 labels; expected 2"):
        Heads(heads.body, ZERO_WEIGHTS, {"d1": 0}, loss="logistic", classes="abc")
    with pytest.raises(
        DataError, match="y has shape .3,.; expected one value for each of 100 rows"
    ):
        heads.finetune(stores.X["d1"], stores.y["d1"][:3], "d1")


@pytest.mark.parametrize("kind", OUTCOMES)
def test_heads_of_a_result_with_a_representation(kind):
    tables = OUTCOMES[kind]()
    family = "logistic" if "classes" in kind else kind
    result = conjoin.partition(
        tables, target="y", strategy="clusters", family=family, representation=MLP(rate=0.01)
    )
    averaged = result.using("auto")
    for one, models in ((result, result), (averaged, averaged.coefficients)):
        heads = Heads.of(one.representation.features, models)
        for name, table in tables.items():
            X = np.column_stack([table[f"x{j}"] for j in range(1, 5)])
            if result.classes:
                np.testing.assert_array_equal(heads.predict(X, name), one.predict(table, name))
                found, expected = heads.predict_proba(X, name), one.predict_proba(table, name)
            else:
                found, expected = heads.predict(X, name), one.predict(table, name)
            np.testing.assert_allclose(found, expected, **EXACT)


# --- heads of a result ---------------------------------------------------------------------------


def mixed(n=240):
    """A table with text, missing values and a column that names the dataset."""
    rng = np.random.default_rng(3)
    x, z = rng.standard_normal((2, n))
    shop = np.repeat(["a", "b", "c"], n // 3)
    kind = rng.choice(["tea", "coffee"], n)
    y = np.abs(x) + (kind == "tea") + 0.3 * rng.standard_normal(n)
    return {
        "x": x,
        "kind": kind,
        "z": np.where(rng.random(n) < 0.1, np.nan, z),
        "shop": shop,
        "y": y,
    }


@pytest.fixture(scope="module")
def with_network():
    table = mixed()
    return table, conjoin.partition(table, target="y", by="shop", representation="mlp1")


def test_heads_of_a_result_take_its_tables(with_network, tmp_path):
    table, result = with_network
    clusters = result.using("clusters")
    heads = Heads.of(result)
    np.testing.assert_allclose(heads.predict(table), clusters.predict(table), **EXACT)
    turned = dict(reversed(table.items()))
    np.testing.assert_allclose(heads.predict(turned), clusters.predict(table), **EXACT)
    own = Heads.of(result, result.coefficients)
    np.testing.assert_allclose(own.predict(table, table["shop"]), result.predict(table), **EXACT)
    heads.save(tmp_path / "heads.pt")
    again = Heads.load(tmp_path / "heads.pt")
    np.testing.assert_allclose(again.predict(turned), clusters.predict(table), **EXACT)


def test_heads_of_a_result_are_trained_further_on_its_tables(with_network):
    table, result = with_network
    heads = Heads.of(result)
    tuned = heads.finetune(table, table["y"], training=Training(epochs=30, rate=0.01), body=True)
    errors = [np.mean((h.predict(table) - table["y"]) ** 2) for h in (heads, tuned)]
    assert errors[1] < errors[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda heads, table: heads.predict({"x": table["x"]}, "a"), "X lacks column 'kind'"),
        (lambda heads, table: heads.predict(np.ones((3, 2)), "a"), "cannot take rows of shape"),
        (lambda heads, table: heads.predict(np.ones((3, 4))), "which dataset a row belongs to"),
        (lambda heads, table: heads.finetune(table, ["p"] * 240), "y is not numeric"),
        (lambda heads, table: heads.finetune(table, [np.nan] * 240), "missing or infinite"),
        (lambda heads, table: heads.predict(table, "nowhere"), "has no head"),
    ],
)
def test_unusable_input_of_heads_is_refused(with_network, call, message):
    table, result = with_network
    with pytest.raises((ArgumentError, DataError), match=message):
        call(Heads.of(result), table)


def test_heads_without_columns_refuse_tables(with_network, stores):
    _, result = with_network
    bare = Heads.of(result.representation.features, result)
    with pytest.raises(ArgumentError, match="these heads have no column names"):
        bare.predict(mixed(), "a")
    plain = conjoin.partition(stores.tables(), target="y")
    with pytest.raises(ArgumentError, match="The result has no representation"):
        Heads.of(plain)
    with pytest.raises(ArgumentError, match="models is missing"):
        Heads.of(result.representation.features)
