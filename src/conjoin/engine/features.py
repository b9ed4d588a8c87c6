"""Between reading and study: features learned from the rows, if a representation is asked for."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conjoin._typing import Progress
from conjoin.api.request import Request
from conjoin.engine.remote import Reduced
from conjoin.tables import DatasetCollection

if TYPE_CHECKING:
    from conjoin.representations.base import Representation


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
) -> tuple[DatasetCollection, Progress | None]:
    """Return rows of learned features, and what reports the progress of the steps after it."""
    from conjoin.representations.learned import represent

    assert isinstance(table, DatasetCollection)  # a representation reads rows
    return represent(
        table,
        representation,
        share=request.learn_share,
        seed=int(request.random_state),
        relative=len(table.names) > 1 or request.family == "gaussian",
        progress=progress,
    )


def settings_of(request: Request, representation: "Representation | None") -> dict[str, Any]:
    """Return what was asked for as plain values; a representation by its name or description."""
    asked: Mapping[str, Any] = request.to_plain()
    found = {k: v for k, v in asked.items() if k not in ("representation", "learn_share")}
    if representation is None:
        return found
    given = request.representation
    name = given if isinstance(given, str) else representation.describe()
    return {**found, "representation": name, "learn_share": request.learn_share}
