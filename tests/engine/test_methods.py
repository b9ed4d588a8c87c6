import numpy as np
import pytest

import conjoin
from conjoin.api.request import PARTITION_METHODS
from conjoin.engine import methods
from conjoin.engine.methods import (
    METHODS,
    _is_worth_it,
    lead_of_whole,
    validate_search,
    whole_outside,
)
from conjoin.engine.stability import Contest, find_stability
from conjoin.models.own_noise import COMMON
from conjoin.strategies import plan
from conjoin.strategies.average import FEWEST_DATASETS
from conjoin.strategies.validation import validate_partition
from tests.collections_ import make
from tests.strategies.flow import run


def test_the_request_names_all_methods():
    assert set(PARTITION_METHODS) == set(METHODS)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_finds_planted_clusters(method):
    truth = make("clusters", K=9, n=120, p=4, clusters=3, seed=2)
    labels = run(truth).choose(method).labels
    together = labels[:, None] == labels
    assert (together == (truth.labels[:, None] == truth.labels)).mean() > 0.9


def test_a_partition_is_kept_only_where_it_predicts():
    for kind, clusters in (("clusters", 3), ("continuum", 1)):
        truth = make(kind, K=12, n=60, p=4, clusters=3, spread=0.0, seed=1)
        assert run(truth).choose().labels.max() + 1 == clusters


def test_the_search_is_validated_once():
    found = run(make("clusters", K=6, n=30, p=3, clusters=2))
    chosen = found.choose()
    assert chosen.searched_losses is not None  # few rows: the choice needed it already
    assert validate_search("auto", chosen, found.start) is chosen.searched_losses


def test_a_method_that_cannot_search_outside_rows_has_no_fair_error():
    found = run(make("clusters", K=6, n=30, p=3, clusters=2))
    assert validate_search("validated", found.choose("validated"), found.start) is None
    assert validate_search("auto", found.choose("auto"), found.start) is not None


def test_one_cluster_is_the_pooled_fit():
    found = run(make("continuum", K=6, n=30, p=3, spread=0.0))
    chosen = found.choose("evidence")
    assert chosen.labels.max() == 0
    assert chosen.clusters is chosen.pooled
    assert np.array_equal(chosen.pooled.coef, found.fits["pooled"].coef)
    assert validate_search("evidence", chosen, found.start) is None
    assert np.ptp(chosen.pooled.coef, axis=0).max() == 0


# --- what every partition keeps to ---------------------------------------------------------------

TABLES = {
    "clusters": conjoin.datasets.make_clusters(sizes=(4, 3, 1), n=40, p=3, distance=2.0).tables(),
    "alike": conjoin.datasets.make_clusters(sizes=(9,), n=15, p=4, distance=0.0).tables(),
    "apart": conjoin.datasets.make_clusters(sizes=(1,) * 7, n=60, p=3, distance=3.0).tables(),
}


@pytest.fixture(scope="module")
def bikes():
    """The bundled table: bikes rented in Seoul, by hour."""
    return conjoin.partition(conjoin.datasets.load_seoul_bikes(), target="rented_bikes", by="hour")


@pytest.fixture(scope="module", params=[*TABLES, "bikes"])
def result(request, bikes):
    if request.param == "bikes":
        return bikes
    return conjoin.partition(TABLES[request.param], target="y")


def test_a_cluster_of_one_dataset_is_its_own_model(result):
    models = result.using("clusters").coefficients
    own = dict(zip(result.labels, result.analysis.details.errors["own"]))
    plain, separate = (result.using(name).coefficients for name in ("plain", "separate"))
    for members, model in zip(result.clusters, result.models):
        if len(members) > 1:
            continue
        name = members[0]
        assert models[name].coef == pytest.approx(model.coef, rel=1e-9)
        assert models[name].error == pytest.approx(model.error, rel=1e-9)
        assert own[name] == pytest.approx(model.error, rel=1e-9)
        assert plain[name].coef == pytest.approx(separate[name].coef, rel=1e-9)
        assert plain[name].error == pytest.approx(separate[name].error, rel=1e-9)


def test_own_models_are_those_of_clusters_of_one(bikes):
    chosen = bikes.analysis.chosen
    alone = np.bincount(chosen.labels)[chosen.labels] == 1
    assert alone.any()
    np.testing.assert_allclose(chosen.own.coef[alone], chosen.clusters.coef[alone], rtol=1e-9)
    np.testing.assert_allclose(chosen.own.losses[:, alone], chosen.clusters.losses[:, alone])


def test_every_join_holds_on_held_out_rows(result):
    joined = [line for line in result.ledger() if line.joined]
    assert len(joined) == len(result.labels) - len(result.clusters)
    for line in joined:
        assert line.verdict != "apart"
        assert line.validated_change <= line.standard_error


