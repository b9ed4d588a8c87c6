"""How options are described: one entry each for the command line, docstrings and checks.

Help texts, choices and checks enter (`Option`); docstrings that describe all options of a request
leave (`documented`). The options themselves are in `api.request`. This module imports nothing
heavy, since `conjoin --help` needs it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Option:
    """How one option is described, spelled and checked.

    Parameters
    ----------
    help : str
        One or two sentences, for the command line and for docstrings.
    kind : str
        What values are, in the manner of numpydoc; by default the choices.
    choices : tuple of str
        Values that are allowed; empty if any are.
    check : callable, optional
        Called with the name and the value; raises `ArgumentError`.
    metavar : str
        What stands for the value in help texts.
    flag : str
        Name on the command line, if it is not the name of the option.
    short : str
        Short flag, such as "-t".
    python_help : str
        What a docstring says in addition.
    opposite : str
        Flag for False, of an option that is true, false or None.
    """

    help: str
    kind: str = ""
    choices: tuple[str, ...] = ()
    check: Callable[[str, Any], None] | None = None
    metavar: str = "NAME"
    flag: str = ""
    short: str = ""
    python_help: str = ""
    opposite: str = ""

    def described(self) -> str:
        """Return what values are, for a docstring."""
        if self.kind:
            return self.kind
        words = [f'"{choice}"' for choice in self.choices]
        return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else "str"


def option(default: Any, help: str, **settings: Any) -> Any:
    """Return the field of one option."""
    return field(default=default, metadata={"option": Option(help, **settings)})


def described(request: type) -> dict[str, Option]:
    """Return the options of a request by name, in the order of its class."""
    return {one.name: one.metadata["option"] for one in fields(request) if "option" in one.metadata}


def default_of(request: type, name: str) -> Any:
    """Return the default of an option; None if it has none."""
    return getattr(request, name, None)


def documented(*requests: type, leave_out: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Put the descriptions of options in place of `{options}` in a docstring."""

    def decorate(function: Function) -> Function:
        text = function.__doc__ or ""
        indent = next(
            line[: len(line) - len(line.lstrip())]
            for line in text.splitlines()
            if line.strip() == "{options}"
        )
        lines = []
        for request in requests:
            for name, option in described(request).items():
                if name not in leave_out:
                    lines += _entry(name, option, request, indent)
        function.__doc__ = text.replace(f"{indent}{{options}}", "\n".join(lines))
        return function

    return decorate


def _entry(name: str, option: Option, request: type, indent: str) -> list[str]:
    """Return the lines of one parameter in a docstring."""
    kind, default = option.described(), default_of(request, name)
    if default is not None and "default" not in kind:
        kind += (
            f", default {default!r}" if not isinstance(default, str) else f' (default "{default}")'
        )
    words = f"{option.help} {option.python_help}".strip()
    lines, line = [f"{indent}{name} : {kind}"], ""
    for word in words.split():
        if line and len(indent) + 4 + len(line) + 1 + len(word) > 100:
            lines.append(f"{indent}    {line}")
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, f"{indent}    {line}"]
