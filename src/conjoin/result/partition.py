"""What `partition` returns: clusters, models, and the way to the analysis behind them.

A `Partition` holds plain values in the units of the data and delegates the rest: predictions to
its `Predictor`, errors and verdicts to its analysis, pages and plots to `conjoin.report`, files to
`result.store`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from conjoin._typing import Progress
from conjoin.checks import check_count
from conjoin.errors import ArgumentError, DataError
from conjoin.families import Label
from conjoin.result.assigning import assign, known_target
from conjoin.result.fits import Fit
from conjoin.result.learners import Learners
from conjoin.result.plots import Plots
from conjoin.result.predicting import Predictions
from conjoin.result.protocol import AnalysisProtocol
from conjoin.result.scores import Bin, Scored, Scores
from conjoin.result.values import Alternative, Assignment, Estimate, Merge
from conjoin.strategies import SEARCHED
from conjoin.tables.schema import Schema
from conjoin.text import quoted

if TYPE_CHECKING:
    from conjoin.result.improvement import Improvements
    from conjoin.result.stability import Stability
    from conjoin.tables.wild import Outlier

# Attributes of version 0.1, and what they are called now.
RENAMED = {"evidence": "analysis", "history": "ledger()", "verdicts": "ledger()"}


@dataclass(frozen=True)
class Partition(Plots, Learners, Predictions):
    """Which datasets to train together, and how good each way of sharing them is.

    Parameters
    ----------
    clusters : list of lists of str
        Names of the datasets, clusters in the order of their first dataset.
    labels : mapping of dataset name to int
        Position of its cluster in `clusters`.
    models : list of LinearFit, for classes of LogisticFit
        One model for each cluster, fitted to all its rows.
    strategy : str
        The strategy behind `coefficients`.
    coefficients : mapping of dataset name to such a model
        The model of each dataset under the strategy; `error` is its error on held-out rows.
    pooled : such a model
        One model for all, which serves datasets that were not there at fitting.
    method, grouping : str
        What found the clusters.
    features : tuple of str
        The features that models use: those of the table, or of a representation.
    schema : Schema
        The columns of the table, and how they became features.
    analysis : Analysis
        What lies behind the result; the methods and properties below read it.
    added : mapping of dataset name to Assignment
        Datasets that were not there at fitting and got a model later (`adding`).

    Examples
    --------
    >>> import conjoin
    >>> from conjoin.datasets import make_clusters
    >>> result = conjoin.partition(make_clusters(sizes=(2, 2), distance=2.0).tables(), target="y")
    >>> result.clusters
    [['d1', 'd2'], ['d3', 'd4']]
    >>> result.errors["auto"].error < result.errors["pooled"].error
    True
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
    analysis: AnalysisProtocol = field(repr=False, compare=False)
    added: Mapping[str, Assignment] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        """Say in a sentence what was found."""
        from conjoin.report.headline import in_short

        return " ".join([*self.notices, in_short(self)])

    def __getattr__(self, name: str) -> Any:
        """Name the new spelling of an attribute that was renamed."""
        if name in RENAMED:
            raise AttributeError(f"Partition.{name} is now called Partition.{RENAMED[name]}.")
        # An error inside a property is raised again as it was.
        return super().__getattribute__(name)

    # --- the analysis ----------------------------------------------------------------------------

    def using(self, strategy: str) -> "Partition":
        """Return the same result with the models of another strategy; nothing is fitted again.

        Parameters
        ----------
        strategy : str
            As in `conjoin.partition`.

        Returns
        -------
        Partition

        Raises
        ------
        ArgumentError
            If there is no such strategy, or a file holds another one only.
        """
        if not isinstance(strategy, str):
            raise ArgumentError(
                f"strategy={strategy!r} is unknown; expected a name, such as {self.strategy!r}."
            )
        if strategy == self.strategy:
            return self
        return replace(self.analysis.using(strategy), added=self.added)

    @property
    def weights(self) -> dict[str, float]:
        """Weights of the strategies in "auto"."""
        return self.analysis.weights

    @property
    def errors(self) -> dict[str, Estimate]:
        """Error of every strategy on held-out rows.

        "clusters" are the models of the clusters; their partition was found from all rows, so this
        error is too optimistic. "clusters, searched again" is the fair one: the partition was
        searched for again outside the held-out rows. The paper's methods, a ready criterion and
        "validated" cannot do that, and have no such entry. Nor has a single cluster, which is the
        same model as "pooled".
        """
        return self.analysis.errors

    def improvements(self, strategy: str | None = None) -> "Improvements":
        """Compare a strategy with separate models and with one model for all.

        Parameters
        ----------
        strategy : str, optional
            A key of `errors`; by default the strategy in use.

        Returns
        -------
        Improvements
            Changes of the error with 90 % intervals, the datasets that carry them, and how many
            datasets win and lose.

        Raises
        ------
        ArgumentError
            If there is no such strategy, or a file does not have its comparison.
        """
        name = self.strategy if strategy is None else strategy
        if not isinstance(name, str) or name not in self.errors:
            raise ArgumentError(f"strategy={name!r} is unknown; expected one of {[*self.errors]}.")
        found = self.analysis.improvements(name)
        if found is None:
            raise ArgumentError(
                f"The model file was written without the comparison of {name!r}; fit the model "
                "again."
            )
        return found

    def stability(self) -> "Stability":
        """Return how often datasets are together when the search sees random halves of the rows.

        Computed when first asked for, and once. It takes at most about as long as the partition.

        Returns
        -------
        Stability

        Raises
        ------
        ArgumentError
            If the method cannot search again, if there are more than 2,000 datasets, if validation
            preferred one model for all to the clusters, or if a file has no stability.
        """
        found = self.analysis.stability
        if found is None:
            raise ArgumentError(
                "The stability of this partition is not known: its method cannot search again, "
                "there are more than 2,000 datasets, one model for all predicted better than the "
                "clusters, or the model file was written without it."
            )
        return found

    def ledger(
        self, most: int | None = None, progress: Progress | None = None
    ) -> tuple[Merge, ...]:
        """Return the joins that led to the clusters and the best joins refused, with verdicts.

        Where clusters are about a learner (`learner` is not "linear"), the learner itself is
        cross-validated for the first 12 lines, when the ledger is first asked for. That takes about
        a second for each group of datasets. `Merge.judged_by` says which lines these are.

        Parameters
        ----------
        most : int, optional
            Number of lines at most. Verdicts on thousands of joins take seconds.
        progress : callable, optional
            Is called with the groups of datasets that were cross-validated, and with their number.

        Returns
        -------
        tuple of Merge
        """
        if most is not None:
            check_count("most", most, least=0)
            most = int(most)
        return self.analysis.ledger(most, progress)

    def explain(self, name: str) -> tuple[Alternative, ...]:
        """Return what joining a dataset with its own cluster, or with the nearest others, is worth.

        Parameters
        ----------
        name : str
            A dataset.

        Returns
        -------
        tuple of Alternative
            A dataset alone in its cluster is compared with other clusters only.

        Raises
        ------
        DataError
            If there is no such dataset.
        """
        if str(name) in self.added:
            raise DataError(
                f"Dataset {name!r} was not there at fitting, so no join was judged for it; its "
                f"model and clusters are in added[{str(name)!r}]. For joins fit all datasets again."
            )
        if str(name) not in self.labels:
            raise DataError(
                f"Dataset {name!r} was not there at fitting; known are {quoted(list(self.labels))}."
            )
        return self.analysis.alternatives(str(name))

    @property
    def representation(self) -> Any:
        """The representation whose features the models use (`Learned`); None if there is none."""
        return self.schema.representation

    @property
    def columns(self) -> dict[str, str]:
        """What was done to every column of the table, in words."""
        return {encoding.name: encoding.describe() for encoding in self.schema.encodings}

    @property
    def outliers(self) -> "tuple[Outlier, ...]":
        """Gross errors that were found: row, dataset, column and value of each."""
        return self.analysis.findings.outliers

    @property
    def notices(self) -> list[str]:
        """What to know before the answer: gross errors, similar names, suspicious columns."""
        from conjoin.report.notices import notices

        return notices(self.analysis.findings, self.schema)

    @property
    def settings(self) -> dict[str, Any]:
        """What the partition was asked for with; of files the names only."""
        return dict(self.analysis.settings)

    @property
    def cluster_cost(self) -> float:
        """By what share the error of plain clusters exceeds that of "auto"; negative if lower.

        With the partition searched again in every fold, where the method can do that.
        """
        plain = self.errors.get(SEARCHED, self.errors["clusters"])
        return plain.error / self.errors["auto"].error - 1

    @property
    def family(self) -> str:
        """The family of the target: "gaussian" (numbers), "logistic" (classes), "poisson"."""
        return self.schema.response.family

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes of the target, in the order of `predict_proba`; empty for numbers."""
        return self.schema.response.classes

    @property
    def scores(self) -> dict[str, Scores]:
        """Log loss, Brier score, AUC and class shares of every dataset, on held-out rows.

        They belong to the strategy in use, and are computed when first asked for. Only where the
        target is a class.
        """
        return self._scored().scores

    @property
    def calibration(self) -> tuple[Bin, ...]:
        """How often predictions of about the same probability came true, on held-out rows.

        For two classes predictions of the second class, for more those of every class. Only where
        the target is a class.
        """
        return self._scored().calibration

    def _scored(self) -> Scored:
        if not self.classes:
            raise ArgumentError(
                f"The target {self.schema.roles.target!r} has no classes, so there are no scores "
                "of probabilities; see errors, or fit with family='logistic'."
            )
        found = self.analysis.scored(self.strategy)
        if found is None:
            raise ArgumentError(
                "The model file was written without scores of probabilities; fit the model again."
            )
        return found

    # --- new datasets ----------------------------------------------------------------------------

    def assign(self, X: Any, y: Any) -> Assignment:
        """Fit a model to a new dataset from some rows with known target; nothing else is fitted.

        The known datasets say what datasets are like in general: where their coefficients lie, and
        how far they scatter. The rows update this prior (partial pooling), so even ten rows give a
        model about as good as fitting all datasets again. The assignment also says which cluster
        the rows are most likely to come from.

        Parameters
        ----------
        X : frame, mapping of columns, or array (rows, features)
            Rows of the new dataset, with columns as at fitting.
        y : array (rows,)
            Their targets.

        Returns
        -------
        Assignment
            `adding` keeps its model for predictions.

        Raises
        ------
        DataError
            If X lacks a column, or y has missing or unknown values.

        Examples
        --------
        >>> import conjoin
        >>> from conjoin.datasets import make_clusters
        >>> tables = make_clusters(sizes=(3, 3), distance=2.0).tables()
        >>> new = tables.pop("d6")
        >>> result = conjoin.partition(tables, target="y")
        >>> ten = {name: column[:10] for name, column in new.items()}
        >>> place = result.assign(ten, ten["y"])
        >>> result.clusters[place.cluster], place.errors["own"] < place.errors["pooled"]
        (['d4', 'd5'], True)
        """
        rows = self.predictor.encode_new(X)
        return assign(self, rows, known_target(y, len(rows), self.schema.response))

    def adding(self, assignments: Mapping[str, Assignment]) -> "Partition":
        """Return the same result with the models of further datasets, so that it predicts them.

        Clusters, errors and the report stay those of the datasets that were there at fitting.

        Parameters
        ----------
        assignments : mapping of dataset name to Assignment
            What `assign` returned for each.

        Returns
        -------
        Partition

        Raises
        ------
        ArgumentError
            If a dataset of that name was there at fitting.

        Examples
        --------
        >>> import conjoin
        >>> from conjoin.datasets import make_clusters
        >>> tables = make_clusters(sizes=(3, 3), distance=2.0).tables()
        >>> new = tables.pop("d6")
        >>> result = conjoin.partition(tables, target="y")
        >>> more = result.adding({"d6": result.assign(new, new["y"])})
        >>> more.predict(new, "d6", on_unseen="raise").shape
        (100,)
        """
        known = [name for name in assignments if str(name) in self.labels]
        if known:
            raise ArgumentError(
                f"Dataset {known[0]!r} was there at fitting and has a model; give the new rows "
                "another name, or fit all datasets again."
            )
        named = {str(name): one for name, one in assignments.items()}
        return replace(self, added={**self.added, **named})