def test_plain_clusters_are_least_squares(bikes):
    data = conjoin.datasets.load_seoul_bikes()
    names = list(bikes.features)
    table = {name: np.asarray(data[name], dtype=float) for name in (*names, "rented_bikes")}
    rows = np.isin(np.asarray(data["hour"]).astype(str), ["4", "5"])
    X = np.column_stack([np.ones(rows.sum()), *(table[name][rows] for name in names)])
    expected = np.linalg.lstsq(X, table["rented_bikes"][rows], rcond=None)[0]
    found = bikes.using("plain").coefficients["4"]
    assert [found.intercept, *found.coef.values()] == pytest.approx(expected, rel=1e-6)
    assert "plain" not in bikes.weights


def test_quiet_hours_keep_their_own_signs(bikes):
    cluster = next(i for i, members in enumerate(bikes.clusters) if "4" in members)
    assert bikes.clusters[cluster] == ["4", "5"]
    model, plain = bikes.models[cluster], bikes.using("plain").coefficients["4"]
    assert 57 < np.sqrt(model.error) < 60
    assert model.coef["temperature"] > 0
    for name, value in plain.coef.items():
        assert np.sign(model.coef[name]) == np.sign(value), name


def test_own_noise_lowers_the_error_of_a_real_table_as_a_whole(monkeypatch, bikes):
    monkeypatch.setattr(plan, "choose_noise", lambda problem, common, optima: (COMMON, common))
    one_noise = conjoin.partition(
        conjoin.datasets.load_seoul_bikes(), target="rented_bikes", by="hour"
    )
    for name in ("auto", "slopes", "partial", "full", "clusters"):
        assert bikes.errors[name].error < one_noise.errors[name].error


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_random_parts_of_a_skewed_table_get_one_model(seed):
    """The evidence, which takes noise to be normal, tells them apart."""
    rng = np.random.default_rng(seed)
    a, b, noise = rng.normal(size=(3, 6000))
    part = rng.integers(0, 12, 6000).astype(str)
    table = {"a": a, "b": b, "part": part, "y": np.exp(1 + 0.8 * a + 0.5 * b + 0.5 * noise)}
    result = conjoin.partition(table, target="y", by="part", drop_outliers=False)
    assert result.analysis.search.labels.max() > 0
    assert len(result.clusters) == 1


def one_odd():
    """Of 12 datasets one is clearly different, and clusters that were found do not predict."""
    tables = conjoin.datasets.make_clusters(sizes=(11, 1), n=40, p=3, distance=3.0).tables()
    return conjoin.partition(tables, target="y")


def test_where_one_model_wins_the_datasets_that_it_harms_do_not_get_it(monkeypatch):
    monkeypatch.setattr(methods, "_is_worth_it", lambda losses, candidates: False)
    result = one_odd()
    chosen = result.analysis.chosen
    assert chosen.from_whole and result.clusters[1:] == [["d12"]]
    # Its error is that of the same steps outside every fold, not that of the search that lost.
    searched = validate_search("auto", chosen, result.analysis.start)
    expected = validate_partition(whole_outside, result.analysis.start)
    np.testing.assert_array_equal(searched, expected)


def test_halves_choose_as_the_whole_does():
    """One rule decides between clusters and one model, and what is left out of one model."""
    contest = Contest.of_search(np.ones((2, 9)), np.ones((2, 9)), np.full(9, 1 / 9))
    assert contest.sound and contest.lead == lead_of_whole(9) == -1.0
    assert contest.choose(np.arange(9) % 2, np.ones((9, 2))).max() == 0
    assert Contest.of_search(np.ones((2, 7)), np.ones((2, 7)), np.full(7, 1 / 7)).lead == 1.0
    result = one_odd()
    start, labels = result.analysis.start, result.analysis.search.labels
    ones = np.ones((start.problem.folds.shape[1], 12))
    losing = Contest.of_search(2 * ones, ones, np.full(12, 1 / 12))
    found = find_stability(
        "auto", result.analysis.chosen, result.analysis.search, start, list(result.labels), 0,
        losing,
    )  # fmt: skip
    assert labels.max() > 0
    assert found.inside(["d12"]) > 0.9 and found.together("d1", "d2") > 0.9


@pytest.mark.parametrize("datasets", [6, 9])
def test_clusters_of_several_datasets_must_predict_better(datasets):
    """A few datasets tell too little, so there errors that are about as high are enough."""
    found = run(make("clusters", K=datasets, n=30, p=3, clusters=3)).candidates()
    pooled = found.pooled.losses
    losses = pooled * np.random.default_rng(0).uniform(0.9, 1.1, size=pooled.shape)
    assert _is_worth_it(losses, found) == (datasets < FEWEST_DATASETS)
    assert _is_worth_it(0.5 * losses, found)
    assert not _is_worth_it(1.5 * losses, found)
