"""What a partition needs to know of the analysis behind it.

The analysis was just made (`engine.analysis`), or read from a file (`result.load`).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from conjoin._typing import Progress
from conjoin.grouping import Step
from conjoin.models.spread import Spread
from conjoin.result.common_model import CommonModel
from conjoin.result.course import Course
from conjoin.result.details import Details
from conjoin.result.findings import Findings
from conjoin.result.improvement import Improvements
from conjoin.result.placement import Placement
from conjoin.result.scores import Scored
from conjoin.result.stability import Stability
from conjoin.result.values import Alternative, Estimate, Merge

if TYPE_CHECKING:
    from conjoin.moments.kept import KeptMoments
    from conjoin.result.partition import Partition


class AnalysisProtocol(Protocol):
    """The analysis behind a partition (`engine.analysis`, or read from a file)."""

    def knows(self, name: str) -> bool:
        """Say whether "details" or "stability" is there without further work."""

    @property
    def weights(self) -> dict[str, float]:
        """Weights of the strategies in "auto"."""

    @property
    def errors(self) -> dict[str, Estimate]:
        """Error of every strategy on held-out rows."""

    def improvements(self, strategy: str) -> Improvements | None:
        """Compare a strategy with separate models and one model for all; None if not known."""

    @property
    def stability(self) -> Stability | None:
        """How often datasets are together in resamples; None if that is not known."""

    @property
    def steps(self) -> tuple[Step[str], ...]:
        """The steps that led to the clusters, without verdicts."""

    @property
    def placement(self) -> Placement:
        """What places a new dataset."""

    @property
    def copies(self) -> int:
        """Number of rows that are exact copies of another row of their dataset."""

    def ledger(self, most: int | None, progress: Progress | None = None) -> tuple[Merge, ...]:
        """Return the first steps with their verdicts."""

    def join_change(self, left: Sequence[str], right: Sequence[str]) -> tuple[float, float]:
        """Return what a join does to the held-out error, with its standard error; nan if unknown.

        Below zero where the two groups predict better together.
        """

    def alternatives(self, name: str) -> tuple[Alternative, ...]:
        """Return what is known of joining one dataset with its own cluster and with others."""

    @property
    def all_alternatives(self) -> dict[str, tuple[Alternative, ...]]:
        """The same for every dataset."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the partition was asked for with, as plain values."""

    @property
    def findings(self) -> Findings:
        """Gross errors and suspicious names and columns, found before anything was decided."""

    @property
    def kept(self) -> "KeptMoments | None":
        """Moments that rows can be added to; None unless they were asked for."""

    @property
    def details(self) -> Details | None:
        """Figures of the report; None if they are not known."""

    @property
    def common_model(self) -> CommonModel | None:
        """What the model that all datasets share has learned; None if that is not known."""

    def scored(self, strategy: str) -> Scored | None:
        """Return how good the probabilities of a strategy are; None if that is not known."""

    def spread(self, strategy: str) -> Spread | None:
        """Return how far targets lie from predictions of a strategy; None if that is not known."""

    def course(self, strategy: str) -> Course | None:
        """Return errors over time; None where rows have no order, or a file does not say."""

    def using(self, strategy: str) -> "Partition":
        """Return the result with the models of another strategy."""
