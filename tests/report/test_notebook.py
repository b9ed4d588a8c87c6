"""What a notebook shows."""

import dataclasses

import conjoin
from conjoin.report.facts import facts
from conjoin.report.notebook import notebook_view
from tests.report import results


def test_errors_have_their_names():
    assert "log loss</th>" in notebook_view(results.choices(2))
    assert "Brier score" in notebook_view(results.choices(2))
    assert "half deviance</th>" in notebook_view(results.counts())
    assert "error (RMSE)</th>" in notebook_view(results.hostile())


def test_the_verdict_and_cautions_are_there():
    view = notebook_view(results.hostile())
    assert facts(results.hostile())["sentences"][0].split(" ({")[0] in view
    assert "Caution: 1 of 5 datasets has no more rows" in view


def test_names_are_text():
    view = notebook_view(results.choices(2))
    assert "<b>" not in view.replace("<b>6 datasets", "")
    assert "&lt;i&gt;0" in view


def test_scores_that_are_not_in_a_file(tmp_path):
    results.choices(2).save(tmp_path / "model.json", evidence=True)
    loaded = conjoin.load(tmp_path / "model.json")
    bare = dataclasses.replace(
        loaded, analysis=dataclasses.replace(loaded.analysis, known_scores=None)
    )
    assert "scores" not in facts(bare)
    assert "not known" in notebook_view(bare)
