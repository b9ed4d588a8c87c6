"""Step 2: a collection in shared coordinates, as moments of every dataset and fold.

Rows of datasets, or moments that were formed where the rows live, enter; a `Study` leaves. From
here on nothing reads rows of least squares again; a likelihood keeps its rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.api.request import Request
from conjoin.engine.by_rows import row_problem
from conjoin.engine.coordinates import locate
from conjoin.engine.ordering import deal_in_order, folds_for, robust_scatter, scatter_of_folds
from conjoin.engine.remote import Reduced
from conjoin.families import Response
from conjoin.models.glm_families import family_of
from conjoin.models.likelihood import Likelihood
from conjoin.models.padded_rows import SortedRows
from conjoin.models.problem import LeastSquares, Problem
from conjoin.moments import Basis, Dealt, Forward, Moments
from conjoin.result.fits import Fit, model_of
from conjoin.tables import DatasetCollection
from conjoin.tables.schema import Schema

if TYPE_CHECKING:
    from conjoin.models.scatter import Scatter
    from conjoin.tables.order import RowOrder


@dataclass(frozen=True)
class DatasetFacts:
    """What is known of the datasets besides their rows.

    Parameters
    ----------
    names : tuple of str
        Names of the datasets.
    sizes : tuple of int
        Rows of each.
    schema : Schema
        Columns, and the features they became.
    limits : mapping of feature to (float, float)
        How far beyond the training rows a model is followed.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    schema: Schema
    limits: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, data: DatasetCollection | Reduced) -> "DatasetFacts":
        """Take what a collection, or its moments, come with."""
        return cls(data.names, data.sizes, data.schema, data.limits)

    def model(self, basis: Basis, beta: FloatArray, rows: int, error: float) -> Fit:
        """Return a model and its error in the units of the data."""
        schema, units = self.schema, basis.target_scale**2
        return model_of(
            beta, basis, schema.response, schema.features, rows, error * units, self.limits
        )


@dataclass(frozen=True, eq=False)
class Study:
    """What partitions and strategies are found from.

    Parameters
    ----------
    basis : Basis
        Coordinates of the moments.
    given : Problem
        Datasets and folds.
    response : Response
        What the target is.
    weights : array (K,)
        How much the error of each dataset counts; they sum to 1.
    copies : array (K,)
        Rows of each dataset that are exact copies of another (`moments.folds`).
    scatter : Scatter (K,), optional
        Robust covariances behind verdicts; None for a likelihood, and where verdicts assume normal
        noise that is equal inside a dataset.
    dealt : Dealt, optional
        The fold of every row; None if rows are elsewhere.
    order : RowOrder, optional
        For a likelihood: the time and the person of every row, which verdicts allow for.
    noise_shares : array (K,), optional
        With differential privacy: variance that noise adds to the error of each dataset, over the
        square of the error.
    """

    basis: Basis
    given: Problem
    response: Response
    weights: FloatArray
    copies: IntArray
    scatter: "Scatter | None" = None
    dealt: Dealt | None = None
    order: "RowOrder | None" = None
    noise_shares: FloatArray | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: not the folds of rows, which are as many as rows."""
        return {**vars(self), "dealt": None, "order": None}

    @property
    def dispersion(self) -> float:
        """Variance of counts over that of a Poisson law; 1 for other targets."""
        return self.given.rows.phi if isinstance(self.given, Likelihood) else 1.0

    @property
    def gain_scale(self) -> float:
        """What a unit of squared error of the moments is worth in the errors that users see."""
        return self.basis.target_scale**2 if self.given.exact else self.dispersion / 2


def make_study(
    data: DatasetCollection | Reduced, request: Request, dealt: Dealt | None = None
) -> Study:
    """Bring a collection into shared coordinates and form its moments by dataset and fold.

    `dealt` are the folds of rows, if they are known already.
    """
    robust = request.verdict == "robust"
    if isinstance(data, Reduced) and data.cells is not None:
        cells = Likelihood.of_cells(data.cells.rows, data.cells.start)
        shares = dataset_weights(cells.rows.w.sum(axis=1), request.weigh_by)
        return Study(data.basis, cells, data.schema.response, shares, data.copies)
    if isinstance(data, Reduced):
        scatter = (data.scatter or scatter_of_folds(data.folds)) if robust else None
        study = _of_moments(data.basis, data.folds, request.weigh_by, data.copies, scatter)
        return replace(study, noise_shares=data.noise_shares)
    X, y, w, starts = data.X, data.y, data.weights, data.starts
    family, folds = family_of(data.response), folds_for(data, request)
    if dealt is None:
        dealt, folds = deal_in_order(data, request, folds)
    elif dealt.forward is not None or data.order is not None:
        folds = int(dealt.fold.max()) + 1
    by_rows = row_problem(data, request, dealt, folds)
    if by_rows is not None:
        basis, problem = by_rows
        weights = dataset_weights(problem.folds.w.sum(axis=1), request.weigh_by)
        return Study(basis, problem, Response(), weights, dealt.copies, dealt=dealt)
    found = locate(X, y, w, starts, intercept=request.intercept, folds=folds, dealt=dealt)
    if family is None:
        scatter = None
        if robust:
            basis, whole = found.basis, found.moments.union(1)
            scatter = robust_scatter(
                lambda rows: basis.design(X[rows]), basis.response(y), data, dealt, whole
            )
        study = _of_moments(
            found.basis, found.moments, request.weigh_by, dealt.copies, scatter, dealt.forward
        )
        return replace(study, dealt=dealt)
    basis = replace(found.basis, target_center=0.0, target_scale=1.0)
    rows = SortedRows(basis.design(X), y, w, starts)
    given = Likelihood.of(rows, *dealt.cells(folds), family, dealt.forward)
    weights = dataset_weights(given.rows.w.sum(axis=1), request.weigh_by, given.tested)
    study = Study(basis, given, data.response, weights, dealt.copies, dealt=dealt)
    return replace(study, order=data.order)


def deal_folds(data: DatasetCollection, request: Request) -> tuple[int, Dealt]:
    """Return the number of folds, and the fold of every row of a collection."""
    dealt, folds = deal_in_order(data, request, folds_for(data, request))
    return folds, dealt


def _of_moments(
    basis: Basis,
    folds: Moments,
    weigh_by: str,
    copies: IntArray,
    scatter: "Scatter | None",
    plan: Forward | None = None,
) -> Study:
    given = LeastSquares(folds) if plan is None else LeastSquares.forward(folds, plan)
    weights = dataset_weights(given.moments.w, weigh_by, given.tested)
    return Study(basis, given, Response(), weights, copies, scatter)


def dataset_weights(rows: FloatArray, weigh_by: str, tested: BoolArray | None = None) -> FloatArray:
    """Return how much the error of each dataset counts (K,); nothing without held-out rows."""
    weights = np.ones(len(rows)) if weigh_by == "datasets" else rows
    weights = weights if tested is None else np.where(tested, weights, 0.0)
    return weights / weights.sum()


def rows_of(table: DatasetCollection | Reduced) -> DatasetCollection | None:
    """Return the rows; None where they are elsewhere."""
    return table if isinstance(table, DatasetCollection) else None
