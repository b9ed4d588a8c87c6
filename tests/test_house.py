"""The rules of the house: order of rooms, sizes, reasons for constants, a test for each module."""

import ast
import re

import pytest

from scripts import import_graph as graph

MODULES = graph.read_modules()
ROOT = graph.SOURCE.parent.parent


def test_no_module_imports_itself_by_a_detour():
    assert graph.cycles(MODULES) == []


def test_rooms_import_only_from_rooms_before_them():
    assert graph.wrong_ways(MODULES) == []


def test_every_door_is_used():
    used = {(name, other) for name, module in MODULES.items() for other in module.later}
    assert used >= graph.DOORS


def test_nothing_is_too_large():
    assert graph.too_large(MODULES) == []


def test_the_product_does_not_import_the_paper_when_loaded():
    product = [name for name in MODULES if not name.startswith(("paper", "datasets", "cli"))]
    first = {(name, other) for name in product for other in MODULES[name].first}
    assert [pair for pair in first if pair[1].startswith("paper")] == []


def test_few_modules_stand_outside_of_rooms():
    loose = [name for name in MODULES if "." not in name and not (graph.SOURCE / name).is_dir()]
    assert len(set(loose) - {"conjoin"}) <= 12, loose


@pytest.mark.parametrize("folder", ["tests", "benchmarks", "scripts", "examples"])
def test_no_file_has_more_than_500_lines(folder):
    files = (ROOT / folder).rglob("*.py")
    assert [str(f) for f in files if len(f.read_text().splitlines()) > graph.MOST_LINES] == []


# Modules without logic of their own, and where their behaviour is tested.
TESTED_ELSEWHERE = {
    "_typing": "mypy",
    "version": "tests/cli/test_main.py",
    "models.held_out": "tests/models/test_glm_rows.py",
    "result.comparison": "tests/engine/test_pair.py",
    "result.values": "tests/result/test_partition.py",
    "result.protocol": "mypy",
    "cli.show": "tests/cli/test_main.py",
    "text": "doctests",
}


def test_every_module_has_a_test_file_of_its_name():
    rooms = {name for name in MODULES if (graph.SOURCE / name.replace(".", "/")).is_dir()}
    missing = []
    for name in set(MODULES) - rooms - set(TESTED_ELSEWHERE) - {"conjoin"}:
        *folders, module = name.split(".")
        if not (ROOT / "tests").joinpath(*folders, f"test_{module}.py").exists():
            missing.append(name)
    assert sorted(missing) == []


def numbers(node):
    """Say whether a value is a number, or a tuple of numbers."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(numbers(one) for one in node.elts)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def without_reason(text):
    """Return the numeric constants of a module that have no comment beside or above them."""
    lines = text.splitlines()
    found = []
    for node in ast.parse(text).body:
        if not isinstance(node, ast.Assign) or not numbers(node.value):
            continue
        name = lines[node.lineno - 1].split(" =")[0]
        above = node.lineno - 2
        while above >= 0 and re.match(r"[A-Z_, ]+ = [^#]*$", lines[above]):
            above -= 1  # one comment may stand above several constants
        beside = any("#" in line for line in lines[node.lineno - 1 : node.end_lineno])
        if name.isupper() and not beside and not lines[above].startswith("#"):
            found.append(name)
    return found


def test_a_constant_without_a_reason_is_found():
    assert without_reason("A = 3\n\nB = 4  # because\n# Why.\nC, D = 1, 2.0\n") == ["A"]


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_numeric_constant_says_why(name):
    path = graph.SOURCE / (name.replace(".", "/") + ".py")
    path = path if path.exists() else path.with_suffix("") / "__init__.py"
    if name == "conjoin":
        path = graph.SOURCE / "__init__.py"
    assert without_reason(path.read_text()) == []
