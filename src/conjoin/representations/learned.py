"""A representation between the table and the engine: rows in, rows of features out.

A representation that learns from the target knows more of the rows that taught it than of new ones.
So a share of every dataset's rows, dealt by a hash of their values, teaches it, and the others are
left for the models, the verdicts and the errors.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib import import_module
from numbers import Real
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, BoolArray, FloatArray, Progress
from conjoin.errors import ArgumentError, DataError
from conjoin.moments.folds import deal_share
from conjoin.representations.base import (
    Features,
    InputError,
    Representation,
    transform_in_own_order,
)
from conjoin.representations.networks import Layers, is_network
from conjoin.representations.picture import Projection, project
from conjoin.tables.dataset import DatasetCollection
from conjoin.tables.frame import in_memory, is_table, to_frame
from conjoin.tables.schema import Schema

SAVED = {"MLP": "torch.mlp", "Network": "networks"}  # representations of which a file has settings
SHARE = 0.5  # of rows that teach, unless another one is asked for
MOST_COLUMNS_SHOWN = 8


@dataclass(frozen=True, eq=False)
class Learned:
    """A representation as a result knows it.

    Parameters
    ----------
    map : Features
        What makes features of rows.
    positions : tuple of int
        Of those among its features that vary; the models have these.
    words : str
        What it is.
    rows, taught, used : int
        Rows in all, rows that it was learned from, rows that models were fitted to and judged on.
    learns_from_target : bool
    projection : Projection, optional
        Some rows of each dataset in two coordinates, for a picture; a file has none.
    schema : Schema, optional
        What makes the map's inputs of the columns of a table.
    """

    map: Features
    positions: tuple[int, ...] = field(repr=False)
    words: str
    rows: int
    taught: int
    used: int
    learns_from_target: bool
    projection: Projection | None = field(default=None, repr=False)
    schema: Schema | None = field(default=None, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features that the models have."""
        return tuple(self.map.names[j] for j in self.positions)

    @cached_property
    def features(self) -> Features:
        """The map as `Heads.of` takes it: a network is one of torch."""
        return self.map.network() if isinstance(self.map, Layers) else self.map

    @property
    def losses(self) -> tuple[float, ...]:
        """Mean loss of a network after each epoch of training; else empty."""
        return self.map.losses if isinstance(self.map, Layers) else ()

    @property
    def held_out(self) -> tuple[float, ...]:
        """The same on the rows held out for early stopping; empty if there were none."""
        return self.map.held_out if isinstance(self.map, Layers) else ()

    @property
    def flatters(self) -> bool:
        """Whether errors are too low: rows that taught the target were used again."""
        return self.learns_from_target and self.used + self.taught > self.rows

    @property
    def description(self) -> str:
        """One line for people."""
        return f"{self.words}, {self._rows_in_words}"

    @property
    def _rows_in_words(self) -> str:
        if not self.learns_from_target:
            return f"without the target, {self.rows:,} rows"
        again = "the same rows" if self.flatters else f"the other {self.used:,}"
        training = f", {self.map.training()}" if isinstance(self.map, Layers) else ""
        return f"trained on {self.taught:,} of {self.rows:,} rows{training}; models are of {again}"

    def __str__(self) -> str:
        return self.description

    def transform(self, X: Any) -> FloatArray:
        """Return the features that the models have of rows.

        X is a table, whose columns are found by name, or an array of encoded rows (n, inputs), its
        columns as `result.schema.inputs` names them.
        """
        if self.schema is not None and is_table(X):
            X = self.schema.encode(in_memory(to_frame(X, "X", wanted={*self.schema.columns})))
        return self.map.transform(X)[:, self.positions]

    @property
    def layers(self) -> Layers:
        """The network as plain numbers; anything else is refused."""
        if not isinstance(self.map, Layers):
            raise ArgumentError(
                f"The representation ({self.words}) cannot be saved: it is code, and a model file "
                "has none. Pickle the result, or choose representation='mlp1', 'mlp2' or an MLP."
            )
        return self.map

    def to_plain(self, write: Callable[[AnyArray], Any]) -> dict[str, Any]:
        """Return plain values, arrays as `write` writes them."""
        return {
            "network": self.layers.to_plain(write),
            "positions": list(self.positions),
            "words": self.words,
            "rows": [self.rows, self.taught, self.used],
        }

    @classmethod
    def from_plain(cls, values: Mapping[str, Any], read: Callable[[Any], FloatArray]) -> "Learned":
        """Read what `to_plain` has written."""
        network = Layers.from_plain(values["network"], read)
        rows, taught, used = values["rows"]
        return cls(network, tuple(values["positions"]), values["words"], rows, taught, used, True)


