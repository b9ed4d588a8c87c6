"""What `compare` returns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from conjoin.result.findings import Findings
from conjoin.result.fits import Fit
from conjoin.result.learned_fit import LearnedFit
from conjoin.tables.schema import Schema
from conjoin.tables.wild import Outlier


@dataclass(frozen=True)
class Comparison:
    """Whether two datasets should be trained together, how sure that is, and why.

    Parameters
    ----------
    verdict : "join", "apart" or "undecided"
        What can be shown at level `delta`; the two datasets may have different noise. "join" is
        wrong with probability at most delta for the gain given the features of the rows, "apart"
        for the gain expected over new features. For a learner other than "linear" both are about
        the gain on held-out rows of cross-validation, of models trained on 1 - 1/folds of the rows.
    join : bool
        The point decision of the method: whether `score` is above `threshold`.
    gain : float
        How much the error on new rows is expected to fall if the two are trained together (mean
        squared error, averaged over the two). It is nan where a dataset has too few rows for an
        error of its own.
    interval : (float, float)
        Confidence interval of the gain; each end holds with confidence 1 - delta. The gain lies
        inside.
    delta : float
        Level of the verdict and the interval.
    rows_to_settle : float or None
        For an undecided pair: by what factor both datasets would have to grow for a verdict. None
        if a thousandfold would not be enough, or if nobody knows, as for a learner.
    score, threshold : float
        The score that the method gives the pair, and the threshold of its point decision.
    phi, psi : float
        The two sides of the paper's inequality (nan for methods without them). For method="tuned"
        their medians over the final resamples.
    alpha : float
        The value that stands for log(1/delta) in phi and psi.
    proxy_acc : float
        Algorithm 2's proxy accuracy, for method="tuned" with either rule; nan for other methods.
    spread : callable, optional
        Returns the range of proxy_acc over random seeds; `proxy_acc_range` calls it once.
    method : str
        The method of the point decision.
    fit_a, fit_b, fit_joined : LinearFit, LogisticFit or LearnedFit
        The two separate models and the joint one, each fitted to all its rows.
    error_separate, error_joined : float
        Estimated error on new rows, averaged over the two datasets, of the separate models and of
        the joint one. Their difference is the gain; for classes and counts it has the same sign.
    few_rows_decide : bool
        Whether a few rows with extreme values carry the fits. Then new rows may be unlike all rows
        at hand, and the upper end of the interval is infinite unless the verdict is "apart".
        For a learner: whether a few rows carry most of the difference, so that the interval is
        wide.
    learner : str
        What was trained: "linear", "boosting" or the name of an estimator's class.
    asked : str
        The learner that was asked for; "auto" is the one with the lower cross-validated error.
    learner_errors : mapping of str to float
        For "auto": cross-validated error of each learner, the lower one of separate and joined.
    folds, repeats : int
        Of the cross-validation; 0 for linear models, whose verdict is from theory.
    reason : str
        Why there is no verdict, where a dataset has too few rows for the learner.
    findings : Findings
        Gross errors and suspicious columns, found before anything was decided.
    schema : Schema, optional
        The columns of the tables, and how they became features.
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
    fit_a: Fit | LearnedFit
    fit_b: Fit | LearnedFit
    fit_joined: Fit | LearnedFit
    error_separate: float
    error_joined: float
    few_rows_decide: bool = False
    learner: str = "linear"
    asked: str = "linear"
    learner_errors: Mapping[str, float] = field(default_factory=dict)
    folds: int = 0
    repeats: int = 0
    reason: str = ""
    proxy_acc: float = float("nan")
    spread: Callable[[], tuple[float, float]] | None = field(
        default=None, repr=False, compare=False
    )
    findings: Findings = field(default=Findings(), repr=False, compare=False)
    schema: Schema | None = field(default=None, repr=False, compare=False)

    @cached_property
    def proxy_acc_range(self) -> tuple[float, float] | None:
        """Lowest and highest proxy_acc over eight random seeds; None for other methods."""
        return None if self.spread is None else self.spread()

    @property
    def outliers(self) -> tuple[Outlier, ...]:
        """Gross errors that were found: row, dataset, column and value of each."""
        return self.findings.outliers

    @property
    def notices(self) -> list[str]:
        """What to know before the answer: gross errors and suspicious columns."""
        from conjoin.report.notices import notices

        return [] if self.schema is None else notices(self.findings, self.schema)
