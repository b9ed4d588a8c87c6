"""How the page can be made again: settings, versions, a call in Python and a shell command.

A result enters; texts leave. Arguments at their defaults (`Request`) are left out of calls and
commands.
"""

import platform
import shlex
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any

from conjoin.api.described import described
from conjoin.api.request import NETWORKS, Request
from conjoin.version import __version__

if TYPE_CHECKING:
    from conjoin.result.partition import Partition

RULE = "--rule"  # an option of the criterion "tuned", which the command line takes


def settings_in_words(result: "Partition") -> dict[str, str]:
    """Return what the result was asked for with, by name."""
    roles = result.schema.roles
    given = {
        "target": roles.target,
        "by": ", ".join(roles.by) or None,
        "weights": roles.weights,
        "features": ", ".join(roles.features) if roles.features else None,
        "category": ", ".join(roles.category) or None,
        "ignore": ", ".join(roles.ignore) or None,
        "time": roles.time,
        "repeat": roles.repeat,
        "strategy": result.strategy,
        **{"method": result.method, "grouping": result.grouping},
        **{k: v for k, v in result.settings.items() if k not in ("data", "method", "grouping")},
    }
    if result.representation is not None:
        given["representation"] = result.representation.description
    return {
        (_flag(name) or name).removeprefix("--").replace("-", " "): str(value)
        for name, value in given.items()
        if value is not None
    }


def versions() -> dict[str, str]:
    """Return the versions that made the page."""
    packages = {name: metadata.version(name) for name in ("numpy", "scipy")}
    return {"conjoin": __version__, "Python": platform.python_version(), **packages}


def commands(result: "Partition") -> dict[str, str]:
    """Return what makes the page again: "python" and, where there is one, a "shell" command."""
    roles = result.schema.roles
    given: dict[str, Any] = {"target": roles.target}
    if roles.by:
        given["by"] = list(roles.by) if len(roles.by) > 1 else roles.by[0]
    for name in ("features", "category", "ignore"):
        if getattr(roles, name):
            given[name] = list(getattr(roles, name))
    for name in ("weights", "time", "repeat"):
        if getattr(roles, name):
            given[name] = getattr(roles, name)
    asked = {k: v for k, v in result.settings.items() if k != "data"}
    asked = {"method": result.method, **asked, "strategy": result.strategy}
    given |= {k: v for k, v in asked.items() if v is not None and getattr(Request, k, None) != v}
    objects = _objects(given)
    arguments = ", ".join(
        f"{name}={'...' if name in objects else repr(value)}" for name, value in given.items()
    )
    found = {"python": f'conjoin.partition(data, {arguments}).report("report.html")'}
    if not objects and all(_flag(name) for name in given):
        found["shell"] = _shell(given, result.settings.get("data") or ["DATA"])
    return found


def _objects(given: Mapping[str, Any]) -> list[str]:
    """Return the arguments that were Python objects, of which settings have the name only."""
    choices = {"representation": NETWORKS, "method": described(Request)["method"].choices}
    return [name for name, names in choices.items() if given.get(name, names[0]) not in names]


def _flag(name: str) -> str:
    """Return an argument as the command line calls it; empty if it does not take it."""
    option = described(Request).get(name)
    if option is None:
        return RULE if name == "rule" else ""
    return option.flag or "--" + name.replace("_", "-")


def _shell(given: Mapping[str, Any], data: Sequence[str]) -> str:
    parts = ["conjoin", "partition", *data]
    for name, value in given.items():
        flag = _flag(name)
        if isinstance(value, bool):
            opposite = described(Request)[name].opposite
            parts.append(flag if value else opposite or f"--no-{flag.removeprefix('--')}")
        elif name in ("features", "category", "ignore"):
            parts += [flag, ",".join(value)]
        else:
            for one in value if isinstance(value, list) else [value]:
                parts += [flag, str(one)]
    return shlex.join([*parts, "--report", "report.html"])
