"""What a reader should know before trusting a result."""

import numpy as np

import conjoin
from conjoin.report.cautions import none
from conjoin.report.facts import facts
from conjoin.report.html import render
from tests.report import results


def test_odd_columns_and_noise():
    text = " ".join(facts(results.odd(), details=True)["details"]["hints"])
    assert "1 column is a sum of other columns. Its coefficient has no meaning alone" in text
    assert "wild: values very far from the others (up to" in text
    assert "set 5: residuals more than three times as large" in text


def test_cautions_are_the_same_on_every_face_and_the_page_names_the_rest_hints():
    found = facts(results.odd(), details=True)
    found["cautions"] = ["One caution."]
    page = render(found)
    assert 'Read the caution <a href="#cautions">' in page
    cautions, hints = page.split("<h3>Hints on the data, only on this page</h3>")
    assert "<li>One caution.</li>" in cautions and "column is a sum" not in cautions
    assert "1 column is a sum of other columns" in hints
    assert "hints below" in render({**found, "cautions": []})


def test_the_noise_of_classes_is_not_named():
    found = facts(results.choices(2), details=True)["details"]["hints"]
    assert not [text for text in found if "residuals" in text]


def test_few_rows():
    (text,) = facts(results.hostile())["cautions"]
    assert text == (
        "1 of 5 datasets has no more rows than features (3); its model relies mostly on the other "
        "datasets."
    )


def test_a_feature_that_contains_the_target():
    rng = np.random.default_rng(0)
    tables = {}
    for name in "ab":
        y = rng.standard_normal(40)
        tables[name] = {"x": rng.standard_normal(40), "twice": 2 * y, "y": y}
    (text,) = facts(conjoin.partition(tables, target="y"))["cautions"]
    assert text.startswith("The features predict 'y' almost exactly; does one of them contain it?")


def test_a_dataset_of_one_class():
    rng = np.random.default_rng(0)
    tables = {}
    for name in "abc":
        x = rng.standard_normal(60)
        y = np.where(x + rng.logistic(size=60) > 0, "yes", "no")
        tables[name] = {"x": x, "y": np.full(60, "no") if name == "c" else y}
    (text,) = facts(conjoin.partition(tables, target="y"))["cautions"]
    assert text.startswith("1 of 3 datasets has rows of one class only; there is no AUC, and its")


def test_copies_of_rows_are_counted(tmp_path):
    rng = np.random.default_rng(0)
    tables = {
        name: {"x": np.tile(rng.standard_normal(30), 3), "y": np.tile(rng.standard_normal(30), 3)}
        for name in "ab"
    }
    found = conjoin.partition(tables, target="y")
    found.save(tmp_path / "model.json", evidence=True)
    for result in (found, conjoin.load(tmp_path / "model.json")):
        (text,) = facts(result)["cautions"]
        assert text.startswith(
            "120 of 180 rows are exact copies of another row of the same dataset"
        )


def test_without_cautions_gross_errors_are_not_denied():
    assert none(outliers=False).endswith("and no value is very far from the rest.")
    assert "no value" not in none(outliers=True)
