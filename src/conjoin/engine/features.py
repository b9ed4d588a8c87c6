"""Between reading and study: features learned from the rows, if a representation is asked for."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conjoin._typing import Progress
from conjoin.api.request import Request
from conjoin.engine.remote import Reduced
from conjoin.engine.study import deal_folds
from conjoin.errors import ArgumentError
from conjoin.learners.crossfit import groups_of_folds
from conjoin.moments import Dealt
from conjoin.tables import DatasetCollection

if TYPE_CHECKING:
    from conjoin.representations.base import Representation


# Groups of rows that are held out together, each with a network of its own. Five leave four fifths
# of the rows for training. With more rows than MANY_ROWS three do: two thirds of them are enough to
# learn nearly the same network, in half the time.
GROUPS, FEWER_GROUPS, MANY_ROWS = 5, 3, 20_000


def make_representation(request: Request) -> "Representation | None":
    """Return the representation that is asked for; None if there is none."""
    if request.representation is None:
        return None
    # Here, since most requests have no representation and need none of what it imports.
    from conjoin.representations.embedding import as_representation

    return as_representation(request.representation, int(request.random_state))


def learn_features(
    table: DatasetCollection | Reduced,
    representation: "Representation",
    request: Request,
    progress: Progress | None,
) -> tuple[DatasetCollection, Dealt | None, Progress | None]:
    """Return rows of learned features, their folds, and what reports the progress from here on.

    What learns from the target is trained outside groups of folds. The folds are None for others.
    """
    from conjoin.representations.column_order import with_rows_by_content
    from conjoin.representations.learned import represent
    from conjoin.representations.networks import trains_network

    assert isinstance(table, DatasetCollection)  # a representation reads rows
    if not representation.learns_from_target:
        return _with_folds(None, represent(table, representation, None, progress))
    if table.order is not None:
        name = "repeat" if request.time is None else "time"
        raise ArgumentError(
            f"{name}={getattr(request, name)!r} does not go with a representation that learns from "
            "the target; pass one that is trained already, or leave it out."
        )
    if trains_network(representation):
        table = with_rows_by_content(table)
    folds, dealt = deal_folds(table, request)
    groups = min(FEWER_GROUPS if len(table.y) > MANY_ROWS else GROUPS, folds)
    group = groups_of_folds(dealt.fold, folds, groups)
    return _with_folds(dealt, represent(table, representation, group, progress))


def _with_folds(
    dealt: Dealt | None, found: tuple[DatasetCollection, Progress | None]
) -> tuple[DatasetCollection, Dealt | None, Progress | None]:
    features, progress = found
    return features, dealt, progress


def settings_of(request: Request, representation: "Representation | None") -> dict[str, Any]:
    """Return what was asked for as plain values; a representation by its name or description."""
    asked: Mapping[str, Any] = request.to_plain()
    found = {k: v for k, v in asked.items() if k != "representation"}
    if representation is None:
        return found
    given = request.representation
    name = given if isinstance(given, str) else representation.describe()
    return {**found, "representation": name}
