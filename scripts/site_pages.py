"""Pages of the documentation site that are made from the code: reference, changelog, gallery.

The parser, the public names, the changelog and the scripts of the gallery enter; Markdown leaves.
`scripts.site_hooks` puts it into the site.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "examples" / "gallery"

# The pages of the Python reference: title, introduction, and names by the module that has them.
REFERENCE: dict[str, tuple[str, str, dict[str, tuple[str, ...]]]] = {
    "functions": (
        "Functions",
        "`conjoin.partition` finds which datasets to train together, `conjoin.compare` decides for "
        "two, `conjoin.update` adds rows to a result, `conjoin.check` tries it on new rows, and "
        "`conjoin.load` reads a saved one.",
        {
            "conjoin.api.partition": ("partition",),
            "conjoin.api.compare": ("compare",),
            "conjoin.api.update": ("update",),
            "conjoin.api.check": ("check",),
            "conjoin.result.load": ("load",),
        },
    ),
    "sites": (
        "Sites",
        "For sites that may not share rows. These names are in `conjoin.sites`, the last four in "
        "`conjoin.sites.flower`.",
        {
            "conjoin.sites.plan": ("make_plan", "load_plan", "Plan"),
            "conjoin.sites.rules": ("Rules",),
            "conjoin.sites.export": ("export", "Export"),
            "conjoin.sites.folder": ("open_study", "SiteFiles"),
            "conjoin.sites.prediction": ("with_trees",),
            "conjoin.sites.rows": ("encode",),
            "conjoin.sites.flower": ("client_app", "server_app", "open_grid", "GridStudy"),
        },
    ),
    "results": (
        "Results",
        "What the functions return. All of these names are in `conjoin`.",
        {
            "conjoin.result.partition": ("Partition",),
            "conjoin.result.update": ("Update", "Move", "VerdictChange"),
            "conjoin.result.comparison": ("Comparison",),
            "conjoin.result.fits": ("LinearFit", "LogisticFit"),
            "conjoin.result.values": ("Estimate", "Merge", "Alternative", "Assignment"),
            "conjoin.result.improvement": ("Improvements", "Improvement"),
            "conjoin.result.stability": ("Stability",),
            "conjoin.result.scores": ("Scores", "Bin"),
        },
    ),
    "estimators": (
        "Estimators and learners",
        "Estimators for scikit-learn, the settings of boosted trees, errors and warnings. All of "
        "these names are in `conjoin`.",
        {
            "conjoin.estimators.join": ("JoinRegressor", "JoinClassifier"),
            "conjoin.learners.boosting": ("Boosting",),
            "conjoin.errors": ("ConjoinError", "ConjoinWarning"),
        },
    ),
    "datasets": (
        "Datasets",
        "Data to try things on, in `conjoin.datasets`: two real tables, and synthetic ones with "
        "the right answer attached.",
        {
            "conjoin.datasets.real": (
                "load_washington_bikes",
                "washington_bikes_path",
                "load_seoul_bikes",
                "seoul_bikes_path",
            ),
            "conjoin.datasets.synthetic": (
                "make_clusters",
                "make_continuum",
                "make_pair",
                "SyntheticCollection",
            ),
            "conjoin.datasets.outcomes": (
                "make_class_clusters",
                "make_class_pair",
                "make_count_clusters",
                "SyntheticOutcomes",
            ),
        },
    ),
    "criteria": (
        "Criteria and the paper's algorithms",
        "Criteria that score a pair of datasets. Those of the paper are in `conjoin.paper` too.",
        {
            "conjoin.criterion": ("Risk", "Validated"),
            "conjoin.paper.tuned": ("Tuned",),
            "conjoin.paper.bound": ("Bound",),
            "conjoin.paper.direct": ("Direct",),
            "conjoin.paper.oracle": ("Oracle",),
            "conjoin.paper.design": ("Gaussian",),
        },
    ),
    "representations": (
        "Representations",
        "Features that are learned before the engine, in `conjoin.representations`. Networks need "
        "torch.",
        {
            "conjoin.representations.networks": ("Network",),
            "conjoin.representations.plain": ("Transformer", "Function"),
            "conjoin.representations.training": ("Training",),
            "conjoin.representations.torch.mlp": ("MLP", "MLPFeatures"),
            "conjoin.representations.torch.tap": ("Tap",),
            "conjoin.representations.torch.heads": ("Heads",),
        },
    ),
}


def reference_page(name: str) -> str:
    """Return a page of the Python reference, with directives that mkdocstrings fills in."""
    title, words, modules = REFERENCE[name]
    blocks = [f"::: {module}.{one}" for module, names in modules.items() for one in names]
    return "\n\n".join([f"# {title}", words, *blocks]) + "\n"


# --- the command line ----------------------------------------------------------------------------


def commands_page() -> str:
    """Return the reference of the command line, made from the parser."""
    from typer.main import get_command

    from conjoin.cli.main import app

    parser: Any = get_command(app)
    parts = [
        "# Commands and options",
        "Made from the parser: `conjoin COMMAND --help` prints the same. "
        "[Output and JSON keys](../command-line.md) says what commands print.",
    ]
    for name, command in parser.commands.items():
        parts += [f"## conjoin {name}", _paragraphs(command.help), _usage(name, command)]
        options = [one for one in command.params if one.param_type_name == "option"]
        rows = [f"| {_flags(one)} | {_default(one)} | {_cell(one.help)} |" for one in options]
        parts.append("\n".join(["| option | default | |", "|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _paragraphs(text: str | None) -> str:
    return "\n\n".join(" ".join(part.split()) for part in (text or "").split("\n\n"))


def _usage(name: str, command: Any) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    words = [one.metavar or one.name.upper() for one in arguments]
    given = [f"{w}..." if one.nargs == -1 else w for w, one in zip(words, arguments)]
    shown = [w if one.required else f"[{w}]" for w, one in zip(given, arguments)]
    lines = "\n".join(f"- `{w}`: {_cell(one.help)}" for w, one in zip(words, arguments) if one.help)
    usage = f"```text\nconjoin {name} {' '.join(shown)} [OPTIONS]\n```"
    return f"{usage}\n\n{lines}" if lines else usage


def _flags(option: Any) -> str:
    flags = " / ".join(f"`{one}`" for one in [*option.opts, *option.secondary_opts])
    value = "" if option.is_flag else f" {option.metavar or option.type.name.upper()}"
    return f"{flags}{value}"


def _default(option: Any) -> str:
    if option.required:
        return "required"
    default = option.default
    known = default is not None and not callable(default) and default != ()
    return f"`{default}`" if known and type(default).__name__ in PLAIN else ""


PLAIN = ("str", "int", "float", "bool")  # defaults that a reader can type


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|").replace("<", "&lt;")


# --- pages from files outside docs ---------------------------------------------------------------


def moved_page(path: Path, title: str | None = None) -> str:
    """Return a Markdown file of the repository as a page, with links to docs made right."""
    text = path.read_text(encoding="utf-8").replace("](docs/", "](")
    return re.sub(r"^# .*$", f"# {title}", text, count=1, flags=re.MULTILINE) if title else text


# --- the gallery ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Example:
    """A script of the gallery: its name, title, words and code."""

    name: str
    title: str
    words: str
    code: str


def examples() -> Iterator[Example]:
    """Yield the scripts of the gallery in order; the docstring has title and words."""
    for path in sorted(GALLERY.glob("[!_]*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        title, _, words = (ast.get_docstring(tree) or "").partition("\n\n")
        first = tree.body[0]
        code = "\n".join(text.splitlines()[first.end_lineno or 0 :]).strip("\n")
        yield Example(path.stem, title.rstrip("."), words, code)


def gallery_page() -> str:
    """Return the index of the gallery."""
    lines = [
        "# Gallery",
        "",
        "Small scripts, each with one idea and one picture.",
        "",
    ]
    for one in examples():
        lines += [f"## {one.title}", "", f"[![{one.title}]({one.name}.png)]({one.name}.md)", ""]
        lines += [one.words.split("\n\n")[0], ""]
    return "\n".join(lines)


def example_page(one: Example) -> str:
    """Return the page of a script: picture, words, code."""
    return (
        f"# {one.title}\n\n{one.words}\n\n![{one.title}]({one.name}.png)\n\n"
        f"The script is `examples/gallery/{one.name}.py`:\n\n```py\n{one.code}\n```\n"
    )
