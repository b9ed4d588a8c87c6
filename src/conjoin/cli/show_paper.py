"""What `conjoin reproduce` and `conjoin paper` print: tables of the paper beside ours, its bounds.

Results of `conjoin.paper` and its tables enter; tables and notes on the terminal leave.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from conjoin.cli.show import _console, _section, _table, _text
from conjoin.grouping import Step
from conjoin.paper.classification import ClassificationBounds, Setting
from conjoin.paper.tables.synthetic import LAMBDA, Cell, N
from conjoin.text import listed

# Characters of a line in files: the widest table, with eleven columns, has some 130.
WIDE = 160
HEADER = (
    "shift", "p", "d", "paper", "ours", "s.e.", "diff.", "literal", "signed", "default", "ceiling",
)  # fmt: skip
DIRECT_HEADER = ("shift", "p", "d", "paper's Direct", "1 - join rate", "Direct, exact")


def show_cells(cells: Sequence[Cell], name: str) -> None:
    """Print a synthetic table of the paper beside ours."""
    title = f"{name}: percent of correct decisions of Algorithm 2, n = {N}"
    show_rows(title, HEADER, [_cell_texts(cell) for cell in cells])
    note = (
        "Literal and signed: what Algorithm 2 decides on all pairs of a line, from proxy_acc "
        "(column ours) and from the signed score. Default: percent of correct decisions of "
        "conjoin. Ceiling: of Theorem 1 with the true coefficients."
    )
    _console().print(_text(note, "dim"))
    show_rows("Direct comparison", DIRECT_HEADER, [_direct_texts(cell) for cell in cells])
    note = (
        "The paper's column Direct is one minus the join rate of Algorithm 2. Direct comparison "
        "itself never joins; its exact accuracy is beside."
    )
    _console().print(_text(note, "dim"))


def _direct_texts(cell: Cell) -> list[str]:
    """Return a line of the table under DIRECT_HEADER."""
    shares = (cell.paper_direct, cell.one_minus_join_rate, cell.direct_exact)
    return [str(cell.shift), str(cell.p), f"{cell.d:g}", *(f"{share:.1f}" for share in shares)]


def _cell_texts(cell: Cell) -> list[str]:
    """Return a line of the table under HEADER; one repetition has no standard error."""
    error = cell.standard_error
    return [
        str(cell.shift),
        str(cell.p),
        f"{cell.d:g}",
        f"{cell.paper:.1f}",
        f"{cell.ours:.1f}",
        "" if math.isnan(error) else f"{error:.1f}",
        f"{cell.ours - cell.paper:+.1f}",
        "join" if cell.ours > 100 * LAMBDA else "apart",
        "join" if cell.signed_score > 0 else "apart",
        f"{cell.default:.1f}",
        f"{cell.ceiling:.1f}",
    ]


def show_rows(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[str] = ()
) -> None:
    """Print a table of texts; all columns but `words` are numbers, aligned to the right."""
    table = _table(*header, right=[name for name in header if name not in words])
    for column in table.columns:
        column.no_wrap = True  # all texts are short, and a column of single letters is unreadable
    for row in rows:
        table.add_row(*(_text(text) for text in row))
    _section(_console(WIDE), title, table)


def show_steps(steps: Sequence[Step[str]]) -> None:
    """Print every step of Algorithm 3: the best candidate of the growing cluster, and its score."""
    rows = [
        (
            listed(step.left),
            listed(step.right),
            f"{step.score.proxy_acc:.3f}",
            f"{step.score.score:+.3f}",
            f"{step.score.alpha:g}",
            "joined" if step.joined else "closes the cluster",
        )
        for step in steps
    ]
    header = ("cluster", "best candidate", "proxy_acc", "score", "alpha", "decision")
    show_rows("Steps of Algorithm 3", header, rows, words=("cluster", "best candidate", "decision"))


def bounds_facts(
    found: ClassificationBounds, setting: Setting, names: Sequence[str]
) -> dict[str, Any]:
    """Return both bounds of a pair with all their parts, under the paper's names."""
    return {
        "datasets": list(names),
        "join": found.join,
        "Psi": found.Psi,
        "Phi": list(found.Phi),
        **{name: getattr(found, name) for name in ("phi1", "phi2", "phi3", "psi1", "psi2", "psi3")},
        "C": setting.C,
        "B": setting.B,
        "lambda": setting.lam,
        "delta": setting.delta,
        "reading": setting.reading,
        "sentence": _bounds_in_words(found, names),
    }


def _bounds_in_words(found: ClassificationBounds, names: Sequence[str]) -> str:
    guess = f"join {names[0]} and {names[1]}" if found.join else "keep them apart"
    sign = "not above" if found.join else "above"
    return (
        f"The bounds of the paper's appendix say to {guess}: Psi {found.Psi:.4g} is {sign} "
        f"Phi1 + Phi2 = {sum(found.Phi):.4g}."
    )


def show_bounds(found: Mapping[str, Any]) -> None:
    """Print the decision of the bounds, their parts, and why not to rely on them."""
    console = _console()
    console.print(_text(found["sentence"]), soft_wrap=True)
    rows = [
        (part, *(f"{value:.4g}" for value in (*one, joint)))
        for part, one, joint in (
            ("sampling (phi1, psi1)", found["phi1"], found["psi1"]),
            ("hypothesis class (phi2, psi2)", found["phi2"], found["psi2"]),
            ("subgradient steps (phi3, psi3)", [found["phi3"]] * 2, found["psi3"]),
            ("sum (Phi, Psi)", found["Phi"], found["Psi"]),
        )
    ]
    show_rows("Parts of the bounds", ("part", *found["datasets"], "joined"), rows, words=("part",))
    note = (
        "Second opinion: these bounds cannot tell similar datasets from different ones "
        "(docs/classification-bounds.md). conjoin compare answers that question."
    )
    console.print(_text(note, "dim"))
