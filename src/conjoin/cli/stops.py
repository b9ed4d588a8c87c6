"""What stops a command from outside: Ctrl-C, and the signal that asks a process to end.

Both end a command in the same way, so that nothing is left behind; they differ in the exit code.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INTERRUPTED, TERMINATED = 130, 143  # 128 and the number of the signal, as shells have it


class Stops:
    """Listens for the signal that asks a process to end, and turns it into Ctrl-C."""

    def __init__(self) -> None:
        self.code = INTERRUPTED

    @property
    def sentence(self) -> str:
        """What stopped the command, for standard error."""
        return "Interrupted." if self.code == INTERRUPTED else "Terminated."

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen inside the block; only the main thread of a process can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGTERM, self._terminate)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)

    def _terminate(self, number: int, frame: Any) -> None:
        self.code = TERMINATED
        raise KeyboardInterrupt
