"""The page where the target is a class or a count."""

import dataclasses
import re

import numpy as np
import pytest

import conjoin
from conjoin.report.facts import facts
from conjoin.report.html import render
from tests.report import results
from tests.report.test_html import Page


def page_of(result):
    return render(facts(result, details=True))


def visible(page):
    """The page without its style, script and facts."""
    return re.sub(r"<(style|script)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize("classes", [2, 3])
def test_errors_are_log_losses(classes):
    result = results.choices(classes)
    found = facts(result, details=True)
    assert " log loss is " in found["verdict"]
    auto = found["strategies"]["auto"]
    assert auto["shown"] == auto["error"] == pytest.approx(result.errors["auto"].error)
    for name, line in found["datasets"].items():
        assert line["shown"] == pytest.approx(result.scores[name].log_loss)
    text = visible(render(found))
    assert "squared error" not in text.replace("mean squared difference", "")
    assert "root mean" not in text.lower()
    assert "least squares" not in text
    assert "logistic regression" in text
    assert "log-odds" in text


@pytest.mark.parametrize("classes", [2, 3])
def test_scores_and_calibration_are_on_the_page(classes):
    result = results.choices(classes)
    found = facts(result, details=True)
    auc = np.mean([s.auc for s in result.scores.values()])
    assert found["scores"]["auc"] == pytest.approx(auc)
    assert found["details"]["probabilities"]["guess"] > found["scores"]["log_loss"]
    assert len(found["calibration"]) == len(result.calibration)
    text = render(found)
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert "calibration-name" in page.ids
    assert text.count('<circle class="dot chosen" cx="') >= len(found["calibration"])
    assert ("img", "role") in [(value, key) for key, value in page.attributes]
    assert text.count('<tr><th scope="row" class="name">&lt;i&gt;') == 2 * len(result.labels)


def test_names_of_classes_are_text():
    text = page_of(results.choices(2))
    assert "b" not in Page(text).tags
    assert "yes &amp; &lt;b&gt;no&lt;/b&gt;" in text


def test_each_of_three_classes_has_its_panels():
    text = page_of(results.choices(3))
    assert text.count('<div class="panels">') == 3
    assert "<h3>Class 'later'</h3>" in text


def test_many_classes_have_one_column_with_the_most_frequent():
    rng = np.random.default_rng(0)
    tables = {}
    for k in range(2):
        x = rng.standard_normal((300, 1))
        tables[f"d{k}"] = {"x": x[:, 0], "y": rng.choice(list("abcdefghijklmnop"), 300)}
    assert "most frequent class" in page_of(conjoin.partition(tables, target="y"))


def test_errors_of_counts_are_deviances():
    found = facts(results.counts(), details=True)
    assert " half deviance is " in found["verdict"]
    assert found["details"]["probabilities"] is None
    text = visible(render(found))
    assert "half the mean deviance" in text
    assert "logarithm of the expected count" in text
    assert "squared" not in text
    assert "unknown" not in text.replace("unknown datasets", "")
    assert 'id="probabilities"' not in text


def test_a_model_file_gives_the_same_page(tmp_path):
    for name, result in (("c", results.choices(3)), ("n", results.counts())):
        result.save(tmp_path / f"{name}.json", evidence=True)
        loaded = conjoin.load(tmp_path / f"{name}.json")
        assert page_of(loaded) == page_of(result)


def test_a_model_file_without_scores_says_so(tmp_path):
    results.choices(2).save(tmp_path / "model.json", evidence=True)
    loaded = conjoin.load(tmp_path / "model.json")
    bare = dataclasses.replace(
        loaded, analysis=dataclasses.replace(loaded.analysis, known_scores=None)
    )
    assert page_of(bare).count("the model file was written without") == 1
