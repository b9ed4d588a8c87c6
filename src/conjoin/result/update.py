"""What `update` returns: the new result, and what changed since the one before.

Values of both results enter; an `Update` leaves. `report.updating` puts it into words.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conjoin.result.values import Merge

if TYPE_CHECKING:
    from conjoin.result.partition import Partition

Groups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Move:
    """A change of clusters that new rows suggest.

    Parameters
    ----------
    before, after : tuples of tuples of str
        The datasets that are concerned, in their clusters before and after. New datasets are in
        the cluster where most rows of their cluster after the change were.
    gain : float
        By what share the error on held-out rows of these datasets falls with the change.
    standard_error : float
        Standard error of the gain.
    made : bool
        Whether the change was made.
    unsound : bool
        Whether a join of the clusters before no longer holds: its verdict is "apart", or its error
        on held-out rows rises by more than its standard error. Such clusters do not stay.
    """

    before: Groups
    after: Groups
    gain: float
    standard_error: float
    made: bool
    unsound: bool = False


@dataclass(frozen=True)
class VerdictChange:
    """A join that was judged before and after, with another verdict.

    Parameters
    ----------
    before, after : Merge
        The lines of the ledgers.
    """

    before: Merge
    after: Merge


@dataclass(frozen=True)
class Update:
    """A result to which rows were added, and what changed.

    Parameters
    ----------
    result : Partition
        The result of all rows; save it to add more rows later.
    rows : mapping of dataset name to int
        Rows that were added.
    new : tuple of str
        Datasets that were not there before.
    moves : tuple of Move
        Changes of clusters that were weighed, with gain and standard error.
    verdicts : tuple of VerdictChange
        Joins whose verdict changed.
    settled : bool
        Whether clusters changed only where the gain exceeded its standard error.
    """

    result: "Partition"
    rows: dict[str, int]
    new: tuple[str, ...]
    moves: tuple[Move, ...]
    verdicts: tuple[VerdictChange, ...] = field(repr=False)
    settled: bool = True

    def __str__(self) -> str:
        """Say what was added and what changed, one sentence a line."""
        from conjoin.report.updating import sentences

        return "\n".join(sentences(self))


def changed_verdicts(before: tuple[Merge, ...], after: tuple[Merge, ...]) -> list[VerdictChange]:
    """Return the joins of the same groups whose verdict is another now."""
    known = {frozenset((line.left, line.right)): line for line in before}
    found = []
    for line in after:
        earlier = known.get(frozenset((line.left, line.right)))
        if earlier is not None and earlier.verdict != line.verdict:
            found.append(VerdictChange(earlier, line))
    return found
