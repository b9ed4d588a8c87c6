from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

import conjoin
from conjoin.criterion.judge import Judge
from conjoin.datasets import make_clusters
from conjoin.engine import verdicts as verdicts_module
from conjoin.engine.verdicts import FIRST_LINES, around, holm

TABLES = conjoin.datasets.make_clusters(sizes=(8, 8), n=30, p=2, distance=2.0).tables()


@pytest.fixture(scope="module")
def result():
    return conjoin.partition(TABLES, target="y")


def test_a_line_has_the_same_numbers_however_many_are_asked_for(result):
    whole = result.ledger()
    assert result.ledger(5) == whole[:5]
    assert conjoin.partition(TABLES, target="y").ledger(5) == whole[:5]


def test_a_long_ledger_is_judged_in_fixed_portions(result, monkeypatch):
    monkeypatch.setattr(verdicts_module, "MOST_INTERVALS", 10)
    one, two = (conjoin.partition(TABLES, target="y") for _ in range(2))
    assert len(one.analysis.steps) > FIRST_LINES
    first, whole = one.ledger(3), one.ledger()
    assert repr(two.ledger()) == repr(whole)  # nan is not equal to itself
    assert repr(first) == repr(whole[:3])
    assert all(np.isnan(line.interval).all() for line in whole)
    assert [line.verdict for line in whole] == [line.verdict for line in result.ledger()]


def test_the_own_cluster_comes_first_then_the_others_by_gain(result):
    for name, label in result.labels.items():
        found = result.explain(name)
        assert found[0].cluster == label
        gains = [line.gain for line in found[1:]]
        assert gains == sorted(gains, reverse=True)
    assert result.analysis.all_alternatives["d1"] == result.explain("d1")


def test_with_very_many_datasets_only_the_nearest_cluster_is_compared(monkeypatch):
    monkeypatch.setattr(verdicts_module, "FEW_DATASETS", 3)
    sizes = (3, 3, 3)
    tables = conjoin.datasets.make_clusters(sizes=sizes, n=60, p=2, distance=3.0).tables()
    result = conjoin.partition(tables, target="y")
    assert len(result.clusters) == 3
    assert len(result.analysis.all_alternatives["d1"]) == 2
    assert len(result.explain("d1")) == 3


def test_holm_is_that_of_statsmodels():
    p = np.array([0.001, 0.2, 0.03, 0.03, 0.9, 0.012])
    expected = multipletests(p, method="holm")[1]
    np.testing.assert_allclose(holm(p), expected)


def test_intervals_hold_their_gain():
    limits = np.array([[-1.0, 1.0], [-1.0, 1.0], [0.0, np.inf], [-np.inf, np.inf]])
    gains = np.array([0.5, 2.0, np.inf, np.nan])
    found = around(gains, limits)
    assert found.tolist() == [[-1, 1], [-1, 2], [0, np.inf], [-np.inf, np.inf]]


def test_lines_of_a_ledger_have_adjusted_p_values():
    tables = make_clusters(sizes=(3, 2), n=80, p=3, distance=1.5, random_state=0).tables()
    lines = conjoin.partition(tables, target="y").ledger()
    raw, adjusted = (
        np.array([getattr(line, name) for line in lines]) for name in ("p_value", "adjusted_p")
    )
    np.testing.assert_allclose(adjusted, holm(raw))
    assert (adjusted >= raw).all()
    for line in lines:
        assert line.interval[0] <= line.gain <= line.interval[1]
        assert (line.verdict != "undecided") == (line.p_value <= 0.1)


def test_a_verdict_never_contradicts_the_estimated_gain(monkeypatch):
    """A robust test that says "apart" beside an estimate that says "join" decides nothing."""
    tables = make_clusters(sizes=(2, 2), n=80, p=2, distance=3.0).tables()
    known = conjoin.partition(tables, target="y").ledger()
    apart = next(line for line in known if line.verdict == "apart")
    assert apart.gain < 0 and apart.interval[1] < 0
    gains = Judge._gains
    monkeypatch.setattr(Judge, "_gains", lambda self, pairs: -gains(self, pairs))
    names = [*tables]
    pair = ([names.index(n) for n in apart.left], [names.index(n) for n in apart.right])
    judge = conjoin.partition(tables, target="y").analysis.judge
    found = judge.judge([pair], delta=0.1, interval=True)
    assert found.answers == ("undecided",) and found.p_values[0] == 1
    assert not judge.are_apart([pair], delta=0.1).any()
    exact = replace(judge, scatter=None).judge([pair], delta=0.1, interval=True)
    assert exact.answers == ("apart",)  # the exact law knows one noise only
