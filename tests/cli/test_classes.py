"""Commands on targets that are classes or counts."""

import numpy as np
import pandas as pd
import pytest

import conjoin

from .test_main import strict

BY_STORE = ["-b", "store"]


@pytest.fixture(scope="module")
def shops(folder):
    """Tables of three stores: text, three classes, zero and one, counts; and saved models."""
    rng = np.random.default_rng(0)
    parts = []
    for k in range(3):
        x = rng.standard_normal((150, 2))
        line = x @ ((2.0, -1.0), (2.0, -1.0), (-2.0, 1.0))[k]
        won = (rng.random(150) < 1 / (1 + np.exp(-line))).astype(int)
        third = np.digitize(line + rng.logistic(size=150), (-1, 1))
        count = rng.poisson(np.exp(2 + line / 5))
        frame = {"x1": x[:, 0], "x2": x[:, 1], "won": won, "third": third, "count": count}
        parts.append(pd.DataFrame({**frame, "store": f"s{k}"}))
    frame = pd.concat(parts, ignore_index=True)
    frame["bought"] = np.where(frame["won"] == 1, "yes", "no, [red]\x1b")
    frame["size"] = np.array(["small", "medium", "large"])[frame["third"]]
    for target in ("bought", "won", "count", "size"):
        own = frame[["x1", "x2", "store", target]]
        own.to_csv(folder / f"{target}.csv", index=False)
        for k in (0, 2):
            one = own[own["store"] == f"s{k}"].drop(columns="store")
            one.to_csv(folder / f"{target}{k}.csv", index=False)
    for target in ("bought", "size"):
        own = frame[["x1", "x2", "store", target]]
        conjoin.partition(own, target=target, by="store").save(
            folder / f"{target}.json", evidence=True
        )
    return frame


@pytest.mark.parametrize(("target", "share"), [("bought", "share of yes"), ("size", "most frequ")])
def test_partition_tells_log_loss_brier_and_auc(conjoin_, shops, target, share):
    done = conjoin_("partition", f"{target}.csv", "-t", target, *BY_STORE)
    assert done.code == 0, done.err
    assert done.err == ""
    first = done.out.splitlines()[0]
    assert " log loss is " in first
    assert "({s0, s1}, {s2})" in first
    assert "squared error" not in done.out
    for words in (
        "Probabilities on held-out rows",
        "Brier score",
        "AUC",
        "mean of datasets",
        share,
    ):
        assert words in done.out
    assert "\x1b" not in done.out
    saved = conjoin_("explain", f"{target}.json")
    assert saved.out.startswith(done.out)


def test_json_has_scores_by_dataset(conjoin_, shops):
    facts = strict(conjoin_("partition", "size.csv", "-t", "size", *BY_STORE, "--json").out)
    assert facts["family"] == "logistic"
    assert facts["classes"] == ["large", "medium", "small"]
    assert set(facts["scores"]) == {"log_loss", "brier", "auc"}
    found = [facts["datasets"][f"s{k}"]["scores"] for k in range(3)]
    assert set(found[0]) == {"log_loss", "brier", "auc", "rows", "shares"}
    assert facts["scores"]["brier"] == pytest.approx(np.mean([one["brier"] for one in found]))
    assert found[0]["shares"]["small"] == pytest.approx(np.mean(shops["size"][:150] == "small"))
    assert {"low", "high", "predicted", "observed", "rows", "interval"} == set(
        facts["calibration"][0]
    )
    assert facts == strict(conjoin_("explain", "size.json", "--json").out)


def test_explain_a_dataset(conjoin_, shops):
    done = conjoin_("explain", "size.json", "s0")
    assert "lowers the expected log loss by" in done.out or "raises the expected log" in done.out
    assert "In use: Brier score" in done.out
    assert "Shares of classes: large" in done.out
    assert "large: x1" in done.out
    facts = strict(conjoin_("explain", "size.json", "s0", "--json").out)
    assert set(facts["scores"]) == {"log_loss", "brier", "auc", "rows", "shares"}


@pytest.mark.parametrize(
    ("target", "family", "words"),
    [
        ("bought", "auto", "joining raises the expected log loss by 0."),
        ("won", "logistic", ". The log loss is 0."),
        ("count", "poisson", ". The half deviance is 1."),
    ],
)
def test_compare(conjoin_, shops, target, family, words):
    arguments = ["compare", f"{target}0.csv", f"{target}2.csv", "-t", target, "--family", family]
    done = conjoin_(*arguments)
    assert done.code == 0, done.err
    assert done.err == ""
    assert done.out.startswith(f"Keep {target}0.csv and {target}2.csv apart")
    assert words in done.out
    facts = strict(conjoin_(*arguments, "--json").out)
    assert facts["family"] == ("poisson" if family == "poisson" else "logistic")


