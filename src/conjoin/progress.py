"""The progress bar of long work: steps done and in all enter, a line on standard error leaves."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import current_process
from threading import Timer, current_thread, main_thread

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

# Seconds after which a call in Python shows a bar. People notice a wait of one second, and ask what
# is going on after a few; most calls end before.
PATIENCE = 3.0
TEXT = "Finding what to join"


@contextmanager
def progress_of_call(*, verbose: bool | None = None) -> Iterator[Callable[[int, int], None]]:
    """Give the function that reports the steps of a call, and show a bar if the call takes long.

    Parameters
    ----------
    verbose : bool, optional
        True shows a bar from the start, which remains. Otherwise it appears on a terminal after
        `PATIENCE` seconds and disappears at the end; elsewhere nothing is shown.

    Yields
    ------
    callable
        Takes the number of steps done and the number of steps in all.
    """
    if verbose:
        with progress_bar(TEXT, stays=True) as report:
            yield report
        return
    with progress_bar(TEXT, after=PATIENCE) as report:
        yield report


@contextmanager
def progress_bar(
    text: str, *, stays: bool = False, after: float = 0.0
) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error, and give the function that reports steps done and in all.

    By default the bar disappears when the work ends, and is not shown where standard error is not a
    terminal. With `stays` it remains, and is shown in notebooks and logs too.

    Parameters
    ----------
    text : str
        What the work is, shown before the bar.
    stays : bool, default False
        Whether the bar remains when the work has ended.
    after : float, default 0
        Seconds without a bar at the start.

    Yields
    ------
    callable
        Takes the number of steps done and the number of steps in all.
    """
    console = Console(stderr=True)
    columns = (TextColumn(text), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    hidden = not (stays or console.is_terminal)
    bar = Progress(*columns, console=console, transient=not stays, disable=hidden)
    task = bar.add_task(text, total=None)

    def update(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)

    start = Timer(after, bar.start)  # its own thread: a single step may take longer than `after`
    start.daemon = True
    if after <= 0 and not hidden:
        bar.start()
    elif not hidden and _is_main():
        start.start()
    try:
        yield update
        whole = bar.tasks[0].total or 1  # the work may end before its last step
        update(int(whole), int(whole))
    finally:
        start.cancel()
        if start.is_alive():
            start.join()
        if not hidden:  # older versions of rich would print an empty line
            bar.stop()


def _is_main() -> bool:
    """Say whether this is no worker of a parallel search, whose bars would be mixed up."""
    return current_process().name == "MainProcess" and current_thread() is main_thread()
