"""What users get back: frozen objects with plain values in the units of their data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from conjoin._typing import AnyArray, FloatArray
from conjoin.engine.study import family_of
from conjoin.errors import ArgumentError, DataError, warn_caller
from conjoin.families import Label, Response, expected, most_likely, softmax
from conjoin.grouping import Merge
from conjoin.models.glm import contrasts
from conjoin.moments import Basis
from conjoin.result.fits import (
    Fit,
    LinearFit,
    LogisticFit,
    check_rows,
    limited,
)
from conjoin.result.placement import Placement
from conjoin.result.scores import Bin, Scored, Scores
from conjoin.tables.frame import in_memory, is_table, to_array, to_frame
from conjoin.tables.names import dataset_names, name_of
from conjoin.tables.schema import Schema
from conjoin.text import quoted

ON_UNSEEN = ("pooled", "nearest", "raise")


@dataclass(frozen=True)
class Comparison:
    """Whether two datasets should be joined, how sure that is, and why.

    Parameters
    ----------
    verdict : "join", "apart" or "undecided"
        What is shown at level `delta`, with unequal noise allowed: "join" is wrong with
        probability at most delta for the gain given the rows' features, "apart" for the gain
        expected over new ones.
    join : bool
        The point decision of the method: `score` is above `threshold`.
    gain : float
        Estimated fall of the out-of-sample error when the two are joined (mean squared error,
        averaged over the two).
    interval : (float, float)
        For the gain; each end holds with confidence 1 - delta.
    delta : float
    rows_to_settle : float or None
        For an undecided pair: by what factor both datasets would have to grow for a verdict; None
        if a thousandfold would not do.
    score, threshold : float
        The method's score of the pair.
    phi, psi : float
        The two sides of the paper's inequality (nan for methods without them); for
        method="tuned" their medians over the final resamples.
    alpha : float
        The value that stands for log(1/delta) in phi and psi.
    method : str
    fit_a, fit_b, fit_joined : LinearFit or LogisticFit
        The two separate models and the joint one, on all rows.
    error_separate, error_joined : float
        Estimated out-of-sample error, averaged over the two datasets, of the separate models and
        of the joint one.
    """

    verdict: str
    join: bool
    gain: float
    interval: tuple[float, float]
    delta: float
    rows_to_settle: float | None
    score: float
    threshold: float
    phi: float
    psi: float
    alpha: float
    method: str
    fit_a: Fit
    fit_b: Fit
    fit_joined: Fit
    error_separate: float
    error_joined: float


@dataclass(frozen=True)
class Estimate:
    """Validated error of a strategy.

    Parameters
    ----------
    error : float
        Error on left-out rows, averaged over datasets: mean squared error, log loss for classes,
        half the mean deviance for counts.
    behind : float
        How much larger that is than the best strategy's.
    standard_error : float
        Standard error of `behind`, from differences paired by dataset (by dataset and fold where
        datasets are fewer than eight); 0 for the best strategy itself.
    """

    error: float
    behind: float
    standard_error: float


@dataclass(frozen=True)
class MergeVerdict:
    """One line of the ledger: two groups of datasets and what is known of joining them.

    `verdict`, `gain` and `interval` are as in `Comparison`; the level holds for a pair chosen
    beforehand, not for the best of many, so read them as a guide here. Ledgers of more than 200
    steps leave the intervals out (nan).
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    joined: bool
    verdict: str
    gain: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Alternative:
    """A cluster that a dataset is in, or could be in, and what joining the two is worth.

    `verdict`, `gain` and `interval` as in `Comparison`, for the dataset against the other datasets
    of the cluster.
    """

    cluster: int
    verdict: str
    gain: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Assignment:
    """Where a new dataset belongs.

    Parameters
    ----------
    cluster : int or None
        Position of the most likely cluster; None if the dataset is most likely like no cluster.
    probability : float
        Its probability.
    probabilities : tuple of float
        Of every cluster.
    probability_new : float
        That the dataset belongs to none.
    model : LinearFit or LogisticFit
        Averaged over the possibilities, each updated with the rows at hand; its error is not
        known (nan).
    """

    cluster: int | None
    probability: float
    probabilities: tuple[float, ...]
    probability_new: float
    model: Fit = field(repr=False)


