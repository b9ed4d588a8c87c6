"""How the work is run: the only place that sets threads.

Enters: functions and the items they work on. Leaves: their results, in the order of the items.

The work is long stacks of small matrices. If the linear algebra library starts threads for each
matrix, it spends its time on waking them and, on a busy machine, on waiting for them.
"""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

# Threads at most. It bounds memory, since each thread holds stacks of matrices of all datasets; the
# work is about eight strategies, so more threads would mostly wait for the slowest.
MOST_WORKERS = 4

# What tells a thread to stop (`stop_if_interrupted`).
_own = threading.local()
# Rows up to which memory that is free is kept for later arrays, which is quicker.
FEW_ROWS = 200_000
# Parameters of `mallopt` by their numbers in the GNU C library, bytes of an array whose memory is
# given back at once (a column of a part of rows), and the largest that the library itself keeps.
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
LARGE_ARRAY, LARGEST_KEPT = 262_144, 33_554_432

Item = TypeVar("Item")
Found = TypeVar("Found")


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the linear algebra library on one thread.

    With several it cuts sums of large matrices (from some 64 columns on) into other parts, so the
    last digits would depend on the number of processors. Small ones do not gain from threads.
    """
    with _libraries(len(sys.modules)).limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """Return the libraries that this process has loaded.

    Finding them reads a list of all memory, which takes longer than a small fit. A library is
    loaded by a module that needs it, so they are looked for again when there are more `modules`.
    """
    return ThreadpoolController()


def in_threads(
    work: Callable[[Item], Found], items: Sequence[Item], *, alone: bool
) -> Iterator[Found]:
    """Give the results for all items, in their order, from threads unless `alone`.

    Products and inverses of stacks release the interpreter lock, so threads do run side by side.
    The results depend on the items only: they are the same for any number of threads.
    """
    workers = min(_processors(), MOST_WORKERS, len(items))
    if alone or workers < 2:
        yield from map(work, items)
        return
    stop = getattr(_own, "stop", None) or threading.Event()
    pool = ThreadPoolExecutor(workers, initializer=_set_stop, initargs=(stop,))
    try:
        yield from pool.map(work, items)
    except BaseException:
        stop.set()
        raise
    finally:  # after an interruption, work that has not begun is cancelled
        pool.shutdown(cancel_futures=True)


def in_threads_as_they_come(
    work: Callable[[Item], Found], items: Iterable[Item]
) -> Iterator[Found]:
    """Do the same for items that come one by one, of which few are there at once."""
    workers = min(_processors(), MOST_WORKERS)
    if workers < 2:
        yield from map(work, items)
        return
    pool, begun = ThreadPoolExecutor(workers), deque[Future[Found]]()
    try:
        for item in items:
            begun.append(pool.submit(work, item))
            if len(begun) > workers:
                yield begun.popleft().result()
        yield from (one.result() for one in begun)
    finally:  # after an interruption, work that has not begun is cancelled
        pool.shutdown(cancel_futures=True)


def in_workers(
    work: Callable[[Item], Found], items: Sequence[Item], *, alone: bool
) -> Iterator[Found]:
    """Do the same in the workers of joblib, if the caller has chosen a backend of it.

    For few long pieces of work, such as models of folds: what they need travels with them. Inside
    `joblib.parallel_config("dask")` they run where Dask is; else in threads.
    """
    if len(items) < 2 or not _has_joblib_workers():
        yield from in_threads(work, items, alone=alone)
        return
    import joblib

    yield from joblib.Parallel()(joblib.delayed(work)(item) for item in items)


def _has_joblib_workers() -> bool:
    """Say whether the caller is inside `joblib.parallel_config` with more than one worker."""
    if "joblib" not in sys.modules:
        return False
    from joblib.parallel import get_active_backend

    backend, jobs = get_active_backend()
    return (backend.default_n_jobs if jobs is None else jobs) != 1


def stop_if_interrupted() -> None:
    """Raise KeyboardInterrupt in a thread of `in_threads` that is not waited for any more.

    Ctrl-C reaches the main thread only. Long work calls this now and then, so that it ends as well.
    """
    stop = getattr(_own, "stop", None)
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt


def _set_stop(stop: threading.Event) -> None:
    _own.stop = stop


def side_by_side(
    one: Callable[[], Item], two: Callable[[], Found], *, alone: bool
) -> tuple[Item, Found]:
    """Return the results of two pieces of work, done at the same time unless `alone`."""
    works: list[Callable[[], Any]] = [one, two]
    first, second = in_threads(lambda work: work(), works, alone=alone)
    return first, second


def usable_cores() -> int:
    """Return how many threads a library of its own threads may start, within OMP_NUM_THREADS."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(int(asked), _processors()) if asked.isdigit() and int(asked) else _processors()


def give_back_memory() -> None:
    """Return memory that is not used any more to the system, where the C library can do it.

    Thousands of small arrays leave gaps that the GNU C library keeps for later ones of their size,
    and Arrow keeps what it has read.
    """
    if "pyarrow" in sys.modules:
        import pyarrow as pa

        pa.default_memory_pool().release_unused()
    trim = _of_c_library("malloc_trim")
    if trim is not None:
        trim(0)


@contextmanager
def large_arrays_given_back(rows: int) -> Iterator[None]:
    """Give the memory of every large array back as soon as it is free, where the C library can.

    With few rows nothing changes. Otherwise the GNU C library keeps the gaps that arrays of up to
    32 MB leave. That is quicker, but with a million rows the gaps take as much memory as the table.
    Later it is as it becomes in every process that once freed such an array.
    """
    change = _of_c_library("mallopt") if rows > FEW_ROWS else None
    if change is None:
        yield
        return
    change(MMAP_THRESHOLD, LARGE_ARRAY)
    try:
        yield
    finally:
        change(MMAP_THRESHOLD, LARGEST_KEPT)
        change(TRIM_THRESHOLD, 2 * LARGEST_KEPT)
        give_back_memory()


@lru_cache(maxsize=2)
def _of_c_library(name: str) -> Callable[..., int] | None:
    """Return a function of the C library by its name; None if it has none."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    found: Callable[..., int] | None = getattr(ctypes.CDLL(None), name, None)
    return found


def memory_bytes() -> float:
    """Return the memory of this machine; infinite where that is not known."""
    names = "SC_PHYS_PAGES", "SC_PAGE_SIZE"
    if not all(name in getattr(os, "sysconf_names", {}) for name in names):
        return float("inf")
    return float(os.sysconf(names[0])) * os.sysconf(names[1])


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
