from pathlib import Path

import pytest

from benchmarks.arena.learners import NAMES as LEARNERS
from benchmarks.arena.ours import WITH_LEARNER, contestant_of, contestants
from benchmarks.arena.results import NOTE_LENGTH, Row, append, read_done, read_results, short_note
from benchmarks.arena.side import Side
from benchmarks.arena.sides import SEEDS, SHARES, SIDES


def row(contestant: str, error: str = "1.5", seed: int = 0) -> Row:
    return Row("made", 0.5, seed, contestant, 10, 2, 3, error, "0.1000", "")


def test_rows_are_appended_after_one_header(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    assert read_done(path) == frozenset()
    append([row("a")], path)
    assert append(iter([row("b"), row("b", seed=1)]), path)[1].seed == 1
    assert path.read_text().count("contestant") == 1
    assert read_done(path) == {
        ("made", 0.5, 0, "a"), ("made", 0.5, 0, "b"), ("made", 0.5, 1, "b")
    }  # fmt: skip


def test_rows_written_before_a_failure_stay(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"

    def rows():
        yield row("a")
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        append(rows(), path)
    assert read_done(path) == {("made", 0.5, 0, "a")}


def test_the_last_of_equal_rows_counts(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    append([row("a", "1.5"), row("a", "2.5")], path)
    assert read_results(path)["error"].tolist() == [2.5]


def test_long_notes_are_cut() -> None:
    assert len(short_note("x" * 500)) == NOTE_LENGTH


@pytest.mark.parametrize("side", SIDES.values(), ids=list(SIDES))
def test_stored_results_hold_every_contestant_on_every_split(side: Side) -> None:
    """Trees and forests run as far as time allows: some of their splits are left out."""
    results = read_results(side.results)
    assert set(results["contestant"]) <= {*side.contestants, *contestants(side)}
    partly = {*LEARNERS, *map(contestant_of, WITH_LEARNER)}
    results = results[~results["contestant"].isin(partly)]
    names = {*side.contestants, *contestants(side)} - partly
    assert set(results["set"]) == set(side.sets) and set(results["contestant"]) == names
    assert len(results) == len(side.sets) * len(SHARES) * len(SEEDS) * len(names)
