import pytest

from benchmarks.arena import ceiling, ours, run, table
from benchmarks.arena.contest import Contestant
from benchmarks.arena.sides import SIDES, add_run_options, parse


@pytest.mark.parametrize("command", [run, ours, table, ceiling])
@pytest.mark.parametrize("side", list(SIDES))
def test_every_command_takes_both_sides(
    command, side: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        command.main([side, "--help"])
    assert stop.value.code == 0 and side in capsys.readouterr().out


def test_a_side_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run.main([])
    assert "{regression,classification}" in capsys.readouterr().err


def test_sets_are_those_of_the_side() -> None:
    side, options = parse("run", "", add_run_options, ["classification"])
    assert side is SIDES["classification"] and options.sets == list(side.sets)
    assert options.output == side.results and options.seeds == [0, 1, 2]
    with pytest.raises(SystemExit):
        parse("run", "", add_run_options, ["classification", "--sets", "sleepstudy"])


@pytest.mark.parametrize("side", SIDES.values(), ids=list(SIDES))
def test_contestants_bear_the_names_of_the_register(side) -> None:
    for name in ("separate", "pooled"):
        contestant = side.contestants[name]()
        assert isinstance(contestant, Contestant) and contestant.name == name
