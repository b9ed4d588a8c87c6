"""The page where the target is a class or a count."""

import dataclasses
import math
import re

import numpy as np
import pytest

import conjoin
from conjoin.report.html import render
from conjoin.report.measure import measure_of
from conjoin.report.notebook import notebook_view
from conjoin.report.sections import MOST_PANELS, commands, describe
from conjoin.report.summarize import headline, summarize_dataset
from tests.report import results
from tests.report.test_html import Page


def visible(page):
    """The page without its style, script and facts."""
    return re.sub(r"<(style|script)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize("classes", [2, 3])
def test_errors_are_log_losses(classes):
    result = results.choices(classes)
    page = describe(result)
    assert "the expected log loss is" in page["verdict"]
    auto = next(line for line in page["strategies"] if line["chosen"])
    assert auto["shown"] == auto["error"] == pytest.approx(result.errors["auto"].error)
    for line in page["datasets"]:
        assert line["in_use"] == pytest.approx(result.scores[line["name"]].log_loss)
    text = visible(render(page))
    assert "squared error" not in text.replace("mean squared difference", "")
    assert "root mean" not in text.lower()
    assert "least squares" not in text
    assert "logistic regression" in text
    assert "log-odds" in text


@pytest.mark.parametrize("classes", [2, 3])
def test_scores_and_calibration_are_on_the_page(classes):
    result = results.choices(classes)
    facts = describe(result)["scores"]
    assert facts["means"]["auc"] == pytest.approx(np.mean([s.auc for s in result.scores.values()]))
    assert facts["guess"] > facts["means"]["log_loss"]
    assert len(facts["bins"]) == len(result.calibration)
    text = render(describe(result))
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert "calibration-name" in page.ids
    assert text.count('<circle class="dot chosen" cx="') >= len(facts["bins"])
    assert ("img", "role") in [(value, key) for key, value in page.attributes]
    assert text.count('<tr><th scope="row" class="name">&lt;i&gt;') == 2 * len(result.labels)


def test_names_of_classes_are_text():
    text = render(describe(results.choices(2)))
    assert "b" not in Page(text).tags
    assert "yes &amp; &lt;b&gt;no&lt;/b&gt;" in text
    assert "<b>" not in notebook_view(results.choices(2)).replace("<b>6 datasets", "")


def test_coefficients_come_class_by_class():
    result = results.choices(3)
    facts = describe(result)["coefficients"]
    blocks = [line["block"] for line in facts["features"]]
    assert list(dict.fromkeys(blocks)) == [str(label) for label in result.classes]
    assert len(blocks) == 12
    assert facts["left_out"] == 0
    for line in facts["features"]:
        assert line["name"].startswith(f"{line['block']}: ")
        if line["name"].endswith("level"):
            continue
        expected = [model.coef[line["name"]] for model in result.models]
        np.testing.assert_allclose(line["model"], expected)
        # Own fits lie around the models of their clusters, not around those of another class.
        own = np.array([expected[c - 1] for c in facts["cluster"]])
        spread = (line["high"] - line["low"]) / 2
        assert np.mean(np.abs(line["value"] - own) < 2 * spread) > 0.8
    text = render(describe(result))
    assert text.count('<div class="panels">') == 3
    assert "<h3>Class ‘later’</h3>" in text


def test_of_many_classes_some_are_drawn():
    rng = np.random.default_rng(0)
    tables = {}
    for k in range(2):
        x = rng.standard_normal((300, 1))
        tables[f"d{k}"] = {"x": x[:, 0], "y": rng.choice(list("abcdefghijklmnop"), 300)}
    page = describe(conjoin.partition(tables, target="y"))
    facts = page["coefficients"]
    assert len(facts["features"]) == 2 * MOST_PANELS
    assert facts["left_out"] == 8
    assert "most frequent class" in render(page)


def test_the_level_is_the_log_odds_at_average_features():
    result = results.choices(2)
    level = next(f for f in describe(result)["coefficients"]["features"] if f["name"] == "level")
    middle = dict(zip(result.features, result.analysis.placement.basis.center))
    share = result.models[0].predict_proba({k: [v] for k, v in middle.items()})[0]
    assert level["model"][0] == pytest.approx(math.log(share[1] / share[0]))


def test_counts_are_told_by_their_deviance():
    result = results.counts()
    page = describe(result)
    assert "the expected deviance is" in page["verdict"]
    assert "expected deviance" in headline(result)
    assert page["scores"] is None
    text = visible(render(page))
    assert "half the mean deviance" in text
    assert "logarithm of the expected count" in text
    assert "squared" not in text
    assert "unknown" not in text
    assert 'id="probabilities"' not in text


def test_a_model_file_gives_the_same_page(tmp_path):
    for name, result in (("c", results.choices(3)), ("n", results.counts())):
        result.save(tmp_path / f"{name}.json")
        loaded = conjoin.load(tmp_path / f"{name}.json")
        assert render(describe(loaded)) == render(describe(result))


def test_a_model_file_without_scores_says_so(tmp_path):
    results.choices(2).save(tmp_path / "model.json")
    loaded = conjoin.load(tmp_path / "model.json")
    bare = dataclasses.replace(
        loaded, analysis=dataclasses.replace(loaded.analysis, known_scores=None)
    )
    text = render(describe(bare))
    assert text.count("the model file was written without") == 1
    assert "not known" in notebook_view(bare)


def test_the_noise_of_classes_is_not_told():
    assert not [text for text in describe(results.choices(2))["cautions"] if "residuals" in text]


def test_a_dataset_explained():
    result = results.choices(3)
    facts = summarize_dataset(result, "<i>0")
    assert set(facts["coef"]) == set(result.pooled.coef)
    assert "the expected log loss by" in facts["reason"]
    width = np.ptp(result.pooled.limits["x1"])
    one = facts["coef"]["no: x1"]
    assert one["shift"] == pytest.approx((one["own"] - one["pooled"]) * width)


def test_notebooks_call_errors_by_name():
    assert "log loss</th>" in notebook_view(results.choices(2))
    assert "Brier score" in notebook_view(results.choices(2))
    assert "half deviance</th>" in notebook_view(results.counts())
    assert "error (RMSE)</th>" in notebook_view(results.hostile())


def test_the_command_names_a_family_that_was_asked_for():
    assert commands(results.counts())["shell"] == (
        "conjoin partition DATA --target n --family poisson --report report.html"
    )
    assert "family" not in commands(results.choices(2))["python"]


def test_errors_that_are_not_known():
    for family in ("gaussian", "logistic", "poisson"):
        measure = measure_of(family)
        assert measure.shown(None) is None
        assert measure.text(float("inf")) == "unknown"
    assert measure_of("gaussian").shown(9.0) == 3.0
    assert measure_of("logistic").shown(0.3) == 0.3
