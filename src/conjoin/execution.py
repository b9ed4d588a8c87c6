"""How the work is run: the one place that sets threads.

The work is long stacks of small matrices. A linear algebra library that starts threads for each of
them spends its time on waking them, and on a busy machine on waiting for them.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

SMALL_COLUMNS = 64
MOST_WORKERS = 4

Item = TypeVar("Item")
Found = TypeVar("Found")


@contextmanager
def small_matrices(columns: int) -> Iterator[None]:
    """Keep the linear algebra library on one thread while matrices are small."""
    if columns > SMALL_COLUMNS:
        yield
        return
    with threadpool_limits(limits=1, user_api="blas"):
        yield


def in_threads(
    work: Callable[[Item], Found], items: Sequence[Item], *, alone: bool
) -> Iterator[Found]:
    """Give the results for all items, in their order, from threads unless `alone`.

    Products and inverses of stacks leave the interpreter free for another thread meanwhile. The
    results hang on the items only, so they are the same for any number of threads.
    """
    workers = min(_processors(), MOST_WORKERS, len(items))
    if alone or workers < 2:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        yield from pool.map(work, items)
    finally:  # what has not begun when interrupted is left
        pool.shutdown(cancel_futures=True)


def side_by_side(
    one: Callable[[], Item], two: Callable[[], Found], *, alone: bool
) -> tuple[Item, Found]:
    """Return the results of two pieces of work, done at the same time unless `alone`."""
    works: list[Callable[[], Any]] = [one, two]
    first, second = in_threads(lambda work: work(), works, alone=alone)
    return first, second


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