class Analysis(Protocol):
    """What lies behind a partition (`conjoin.engine.analysis`, or read from a file)."""

    @property
    def weights(self) -> dict[str, float]:
        """Shares of the strategies in "auto"."""

    @property
    def errors(self) -> dict[str, Estimate]:
        """Validated error of every strategy."""

    @property
    def history(self) -> tuple[Merge, ...]:
        """The steps to the clusters."""

    @property
    def verdicts(self) -> tuple[MergeVerdict, ...]:
        """A verdict on every step."""

    @property
    def placement(self) -> Placement:
        """What is needed to place a new dataset."""

    def ledger(self, most: int | None) -> tuple[MergeVerdict, ...]:
        """Return verdicts on the first steps."""

    def alternatives(self, name: str) -> tuple[Alternative, ...]:
        """Return what is known of joining one dataset with its own cluster and others."""

    @property
    def all_alternatives(self) -> dict[str, tuple[Alternative, ...]]:
        """The same for every dataset."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the partition was asked for with, as plain values."""

    @property
    def details(self) -> Any:
        """Figures that a report shows (`conjoin.result.details`), None if they are not known."""

    def scored(self, strategy: str) -> Scored | None:
        """Return how good the probabilities of a strategy are, None if that is not known."""

    def using(self, strategy: str) -> "Partition":
        """Return the result with the models of a strategy."""


