"""The analysis behind a result that was read from a file.

Values of the file enter (`result.load`); what a `Partition` asks its analysis for leaves.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conjoin._typing import Progress
from conjoin.errors import ArgumentError
from conjoin.grouping import Step
from conjoin.models.spread import Spread
from conjoin.moments.kept import KeptMoments
from conjoin.result.common_model import CommonModel
from conjoin.result.course import Course
from conjoin.result.details import Details
from conjoin.result.findings import Findings
from conjoin.result.found import Sides
from conjoin.result.improvement import Improvements
from conjoin.result.placement import Placement
from conjoin.result.scores import Scored
from conjoin.result.stability import Stability
from conjoin.result.values import Alternative, Estimate, Merge

if TYPE_CHECKING:
    from conjoin.result.partition import Partition


@dataclass(frozen=True)
class StoredAnalysis:
    """The analysis as it was when the model was saved."""

    strategy: str
    weights: dict[str, float]
    errors: dict[str, Estimate]
    lines: tuple[Merge, ...]
    placement: Placement
    all_alternatives: dict[str, tuple[Alternative, ...]]
    settings: dict[str, Any] = field(default_factory=dict)
    details: Details | None = None
    known_scores: Scored | None = None
    copies: int = 0
    findings: Findings = Findings()
    known_improvements: dict[str, Improvements] = field(default_factory=dict)
    stability: Stability | None = None
    known_spread: Spread | None = None
    known_course: Course | None = None
    changes: dict[Sides, tuple[float, float]] = field(default_factory=dict)
    common_model: CommonModel | None = None
    kept: KeptMoments | None = None

    def knows(self, name: str) -> bool:
        """Say whether figures are there: a file computes nothing."""
        return True

    @property
    def steps(self) -> tuple[Step[str], ...]:
        """The steps to the clusters."""
        return tuple(Step(line.left, line.right, line.score) for line in self.lines)

    def ledger(self, most: int | None, progress: Progress | None = None) -> tuple[Merge, ...]:
        """Return the first lines of the ledger."""
        return self.lines[:most]

    def join_change(self, left: Sequence[str], right: Sequence[str]) -> tuple[float, float]:
        """Return what a join does to the held-out error, if the file says so."""
        one, two = tuple(left), tuple(right)
        known = self.changes.get((one, two)) or self.changes.get((two, one))
        return known or (float("nan"), float("nan"))

    def alternatives(self, name: str) -> tuple[Alternative, ...]:
        """Return what is known of joining a dataset with its own cluster and with others."""
        return self.all_alternatives[name]

    def improvements(self, strategy: str) -> Improvements | None:
        """Return the comparison of a strategy with others, if the file has it."""
        return self.known_improvements.get(strategy)

    def scored(self, strategy: str) -> Scored | None:
        """Return how good probabilities are, if the file says so."""
        return self.known_scores

    def spread(self, strategy: str) -> Spread | None:
        """Return how far targets lie from predictions, if the file says so."""
        return self.known_spread

    def course(self, strategy: str) -> Course | None:
        """Return errors over time, if the file has them."""
        return self.known_course

    def using(self, strategy: str) -> "Partition":
        """Refuse: a file holds one strategy only."""
        raise ArgumentError(
            f"strategy={strategy!r} is not in the file, which holds the models of "
            f"{self.strategy!r} only: fit again and save result.using({strategy!r}), or run "
            f"`conjoin partition` with --strategy '{strategy}' and --save."
        )
