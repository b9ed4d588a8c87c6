"""Small frozen values of a result: an error, a line of the ledger, a possible cluster.

They hold plain numbers in the units of the data.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from conjoin.criterion.base import PairScore
from conjoin.result.fits import Fit

if TYPE_CHECKING:
    from conjoin.grouping import Step

Sides = frozenset[tuple[str, ...]]

# Where a verdict comes from: from the law of linear models, or from losses on held-out rows of
# models that were trained on both sides, apart and together. Where a learner chose the clusters,
# joins that it did not judge have no verdict.
THEORY, CROSS_VALIDATION, NOT_JUDGED = "theory", "cross-validation", "none"
OF_LEARNER = "learner"  # `Partition.grouping` where a learner chose the clusters


@dataclass(frozen=True)
class Estimate:
    """Error of a strategy on held-out rows.

    Parameters
    ----------
    error : float
        Error averaged over datasets: mean squared error, log loss for classes, half the mean
        deviance for counts.
    behind : float
        How much larger it is than the error of the best strategy.
    standard_error : float
        Standard error of `behind`, from differences paired by dataset (by dataset and fold with
        fewer than eight datasets). It is 0 for the best strategy itself.
    interval : (float, float)
        90 % interval of the mean error on new rows of these datasets, three for every seven here;
        nan in results of older files.

    Notes
    -----
    The partition of "clusters" was found from all rows, so its error is too optimistic beside the
    others. Where "clusters, searched again" is there, it is never the best, and its `behind` can be
    below zero.
    """

    error: float
    behind: float
    standard_error: float
    interval: tuple[float, float] = (float("nan"), float("nan"))


@dataclass(frozen=True)
class Merge:
    """One line of the ledger: two groups of datasets, and what is known of joining them.

    The level of a verdict holds for a pair that was chosen beforehand, not for the best of many, so
    read it as a guide here. Ledgers of more than 200 lines have no intervals (nan).

    Parameters
    ----------
    left, right : tuple of str
        The datasets of the two groups.
    joined : bool
        Whether the method joined them.
    verdict, gain, interval
        As in `Comparison`.
    score : PairScore
        What the method itself said of the pair.
    p_value : float
        P-value of the test behind the verdict; the verdict holds at level delta where it is at
        most delta (a little less for `verdict="gaussian"`). nan where nobody judged the join.
    adjusted_p : float
        The same adjusted for the number of lines, by Holm's method (by Bonferroni's in ledgers of
        more than 200 lines). Where it is at most delta, the verdict also holds for the best of all
        lines.
    validated_change : float
        Change of the error on held-out rows when the two groups get one model, averaged over their
        datasets. Below zero they predict better together. It is nan if it is not known.
    standard_error : float
        Standard error of `validated_change`.
    judged_by : "theory", "cross-validation" or "none"
        Where the verdict comes from. With "theory" it is about linear models; where the search put
        datasets together that a learner is trained for, about linear models of the columns and its
        prediction. With "cross-validation" it is about the learner itself, trained on both sides
        apart and together; `validated_change` is then the gain with the other sign. With "none" the
        learner chose the clusters, and did not judge this join: it is "undecided".
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    joined: bool
    verdict: str
    gain: float
    interval: tuple[float, float]
    score: PairScore = field(repr=False, default=PairScore(float("nan"), False))
    p_value: float = float("nan")
    adjusted_p: float = float("nan")
    validated_change: float = field(repr=False, default=float("nan"))
    standard_error: float = field(repr=False, default=float("nan"))
    judged_by: str = THEORY


def sides_of(line: "Step[str] | Merge") -> Sides:
    """Return the two sides of a join, in no order."""
    return frozenset([tuple(sorted(line.left)), tuple(sorted(line.right))])


def unjudged(line: Merge) -> Merge:
    """Return a join that nobody judged."""
    unknown = float("nan")
    return replace(
        line,
        verdict="undecided",
        gain=unknown,
        interval=(unknown, unknown),
        p_value=unknown,
        validated_change=unknown,
        standard_error=unknown,
        judged_by=NOT_JUDGED,
    )


@dataclass(frozen=True)
class Alternative:
    """A cluster that a dataset is in, or could be in.

    Parameters
    ----------
    cluster : int
        Position of the cluster in `Partition.clusters`.
    verdict, gain, interval
        As in `Comparison`. For its own cluster they are those of the line of the ledger that joined
        the dataset, for another cluster those of the dataset against that whole cluster.
    judged_by : "theory", "cross-validation" or "none"
        As in `Merge`: a join that is a line of the ledger has the same verdict here.
    others : tuple of str
        For its own cluster: what the dataset was joined with. Empty for the whole cluster.
    """

    cluster: int
    verdict: str
    gain: float
    interval: tuple[float, float]
    judged_by: str = THEORY
    others: tuple[str, ...] = ()

    @classmethod
    def own(cls, cluster: int, name: str, line: Merge) -> "Alternative":
        """Return a dataset's own cluster, by the line of the ledger that joined the dataset."""
        others = line.right if line.left == (name,) else line.left
        return cls(cluster, line.verdict, line.gain, line.interval, line.judged_by, others)


class _Join(Protocol):
    """Two groups of datasets, and whether they were joined: a step or a line of the ledger."""

    @property
    def left(self) -> tuple[str, ...]: ...

    @property
    def right(self) -> tuple[str, ...]: ...

    @property
    def joined(self) -> bool: ...


Line = TypeVar("Line", bound=_Join)


def first_joins(lines: Iterable[Line]) -> dict[str, Line]:
    """Return the join by which each dataset came to others, by the name of the dataset.

    Datasets that are alone in their cluster have none.

    >>> line = Merge(("a",), ("b", "c"), True, "join", 1.0, (0.5, 2.0))
    >>> list(first_joins([line]))
    ['a']
    """
    found: dict[str, Line] = {}
    for line in lines:
        for side in (line.left, line.right):
            if line.joined and len(side) == 1:
                found.setdefault(side[0], line)
    return found


@dataclass(frozen=True)
class Assignment:
    """The model of a new dataset, and the cluster that it is closest to.

    Parameters
    ----------
    cluster : int or None
        Position of the most likely cluster; None if the dataset is most likely in no cluster.
    probability : float
        Probability of that cluster.
    probabilities : tuple of float
        Probability of each cluster.
    probability_new : float
        Probability that the dataset belongs to no cluster.
    model : LinearFit or LogisticFit
        The model of the new dataset under the strategy in use: what the known datasets taught of
        datasets in general, updated with the rows at hand. Its `error` is that of `errors["own"]`.
    errors : mapping of str to float
        Errors on the rows at hand, in the units of `Partition.errors`: "own" is the model with each
        row held out in turn, "pooled" the one model for all, "cluster" that of the most likely
        cluster (of those that exist). Infinite or nan if there are no rows.
    standard_error : float
        Standard error of `errors["own"]`.
    """

    cluster: int | None
    probability: float
    probabilities: tuple[float, ...]
    probability_new: float
    model: Fit = field(repr=False)
    errors: Mapping[str, float] = field(default_factory=dict)
    standard_error: float = float("nan")
