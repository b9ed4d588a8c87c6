"""Errors of strategies and comparisons as plain values."""

import math
from dataclasses import replace

import pytest

from conjoin.report.measure import measure_of
from conjoin.report.strategies import _loser, improvement_facts, plain_name, strategy_facts
from conjoin.result.improvement import Improvements
from conjoin.strategies import SEARCHED
from tests.report import results


def test_percentages_are_of_the_error_as_it_is_shown():
    result = results.hostile()
    lines, found = strategy_facts(result), improvement_facts(result)
    assert set(found) == {"auto", SEARCHED}
    for name, one in found.items():
        for over, line in one["over"].items():
            ratio = lines[name]["shown"] / lines[over]["shown"]
            assert line["percent"] == pytest.approx(100 * (ratio - 1))
            low, high = line["interval"]
            assert low <= line["percent"] <= high
    winner = found["auto"]["winner"]
    own = result.using("separate").coefficients[winner["dataset"]].error
    ratio = math.sqrt(result.coefficients[winner["dataset"]].error / own)
    assert winner["percent"] == pytest.approx(100 * (ratio - 1))


def test_log_losses_are_shown_as_they_are():
    result = results.choices(2)
    found = improvement_facts(result)["auto"]["over"]["pooled"]
    ratio = result.errors["auto"].error / result.errors["pooled"].error
    assert found["percent"] == pytest.approx(100 * (ratio - 1))


def test_the_fair_name_of_plain_clusters():
    assert plain_name({"clusters": 1}) == "clusters"
    assert plain_name({"clusters": 1, SEARCHED: 2}) == SEARCHED


def test_a_separate_error_next_to_0_is_marked():
    measure = measure_of("gaussian")
    lost = Improvements({}, 8, 1, None, ("S08", 1e14), loser_separate=1e-8)
    assert _loser(lost, measure)["separate_next_to_0"]
    assert not _loser(replace(lost, loser_separate=1e-4), measure)["separate_next_to_0"]
    assert not _loser(replace(lost, loser_separate=math.nan), measure)["separate_next_to_0"]
    assert _loser(replace(lost, loser=None), measure) is None


def test_the_separate_error_of_the_loser_is_a_share_of_the_mean():
    result = results.hostile()
    found = result.improvements()
    separate = result.using("separate")
    own = separate.coefficients[found.loser[0]].error
    assert found.loser_separate == pytest.approx(own / separate.errors["separate"].error)
