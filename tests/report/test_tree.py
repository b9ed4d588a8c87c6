"""The merge tree and the map of gains as plain values."""

import math

import pytest

import conjoin
from conjoin.datasets import make_clusters
from conjoin.report.facts import facts
from conjoin.report.html import render
from conjoin.report.tree import map_facts, tree_facts
from conjoin.report.view import View
from tests.report import results


def test_the_tree_joins_all_leaves_and_never_turns_back():
    tree = tree_facts(View(results.hostile()))
    K = len(tree["leaves"])
    assert len(tree["merges"]) == K - 1
    children = sorted(c for m in tree["merges"] for c in m["children"])
    assert children == list(range(2 * K - 2))
    heights = [math.inf] * K
    for merge in tree["merges"]:
        height = math.inf if merge["height"] is None else merge["height"]
        assert height <= min(heights[c] for c in merge["children"])
        heights.append(height)
    assert sum(m["joined"] for m in tree["merges"]) == K - 2


def test_every_line_of_the_ledger_is_in_the_table_of_merges():
    tables = make_clusters(sizes=(2, 2, 2), n=80, p=3, distance=2.0).tables()
    result = conjoin.partition(tables, target="y")
    tree = tree_facts(View(result))
    lines = [*tree["merges"], *tree["refused"]]
    shown = [frozenset((one["left"], one["right"])) for one in lines]
    known = [frozenset((", ".join(x.left), ", ".join(x.right))) for x in result.ledger()]
    assert len(result.clusters) > 2 and set(known) <= set(shown)
    assert len(set(shown)) == len(shown)
    adjusted = {key: one["adjusted_p"] for key, one in zip(shown, lines)}
    for key, line in zip(known, result.ledger()):
        assert adjusted[key] == line.adjusted_p
    page = render(facts(result, details=True))
    assert page.count("Not a fork: the ledger's") == len(tree["refused"]) > 0


def test_the_map_agrees_with_compare():
    tables = make_clusters(sizes=(2, 2), n=50, p=3, distance=1.0).tables()
    result = conjoin.partition(tables, target="y")
    found = result.analysis.details.map
    names = list(result.labels)
    for i, (a,) in enumerate(found.groups):
        for j, (b,) in enumerate(found.groups):
            if i == j:
                assert math.isnan(found.gain[i, j])
                continue
            pair = conjoin.compare(tables[names[a]], tables[names[b]], target="y")
            assert found.gain[i, j] == pytest.approx(pair.gain, rel=1e-6)
            assert ("", "join", "apart", "undecided")[found.verdict[i, j]] == pair.verdict
            assert found.low[i, j] == pytest.approx(pair.interval[0], rel=0.05, abs=1e-3)


def test_gains_are_in_percent_of_the_error_in_use():
    result = results.clusters(6, 2, 3)
    view, found = View(result), result.analysis.details.map
    plain = map_facts(view)
    (a,), (b,) = found.groups[0], found.groups[3]
    error = (view.in_use[a] + view.in_use[b]) / 2
    assert plain["percent"][0][3] == pytest.approx(100 * found.gain[0, 3] / error)
    assert plain["percent"][0][0] is None
    above = [plain["percent"][i][j] for i in range(6) for j in range(i + 1, 6)]
    assert plain["pairs"] == len(above)
    assert plain["helped"] == sum(gain > 0 for gain in above)


def test_many_datasets_are_reduced_on_the_map():
    view = View(results.clusters(240))
    groups = map_facts(view)["groups"]
    assert 6 <= len(groups) <= 40
    assert sum(group["size"] for group in groups) == 240
    assert len(tree_facts(view)["leaves"]) == len(groups)
