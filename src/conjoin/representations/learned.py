"""A representation between the tables and the engine: rows enter, rows of features leave.

A representation that learns from the target fits its training rows better than new rows. So it is
cross-fitted: the features of a row, from which models, verdicts and errors are found, come from a
map that has not seen the row. New rows get the map of all rows.

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
phi         map of all rows                                                       n -> (n, q)
phi_g       map of all rows outside group g                                       n -> (n, q_g)
A_g         [1, phi_g] A_g is nearest to phi at the rows outside g                (1 + q_g, q)
==========  ====================================================================  ============

Two networks that learned the same have their units in another order and basis. `A_g` brings the
features of group g into the basis of `phi`, so that all rows have the same columns. It is the
regression of phi on phi_g, not the other way round: coefficients found at A_g phi_g then hold for
phi too (Berkson's case of errors in variables).
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, BoolArray, FloatArray, IntArray, Progress
from conjoin.errors import ArgumentError, DataError
from conjoin.representations.base import (
    Features,
    InputError,
    Representation,
    transform_in_canonical_order,
)
from conjoin.representations.column_order import collection_columns
from conjoin.representations.networks import Layers, Network, is_network, trains_network
from conjoin.representations.picture import Projection, project
from conjoin.tables.checks import check_scales
from conjoin.tables.dataset import DatasetCollection
from conjoin.tables.frame import in_memory, is_table, to_frame
from conjoin.tables.schema import Schema
from conjoin.text import quoted

SAVED = ("MLP", "Network")  # classes of representations whose settings a file can hold
MOST_COLUMNS_SHOWN = 8  # names in an error message: enough to see a column that is missing


@dataclass(frozen=True, eq=False)
class Learned:
    """The representation of a result (`result.representation`): the learned map and its rows.

    Parameters
    ----------
    map : Features
        The map from rows to features.
    positions : tuple of int
        Positions of the features that vary; the models use these.
    title : str
        Short text, such as "MLP2 (two hidden layers of 16 units)".
    rows : int
        All rows.
    train_rows : int
        Rows that the representation was learned from.
    model_rows : int
        Rows that the models were fitted to and validated on.
    learns_from_target : bool
        Whether the features depend on the target.
    groups : int, default 0
        Groups of rows whose features come from a map of the other groups; 0 if all come from one.
    projection : Projection, optional
        Some rows of each dataset in two coordinates, for a picture; files do not hold it.
    schema : Schema, optional
        The encoding of a table's columns into inputs of the map.

    Examples
    --------
    >>> import conjoin
    >>> from conjoin.datasets import make_clusters
    >>> stores = make_clusters(sizes=(2, 2), n=60, p=3, distance=2.0).tables()
    >>> result = conjoin.partition(stores, target="y", representation=abs)
    >>> print(result.representation)
    function abs, without the target, on all 240 rows
    >>> result.representation.transform(stores["d1"]).shape
    (60, 3)
    """

    map: Features
    positions: tuple[int, ...] = field(repr=False)
    title: str
    rows: int
    train_rows: int
    model_rows: int
    learns_from_target: bool
    groups: int = 0
    projection: Projection | None = field(default=None, repr=False)
    schema: Schema | None = field(default=None, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features that the models use."""
        return tuple(self.map.names[j] for j in self.positions)

    @cached_property
    def features(self) -> Features:
        """The map as `Heads.of` takes it: a trained network as torch modules."""
        return self.map.network() if isinstance(self.map, Layers) else self.map

    @property
    def losses(self) -> tuple[float, ...]:
        """Mean loss of the training rows after each epoch; empty if it is not a network."""
        return self.map.losses if isinstance(self.map, Layers) else ()

    @property
    def held_out(self) -> tuple[float, ...]:
        """Mean loss of the rows held out for early stopping; empty if there were none."""
        return self.map.held_out if isinstance(self.map, Layers) else ()

    @property
    def is_optimistic(self) -> bool:
        """Whether errors are too low, because a map is judged on rows that it was trained on.

        Only results of older versions are: they had `learn_share=1`.
        """
        twice = self.model_rows + self.train_rows > self.rows
        return self.learns_from_target and not self.groups and twice

    @property
    def description(self) -> str:
        """What it is and which rows it was learned from, in one line."""
        return f"{self.title}, {self._rows_in_words}"

    @property
    def _rows_in_words(self) -> str:
        if not self.learns_from_target:
            return f"without the target, on all {self.rows:,} rows"
        training = f", {self.map.training()}" if isinstance(self.map, Layers) else ""
        if self.groups:
            return (
                f"trained on all {self.rows:,} rows{training}; cross-fitted in {self.groups} groups"
            )
        others = "the same rows" if self.is_optimistic else f"the other {self.model_rows:,}"
        trained = f"trained on {self.train_rows:,} of {self.rows:,} rows{training}"
        return f"{trained}; the models use {others}"

    def __str__(self) -> str:
        return self.description

    def transform(self, X: Any) -> FloatArray:
        """Return the features that the models use.

        Parameters
        ----------
        X : table or array (n, inputs)
            A table, whose columns are found by name; or encoded rows, with the columns that
            `result.schema.inputs` names.

        Returns
        -------
        array (n, features)

        Raises
        ------
        DataError
            If a column is missing or a value cannot be used.

        Examples
        --------
        See the class.
        """
        if self.schema is not None and is_table(X):
            X = self.schema.encode(in_memory(to_frame(X, "X", wanted={*self.schema.columns})))
        return self.map.transform(X)[:, self.positions]

    @property
    def layers(self) -> Layers:
        """The network as plain numbers; raises an error if it is not a network."""
        if not isinstance(self.map, Layers):
            raise ArgumentError(
                f"The representation ({self.title}) cannot be saved: it is code, and a model file "
                "holds no code. Pickle the result, or choose representation='mlp1', 'mlp2' or an "
                "MLP."
            )
        return self.map

    def to_plain(self, write: Callable[[AnyArray], Any]) -> dict[str, Any]:
        """Return plain values for a file; `write` turns an array into a plain value."""
        return {
            "network": self.layers.to_plain(write),
            "positions": list(self.positions),
            "words": self.title,
            "rows": [self.rows, self.train_rows, self.model_rows],
            "groups": self.groups,
        }

    @classmethod
    def from_plain(cls, values: Mapping[str, Any], read: Callable[[Any], FloatArray]) -> "Learned":
        """Return the representation of plain values from `to_plain`; `read` restores an array."""
        network = Layers.from_plain(values["network"], read)
        rows, train, model = values["rows"]
        groups = values.get("groups", 0)  # older files have none
        features = tuple(values["positions"])
        return cls(network, features, values["words"], rows, train, model, True, groups)


