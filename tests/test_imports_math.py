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
for name in json.loads(sys.argv[1]):
    import_module(name)
print(json.dumps(sorted(sys.modules)))
"""


def modules_of(room):
    """A room's modules, by full name."""
    package = import_module(f"conjoin.{room}")
    names = [package.__name__]
    if hasattr(package, "__path__"):
        names += [f"{package.__name__}.{m.name}" for m in pkgutil.iter_modules(package.__path__)]
    return names


@pytest.mark.parametrize("room", ROOMS)
def test_a_math_room_loads_no_table_engine(room):
    names = json.dumps(modules_of(room))
    run = subprocess.run(
        [sys.executable, "-c", LOAD, names], capture_output=True, text=True, check=True
    )
    loaded = json.loads(run.stdout)
    assert not [name for name in loaded if name.split(".")[0] in ENGINES]
    assert "scipy.stats" not in loaded  # a second of every start; scipy.special has the functions
    assert not [
        name
        for name in loaded
        for room in ABOVE
        if f"{name}.".startswith(f"conjoin.{room}.") and name not in FIRST
    ]
