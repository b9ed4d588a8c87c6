"""The rows that a learner is trained on where the table is larger than memory.

Moments with the way to their rows enter; a sample of the rows as a collection leaves, and the study
that knows their folds. The sample depends on the values of rows alone, not on their order.
"""

import os
from dataclasses import replace

import numpy as np

from conjoin._typing import IntArray
from conjoin.engine.remote import Reduced
from conjoin.engine.study import Study
from conjoin.moments import Dealt
from conjoin.tables import DatasetCollection

# Rows at most by default: trees learn from them in minutes, and more change errors little.
MOST_ROWS = 500_000
# Share of the free memory that a sample may take, and how many times its values it takes while it
# is fetched, put in order and cut into bins.
FREE_SHARE, COPIES = 0.25, 5
FEWEST_ROWS = 10_000  # by default, however little memory is free


def rows_to_sample(asked: int | None, columns: int) -> int:
    """Return how many rows a learner may be trained on: as asked, or as many as fit."""
    if asked is not None:
        return int(asked)
    fit = FREE_SHARE * free_bytes() / (8 * COPIES * (columns + 4))
    return int(min(max(fit, FEWEST_ROWS), MOST_ROWS))


def free_bytes() -> float:
    """Return the free memory; a gigabyte where that is not known."""
    names = "SC_AVPHYS_PAGES", "SC_PAGE_SIZE"
    if not all(name in getattr(os, "sysconf_names", {}) for name in names):
        return 1e9
    return float(os.sysconf(names[0])) * os.sysconf(names[1])


def take_sample(table: Reduced, study: Study, asked: int | None) -> tuple[DatasetCollection, Study]:
    """Return sampled rows, and the study with their folds."""
    assert table.rows is not None  # the source is open
    most = rows_to_sample(asked, len(table.schema.features))
    found = table.rows.sample(max(-(-sum(table.sizes) // most), 1))
    starts: IntArray = np.searchsorted(found.dataset, np.arange(len(table.names) + 1))
    rows = DatasetCollection(
        table.names, table.schema, found.X, found.y, found.w, starts.astype(np.int64)
    )
    return rows, replace(study, dealt=Dealt(found.fold, table.copies, found.rank))
