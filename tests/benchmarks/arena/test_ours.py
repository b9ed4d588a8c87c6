from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import conjoin
from benchmarks.arena import ours
from benchmarks.arena.contest import MOST_GROUPS_OF_THE_PAPER
from benchmarks.arena.data import ArenaSet
from benchmarks.arena.ours import (
    FEW_DATASETS,
    OF_LINES,
    STRATEGIES,
    Cell,
    contestant_of,
    contestants,
    method_row,
    run_set,
)
from benchmarks.arena.results import NOTE_LENGTH, read_results
from benchmarks.arena.side import Side
from benchmarks.arena.sides import SIDES


@pytest.fixture
def stores() -> ArenaSet:
    """Six groups of 20 rows in two clusters."""
    generator = np.random.default_rng(1)
    groups = np.repeat([f"g{k}" for k in range(6)], 20).astype(object)
    X = generator.normal(size=(120, 2))
    slope = np.where(np.isin(groups, ["g0", "g1", "g2"]), 2.0, -2.0)
    return ArenaSet("stores", X, slope * X[:, 0] + generator.normal(size=120), groups, ("a", "b"))


def errors_of(side: Side, data: ArenaSet) -> dict[str, float]:
    rows = run_set(replace(side, load=lambda name: data), data.name, ((0.5, 0),), frozenset())
    return {row.contestant: float(row.error) for row in rows if row.error}


def test_all_strategies_and_methods_of_regression(stores: ArenaSet) -> None:
    side = SIDES["regression"]
    own = replace(side.own, methods={k: side.own.methods[k] for k in ("chow", "mallows")})
    found = errors_of(replace(side, own=own), stores)
    lines = [contestant_of(s) for s in STRATEGIES if s in (*OF_LINES, "auto", "best", "linear")]
    assert list(found) == [*lines, "chow", "mallows"]
    assert found["conjoin-clusters"] < 2 < found["conjoin-pooled"]
    assert found["chow"] == pytest.approx(found["mallows"])  # both find the two clusters


def test_all_strategies_of_classification(made_classes: ArenaSet) -> None:
    side = SIDES["classification"]
    found = errors_of(side, made_classes)
    assert {contestant_of(s) for s in OF_LINES} <= set(found) <= set(contestants(side))
    assert all(0 < error < np.log(3) for error in found.values())


def test_combinations_that_are_done_are_not_run_again(stores: ArenaSet) -> None:
    side = replace(SIDES["regression"], load=lambda name: stores)
    done = frozenset(("stores", 0.5, 0, c) for c in contestants(side) if c != "bic")
    rows = list(run_set(side, "stores", ((0.5, 0),), done))
    assert [row.contestant for row in rows] == ["bic"]


def test_a_refusal_is_a_row_with_a_note(monkeypatch: pytest.MonkeyPatch, stores: ArenaSet) -> None:
    def refuse(*args: object) -> None:
        raise conjoin.ConjoinError("no " * 200)

    monkeypatch.setattr(ours, "fit", refuse)
    side = replace(SIDES["regression"], load=lambda name: stores)
    rows = list(run_set(side, "stores", ((0.5, 0),), frozenset()))
    assert len(rows) == len(contestants(side))
    assert all(row.error == "" and 0 < len(row.note) <= NOTE_LENGTH for row in rows)


def test_the_paper_is_not_run_with_many_groups() -> None:
    n = MOST_GROUPS_OF_THE_PAPER + 1
    groups = np.repeat([f"g{k}" for k in range(n)], 2).astype(object)
    data = ArenaSet("many", np.arange(2.0 * n)[:, None], np.zeros(2 * n), groups, ("a",))
    row = method_row(Cell.of(SIDES["regression"], data, 0.5, 0), "paper-signed")
    assert (row.error, row.note) == ("", "more than 24 groups")


@pytest.mark.parametrize(
    ("side", "name"), [("regression", "sleepstudy"), ("classification", "radon_action")]
)
def test_stored_results_are_near_those_of_the_code(
    data_root: Path, tmp_path: Path, side: str, name: str
) -> None:
    """An earlier state of the code stored them: a tenth apart, they want to be run again."""
    output = tmp_path / "results.csv"
    arguments = ["--sets", name, "--shares", "0.5", "--seeds", "0", "--output", str(output)]
    assert ours.main([side, *arguments, "--strategies-only"]) == 0
    found = read_results(output).set_index("contestant")["error"]
    stored = read_results(SIDES[side].results)
    stored = stored[(stored["set"] == name) & (stored["share"] == 0.5) & (stored["seed"] == 0)]
    expected = stored.set_index("contestant")["error"]
    lines = [contestant_of(s) for s in (*OF_LINES, "linear")]
    np.testing.assert_allclose(found[lines], expected[lines], rtol=0.1)


def test_full_is_replaced_by_partial_with_few_datasets(made: ArenaSet) -> None:
    generator = np.random.default_rng(2)
    X = generator.normal(size=(60, 8))
    groups = np.repeat(["a", "b", "c"], 20).astype(object)
    data = ArenaSet("few", X, X[:, 0] + made.y, groups, tuple(f"x{j}" for j in range(8)))
    side = replace(SIDES["regression"], load=lambda name: data)
    done = frozenset(("few", 0.5, 0, method) for method in side.own.methods)
    rows = {row.contestant: row for row in run_set(side, "few", ((0.5, 0),), done)}
    assert rows["conjoin-full"].note == FEW_DATASETS
    assert rows["conjoin-full"].error == rows["conjoin-partial"].error
