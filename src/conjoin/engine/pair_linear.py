"""The cross-validated error of linear models of two datasets, to be compared with a learner's.

A collection of two and the fold of each row enter; the error of separate models or of one of both,
whichever is lower, leaves.
"""

from dataclasses import replace

import numpy as np

from conjoin._typing import IntArray
from conjoin.api.request import Request
from conjoin.engine.study import make_study
from conjoin.execution import one_thread
from conjoin.moments.folds import deal_rows
from conjoin.strategies.plan import start_values
from conjoin.strategies.refits import clusters, plain_clusters, separate_fit
from conjoin.strategies.validation import validate
from conjoin.tables import DatasetCollection


def linear_error(table: DatasetCollection, fold: IntArray, folds: int) -> float:
    """Return the lower cross-validated error of separate linear models and of one of both.

    Both datasets count the same; `fold` (n,) is the fold of every row.
    """
    dealt = replace(deal_rows(table.X, table.y, table.starts, folds, 0), fold=fold)
    asked = Request(target=table.schema.roles.target, folds=folds, verdict="gaussian")
    with one_thread():
        study = make_study(table, asked, dealt)
        start, together = start_values(study.given), np.zeros(2, dtype=int)
        joint = plain_clusters(together)
        if not study.given.exact:
            joint = clusters(together, start.hyper, exact=False)
        fits = [validate(fit, start.problem) for fit in (separate_fit(study.given), joint)]
    total = np.add.reduceat(table.weights, table.starts[:-1])
    units = study.basis.target_scale**2
    return float(min(np.mean(fit.losses.sum(axis=0) / total) for fit in fits) * units)
