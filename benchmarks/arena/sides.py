"""The two sides by name, and the command line that all commands share.

`python -m benchmarks.arena.COMMAND regression ...` and `... classification ...` choose the side;
each command adds its own options to both.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.arena.classification.side import CLASSIFICATION
from benchmarks.arena.regression.side import REGRESSION
from benchmarks.arena.side import Side

SIDES: dict[str, Side] = {side.name: side for side in (REGRESSION, CLASSIFICATION)}

# Every group's training share: with 0.1 most groups have few rows, with 0.5 many have enough.
SHARES = (0.1, 0.5)
# Repetitions of every split. The stored results have three.
SEEDS = (0, 1, 2)

AddOptions = Callable[[argparse.ArgumentParser, Side], None]


def parse(
    command: str, description: str, add_options: AddOptions, arguments: Sequence[str] | None
) -> tuple[Side, argparse.Namespace]:
    """Parse a command line; return the side that it names and the command's own options."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.arena.{command}", description=description
    )
    choose = parser.add_subparsers(dest="side", required=True, metavar="{" + ",".join(SIDES) + "}")
    for side in SIDES.values():
        add_options(choose.add_parser(side.name, description=description), side)
    options = parser.parse_args(arguments)
    return SIDES[options.side], options


def add_run_options(parser: argparse.ArgumentParser, side: Side) -> None:
    """Add the options of commands that run fits and append to a results file."""
    add = parser.add_argument
    add_sets(parser, side)
    add("--shares", nargs="+", type=float, default=list(SHARES), help="training shares")
    add("--seeds", nargs="+", type=int, default=list(SEEDS), help="random seeds of the splits")
    add("--output", type=Path, default=side.results, help="CSV file to append to")
    add("--rerun", action="store_true", help="also compute rows that the file holds already")


def add_sets(parser: argparse.ArgumentParser, side: Side) -> None:
    """Add the option that chooses sets."""
    sets = list(side.sets)
    parser.add_argument(
        "--sets", nargs="+", choices=sets, default=sets, metavar="SET", help="all by default"
    )
