"""The model of a new dataset: as good as a fit to everything, for numbers, classes and counts."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import xlogy

import conjoin
from conjoin.datasets import make_clusters
from conjoin.families import Response
from conjoin.result.assigning import losses_of
from conjoin.result.document import checksum
from conjoin.result.fits import LinearFit, LogisticFit


def make_shops(shops=16, rows=40, seed=0, target="number"):
    """Shops whose slopes scatter around a common centre."""
    rng = np.random.default_rng(seed)
    parts = []
    for k in range(shops):
        X = rng.standard_normal((rows, 4))
        eta = X @ (np.array([1.0, -0.5, 0.3, 0.0]) + 0.4 * rng.standard_normal(4))
        eta += rng.normal(0, 0.5)
        if target == "number":
            y = eta + 0.7 * rng.standard_normal(rows)
        elif target == "class":
            y = np.where(rng.random(rows) < 1 / (1 + np.exp(-eta)), "yes", "no")
        else:
            y = rng.poisson(np.exp(np.clip(eta, -3, 3)))
        parts.append(pd.DataFrame(X, columns=list("abcd")).assign(y=y, shop=f"s{k}"))
    return pd.concat(parts, ignore_index=True)


def loss(values, y, target):
    if target == "number":
        return np.mean((values - y) ** 2)
    if target == "class":
        return -np.mean(np.log(np.where(y == "yes", values[:, 1], values[:, 0])))
    return np.mean(values - y + xlogy(y, y) - y * np.log(values))


FAMILIES = {"number": "gaussian", "class": "logistic", "count": "poisson"}


@pytest.mark.parametrize("target", list(FAMILIES))
def test_ten_rows_are_as_good_as_fitting_everything_again(target):
    ratios = []
    for seed in range(3):
        table = make_shops(rows=230, seed=seed, target=target)
        others = table[(table["shop"] != "s0") & (np.arange(len(table)) % 230 < 40)]
        own = table[table["shop"] == "s0"]
        few, test = own[:10], own[30:]
        result = conjoin.partition(others, target="y", by="shop", family=FAMILIES[target])
        model = result.assign(few, few["y"]).model
        again = conjoin.partition(
            pd.concat([others, few]), target="y", by="shop", family=FAMILIES[target]
        )
        if target == "class":
            pair = model.predict_proba(test, limit=False), again.predict_proba(test, limit=False)
        else:
            pair = model.predict(test, limit=False), again.predict(test, limit=False)
        one, two = (loss(values, test["y"].to_numpy(), target) for values in pair)
        ratios.append(one / two)
    assert np.exp(np.mean(np.log(ratios))) < 1.05


def test_the_order_of_rows_changes_nothing():
    table = make_shops()
    result = conjoin.partition(table[table["shop"] != "s3"], target="y", by="shop")
    own = table[table["shop"] == "s3"]
    first, second = (result.assign(rows, rows["y"]) for rows in (own, own[::-1]))
    np.testing.assert_allclose(list(first.model.coef.values()), list(second.model.coef.values()))
    assert first.errors["own"] == pytest.approx(second.errors["own"])
    assert first.model.error == first.errors["own"]
    assert first.standard_error > 0


def test_the_error_is_about_that_of_new_rows():
    ratios = []
    for seed in range(6):
        table = make_shops(rows=300, seed=seed)
        others = table[(table["shop"] != "s0") & (np.arange(len(table)) % 300 < 40)]
        own = table[table["shop"] == "s0"]
        result = conjoin.partition(others, target="y", by="shop")
        placed = result.assign(own[:40], own["y"][:40])
        realised = np.mean((placed.model.predict(own[40:], limit=False) - own["y"][40:]) ** 2)
        ratios.append(placed.errors["own"] / realised)
    assert 0.8 < np.exp(np.mean(np.log(ratios))) < 1.25


@pytest.mark.parametrize("strategy", ["partial", "pooled", "separate", "clusters", "mixture"])
def test_every_strategy_places_new_datasets(strategy, tmp_path):
    made = make_clusters(sizes=(3, 3), n=40, p=3, distance=2.0).tables()
    new = made.pop("d6")
    result = conjoin.partition(made, target="y", strategy=strategy)
    placed = result.assign(new, new["y"])
    assert np.isfinite(list(placed.model.coef.values())).all()
    result.save(tmp_path / "model.json", evidence=True)
    again = conjoin.load(tmp_path / "model.json").assign(new, new["y"])
    assert again.model == placed.model
    assert again == placed


def test_added_datasets_are_predicted_and_kept_in_the_file(tmp_path):
    table = make_shops()
    result = conjoin.partition(table[table["shop"] != "s3"], target="y", by="shop")
    own = table[table["shop"] == "s3"]
    placed = result.assign(own[:12], own["y"][:12])
    more = result.adding({"s3": placed})
    assert more.clusters == result.clusters and "s3" not in more.labels
    expected = placed.model.predict(own)
    found, source = more.predict(own, on_unseen="raise", return_source=True)
    np.testing.assert_allclose(found, expected)
    assert set(source) == {"assigned"}
    more.save(tmp_path / "model.json", evidence=True)
    loaded = conjoin.load(tmp_path / "model.json")
    assert loaded.added == more.added
    assert loaded.predict(own).tobytes() == more.predict(own).tobytes()
    assert more.using("partial").added == more.added
    with pytest.raises(conjoin.ConjoinError, match="'s1' was there at fitting and has a model"):
        result.adding({"s1": placed})


def test_sources_of_predictions():
    table = make_shops(shops=4)
    result = conjoin.partition(table[table["shop"] != "s3"], target="y", by="shop")
    rows = table.iloc[[0, 130]].assign(shop=["s0", "s3"])
    nameless = pd.concat([rows, rows[:1].assign(shop=None)])
    with pytest.warns(conjoin.ConjoinWarning, match=r"model for all \(1 of 3 rows\)"):
        _, source = result.predict(nameless, return_source=True)
    assert source.tolist() == [
        "in use",
        "model for all (dataset not seen at fitting)",
        "model for all (no dataset named)",
    ]
    _, source = result.predict(rows, on_unseen="nearest", return_source=True)
    assert source.tolist() == ["in use", "nearest cluster (dataset not seen at fitting)"]


def test_files_without_a_prior_fall_back_to_clusters_and_say_so(tmp_path):
    made = make_clusters(sizes=(3, 3), n=40, p=3, distance=2.0).tables()
    new = made.pop("d6")
    result = conjoin.partition(made, target="y")
    result.save(tmp_path / "model.json", evidence=True)
    document = json.loads((tmp_path / "model.json").read_text())
    del document["content"]["placement"]["priors"]
    document["checksum"] = checksum(document["content"])
    (tmp_path / "old.json").write_text(json.dumps(document))
    old = conjoin.load(tmp_path / "old.json")
    with pytest.warns(conjoin.ConjoinWarning, match="has no learned prior"):
        placed = old.assign(new, new["y"])
    X = np.stack([new[name] for name in result.features], axis=1)
    beta = result.analysis.placement.place(X, np.asarray(new["y"]))[1]
    slopes = result.analysis.placement.basis.to_original(beta)[1]
    np.testing.assert_allclose(list(placed.model.coef.values()), slopes)


def test_losses_of_models():
    rows, y = np.array([[0.0], [2.0]]), np.array([1.0, 0.0])
    line = LinearFit(0.0, {"x": 1.0}, rows=5, error=0.1)
    np.testing.assert_allclose(losses_of(line, rows, y, Response()), [1.0, 4.0])
    classes = LogisticFit(("no", "yes"), (line,), rows=5, error=0.1)
    found = losses_of(classes, rows, y, Response("logistic", ("no", "yes")))
    np.testing.assert_allclose(found, [np.log(2), np.log(1 + np.exp(2.0))])
    counts = losses_of(line, rows, y, Response("poisson"))
    np.testing.assert_allclose(counts, [0.0, np.exp(2.0)])
