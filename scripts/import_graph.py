"""The house in figures: who imports whom, in which order of rooms, and how large things are.

    python -m scripts.import_graph            # the rooms, their imports, and what breaks a rule
    python -m scripts.import_graph --modules  # every module with its imports as well

Imports inside functions count; imports for type checking only do not. `tests/test_house.py` asserts
the rules.
"""

import argparse
import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "conjoin"
# A room may import from rooms before it. Rooms of one line do not import each other.
ORDER = (
    ("_typing", "version", "text"),
    ("errors",),  # names in messages are cut short
    ("checks", "durations"),
    ("strategies names",),  # strategies/__init__.py: names only
    ("api.described", "api.option_checks"),  # how options are described and checked
    ("api.request",),  # every option, before all that takes one
    ("files", "families", "linalg", "execution", "progress", "progress_parts"),
    ("moments",),
    ("models",),
    ("criterion",),
    ("grouping",),
    ("strategies",),
    ("tables",),
    ("sources",),
    ("representations", "learners"),
    ("paper",),
    ("result",),
    ("sites",),
    ("engine",),
    ("api",),
    ("report",),
    ("estimators", "datasets"),
    ("paper.tables",),
    ("cli",),
    ("conjoin",),
)
# Imports inside methods that go to a later room: a result can write its own report.
DOORS = {("result.plots", "report.html"), ("result.plots", "report.plots"),
         ("result.partition", "report.headline"), ("result.partition", "report.notices"),
         ("result.comparison", "report.notices"), ("result.outputs", "report.frames"),
         ("result.outputs", "report.summary"), ("result.update", "report.updating")}  # fmt: skip
MOST_IMPORTS, MOST_LINES, MOST_BODY, MOST_PARAMETERS = 15, 500, 50, 8
# What users call, whose arguments are options.
FACES = ("api.partition.partition", "api.compare.compare", "estimators.base.__init__",
         "estimators.join.__init__", "representations.embedding.embed", "cli.paper.algorithm1",
         "cli.paper.algorithm2", "cli.paper.algorithm3", "cli.paper.bounds",
         "cli.reproduce.reproduce", "cli.assign.assign", "cli.main.partition", "cli.sites.plan",
         "cli.sites.export", "cli.sites.answer", "cli.sites.serve",
         "sites.export.export")  # fmt: skip


@dataclass
class Module:
    """A module: what it imports when loaded and later, its lines, its functions."""

    name: str
    lines: int
    first: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)
    functions: list[tuple[str, int, int]] = field(default_factory=list)  # name, body, parameters

    @property
    def imports(self) -> set[str]:
        """All modules that it imports."""
        return self.first | self.later


def read_modules(source: Path = SOURCE) -> dict[str, Module]:
    """Return the modules by name, without the name of the package."""
    paths = {_name(path, source): path for path in sorted(source.rglob("*.py"))}
    return {name: _read(name, path, set(paths)) for name, path in paths.items()}


def _name(path: Path, source: Path) -> str:
    parts = path.relative_to(source).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(parts) or "conjoin"


def _read(name: str, path: Path, known: set[str]) -> Module:
    text = path.read_text()
    tree = ast.parse(text)
    found = Module(name, text.count("\n"))
    for node, inside, typing_only in _walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.functions.append((f"{name}.{node.name}", _body(node), _parameters(node)))
        if not typing_only and isinstance(node, ast.ImportFrom):
            for alias in node.names:
                target = _target(f"{node.module}.{alias.name}", known)
                if target is not None and target != name:
                    (found.later if inside else found.first).add(target)
    return found


def _walk(
    node: ast.AST, inside: bool = False, typing_only: bool = False
) -> Iterator[tuple[ast.AST, bool, bool]]:
    """Yield all nodes, whether they are inside a function, and whether for type checking only."""
    yield node, inside, typing_only
    function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    checking = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, inside or function, typing_only or checking)


def _target(dotted: str, known: set[str]) -> str | None:
    """Return the module of the package that an import loads; None if it is another package."""
    if dotted.split(".")[0] != "conjoin":
        return None
    parts = dotted.split(".")[1:]
    while parts and ".".join(parts) not in known:
        parts.pop()
    return ".".join(parts) or None


def _body(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return (node.end_lineno or 0) - body[0].lineno + 1 if body else 0


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return len(node.args.args) + len(node.args.kwonlyargs) + len(node.args.posonlyargs)


def room_of(module: str) -> str:
    """Return the room of a module: the longest name in `ORDER` that it begins with.

    >>> room_of("api.request"), room_of("api.partition"), room_of("paper.tables.real")
    ('api.request', 'api', 'paper.tables')
    """
    if module == "strategies":
        return "strategies names"
    rooms = [room for line in ORDER for room in line]
    fitting = [room for room in rooms if module == room or module.startswith(f"{room}.")]
    return max(fitting, key=len)


def floor_of(module: str) -> int:
    """Return the position of a module's room in `ORDER`."""
    room = room_of(module)
    return next(i for i, line in enumerate(ORDER) if room in line)


def wrong_ways(modules: dict[str, Module]) -> list[str]:
    """Return the imports that go against the order of rooms."""
    return [
        f"{name} -> {other}"
        for name, module in modules.items()
        for other in sorted(module.imports)
        if room_of(name) != room_of(other)
        and floor_of(other) >= floor_of(name)
        and not (other in module.later and (name, other) in DOORS)
    ]


def cycles(modules: dict[str, Module]) -> list[str]:
    """Return the modules of a cycle of imports, if there is one."""
    graph = {name: module.imports for name, module in modules.items() if name != "conjoin"}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def too_large(modules: dict[str, Module]) -> list[str]:
    """Return what is larger than it should be."""
    found = []
    for name, module in modules.items():
        if len(module.first) > MOST_IMPORTS:
            found.append(f"{name} imports {len(module.first)} modules")
        if module.lines > MOST_LINES:
            found.append(f"{name} has {module.lines} lines")
        for function, body, parameters in module.functions:
            if body > MOST_BODY:
                found.append(f"{function} has a body of {body} lines")
            if parameters > MOST_PARAMETERS and function not in FACES:
                found.append(f"{function} has {parameters} parameters")
    return found


def main() -> int:
    """Print the graph; the exit code says whether it keeps the rules."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modules", action="store_true", help="print every module")
    everything = parser.parse_args().modules
    modules = read_modules()
    for line in ORDER:
        for room in line:
            inside = [m for m in modules.values() if room_of(m.name) == room]
            rooms = {room_of(other) for m in inside for other in m.imports} - {room}
            size = sum(m.lines for m in inside)
            print(f"{room:28} {len(inside):3} modules {size:6,} lines <- {' '.join(sorted(rooms))}")
            for module in inside if everything else ():
                print(f"    {module.name}: {' '.join(sorted(module.imports))}")
    circle = cycles(modules)
    broken = [f"cycle: {' -> '.join(circle)}"] if circle else []
    broken += [f"wrong way: {one}" for one in wrong_ways(modules)] + too_large(modules)
    widest = max(modules.values(), key=lambda module: len(module.first))
    print(f"{len(modules)} modules; most imports: {widest.name}, {len(widest.first)}")
    print("\n".join(broken) or "no cycles, no import against the order, nothing too large")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
