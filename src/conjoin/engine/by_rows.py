"""Datasets with fewer rows than columns: their rows stand for moments (`moments.rows`).

A collection, a request and folds enter; the basis and the problem leave, or None where moments are
the quicker way.
"""

import numpy as np

from conjoin.api.request import Request
from conjoin.engine.coordinates import basis_of_rows
from conjoin.models.effort import works_by_rows
from conjoin.models.problem import RowLeastSquares
from conjoin.moments import Basis, Dealt, RowFolds
from conjoin.tables import DatasetCollection


def row_problem(
    data: DatasetCollection, request: Request, dealt: Dealt, folds: int
) -> tuple[Basis, RowLeastSquares] | None:
    """Return the basis and the problem of rows; None where moments serve, or rows have an order."""
    columns = data.X.shape[1] + int(request.intercept)
    numbers = data.response.family == "gaussian" and request.method == "auto"
    if not numbers or data.order is not None:
        return None
    if not works_by_rows(np.diff(data.starts), columns, folds):
        return None
    X, y, w = data.X, data.y, data.weights
    basis = basis_of_rows(X, y, w, intercept=request.intercept)
    rows = RowFolds(basis.design(X), basis.response(y), w, data.starts, dealt.fold, folds)
    return basis, RowLeastSquares(rows)
