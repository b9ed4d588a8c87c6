"""What the command line prints: readable on a terminal, plain elsewhere."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from conjoin.reproduce.synthetic import Cell
from conjoin.result import Comparison, Partition

MOST_STEPS_SHOWN = 12


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


def show_partition(result: Partition, target: str) -> None:
    """Print the verdict, the clusters, the strategies and the ledger."""
    console = Console(width=None if Console().is_terminal else 100)
    console.print(_headline(result, target), highlight=False, soft_wrap=True)
    clusters = Table(
        "cluster", "datasets", "rows", "error (RMSE)", title="Clusters, one model each"
    )
    for i, (cluster, model) in enumerate(zip(result.clusters, result.models), start=1):
        clusters.add_row(
            str(i), escape(", ".join(cluster)), f"{model.rows:,}", f"{model.error**0.5:.5g}"
        )
    console.print(clusters)
    console.print(_strategies(result))
    console.print(_ledger(result))
    hidden = len(result.verdicts) - MOST_STEPS_SHOWN
    if hidden > 0:
        console.print(f"... and {hidden} more steps.")
    console.print(
        "Gain: estimated fall of the squared error when the two are joined. Joins are picked by "
        "evidence; only a verdict 'apart' speaks against one.",
        highlight=False,
    )


def _headline(result: Partition, target: str) -> str:
    count, datasets = len(result.clusters), len(result.labels)
    models = "1 model" if count == 1 else f"{count} models"
    errors = result.errors
    ours = errors[result.strategy].error
    parts = [
        _change(ours, errors[other].error, words)
        for other, words in (("separate", "separate models"), ("pooled", "one pooled model"))
    ]
    text = (
        f"Train {models} of '{escape(target)}' for {datasets} datasets. Strategy "
        f"'{result.strategy}': expected squared error {', '.join(parts)}."
    )
    if result.strategy != "clusters":
        change = _change(errors["clusters"].error, ours, f"'{result.strategy}'")
        text += f" One model a cluster, as below: {change}."
    return text


def _change(error: float, other: float, words: str) -> str:
    """Say how much lower or higher an error is than another one, in percent."""
    share = round(100 * (error / other - 1))
    if share == 0:
        return f"the same as {words}"
    return f"{abs(share)} % {'lower' if share < 0 else 'higher'} than {words}"


def _strategies(result: Partition) -> Table:
    table = Table(
        "strategy", "error (RMSE)", "behind the best", "weight in auto", title="Strategies"
    )
    for name, estimate in sorted(result.errors.items(), key=lambda item: item[1].error):
        least = estimate.error - estimate.behind
        behind = (
            f"{100 * estimate.behind / least:.1f} % ± {100 * estimate.standard_error / least:.1f}"
        )
        weight = result.weights.get(name)
        table.add_row(
            name,
            f"{estimate.error**0.5:.5g}",
            behind if estimate.behind > 0 else "best",
            f"{weight:.2f}" if weight else "",
        )
    return table


def _ledger(result: Partition) -> Table:
    table = Table("join", "with", "gain", "verdict", "decision", title="Ledger of joins")
    for line in result.verdicts[:MOST_STEPS_SHOWN]:
        table.add_row(
            escape(", ".join(line.left)),
            escape(", ".join(line.right)),
            f"{line.gain:+.4g}" if math.isfinite(line.gain) else "unknown",
            line.verdict,
            "joined" if line.joined else "kept apart",
        )
    return table


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
