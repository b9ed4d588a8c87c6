"""How the work is run: the one place that sets threads.

The work is long stacks of small matrices. A linear algebra library that starts threads for each of
them spends its time on waking them, and on a busy machine on waiting for them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

SMALL_COLUMNS = 64


@contextmanager
def small_matrices(columns: int) -> Iterator[None]:
    """Keep the linear algebra library on one thread while matrices are small."""
    if columns > SMALL_COLUMNS:
        yield
        return
    with threadpool_limits(limits=1, user_api="blas"):
        yield
