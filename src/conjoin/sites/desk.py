"""Questions of a likelihood to sites, gathered into rounds.

Questions about datasets enter; rounds leave through whatever carries them (a folder, Flower), and
answers come back. Several pieces of work can ask side by side (`each`): every one is done until it
needs an answer, all their questions travel in one round, and they are done again with the
answers at hand. Equal questions are asked once.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from conjoin.models.remote_glm import Arrays, Ask

Item = TypeVar("Item")
Found = TypeVar("Found")
Carry = Callable[[list[Ask]], list[Arrays]]


class _Unanswered(Exception):  # noqa: N818 (no error: the work goes on with the answer)
    """A piece of work needs an answer that is not there yet."""


class RoundDesk:
    """A `models.remote_glm.Desk` that gathers questions into rounds.

    Parameters
    ----------
    carry : callable
        Brings a round of questions to the sites, and returns their answers in the same order.
    known : sequence of (Ask, arrays)
        What was answered before.
    most : float
        Bytes of answers that are kept between rounds; beyond, the oldest are forgotten.
    """

    def __init__(
        self, carry: Carry, known: Sequence[tuple[Ask, Arrays]] = (), most: float = np.inf
    ) -> None:
        self._carry, self._most = carry, most
        self._known: dict[Any, Arrays] = {}
        self._pending: dict[Any, Ask] = {}
        self._gathering = False
        self._lock = threading.RLock()  # the search for variances asks from a thread of its own
        for ask, found in known:
            self._learn(ask, found)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: all but the lock."""
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it up again, with a lock of its own."""
        vars(self).update(state)
        self._lock = threading.RLock()

    def _learn(self, ask: Ask, found: Arrays) -> None:
        """Keep an answer; that to a step holds the sums at its end as well."""
        self._known[ask.key] = found
        if ask.kind == "step":
            there = ask.arrays[0] + found[0] * ask.arrays[1]
            self._known[Ask("sums", ask.dataset, False, (there,)).key] = found[1:]

    def fetch(self, asked: Sequence[Ask]) -> list[Arrays]:
        """Return the answers to questions, in their order."""
        with self._lock:
            missing = {one.key: one for one in asked if one.key not in self._known}
            self._pending.update(missing)
            if missing and self._gathering:
                raise _Unanswered
            if missing:
                self._send()
            found = [self._known[one.key] for one in asked]
            self._forget()
            return found

    def _forget(self) -> None:
        """Drop the oldest answers beyond what may be kept; none while work still needs them."""
        if self._gathering or self._most == np.inf:
            return
        held = sum(_bytes_of(found) for found in self._known.values())
        while held > self._most:
            oldest = next(iter(self._known))
            held -= _bytes_of(self._known.pop(oldest))

    def _send(self) -> None:
        """Send all pending questions as one round."""
        batch = [self._pending[key] for key in sorted(self._pending)]
        self._pending.clear()
        for ask, found in zip(batch, self._carry(batch), strict=True):
            self._learn(ask, found)

    def each(self, work: Callable[[Item], Found], items: Sequence[Item]) -> Iterator[Found]:
        """Do several pieces of work side by side, so that their questions travel together."""
        done: dict[int, Found] = {}
        with self._lock:
            while len(done) < len(items):
                self._gathering = True
                try:
                    for number, item in enumerate(items):
                        if number not in done:
                            try:
                                done[number] = work(item)
                            except _Unanswered:
                                continue
                finally:
                    self._gathering = False
                if self._pending:
                    self._send()
            self._forget()
        return iter([done[number] for number in range(len(items))])


def _bytes_of(found: Arrays) -> int:
    return sum(one.nbytes for one in found)
