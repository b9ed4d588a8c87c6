"""Options of the command line, made from the request.

A request class enters, parameters for typer leave: flags, defaults, help texts and completion are
those of `conjoin.api.request`. This module imports nothing heavy, since help needs it.
"""

from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from conjoin.api.described import Option, described
from conjoin.api.request import NETWORKS, Request
from conjoin.errors import ArgumentError

# Options whose values are separated by commas. They may be repeated as well, as --by is.
LISTS = ("features", "category", "ignore")

# Arguments and options that are no part of a request.
Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="CSV or Parquet files, folders, quoted patterns, or a database "
        "(file.duckdb::table, file.sqlite::table, postgresql://...::table).",
        show_default=False,
    ),
]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="File written by --save.", show_default=False)
]
Trust = Annotated[
    list[str] | None,
    typer.Option(
        "--trust",
        metavar="TYPE",
        help="Type that the file MODEL.skops may hold, for a learner of another library; "
        "repeatable. The error without it lists them.",
    ),
]
ByAsFitted = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        "-b",
        metavar="COLUMN",
        help="Column that names the dataset of a row; by default as at fitting, else each file is "
        "a dataset.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Rule = Annotated[
    str | None,
    typer.Option("--rule", metavar="NAME", help="For tuned: signed (default) or literal."),
]
Query = Annotated[
    str | None, typer.Option("--query", metavar="SQL", help=described(Request)["query"].help)
]
UnsafeQuery = Annotated[
    bool, typer.Option("--unsafe-query", help=described(Request)["unsafe_query"].help)
]


def flag_of(name: str, option: Option) -> str:
    """Return how an option is called on the command line.

    >>> from conjoin.api.request import Request
    >>> flag_of("weigh_by", described(Request)["weigh_by"])
    '--weigh-by'
    """
    return option.flag or "--" + name.replace("_", "-")


def takes(*requests: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of requests; it receives their values as `asked`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        added = [_parameter(name, request) for request in requests for name in described(request)]
        own = [one for one in signature(command).parameters.values() if one.name != "asked"]
        required = [one for one in [*own, *added] if one.default is Parameter.empty]
        optional = [one for one in [*added, *own] if one.default is not Parameter.empty]

        @wraps(command)
        def called(**values: Any) -> None:
            names = [one.name for one in added]
            asked = {name: _value(name, values.pop(name)) for name in names}
            command(**values, asked=asked)

        called.__signature__ = signature(command).replace(  # type: ignore[attr-defined]
            parameters=[one.replace(kind=Parameter.KEYWORD_ONLY) for one in [*required, *optional]]
        )
        return called

    return decorate


def _parameter(name: str, request: type) -> Parameter:
    """Return one option of a request as a parameter for typer."""
    option = described(request)[name]
    default = next(one.default for one in fields(request) if one.name == name)
    default = None if name == "target" else default  # files of sites have a plan that names it
    kind: Any = str if default is None or default is MISSING else type(default)
    kind = list[str] if name in ("by", *LISTS) else bool if option.opposite else kind
    flags = [flag_of(name, option)]
    if kind is bool:
        flags = [f"{flags[0]}/{option.opposite or '--no-' + flags[0].removeprefix('--')}"]
    choices = NETWORKS if name == "representation" else option.choices
    info = typer.Option(
        *flags,
        *([option.short] if option.short else []),
        metavar=None if kind is bool else option.metavar,
        help=_help(option),
        autocompletion=_one_of(choices) if choices else None,
    )
    # Annotated[...] in brackets is for types known beforehand.
    annotation: Any = Annotated.__class_getitem__(  # type: ignore[attr-defined]
        (kind if default is not None else kind | None, info)
    )
    empty = Parameter.empty if default is MISSING else default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=empty, annotation=annotation)


def _help(option: Option) -> str:
    """Return the help text of an option, with its choices."""
    if not option.choices:
        return option.help
    return f"{option.help.rstrip('.')}: {', '.join(option.choices)}."


def _one_of(choices: tuple[str, ...]) -> Callable[[str], list[str]]:
    """Return what a shell needs to complete one of some words."""
    return lambda incomplete: [word for word in choices if word.startswith(incomplete)]


def as_number(name: str, value: str) -> float:
    """Return a number that was written on the command line."""
    try:
        return float(value)
    except ValueError:
        raise ArgumentError(f"{name}={value!r} is no number; expected one such as 0.9.") from None


def _value(name: str, value: Any) -> Any:
    """Return the value of an option as Python takes it."""
    if name == "by":
        return list(dict.fromkeys(value)) if value else None
    if name == "interval" and value is not None:
        return as_number(name, value)
    if name == "sample_rows" and value and value.isdigit():
        return int(value)
    if name in LISTS:
        return [part.strip() for one in value or () for part in one.split(",")] or None
    return value
