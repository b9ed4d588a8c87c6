"""Scores and calibration as plain values."""

import math

import pytest

from conjoin.report.probabilities import MOST_SHARES, dataset_scores, page_scores
from conjoin.result.scores import Bin, Scored, Scores

HALF = Scores(log_loss=0.5, brier=0.2, auc=0.8, rows=10, shares={"no": 0.5, "yes": 0.5})
ONE = Scores(log_loss=0.1, brier=0.1, auc=math.nan, rows=4, shares={"no": 1.0, "yes": 0.0})
SCORED = Scored({"a": HALF, "b": ONE}, (Bin(0.0, 1.0, 0.3, 0.4, 14, (0.2, 0.6)),))


def test_a_dataset_of_one_class_has_no_auc():
    assert dataset_scores(ONE)["auc"] is None
    assert page_scores(("no", "yes"), SCORED)["without_auc"] == 1


def test_the_guess_gives_every_class_its_share():
    found = page_scores(("no", "yes"), SCORED)
    assert found["guess"] == pytest.approx(math.log(2) / 2)
    assert found["frequent"]["b"] == "no"
    assert (found["positive"], found["shown"]) == ("yes", ["yes"])


def test_many_classes_have_no_columns_of_their_own():
    several = tuple("abc")
    assert page_scores(several, None)["shown"] == ["a", "b", "c"]
    many = tuple(map(str, range(MOST_SHARES + 1)))
    found = page_scores(many, None)
    assert found["shown"] == [] and not found["known"]
