"""The error that conjoin claims is the one that comes out: stored cells, and a few live ones."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.arena.honest import (
    OUTPUT,
    Line,
    cells,
    measure,
    read,
    squared_error_of_means,
    summarise,
)
from benchmarks.arena.sides import SIDES

# Largest mean logarithm of found over claimed error that is no optimism.
MOST_OPTIMISM = 0.02


def line(ratio, error=0.1, name="a"):
    numbers = (1.0, 1.0, ratio, error, ratio - 0.01, 1.0)
    return Line("regression", name, 0.5, 0, 100, 5, "linear", *numbers)


def test_stored_claims_are_honest():
    lines = read()
    found = summarise(lines)
    print(found)
    assert found.cells >= 20
    assert found.mean <= MOST_OPTIMISM and found.weighted <= MOST_OPTIMISM
    # One cell in forty is above two standard errors by chance; the errors themselves are rough.
    assert found.beyond <= 0.1
    assert found.learner <= MOST_OPTIMISM


def test_stored_lines_are_whole():
    lines = read()
    assert len({(one.side, one.set, one.share, one.seed) for one in lines}) == len(lines)
    for one in lines:
        assert one.ratio == pytest.approx(np.log(one.found / one.claimed), abs=1e-3)
        assert one.standard_error > 0
    assert OUTPUT.name == "honest.csv"


def test_the_summary_counts_optimism():
    found = summarise([line(0.3), line(-0.3, name="b"), line(0.0, name="c"), line(0.2, 1.0, "d")])
    assert found.cells == 4 and found.mean == pytest.approx(0.05)
    assert found.beyond == found.below == 0.25
    assert found.weighted < found.mean
    assert found.learner == pytest.approx(0.01)


def test_standard_errors_are_those_of_means_over_groups():
    rng = np.random.default_rng(0)
    own, trained = np.repeat([0, 1], 5000), np.array([2500, 2500])
    claimed, found = squared_error_of_means(rng.standard_normal(10_000), own, trained)
    assert found == pytest.approx(1 / 10_000, rel=0.1)
    assert claimed == pytest.approx(2 / 10_000, rel=0.1)


@pytest.mark.slow
@pytest.mark.learner
def test_a_few_cells_live(data_root: Path):
    """The smallest sets: no claim is too low by more than two standard errors."""
    quick = [
        *cells(SIDES["regression"], ["radon"], [0]),
        *cells(SIDES["classification"], ["contraception"], [0], 300),
    ]
    assert len(quick) == 2
    lines = [measure(cell) for cell in quick]
    stored = {(one.side, one.set, one.share, one.seed): one for one in read()}
    for one in lines:
        assert one.ratio <= 2 * one.standard_error
        old = stored[one.side, one.set, one.share, one.seed]
        assert one.found == pytest.approx(old.found, rel=0.05)
        assert one.claimed == pytest.approx(old.claimed, rel=0.05)
