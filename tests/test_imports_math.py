"""Math rooms load no table engine, no scipy.stats and nothing of the rooms above them."""

import json
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

ROOMS = ("linalg", "moments", "models", "criterion", "grouping", "strategies")
ENGINES = ("narwhals", "pyarrow", "duckdb", "pandas", "polars")
ABOVE = ("tables", "sources", "result", "engine", "api", "estimators", "report", "cli", "paper")
FIRST = (
    "conjoin.api",
    "conjoin.api.described",
    "conjoin.api.option_checks",
    "conjoin.api.request",
)  # options: no numbers, before all other rooms
LOAD = """
import json, sys
from importlib import import_module
found = {}
for room, names in json.loads(sys.argv[1]).items():
    before = set(sys.modules)
    for name in names:
        import_module(name)
    found[room] = sorted(set(sys.modules) - before)
print(json.dumps(found))
"""


def modules_of(room):
    """A room's modules, by full name."""
    package = import_module(f"conjoin.{room}")
    names = [package.__name__]
    if hasattr(package, "__path__"):
        names += [f"{package.__name__}.{m.name}" for m in pkgutil.iter_modules(package.__path__)]
    return names


@pytest.fixture(scope="module")
def loaded():
    """What each room loads beyond the rooms before it, in one process."""
    names = json.dumps({room: modules_of(room) for room in ROOMS})
    run = subprocess.run(
        [sys.executable, "-c", LOAD, names], capture_output=True, text=True, check=True
    )
    return json.loads(run.stdout)


@pytest.mark.parametrize("room", ROOMS)
def test_a_math_room_loads_no_table_engine(room, loaded):
    assert not [name for name in loaded[room] if name.split(".")[0] in ENGINES]
    # It takes a second of every start, and scipy.special has the functions.
    assert "scipy.stats" not in loaded[room]
    assert not [
        name
        for name in loaded[room]
        for above in ABOVE
        if f"{name}.".startswith(f"conjoin.{above}.") and name not in FIRST
    ]
