"""The progress bar of long work: steps done and in all enter, a line on standard error leaves."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def progress_bar(text: str, *, stays: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error, and give the function that reports steps done and in all.

    By default the bar disappears when the work ends, and is not shown where standard error is not a
    terminal. With `stays` it remains, and is shown in notebooks and logs too.

    Parameters
    ----------
    text : str
        What the work is, shown before the bar.
    stays : bool, default False
        Whether the bar remains when the work has ended.

    Yields
    ------
    callable
        Takes the number of steps done and the number of steps in all.
    """
    console = Console(stderr=True)
    columns = (TextColumn(text), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    hidden = not (stays or console.is_terminal)
    with Progress(*columns, console=console, transient=not stays, disable=hidden) as bar:
        task = bar.add_task(text, total=None)

        def update(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield update
        whole = bar.tasks[0].total or 1  # the work may end before its last step
        update(int(whole), int(whole))
