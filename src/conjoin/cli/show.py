"""What the command line prints: readable on a terminal, plain elsewhere."""

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
    """Print the verdict, the clusters and the last steps."""
    console = Console()
    count, datasets = len(result.clusters), len(result.labels)
    console.print(
        f"Train {count} {'model' if count == 1 else 'models'} of {escape(target)!r} "
        f"for {datasets} datasets (method {result.method}, {result.grouping} grouping):",
        highlight=False,
    )
    table = Table("cluster", "datasets", "rows", "estimated error (RMSE)")
    for i, (cluster, model) in enumerate(zip(result.clusters, result.models), start=1):
        table.add_row(
            str(i), escape(", ".join(cluster)), f"{model.rows:,}", f"{model.error**0.5:.5g}"
        )
    console.print(table)
    steps = Table("step", "cluster so far", "best candidate", "score", "decision")
    for i, merge in enumerate(result.history[:MOST_STEPS_SHOWN], start=1):
        steps.add_row(
            str(i),
            escape(", ".join(merge.left)),
            escape(", ".join(merge.right)),
            f"{merge.result.score:+.3f}",
            "join" if merge.joined else "apart",
        )
    console.print(steps)
    hidden = len(result.history) - MOST_STEPS_SHOWN
    if hidden > 0:
        console.print(f"... and {hidden} more steps.")


def show_comparison(result: Comparison, a: str, b: str) -> None:
    """Print one sentence with the decision and the figures behind it."""
    verb = "Join" if result.join else "Keep apart"
    Console(soft_wrap=True).print(
        f"{verb} {escape(a)} and {escape(b)}: score {result.score:+.3f} against threshold "
        f"{result.threshold:g} (method {result.method}); estimated error (RMSE) "
        f"{result.error_separate**0.5:.5g} separate, {result.error_joined**0.5:.5g} joined.",
        highlight=False,
    )


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
