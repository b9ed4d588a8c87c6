"""Tables or arrays in, tables of features out: what comes before `partition`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray, IntArray, Progress
from conjoin.errors import ArgumentError, DataError
from conjoin.families import label_array
from conjoin.representations.base import Features, Representation, check_inputs, free_names
from conjoin.representations.learned import naming_columns
from conjoin.representations.networks import NAMES, Network
from conjoin.representations.plain import Function, Transformer, check_instance
from conjoin.tables import collect
from conjoin.tables.columns import Columns
from conjoin.tables.frame import in_memory, to_frame
from conjoin.tables.names import natural_order
from conjoin.tables.schema import Schema


@dataclass(frozen=True, eq=False)
class Embedding:
    """Tables of features, and how rows get there.

    Parameters
    ----------
    features : Features
        The map learned.
    schema : Schema, optional
        How the columns of tables became the numbers it starts from; None where these were arrays.
    columns : tuple of str
        Names of the features in `tables`, one for each of `features.names` that is not the same in
        all rows.
    positions : tuple of int
        Their positions among `features.names`.
    tables : mapping of dataset name to columns
        Features, target and weights; the rows of a dataset in the order in which they came.
    """

    features: Features
    schema: Schema | None = field(repr=False)
    columns: tuple[str, ...]
    positions: tuple[int, ...]
    tables: dict[str, Columns] = field(repr=False)

    def transform(self, X: Any) -> Columns:
        """Return the features of new rows, by column, as `predict` of a result takes them."""
        return self._columns(self.features.transform(self.encode(X)))

    def encode(self, X: Any) -> FloatArray:
        """Return the numbers that the map, or a network with heads, starts from."""
        if self.schema is None:
            return check_inputs(X)
        frame = in_memory(to_frame(X, "X", wanted=set(self.schema.columns)))
        return self.schema.encode(frame)

    def _columns(self, values: FloatArray) -> Columns:
        return {name: values[:, j] for name, j in zip(self.columns, self.positions)}


def embed(
    representation: Any,
    data: Any,
    *,
    target: str,
    by: str | Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    weights: str | None = None,
    missing: str = "indicator",
    columns: str | None = None,
    progress: Progress | None = None,
) -> Embedding:
    """Learn a representation from the rows of all datasets and apply it to them.

    Parameters
    ----------
    representation : Representation, "mlp1", "mlp2", scikit-learn transformer or function
    data, target, by, features, weights, missing, columns
        As in `conjoin.partition`; data are tables in memory.
    progress : callable, optional
        Told the steps done so far and in all.

    Notes
    -----
    As in `partition`, columns with one value in all rows are left out, and columns that are no
    numbers are encoded: `Embedding.encode` gives what the map starts from. `embed_arrays` hands
    arrays over as they are.

    A network that has seen the target of a row knows more of it than of a new row, so errors
    validated on rows that trained the representation are too low. `partition` with
    representation=... learns it from other rows than those it judges on.

    Examples
    --------
    >>> import conjoin
    >>> from conjoin.datasets import make_clusters
    >>> stores = make_clusters(sizes=(2, 2), n=80, p=3, distance=2.0)
    >>> embedding = embed(lambda X: X @ [[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], stores.tables(),
    ...                   target="y")
    >>> list(embedding.tables["d1"])
    ['unit1', 'unit2', 'y']
    >>> result = conjoin.partition(embedding.tables, target="y")
    >>> result.predict(embedding.transform(stores.tables()["d1"]), "d1").shape
    (80,)
    """
    chosen = as_representation(representation)
    collection = collect(
        data,
        target=target,
        by=by,
        features=features,
        weights=weights,
        missing=missing,
        columns=columns,
    )
    y: AnyArray = collection.y
    if collection.response.classes:
        chosen = chosen.for_task("classification")
        y = label_array(collection.response.classes)[y.astype(int)]
    with naming_columns(collection.schema):
        learned, values = chosen.fit_transform(
            collection.X,
            y if chosen.task == "classification" else collection.y,
            collection.weights,
            progress=progress,
        )
    learned = learned.named(collection.schema.inputs, collection.schema.roles.aside)
    known = {target: y, **({weights: collection.weights} if weights else {})}
    return _tabulate(learned, values, collection.schema, collection.names, collection.starts, known)


def embed_arrays(
    representation: Any,
    data: Mapping[Any, tuple[Any, Any]],
    *,
    target: str = "y",
    progress: Progress | None = None,
) -> Embedding:
    """Do the same for arrays: images, say, or whatever a network takes.

    Parameters
    ----------
    representation : as in `embed`
    data : mapping of dataset name to (X, y)
        X of shape (rows, ...), the same for all but the rows; y (rows,) numbers.
    target : str
        Name of the target in the tables made.

    Examples
    --------
    >>> images = {name: (np.random.default_rng(k).random((20, 2, 2)), np.arange(20.0))
    ...           for k, name in enumerate("ab")}
    >>> embedding = embed_arrays(lambda X: X.mean(axis=2), images)
    >>> list(embedding.tables["a"])
    ['unit1', 'unit2', 'y']
    """
    chosen = as_representation(representation)
    if len({str(name) for name in data}) < max(len(data), 1):
        raise DataError("data has no datasets, or two with the same name.")
    parts = {str(name): (check_inputs(X), np.asarray(y)) for name, (X, y) in data.items()}
    names = natural_order(list(parts))
    shape = parts[names[0]][0].shape[1:]
    for name, (X, y) in parts.items():
        if X.shape[1:] != shape or y.shape != X.shape[:1]:
            raise DataError(
                f"Dataset {name!r} has X of shape {X.shape} and y of shape {y.shape}; expected "
                f"rows of shape {shape}, as of {names[0]!r}, and a target for each."
            )
    X = np.concatenate([parts[name][0] for name in names])
    y = np.concatenate([parts[name][1] for name in names])
    starts = np.cumsum([0, *(len(parts[name][1]) for name in names)])
    learned, values = chosen.fit_transform(X, y, progress=progress)
    return _tabulate(learned, values, None, names, starts, {target: y})


def _tabulate(
    learned: Features,
    values: FloatArray,
    schema: Schema | None,
    datasets: Sequence[str],
    starts: IntArray,
    known: Columns,
) -> Embedding:
    """Make a table for each dataset of its features and what else is known of its rows."""
    kept = [j for j, column in enumerate(values.T) if column.min() < column.max()]
    if not kept:
        raise DataError("Every feature of the representation is the same in all rows.")
    names = free_names([learned.names[j] for j in kept], known)
    embedding = Embedding(learned, schema, names, tuple(kept), {})
    for dataset, start, end in zip(datasets, starts[:-1], starts[1:]):
        aside = {name: column[start:end] for name, column in known.items()}
        embedding.tables[dataset] = {**embedding._columns(values[start:end]), **aside}
    return embedding


def as_representation(value: Any, random_state: int = 0) -> Representation:
    """Return a representation as it is, or make one of what it can be made of.

    The seed is for networks given by name (`Network`) and transformers.

    Examples
    --------
    >>> type(as_representation(abs)).__name__
    'Function'
    """
    check_instance("representation", value)
    if isinstance(value, Representation):
        return value
    if isinstance(value, str) and value in NAMES:
        import_module("conjoin.representations.torch.tools")  # says how to get torch
        return Network(hidden=NAMES[value], random_state=random_state)
    if any(kind.__module__.startswith("torch.nn") for kind in type(value).__mro__):
        raise ArgumentError(
            "representation is a torch module, of which any layer may be meant; pass "
            "Tap(module, layer=...) with the name of the layer."
        )
    if hasattr(value, "fit") and hasattr(value, "transform"):
        return Transformer(value, random_state)
    if callable(value):
        return Function(value)
    raise ArgumentError(
        f"representation={value!r} is no representation; expected 'mlp1', 'mlp2', a "
        "Representation such as MLP or Tap, a scikit-learn transformer, or a function."
    )
