"""What the command line prints: readable on a terminal, plain elsewhere."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from conjoin.report.summarize import cautions, few, headline
from conjoin.reproduce.synthetic import Cell
from conjoin.result import Comparison, Partition

MOST_STEPS_SHOWN = 12
MOST_CLUSTERS_SHOWN = 30
MOST_MEMBERS_SHOWN = 12
MOST_FEATURES_SHOWN = 8


@contextmanager
def progress_bar(text: str) -> Iterator[Callable[[int, int], None]]:
    """Show progress on standard error while it runs; nothing where that is no terminal."""
    console = Console(stderr=True)
    columns = (TextColumn(text), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(text, total=None)

        def update(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield update


def show_json(facts: dict[str, Any]) -> None:
    """Print plain values as JSON."""
    print(json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False))


def show_partition(result: Partition, *, columns: bool = False) -> None:
    """Print the verdict, the clusters, the strategies, the ledger and, if asked, the columns."""
    console = _console()
    console.print(escape(headline(result)), highlight=False, soft_wrap=True)
    console.print(_clusters(result))
    console.print(_strategies(result))
    console.print(_ledger(result))
    hidden = len(result.history) - MOST_STEPS_SHOWN
    if hidden > 0:
        console.print(f"... and {hidden} more steps (--json has them all).")
    console.print(
        "Gain: estimated fall of the squared error when the two are joined. Joins are picked by "
        "evidence; only a verdict 'apart' speaks against one.",
        highlight=False,
    )
    for caution in cautions(result):
        console.print(f"Caution: {escape(caution)}", highlight=False)
    if columns:
        table = Table("column", "what was done", title="Columns")
        for name, words in result.columns.items():
            table.add_row(escape(name), escape(words))
        console.print(table)


def _console() -> Console:
    return Console(width=None if Console().is_terminal else 100)


def _clusters(result: Partition) -> Table:
    table = Table("cluster", "datasets", "rows", "error (RMSE)", title="Clusters, one model each")
    pairs = list(enumerate(zip(result.clusters, result.models), start=1))
    for i, (cluster, model) in pairs[:MOST_CLUSTERS_SHOWN]:
        table.add_row(
            str(i), escape(few(cluster, MOST_MEMBERS_SHOWN)), f"{model.rows:,}", _root(model.error)
        )
    if len(pairs) > MOST_CLUSTERS_SHOWN:
        table.add_row("...", f"and {len(pairs) - MOST_CLUSTERS_SHOWN} more clusters", "", "")
    return table


def _root(error: float) -> str:
    return f"{error**0.5:.5g}" if math.isfinite(error) else "unknown"


def _strategies(result: Partition) -> Table:
    table = Table(
        "strategy", "error (RMSE)", "behind the best", "weight in auto", title="Strategies"
    )
    for name, estimate in sorted(result.errors.items(), key=lambda item: item[1].error):
        least = estimate.error - estimate.behind
        behind = "best"
        if estimate.behind > 0:
            share, spread = (100 * x / least for x in (estimate.behind, estimate.standard_error))
            behind = f"{share:.1f} % ± {spread:.1f}"
        weight = result.weights.get(name)
        marked = f"[bold]{name}[/bold]" if name == result.strategy else name
        table.add_row(marked, _root(estimate.error), behind, f"{weight:.2f}" if weight else "")
    return table


def _ledger(result: Partition) -> Table:
    table = Table(
        "join", "with", "gain", "interval", "verdict", "decision", title="Ledger of joins"
    )
    for line in result.ledger(MOST_STEPS_SHOWN):
        table.add_row(
            escape(few(line.left)),
            escape(few(line.right)),
            f"{line.gain:+.4g}" if math.isfinite(line.gain) else "unknown",
            _interval(line.interval),
            line.verdict,
            "joined" if line.joined else "kept apart",
        )
    return table


def _interval(interval: Sequence[float | None]) -> str:
    low, high = (float("nan") if x is None else x for x in interval)
    return "" if math.isnan(low) or math.isnan(high) else f"{low:+.3g} to {high:+.3g}"


def show_dataset(facts: dict[str, Any]) -> None:
    """Print why a dataset is where it is, and what its nearest alternatives are."""
    console = _console()
    console.print(escape(facts["reason"]), highlight=False, soft_wrap=True)
    table = Table("model", "error (RMSE)", title="What each model is worth for this dataset")
    for name, error in facts["errors"].items():
        table.add_row(name, "unknown" if error is None else _root(error))
    console.print(table)
    if facts["alternatives"]:
        table = Table("cluster", "datasets", "gain", "interval", "verdict", title="Alternatives")
        for line in facts["alternatives"]:
            gain = "unknown" if line["gain"] is None else f"{line['gain']:+.4g}"
            own = " (its own)" if line["own"] else ""
            table.add_row(
                f"{line['cluster'] + 1}{own}",
                escape(few(line["datasets"])),
                gain,
                _interval(line["interval"]),
                line["verdict"],
            )
        console.print(table)
    largest = sorted(facts["coef"].items(), key=lambda item: -abs(item[1]["shift"] or 0.0))
    table = Table(
        "feature", "coefficient", "pooled", title="Where it differs most from the pooled model"
    )
    for name, values in largest[:MOST_FEATURES_SHOWN]:
        table.add_row(escape(name), f"{values['own']:.5g}", f"{values['pooled']:.5g}")
    console.print(table)


def show_comparison(result: Comparison, a: str, b: str) -> None:
    """Print one sentence with the verdict, the gain and its interval."""
    words = {"join": "Join", "apart": "Keep apart", "undecided": "Undecided on"}
    low, high = result.interval
    text = (
        f"{words[result.verdict]} {escape(a)} and {escape(b)} at level {result.delta:g}: the gain "
        "of joining, the fall of the expected squared error, is "
        f"{result.gain:.4g} (between {low:.4g} and {high:.4g}); estimated error (RMSE) "
        f"{result.error_separate**0.5:.5g} separate, "
        f"{result.error_joined**0.5:.5g} joined."
    )
    guess = "join them" if result.join else "keep them apart"
    if result.verdict == "undecided":
        text += f" The better guess (method {result.method}) is to {guess}"
        if result.rows_to_settle is not None:
            text += f"; about {result.rows_to_settle:.1f} times the rows would settle it"
        text += "."
    elif result.join != (result.verdict == "join") or result.method != "risk":
        text += f" Method {result.method} says to {guess} (score {result.score:+.3f})."
    Console(soft_wrap=True).print(text, highlight=False)


def show_table(cells: list[Cell], name: str) -> None:
    """Print a table of the paper beside ours."""
    table = Table(title=f"{name}: percent of right decisions of Algorithm 2, n = 50")
    headers = (
        "shift", "p", "d", "paper", "ours", "s.e.", "diff.",
        "paper's Direct", "1 - join rate", "Direct, exact",
    )  # fmt: skip
    for header in headers:
        table.add_column(header, justify="right")
    for c in cells:
        table.add_row(
            str(c.shift),
            str(c.p),
            f"{c.d:g}",
            f"{c.paper:.1f}",
            f"{c.ours:.1f}",
            f"{c.standard_error:.1f}",
            f"{c.ours - c.paper:+.1f}",
            f"{c.paper_direct:.1f}",
            f"{c.one_minus_join_rate:.1f}",
            f"{c.direct_exact:.1f}",
        )
    console = Console()
    console.print(table)
    console.print(
        "The paper's Direct column is one minus the join rate of Algorithm 2; direct comparison "
        "itself never joins, and its accuracy against the exact truth is in the last column.",
        highlight=False,
    )
