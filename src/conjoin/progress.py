"""The progress of long work: steps done and in all enter, text on standard error leaves.

At a terminal it is a bar. For a command whose standard error is a file or a pipe, it is a short
line now and then.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import current_process
from threading import Event, Thread, Timer, current_thread, main_thread

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

# Seconds after which a call in Python shows a bar. People notice a wait of one second, and ask what
# is going on after a few; most calls end before.
PATIENCE = 3.0
# Seconds between lines where there is no terminal: a run of an hour writes a few hundred.
EVERY = 10.0
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
    text: str, *, stays: bool = False, after: float = 0.0, lines: bool = False
) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error, and give the function that reports steps done and in all.

    By default the bar disappears when the work ends, and is not shown where standard error is not a
    terminal. With `stays` it remains, and is shown in notebooks and logs too. With `lines` there is
    a line every `EVERY` seconds where it is not shown.

    Parameters
    ----------
    text : str
        What the work is, shown before the bar.
    stays : bool, default False
        Whether the bar remains when the work has ended.
    after : float, default 0
        Seconds without a bar at the start.
    lines : bool, default False
        Whether to write lines where there is no terminal.

    Yields
    ------
    callable
        Takes the number of steps done and the number of steps in all.
    """
    console = Console(stderr=True)
    columns = (TextColumn(text), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    hidden = not (stays or console.is_terminal)
    if hidden and lines:
        with _progress_lines(text) as report:
            yield report
        return
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


@contextmanager
def _progress_lines(text: str) -> Iterator[Callable[[int, int], None]]:
    """Write how far the work is to standard error, every `EVERY` seconds and not at all if quick.

    The lines are written by a thread of their own, since a single step may take long.
    """
    ended, begun, share = Event(), time.monotonic(), [0.0]

    def update(done: int, total: int) -> None:
        share[0] = min(done / total, 1.0) if total else 0.0

    def write() -> None:
        while not ended.wait(EVERY):
            seconds = time.monotonic() - begun
            print(f"{text}: {100 * share[0]:.0f} %, {seconds:.0f} s", file=sys.stderr, flush=True)

    writer = Thread(target=write, daemon=True)
    writer.start()
    try:
        yield update
    finally:
        ended.set()
        writer.join()


def _is_main() -> bool:
    """Say whether this is no worker of a parallel search, whose bars would be mixed up."""
    return current_process().name == "MainProcess" and current_thread() is main_thread()
