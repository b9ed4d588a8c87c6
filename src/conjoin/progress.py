"""The bar that shows how far long work has come."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def progress_bar(text: str, *, stays: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Give what is to be told the steps done and in all; they are shown on standard error.

    By default the bar goes when the work ends, and is not there at all where standard error is no
    terminal. With `stays` it is left standing, in a notebook or a log as well.
    """
    console = Console(stderr=True)
    columns = (TextColumn(text), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    hidden = not (stays or console.is_terminal)
    with Progress(*columns, console=console, transient=not stays, disable=hidden) as bar:
        task = bar.add_task(text, total=None)

        def update(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield update
        whole = bar.tasks[0].total or 1  # work may end before its last step
        update(int(whole), int(whole))