@dataclass(frozen=True)
class RepresentedSchema(Schema):
    """Columns of a table, what becomes of them, and the features learned of that."""

    learned: Learned = field(kw_only=True, compare=False)

    @classmethod
    def of(cls, schema: Schema, learned: Learned) -> "RepresentedSchema":
        """Put a representation behind a schema."""
        behind = replace(learned, schema=schema)
        return cls(schema.roles, schema.encodings, schema.constant, schema.response, learned=behind)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features of models."""
        return self.learned.names

    @property
    def representation(self) -> Learned:
        """What makes features of inputs."""
        return self.learned

    def represent(self, rows: FloatArray) -> FloatArray:
        """Return the features (rows, features) of inputs (rows, inputs)."""
        return self.learned.transform(rows)


def check_learn_share(share: Any) -> None:
    """Refuse a share of rows that cannot teach."""
    number = isinstance(share, Real) and not isinstance(share, bool)
    if not number or not 0 < share <= 1:
        raise ArgumentError(
            f"learn_share={share!r} is no share of the rows; expected a number above 0, such as "
            "0.5, and at most 1."
        )


def represent(
    collection: DatasetCollection,
    representation: Representation,
    *,
    share: float,
    seed: int,
    relative: bool = True,
    progress: Progress | None = None,
) -> tuple[DatasetCollection, Progress | None]:
    """Learn a representation from the rows of all datasets together; return rows of its features.

    Of a target that is learned from, `share` of each dataset's rows teach and the others come back;
    with share=1 all do both. Counts are learned as log(1 + count). Weights that are `relative` have
    the same mean after as before. What also comes back tells progress of the steps that follow, on
    top of those taken here.
    """
    classes = bool(collection.response.classes)
    chosen = representation.for_task("classification" if classes else "regression")
    taken = _Steps(progress)
    used, teach = _deal(collection, share if chosen.learns_from_target else 1, seed)
    found, words = _learn(chosen, collection, teach, taken)
    known = transform_in_own_order(found, collection.X, collection.y, collection.weights)
    varying = np.flatnonzero(known[used].min(axis=0) < known[used].max(axis=0))
    if not len(varying):
        advice = "train it longer" if isinstance(found, Layers) else "let its features differ"
        raise DataError(
            f"Every feature of the representation ({words}) is the same in all rows; {advice}, or "
            "choose another one."
        )
    known = known[:, varying]
    count = len(collection.names)
    dataset = np.repeat(np.arange(count), collection.sizes)
    learned = Learned(
        found,
        tuple(varying.tolist()),
        words,
        rows=len(used),
        taught=int(teach.sum()),
        used=int(used.sum()),
        learns_from_target=chosen.learns_from_target,
        projection=project(known, dataset, count),
    )
    w = collection.weights
    features = replace(
        collection,
        schema=RepresentedSchema.of(collection.schema, learned),
        X=known[used],
        y=collection.y[used],
        weights=w[used] * (w.mean() / w[used].mean() if relative else 1.0),
        starts=np.searchsorted(dataset[used], np.arange(count + 1)),
        ends=(known.min(axis=0), known.max(axis=0)),
    )
    return features, None if progress is None else taken.then


def _learn(
    representation: Representation,
    collection: DatasetCollection,
    teach: BoolArray,
    progress: Progress,
) -> tuple[Features, str]:
    """Learn from the rows that teach; return the map, a network as plain numbers, and its name."""
    X, y, w = collection.X[teach], collection.y[teach], collection.weights[teach]
    target = np.log1p(y) if collection.response.family == "poisson" else y
    with naming_columns(collection.schema):
        found = representation.fit(X, target, w, progress=progress)
    if not is_network(found):
        roles = collection.schema.roles
        return found.named(collection.schema.inputs, roles.aside), representation.describe()
    layers = Layers.of(found)
    return layers, layers.describe()


@contextmanager
def naming_columns(schema: Schema) -> Iterator[None]:
    """Say which columns rows have, where a map cannot take them."""
    try:
        yield
    except InputError as error:
        text = f"{error} After encoding there are {len(schema.inputs)}: {_few(schema.inputs)}"
        if schema.constant:
            text += f"; left out, since the same in all rows: {_few(schema.constant)}"
        raise DataError(f"{text}.") from error


def _few(names: tuple[str, ...]) -> str:
    more = len(names) - MOST_COLUMNS_SHOWN
    shown = ", ".join(map(repr, names[:MOST_COLUMNS_SHOWN]))
    return f"{shown} and {more} more" if more > 0 else shown


def _deal(collection: DatasetCollection, share: float, seed: int) -> tuple[BoolArray, BoolArray]:
    """Say which rows are used and which teach; refuse where that leaves too little on one side."""
    y = collection.y
    if share == 1:
        everything = np.ones(len(y), dtype=bool)
        return everything, everything
    values = np.column_stack([collection.X, collection.weights])
    places = [f"place {j}" for j in range(values.shape[1])]  # a name means nothing to a network
    teach = deal_share(values, y, collection.starts, places, share, seed)
    if not teach.any():
        raise DataError(
            f"With learn_share={share!r} no row is left to teach the representation, since the "
            f"largest dataset has {max(collection.sizes)} and each keeps one at least; choose a "
            "larger share, or learn_share=1 to use all rows twice."
        )
    for rows, what in ((teach, "teach the representation"), (~teach, "are left for the models")):
        if np.ptp(y[rows]) == 0:
            raise DataError(
                f"With learn_share={share!r} the rows that {what} all have the same target; give "
                "it more rows, or choose another share."
            )
    return ~teach, teach


class _Steps:
    """Progress of learning, and of what follows on top of it."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress, self.taken = progress, 0

    def __call__(self, done: int, total: int) -> None:
        self.taken = done
        if self.progress is not None:
            self.progress(done, total)

    def then(self, done: int, total: int) -> None:
        """Tell of later steps."""
        assert self.progress is not None
        self.progress(self.taken + done, self.taken + total)


def to_settings(representation: Any) -> Any:
    """Return what was asked for as plain values, if it is a name or a network; else as it is."""
    kind = type(representation).__name__
    if isinstance(representation, Representation) and kind in SAVED:
        return {kind: asdict(representation)}  # type: ignore[call-overload]
    return representation


def from_settings(values: Any) -> Any:
    """Return what `to_settings` made plain."""
    if not isinstance(values, Mapping):
        return values
    kind, settings = next(iter(values.items()))
    home = import_module(f"conjoin.representations.{SAVED[kind]}")
    return getattr(home, kind)(**settings)