@dataclass(frozen=True)
class Partition:
    """Which datasets to train together, and what each way of sharing them is worth.

    Parameters
    ----------
    clusters : list of lists of str
        Dataset names, clusters in the order of their first dataset.
    labels : mapping of dataset name to int
        Position of its cluster in `clusters`.
    models : list of LinearFit, for classes of LogisticFit
        One model a cluster, fitted to all its rows.
    strategy : str
        The strategy behind `coefficients`.
    coefficients : mapping of dataset name to such a model
        The model of each dataset under the strategy; `error` is its validated error.
    pooled : such a model
        One model for all, which serves datasets that are not known.
    method, grouping : str
        What found the clusters.
    features : tuple of str
        Features used: the table's, or those of a representation.
    schema : Schema
        The table's columns and how they became features.
    """

    clusters: list[list[str]]
    labels: dict[str, int]
    models: list[Fit]
    strategy: str
    coefficients: dict[str, Fit] = field(repr=False)
    pooled: Fit = field(repr=False)
    method: str
    grouping: str
    features: tuple[str, ...]
    schema: Schema = field(repr=False)
    analysis: Analysis = field(repr=False, compare=False)

    def __str__(self) -> str:
        """Say in a sentence what was found."""
        from conjoin.report.summarize import in_short

        return in_short(self)

    def using(self, strategy: str) -> "Partition":
        """Return the same result with the models of another strategy; nothing is fitted again."""
        return self if strategy == self.strategy else self.analysis.using(strategy)

    @property
    def weights(self) -> dict[str, float]:
        """Shares of the strategies in "auto"."""
        return self.analysis.weights

    @property
    def errors(self) -> dict[str, Estimate]:
        """Validated error of every strategy; for "clusters" with the partition found anew.

        Where a partition cannot be found anew from part of the rows (the paper's methods, a ready
        criterion, "validated") it is kept as it is, which flatters "clusters".
        """
        return self.analysis.errors

    @property
    def history(self) -> tuple[Merge, ...]:
        """The steps to the clusters: joins, and the best joins that were refused."""
        return self.analysis.history

    @property
    def verdicts(self) -> tuple[MergeVerdict, ...]:
        """The ledger: a verdict on every step of the history."""
        return self.analysis.verdicts

    def ledger(self, most: int | None = None) -> tuple[MergeVerdict, ...]:
        """Return the ledger's first lines; verdicts on all of very many steps take time."""
        return self.analysis.ledger(most)

    def explain(self, name: str) -> tuple[Alternative, ...]:
        """Say what joining a dataset with its own cluster is worth, then with the nearest others.

        A dataset alone in its cluster is compared with others only.
        """
        if str(name) not in self.labels:
            raise DataError(
                f"Dataset {name!r} was not there at fitting; known are {quoted(list(self.labels))}."
            )
        return self.analysis.alternatives(str(name))

    @property
    def representation(self) -> Any:
        """The representation whose features the models have (`Learned`); None if there is none."""
        return self.schema.representation

    @property
    def columns(self) -> dict[str, str]:
        """What was done to every column of the table, in words."""
        return {encoding.name: encoding.describe() for encoding in self.schema.encodings}

    @property
    def settings(self) -> dict[str, Any]:
        """What the partition was asked for with; of files the names only."""
        return dict(self.analysis.settings)

    @property
    def cluster_cost(self) -> float:
        """By what share the error of hard clusters exceeds that of "auto"; negative if lower."""
        return self.errors["clusters"].error / self.errors["auto"].error - 1

    @property
    def family(self) -> str:
        """What the target is: "gaussian" (a number), "logistic" (classes) or "poisson" (counts)."""
        return self.schema.response.family

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes of the target, in the order of `predict_proba`; empty for numbers."""
        return self.schema.response.classes

    @property
    def scores(self) -> dict[str, Scores]:
        """Log loss, Brier score, AUC and shares of classes of every dataset, on left-out rows.

        Those of the strategy in use; found when first asked for. Only where the target is a class.
        """
        return self._scored().scores

    @property
    def calibration(self) -> tuple[Bin, ...]:
        """How often predictions of about the same probability came true, on left-out rows.

        For two classes predictions of the second, for more those of every class. Only where the
        target is a class.
        """
        return self._scored().calibration

    def _scored(self) -> Scored:
        self._check_classes("so there are no scores of probabilities; see errors")
        found = self.analysis.scored(self.strategy)
        if found is None:
            raise ArgumentError(
                "Scores of probabilities are not in the model file, which was written without "
                "them; fit the model again."
            )
        return found

    def predict(
        self, X: Any, dataset: Any = None, *, on_unseen: str = "pooled", limit: bool = True
    ) -> AnyArray:
        """Predict rows under the strategy: numbers, or the most likely classes.

        Parameters
        ----------
        X : frame, mapping of columns, or array (rows, features)
            Columns as at fitting, found by name; those of an array in the order of `features`, or
            of `schema.inputs` where there is a representation.
        dataset : name, or one a row, optional
            Which dataset rows belong to; by default the columns `by` of X say so. A missing name
            means that the dataset is not known: the pooled model then.
        on_unseen : "pooled", "nearest" or "raise"
            What a dataset gets that was not there at fitting: the pooled model with one warning,
            the model of the cluster whose features are most like its own, or an error.
        limit : bool
            Whether columns are kept within the `limits` of the models.
        """
        rows, names = self.encode(X, dataset)
        return self.predict_encoded(rows, names, on_unseen=on_unseen, limit=limit)

    def predict_proba(
        self, X: Any, dataset: Any = None, *, on_unseen: str = "pooled", limit: bool = True
    ) -> FloatArray:
        """Return the probability of each class (rows, classes); arguments as in `predict`."""
        self._check_classes()
        rows, names = self.encode(X, dataset)
        return softmax(self.scores_encoded(rows, names, on_unseen=on_unseen, limit=limit))

    def _check_classes(self, words: str = "so there are no probabilities; use predict") -> None:
        if not self.classes:
            raise ArgumentError(
                f"The target {self.schema.roles.target!r} has no classes, {words}, or fit with "
                "family='logistic'."
            )

    def encode(self, X: Any, dataset: Any = None) -> tuple[FloatArray, list[str | None]]:
        """Return the features of rows, and the name of each row's dataset (None if unknown)."""
        if is_table(X):
            by = self.schema.roles.by if dataset is None else ()
            frame = in_memory(to_frame(X, "X", wanted={*self.schema.columns, *by}))
            rows = self.schema.encode(frame)
            if dataset is None:
                return rows, dataset_names(frame, by)
        else:
            rows = self.schema.represent(check_rows(X, self.schema.inputs))
        if dataset is None:
            raise DataError(
                "X does not say which dataset a row belongs to; pass dataset=... (a name, or one "
                "for each row)."
            )
        return rows, _names_of_rows(dataset, len(rows))

    def predict_encoded(
        self,
        rows: FloatArray,
        names: Sequence[str | None],
        *,
        on_unseen: str = "pooled",
        limit: bool = True,
    ) -> AnyArray:
        """Predict rows of features (n, features) that belong to the named datasets."""
        scores = self.scores_encoded(rows, names, on_unseen=on_unseen, limit=limit)
        if self.classes:
            return most_likely(softmax(scores), self.classes)
        return expected(scores, self.schema.response)

    def scores_encoded(
        self,
        rows: FloatArray,
        names: Sequence[str | None],
        *,
        on_unseen: str = "pooled",
        limit: bool = True,
    ) -> FloatArray:
        """Return the values of the models' lines (n, lines); see `LogisticFit` for classes."""
        if on_unseen not in ON_UNSEEN:
            raise ArgumentError(
                f"on_unseen={on_unseen!r} is unknown; expected one of {', '.join(ON_UNSEEN)}."
            )
        if limit and self.pooled.limits:
            rows = limited(rows, self.pooled.limits)
        position, intercept, coef = self._table
        row_names = np.array(names, dtype=object)
        k = np.array([0 if n is None else position.get(n, 0) for n in names], dtype=np.int64)
        scores: FloatArray = intercept[k] + np.einsum("ij,isj->is", rows, coef[k])
        unseen = sorted({name for name in names if name is not None and name not in position})
        if unseen and on_unseen == "raise":
            known = list(self.coefficients)
            raise DataError(
                f"Dataset {unseen[0]!r} was not there at fitting; known are {quoted(known)}. "
                "Choose on_unseen='pooled' or 'nearest' to predict it all the same."
            )
        if unseen and on_unseen == "pooled":
            were, get = "datasets were", "they get"
            if len(unseen) == 1:
                were, get = "dataset was", "it gets"
            warn_caller(
                f"{len(unseen)} {were} not there at fitting ({quoted(unseen)}); {get} the pooled "
                "model."
            )
        if on_unseen == "nearest":
            for name in unseen:
                own = row_names == name
                lines = self.models[self.analysis.placement.nearest(rows[own])].lines
                slopes = np.array([list(line.coef.values()) for line in lines])
                scores[own] = rows[own] @ slopes.T + [line.intercept for line in lines]
        return scores

    @cached_property
    def _table(self) -> tuple[dict[str, int], FloatArray, FloatArray]:
        """Position of each dataset in, and, intercepts and coefficients; the pooled model first.

        Intercepts are (datasets + 1, lines), coefficients (datasets + 1, lines, features).
        """
        models = [model.lines for model in (self.pooled, *self.coefficients.values())]
        position = {name: k for k, name in enumerate(self.coefficients, start=1)}
        intercept = np.array([[line.intercept for line in lines] for lines in models])
        coef = np.array([[list(line.coef.values()) for line in lines] for lines in models])
        return position, intercept, coef

    def assign(self, X: Any, y: Any) -> "Assignment":
        """Place a new dataset from some rows with known target, without fitting anew.

        Each cluster says how likely it makes these rows, given how sure its coefficients are; so
        does a cluster of its own, whose coefficients are like those of clusters in general. The
        number of datasets in a cluster counts as prior weight.
        """
        rows, _ = self.encode(X, "new")
        response = self.schema.response
        target = known_target(y, len(rows), response)
        placement = self.analysis.placement
        probability, beta = placement.place(rows, target, family_of(response))
        best = int(np.argmax(probability))
        return Assignment(
            cluster=None if best == len(self.clusters) else best,
            probability=float(probability[best]),
            probabilities=tuple(map(float, probability[:-1])),
            probability_new=float(probability[-1]),
            model=model_of(
                beta,
                placement.basis,
                response,
                self.features,
                len(rows),
                float("nan"),
                self.pooled.limits,
            ),
        )

    def save(self, path: Any) -> None:
        """Write the models, the partition and its evidence to a file; `conjoin.load` reads it."""
        from conjoin.result.store import save

        save(self, path)

    def report(self, path: Any, *, title: str | None = None) -> None:
        """Write one self-contained HTML page: verdict, clusters, map, coefficients, datasets."""
        from conjoin.report.html import write_report

        write_report(self, path, title=title)

    def plot_errors(self, ax: Any = None) -> Any:
        """Draw the error of every strategy; return matplotlib axes (extra: plot)."""
        from conjoin.report.plots import plot_errors

        return plot_errors(self, ax)

    def plot_tree(self, ax: Any = None) -> Any:
        """Draw the merge tree over the gain of each merge; return matplotlib axes."""
        from conjoin.report.plots import plot_tree

        return plot_tree(self, ax)

    def plot_gains(self, ax: Any = None) -> Any:
        """Draw the gains of joining every two datasets; return matplotlib axes."""
        from conjoin.report.plots import plot_gains

        return plot_gains(self, ax)

    def plot_coefficients(self, feature: str | None = None, ax: Any = None) -> Any:
        """Draw a coefficient across datasets, by default the one in which clusters differ most.

        Return matplotlib axes.
        """
        from conjoin.report.plots import plot_coefficients

        return plot_coefficients(self, feature, ax)

    def plot_calibration(self, ax: Any = None) -> Any:
        """Draw how often predictions of a probability came true; return matplotlib axes.

        Only where the target is a class.
        """
        from conjoin.report.plots import plot_calibration

        return plot_calibration(self, ax)