@dataclass(frozen=True)
class RepresentedSchema(Schema):
    """Columns of a table, their encoding, and the features learned from the encoded columns."""

    learned: Learned = field(kw_only=True, compare=False)

    @classmethod
    def of(cls, schema: Schema, learned: Learned) -> "RepresentedSchema":
        """Return a schema whose encoded columns go through a representation."""
        own = replace(learned, schema=schema)
        return cls(schema.roles, schema.encodings, schema.constant, schema.response, learned=own)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features that the models use."""
        return self.learned.names

    @property
    def representation(self) -> Learned:
        """The map from inputs to features."""
        return self.learned

    def represent(self, rows: FloatArray) -> FloatArray:
        """Return the features (rows, features) of inputs (rows, inputs)."""
        return self.learned.transform(rows)


def represent(
    collection: DatasetCollection,
    representation: Representation,
    group: IntArray | None,
    progress: Progress | None = None,
) -> tuple[DatasetCollection, Progress | None]:
    """Learn a representation from the rows of all datasets together; return rows of its features.

    If it learns from the target, it is cross-fitted: no row has features of a map that saw its
    `group` (n,). Counts are learned as log(1 + count). The second value reports the progress of
    later steps on top of the steps taken here.
    """
    classes = bool(collection.response.classes)
    chosen = representation.for_task("classification" if classes else "regression")
    present = np.unique(group).tolist() if group is not None and chosen.learns_from_target else []
    steps = _Steps(progress, 1 + len(present))
    everything = np.ones(len(collection.y), dtype=bool)
    columns = collection_columns(collection) if trains_network(chosen) else None
    seen = collection if columns is None else replace(collection, X=collection.X[:, columns])
    found, title = _learn(chosen, seen, everything, steps)
    values = _transform(found, seen)
    held_out = values.copy()
    for g in present:
        assert group is not None  # there are groups
        own = group == g
        _check_rest(collection, own)
        steps.next()
        other, _ = _learn(chosen, seen, ~own, steps)
        held_out[own] = _aligned(_transform(other, seen), values, own)
    if columns is not None:
        assert isinstance(found, Layers)  # it was trained here
        found = found.with_columns(columns)
    varying = np.flatnonzero((np.ptp(values, axis=0) > 0) & (np.ptp(held_out, axis=0) > 0))
    if not len(varying):
        advice = "train it longer" if isinstance(found, Layers) else "return features that vary"
        raise DataError(
            f"Every feature of the representation ({title}) has the same value in all rows; "
            f"{advice}, or choose another one."
        )
    values, held_out = values[:, varying], held_out[:, varying]
    _check_scales([found.names[j] for j in varying], held_out, collection)
    count, rows = len(collection.names), len(collection.y)
    dataset = np.repeat(np.arange(count), collection.sizes)
    learned = Learned(
        found,
        tuple(varying.tolist()),
        title,
        rows=rows,
        train_rows=rows,
        model_rows=rows,
        learns_from_target=chosen.learns_from_target,
        groups=len(present),
        projection=project(held_out, dataset, count),
    )
    features = replace(
        collection,
        schema=RepresentedSchema.of(collection.schema, learned),
        X=held_out,
        ends=(values.min(axis=0), values.max(axis=0)),
    )
    return features, None if progress is None else steps.then


def _check_scales(names: list[str], values: FloatArray, collection: DatasetCollection) -> None:
    """Raise an error if double precision cannot hold squares of features (n, features)."""
    table = np.column_stack([values, collection.y])
    columns = (*names, collection.schema.roles.target)
    check_scales(columns, table.min(axis=0), table.max(axis=0))


def _transform(found: Features, collection: DatasetCollection) -> FloatArray:
    """Return the features (n, features) of all rows."""
    return transform_in_canonical_order(found, collection.X, collection.y, collection.weights)


def _aligned(other: FloatArray, values: FloatArray, own: BoolArray) -> FloatArray:
    """Return the features of the rows `own` (n,) by another map, in the basis of `values` (n, q).

    `other` (n, q_g) are the features of all rows by that map.
    """
    center = other[~own].mean(axis=0)
    design = np.column_stack([np.ones(len(other)), other - center])
    A = np.linalg.lstsq(design[~own], values[~own], rcond=None)[0]
    found: FloatArray = design[own] @ A
    return found


def _check_rest(collection: DatasetCollection, own: BoolArray) -> None:
    """Refuse rows from which nothing can be learned once the rows `own` (n,) are held out."""
    rest = collection.y[~own]
    if not len(rest) or np.ptp(rest) == 0:
        raise DataError(
            f"The {len(own):,} rows are too few to cross-fit the representation: without "
            f"{int(own.sum()):,} held-out rows the other {len(rest):,} have no two different "
            "targets. Add rows, or use the columns as they are (representation=None)."
        )


def _learn(
    representation: Representation,
    collection: DatasetCollection,
    train: BoolArray,
    progress: Progress,
) -> tuple[Features, str]:
    """Learn from the rows `train` (n,); return the map, a network as `Layers`, and its title."""
    X, y, w = collection.X[train], collection.y[train], collection.weights[train]
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
    """Add the names of the columns to the error of a map that cannot take the rows."""
    try:
        yield
    except InputError as error:
        inputs = quoted(schema.inputs, MOST_COLUMNS_SHOWN)
        text = f"{error} After encoding there are {len(schema.inputs)}: {inputs}"
        if schema.constant:
            constant = quoted(schema.constant, MOST_COLUMNS_SHOWN)
            text += f"; left out because they have the same value in all rows: {constant}"
        raise DataError(f"{text}.") from error


class _Steps:
    """Reports the progress of learning some maps, and of the steps that follow on top of it."""

    def __init__(self, progress: Progress | None, maps: int) -> None:
        self.progress, self.taken, self.done, self.maps = progress, 0, 0, maps

    def __call__(self, done: int, total: int) -> None:
        self.taken = self.done + done
        if self.progress is not None:
            self.progress(self.taken, self.done + total * self.maps)

    def next(self) -> None:
        """Go on to the next map."""
        self.done, self.maps = self.taken, self.maps - 1

    def then(self, done: int, total: int) -> None:
        """Report the progress of later steps."""
        assert self.progress is not None
        self.progress(self.taken + done, self.taken + total)


def to_settings(representation: Any) -> Any:
    """Return the settings of an `MLP` or a `Network` as plain values; others unchanged."""
    kind = type(representation).__name__
    if isinstance(representation, Representation) and kind in SAVED:
        return {kind: asdict(representation)}  # type: ignore[call-overload]
    return representation


def from_settings(values: Any) -> Any:
    """Return the representation of plain values from `to_settings`."""
    if not isinstance(values, Mapping):
        return values
    kind, settings = next(iter(values.items()))
    if kind == "Network":
        return Network(**settings)
    from conjoin.representations.torch.mlp import MLP

    return MLP(**settings)
