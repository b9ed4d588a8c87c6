"""Frames, flat numbers and the summary of a result, beside the numbers they come from."""

import math

import numpy as np
import pytest

import conjoin
from conjoin.datasets import make_class_clusters, make_clusters, make_count_clusters
from conjoin.errors import ArgumentError


@pytest.fixture(scope="module")
def stores():
    return conjoin.partition(
        make_clusters(sizes=(2, 1), n=60, p=2, distance=2.0).tables(), target="y"
    )


@pytest.fixture(scope="module")
def choices():
    return conjoin.partition(
        make_class_clusters(sizes=(2, 1), n=150, p=2, distance=2.0).tables(), target="y"
    )


def test_clusters_and_datasets(stores):
    clusters, datasets = stores.to_frame("clusters"), stores.to_frame()
    assert clusters["members"].tolist() == [", ".join(one) for one in stores.clusters]
    assert clusters["rows"].sum() == datasets["rows"].sum() == 180
    assert dict(zip(datasets["dataset"], datasets["cluster"] - 1)) == stores.labels
    assert datasets["error"].tolist() == [m.error for m in stores.coefficients.values()]
    np.testing.assert_allclose(datasets["shown"] ** 2, datasets["error"])


def test_strategies_are_the_errors(stores):
    frame = stores.to_frame("strategies").set_index("strategy")
    for name, one in stores.errors.items():
        assert frame.loc[name, "error"] == one.error
        assert frame.loc[name, "low"] <= frame.loc[name, "shown"] <= frame.loc[name, "high"]
    assert frame.index[frame["in_use"]].tolist() == ["auto"]


def test_verdicts_are_the_ledger(stores):
    frame, ledger = stores.to_frame("verdicts"), stores.ledger()
    assert frame["verdict"].tolist() == [line.verdict for line in ledger]
    assert frame["left"].tolist() == [", ".join(line.left) for line in ledger]
    assert ((frame["low"] <= frame["gain"]) & (frame["gain"] <= frame["high"])).all()


def test_coefficients_have_errors_and_intervals(stores):
    frame = stores.to_frame("coefficients")
    assert len(frame) == 3 * (3 + 2)
    assert "odds_ratio" not in frame
    wide = stores.to_frame("coefficients", level=0.99)
    assert (wide["high"] - wide["low"] > frame["high"] - frame["low"]).all()
    one = frame.query("of == 'cluster' and name == '1' and term == 'x1'").iloc[0]
    assert one["estimate"] == stores.models[0].coef["x1"]
    used = frame.query("of == 'dataset' and name == 'd1' and term == 'x1'").iloc[0]
    assert used["in_use"] == stores.coefficients["d1"].coef["x1"]


def test_own_fits_are_those_of_statsmodels(choices):
    sm = pytest.importorskip("statsmodels.api")
    made = make_class_clusters(sizes=(2, 1), n=150, p=2, distance=2.0)
    own = sm.Logit(made.y["d1"] == "c2", sm.add_constant(made.X["d1"])).fit(disp=0)
    frame = choices.to_frame("coefficients", level=0.95)
    x1 = frame.query("of == 'dataset' and name == 'd1' and term == 'x1'").iloc[0]
    assert x1["estimate"] == pytest.approx(own.params[1], rel=0.02)
    assert x1["standard_error"] == pytest.approx(own.bse[1], rel=0.05)
    assert x1["odds_ratio"] == pytest.approx(math.exp(x1["estimate"]))
    assert x1["odds_ratio_low"] < x1["odds_ratio"] < x1["odds_ratio_high"]
    assert x1["events"] == (made.y["d1"] == choices.classes[1]).sum()
    level = frame.query("term == 'level'")
    assert level["odds_ratio"].isna().all()


def test_several_classes_and_counts():
    three = make_class_clusters(sizes=(2, 1), n=120, p=2, classes=3, distance=2.0).tables()
    frame = conjoin.partition(three, target="y").to_frame("coefficients")
    assert set(frame["class"]) == {"c1", "c2", "c3"}
    one = frame.query("of == 'dataset' and name == 'd1' and term == 'x1'")
    assert one["events"].sum() == 120
    counts = make_count_clusters(sizes=(2, 1), n=80, p=2).tables()
    found = conjoin.partition(counts, target="y", family="poisson")
    assert "rate_ratio" in found.to_frame("coefficients")
    assert "rate ratio" in str(found.summary())


def test_metrics_are_flat_numbers(stores, choices):
    for result in (stores, choices):
        found = result.metrics()
        assert all(isinstance(value, float) and math.isfinite(value) for value in found.values())
        assert not any("," in name or " " in name for name in found)
        assert found["error"] == result.errors["auto"].error
        assert found["error.pooled"] == result.errors["pooled"].error
        assert found["shown_low"] <= found["shown"] <= found["shown_high"]
    assert 0.5 < choices.metrics()["auc"] < 1


def test_the_summary_shows_the_same_numbers(stores, choices):
    text = str(stores.summary())
    assert repr(stores.summary()) == text
    assert f"{stores.errors['auto'].error ** 0.5:.4g}" in text
    assert "d1, d2" in text
    assert max(map(len, text.splitlines())) <= 88
    assert "odds ratio" in str(choices.summary())


def test_long_summaries_say_where_the_rest_is():
    tables = make_clusters(sizes=(1,) * 22, n=30, p=2, distance=4.0).tables()
    text = str(conjoin.partition(tables, target="y").summary())
    assert "more coefficients: result.to_frame('coefficients')" in text


def test_unknown_parts_are_refused(stores):
    with pytest.raises(ArgumentError, match="what='models' is unknown; expected one of clusters"):
        stores.to_frame("models")
    with pytest.raises(ArgumentError, match="level=95 is no confidence"):
        stores.to_frame("coefficients", level=95)


def test_a_quick_file_has_models_and_verdicts_but_no_figures(tmp_path):
    tables = make_clusters(sizes=(2, 1), n=60, p=2, distance=2.0).tables()
    result = conjoin.partition(tables, target="y")
    result.save(tmp_path / "quick.json")
    quick = conjoin.load(tmp_path / "quick.json")
    assert repr(quick.ledger()) == repr(result.ledger())
    assert not {"details", "stability"} & set(result.analysis._found)
    with pytest.raises(ArgumentError, match="evidence=True"):
        quick.to_frame("coefficients")
    assert "Which datasets" in str(quick.summary())
    quick.report(tmp_path / "quick.html")
    result.save(tmp_path / "full.json", evidence=True)
    full = conjoin.load(tmp_path / "full.json")
    assert full.to_frame("coefficients").equals(result.to_frame("coefficients"))
    assert full.stability().agreement == result.stability().agreement
