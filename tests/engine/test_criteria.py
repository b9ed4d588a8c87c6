import numpy as np
import pytest

import conjoin
from conjoin.api.request import Request
from conjoin.criterion import Risk
from conjoin.engine.criteria import make_criterion, pair_criterion, to_units
from conjoin.errors import ArgumentError
from conjoin.tables import collect

TABLES = conjoin.datasets.make_clusters(sizes=(2, 2), n=60, p=2, distance=3.0).tables()


@pytest.mark.parametrize(
    ("asked", "greedy"),
    [
        ({}, False),
        ({"method": "risk"}, False),
        ({"method": "risk", "grouping": "greedy"}, True),
        ({"method": "tuned"}, True),
        ({"method": Risk()}, True),
    ],
)
def test_a_criterion_groups_greedily(asked, greedy):
    assert (pair_criterion(Request(target="y", **asked)) is not None) == greedy


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"method": "tuned", "grouping": "agglomerative"}, "scores pairs only"),
        ({"method": "chow", "grouping": "greedy"}, "finds clusters itself"),
    ],
)
def test_what_does_not_fit_together_is_refused(asked, words):
    with pytest.raises(ArgumentError, match=words):
        pair_criterion(Request(target="y", **asked))


def test_options_go_to_the_criterion():
    assert make_criterion("tuned", {"n": 30}).n == 30
    with pytest.raises(ArgumentError, match="does not take m=..."):
        make_criterion("tuned", {"m": 30})
    with pytest.raises(ArgumentError, match="cannot be combined with a ready criterion"):
        make_criterion(Risk(), {"n": 3})
    request = Request(target="y", method="bound", delta=0.2, options={"paper_delta": 0.3})
    assert pair_criterion(request).delta == 0.3  # delta is the level of conjoin's verdicts


def test_units_share_their_coordinates():
    units = to_units(collect(TABLES, target="y"))
    assert len({id(unit.basis) for unit in units}) == 1
    together = np.concatenate([unit.Z[:, 1:] for unit in units])
    assert np.abs(together.mean(axis=0)).max() < 1e-12


def test_algorithm_3_is_recorded_step_by_step():
    result = conjoin.partition(TABLES, target="y", method="risk", grouping="greedy")
    assert result.grouping == "greedy"
    assert result.clusters == [["d1", "d2"], ["d3", "d4"]]
    assert [line.joined for line in result.ledger()] == [True, False, True]
    assert all(np.isfinite(line.score.score) for line in result.ledger())


@pytest.mark.parametrize("eps", [1e-3, 1e-6, 1e-8])
def test_pairs_keep_directions_that_numpy_keeps(eps):
    def compared(eps):
        rng, tables = np.random.default_rng(0), []
        for _ in range(2):
            a, z, noise = rng.standard_normal((3, 60))
            tables.append({"a": a, "b": a + eps * z, "y": z + 0.1 * noise})
        return conjoin.compare(*tables, target="y")

    found, expected = compared(eps), compared(0.5)  # two columns that span the same
    assert found.verdict == expected.verdict
    assert found.gain == pytest.approx(expected.gain, rel=1e-4)
    assert found.error_joined == pytest.approx(expected.error_joined, rel=1e-4)