def test_zero_and_one_are_numbers_with_a_hint(conjoin_, shops):
    hint = (
        "Note: Target 'won' has only the values 0 and 1, and is treated as a number; --family "
        "'logistic' treats it as classes, --family 'gaussian' stops this warning.\n"
    )
    done = conjoin_("partition", "won.csv", "-t", "won", *BY_STORE)
    assert (done.code, done.err) == (0, hint)
    assert " RMSE is " in done.out
    assert conjoin_("compare", "won0.csv", "won2.csv", "-t", "won").err == hint
    for family in ("gaussian", "logistic"):
        asked = conjoin_("partition", "won.csv", "-t", "won", *BY_STORE, "--family", family)
        assert (asked.code, asked.err) == (0, "")


@pytest.mark.parametrize("expression", ["2 * won", "won + 1", "count", "x1", "won / 2", "-won"])
def test_other_numbers_get_no_hint(conjoin_, shops, folder, tmp_path, expression):
    frame = shops.eval(f"target = {expression}")[["x2", "target", "store"]]
    frame.to_csv(tmp_path / "other.csv", index=False)
    done = conjoin_("partition", tmp_path / "other.csv", "-t", "target", *BY_STORE)
    assert (done.code, done.err) == (0, "")


def test_counts(conjoin_, shops):
    done = conjoin_("partition", "count.csv", "-t", "count", *BY_STORE, "--family", "poisson")
    assert done.code == 0, done.err
    assert " half deviance is " in done.out.splitlines()[0]
    assert "half deviance" in done.out
    assert "Probabilities" not in done.out


# --- predict -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_predict_writes_the_class_and_the_probability_of_each(conjoin_, shops, tmp_path, name):
    done = conjoin_("predict", "size.json", "size.csv", "-o", tmp_path / name)
    assert done.code == 0, done.err
    columns = ["prediction", *(f"probability_{c}" for c in ("large", "medium", "small"))]
    shown = ", ".join(f"'{column}'" for column in columns)
    assert done.out == f"450 rows with columns {shown} and 1 more written to {tmp_path / name}\n"
    read = pd.read_parquet if name.endswith("parquet") else pd.read_csv
    found = read(tmp_path / name)
    assert list(found) == ["x1", "x2", "store", "size", *columns, "model"]
    model = conjoin.load("size.json")
    expected = model.predict_proba(shops[["x1", "x2", "store"]])
    np.testing.assert_allclose(found[columns[1:]], expected, rtol=1e-9)
    assert (found["prediction"] == model.predict(shops[["x1", "x2", "store"]])).all()
    assert (found["prediction"] == shops["size"]).mean() > 0.6


def test_predict_goes_batch_by_batch_and_finds_new_datasets(conjoin_, shops, folder, monkeypatch):
    monkeypatch.setattr("conjoin.result.file_prediction.BATCH_ROWS", 64)
    frame = shops[["x1", "x2", "bought"]].assign(store="new", prediction=1)
    frame.to_csv("new.csv", index=False)
    done = conjoin_("predict", "bought.json", "new.csv", "-o", "o.csv", "--on-unseen", "nearest")
    assert done.code == 0, done.err
    assert "'prediction_', 'probability_no, [red]\\x1b', 'probability_yes'" in done.out
    found = pd.read_csv("o.csv")
    model = conjoin.load("bought.json")
    expected = model.predict_proba(frame, on_unseen="nearest")
    np.testing.assert_allclose(found.iloc[:, -3:-1], expected, rtol=1e-9)
    assert set(found["prediction_"]) == {"yes", "no, [red]\x1b"}


@pytest.mark.parametrize(
    ("labels", "kind"), [((True, False), "bool"), ((1, 7), "int64"), ((0.5, 2), "float64")]
)
def test_classes_keep_their_type(conjoin_, shops, tmp_path, labels, kind):
    frame = shops[["x1", "x2", "store"]].assign(y=np.where(shops["won"] == 1, *labels))
    result = conjoin.partition(frame, target="y", by="store", family="logistic")
    result.save(tmp_path / "model.json", evidence=True)
    frame.to_parquet(tmp_path / "data.parquet")
    out = tmp_path / "out.parquet"
    done = conjoin_("predict", tmp_path / "model.json", tmp_path / "data.parquet", "-o", out)
    assert done.code == 0, done.err
    found = pd.read_parquet(out)["prediction"]
    assert found.dtype == kind
    assert (found == frame["y"]).mean() > 0.7