def _names_of_rows(dataset: Any, rows: int) -> list[str | None]:
    if isinstance(dataset, str) or np.ndim(dataset) == 0:
        return [None if dataset is None else name_of(dataset)] * rows
    values = dataset.to_list() if hasattr(dataset, "to_list") else to_array(dataset).tolist()
    if len(values) != rows:
        raise DataError(f"dataset has {len(values)} names for {rows} rows of X.")
    return [None if v is None or v != v else name_of(v) for v in values]


def known_target(y: Any, rows: int, response: Response) -> FloatArray:
    """Return the target of rows as numbers, those of classes if it has any."""
    values = y.to_list() if hasattr(y, "to_list") else np.asarray(y).tolist()
    if np.ndim(values) != 1 or len(values) != rows:
        what = "label" if response.classes else "finite number"
        raise DataError(
            f"y must hold one {what} for each of the {rows} rows of X; got shape "
            f"{np.shape(values)}."
        )
    if response.classes:
        return response.codes(values)
    target = np.asarray(values, dtype=np.float64)
    if not np.isfinite(target).all():
        raise DataError(f"y must hold one finite number for each of the {rows} rows of X.")
    return target


def model_of(
    beta: FloatArray,
    basis: Basis,
    response: Response,
    features: Sequence[str],
    rows: int,
    error: float,
    limits: Mapping[str, tuple[float, float]],
) -> Fit:
    """Bring coefficients (p,) in working coordinates back into the units of the data."""

    def line(one: FloatArray) -> LinearFit:
        intercept, slopes = basis.to_original(one)
        kind = "gaussian" if response.classes else response.family
        named = dict(zip(features, map(float, slopes)))
        return LinearFit(float(intercept), named, rows, error, limits, kind)

    if not response.classes:
        return line(beta)
    C = len(response.classes)
    if C > 2:  # working coordinates are contrasts of the classes
        lines = tuple(line(one) for one in (beta.reshape(-1, C - 1) @ contrasts(C).T).T)
    else:
        lines = (line(beta),)
    return LogisticFit(response.classes, lines, rows, error)
