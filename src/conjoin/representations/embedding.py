"""Features of tables or arrays, as tables that `partition` takes.

A representation and the data of all datasets enter; an `Embedding` leaves: the learned map and a
table of features for each dataset.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray, IntArray, Progress
from conjoin.errors import ArgumentError, DataError
from conjoin.families import label_array
from conjoin.representations.base import Features, Representation, check_inputs, free_names
from conjoin.representations.column_order import collection_columns
from conjoin.representations.learned import naming_columns
from conjoin.representations.networks import NAMES, Layers, Network
from conjoin.representations.plain import Function, Transformer, check_instance
from conjoin.tables import collect
from conjoin.tables.columns import Columns
from conjoin.tables.dataset import DatasetCollection
from conjoin.tables.frame import in_memory, to_frame
from conjoin.tables.names import natural_order
from conjoin.tables.schema import Schema


@dataclass(frozen=True, eq=False)
class Embedding:
    """Tables of features, and the map that makes features of new rows.

    Parameters
    ----------
    features : Features
        The learned map.
    schema : Schema, optional
        The encoding of a table's columns into inputs of the map; None if the data were arrays.
    columns : tuple of str
        Names of the features in `tables`: those of `features.names` that vary.
    positions : tuple of int
        Positions of these names among `features.names`.
    tables : mapping of dataset name to columns
        Features, target and weights; rows are in the order of the data.

    Examples
    --------
    >>> from conjoin.datasets import make_pair
    >>> embedding = embed(abs, make_pair(p=2, n=30).tables(), target="y")
    >>> embedding.columns, list(embedding.tables)
    (('unit1', 'unit2'), ['a', 'b'])
    """

    features: Features
    schema: Schema | None = field(repr=False)
    columns: tuple[str, ...]
    positions: tuple[int, ...]
    tables: dict[str, Columns] = field(repr=False)

    def transform(self, X: Any) -> Columns:
        """Return the features of new rows, as `predict` of a result takes them.

        Parameters
        ----------
        X : table or array
            Rows like the data: a table, or an array if the data were arrays.

        Returns
        -------
        dict of feature name to array (n,)

        Raises
        ------
        DataError
            If a column is missing or a value cannot be used.

        Examples
        --------
        >>> from conjoin.datasets import make_pair
        >>> embedding = embed(abs, make_pair(p=2, n=30).tables(), target="y")
        >>> embedding.transform({"x1": [-1.0], "x2": [2.0]})
        {'unit1': array([1.]), 'unit2': array([2.])}
        """
        return self._columns(self.features.transform(self.encode(X)))

    def encode(self, X: Any) -> FloatArray:
        """Return the inputs of the map, which are also those of a network with heads.

        Parameters
        ----------
        X : table or array
            As in `transform`.

        Returns
        -------
        array (n, inputs)

        Raises
        ------
        DataError
            As in `transform`.

        Examples
        --------
        >>> from conjoin.datasets import make_pair
        >>> embedding = embed(abs, make_pair(p=2, n=30).tables(), target="y")
        >>> embedding.encode({"x2": [2.0], "x1": [-1.0]}).tolist()
        [[-1.0, 2.0]]
        """
        if self.schema is None:
            return check_inputs(X)
        frame = in_memory(to_frame(X, "X", wanted=set(self.schema.columns)))
        return self.schema.encode(frame)

    def _columns(self, values: FloatArray) -> Columns:
        """Return the columns that vary of features (n, features), by name."""
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
        How features are learned.
    data, target, by, features, weights, missing, columns
        As in `conjoin.partition`; data are tables in memory.
    progress : callable, optional
        Called with the number of steps done and the number of all steps.

    Returns
    -------
    Embedding

    Raises
    ------
    ArgumentError
        If `representation` or an option cannot be used.
    DataError
        If the data cannot be used, or no feature varies.

    Notes
    -----
    As in `partition`, columns with one value in all rows are left out, and text and dates are
    encoded; `Embedding.encode` returns the inputs of the map. `embed_arrays` takes arrays as they
    are.

    A network fits its training rows better than new rows. So errors that are validated on rows that
    trained the representation are too low. `partition(..., representation=...)` avoids this: it
    learns the representation from some rows and validates on others.

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
    ).in_table_order()
    y: AnyArray = collection.y
    if collection.response.classes:
        chosen = chosen.for_task("classification")
        y = label_array(collection.response.classes)[y.astype(int)]
    with naming_columns(collection.schema):
        learned, values = _fit_transform(
            chosen, collection, y if chosen.task == "classification" else collection.y, progress
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
    """Learn a representation from arrays, such as images, and apply it to them.

    Parameters
    ----------
    representation : as in `embed`
        How features are learned.
    data : mapping of dataset name to (X, y)
        X has shape (rows, ...), equal in all datasets but for the number of rows; y has shape
        (rows,).
    target : str, default "y"
        Name of the target in the tables of features.
    progress : callable, optional
        Called with the number of steps done and the number of all steps.

    Returns
    -------
    Embedding

    Raises
    ------
    ArgumentError
        If `representation` cannot be used.
    DataError
        If the arrays cannot be used, or no feature varies.

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
        raise DataError(
            "data has no datasets, or two with the same name; expected a mapping of different "
            "names to (X, y)."
        )
    parts = {str(name): (check_inputs(X), np.asarray(y)) for name, (X, y) in data.items()}
    names = natural_order(list(parts))
    shape = parts[names[0]][0].shape[1:]
    for name, (X, y) in parts.items():
        if X.shape[1:] != shape or y.shape != X.shape[:1]:
            raise DataError(
                f"Dataset {name!r} has X of shape {X.shape} and y of shape {y.shape}; expected "
                f"rows of shape {shape}, as in {names[0]!r}, and one target for each row."
            )
    X = np.concatenate([parts[name][0] for name in names])
    y = np.concatenate([parts[name][1] for name in names])
    starts = np.cumsum([0, *(len(parts[name][1]) for name in names)])
    learned, values = chosen.fit_transform(X, y, progress=progress)
    return _tabulate(learned, values, None, names, starts, {target: y})


def _fit_transform(
    chosen: Representation, collection: DatasetCollection, y: AnyArray, progress: Progress | None
) -> tuple[Features, FloatArray]:
    """Learn from the rows of tables; whatever the order of columns, a network by name is the same.

    The paper's network (`MLP`) sees the columns in the order of the tables.
    """
    X, w = collection.X, collection.weights
    if not isinstance(chosen, Network):
        return chosen.fit_transform(X, y, w, progress=progress)
    columns = collection_columns(collection)
    learned, values = chosen.fit_transform(X[:, columns], y, w, progress=progress)
    return Layers.of(learned).with_columns(columns).network(), values


def _tabulate(
    learned: Features,
    values: FloatArray,
    schema: Schema | None,
    datasets: Sequence[str],
    starts: IntArray,
    known: Columns,
) -> Embedding:
    """Return a table for each dataset, with features `values` (n, features) and known columns.

    Rows of dataset k are `starts[k]` to `starts[k + 1]`; `known` are the target and weights (n,).
    """
    kept = [j for j, column in enumerate(values.T) if column.min() < column.max()]
    if not kept:
        raise DataError(
            "Every feature of the representation has the same value in all rows; expected features "
            "that vary."
        )
    names = free_names([learned.names[j] for j in kept], known)
    embedding = Embedding(learned, schema, names, tuple(kept), {})
    for dataset, start, end in zip(datasets, starts[:-1], starts[1:]):
        others = {name: column[start:end] for name, column in known.items()}
        embedding.tables[dataset] = {**embedding._columns(values[start:end]), **others}
    return embedding


def as_representation(value: Any, random_state: int = 0) -> Representation:
    """Return a representation from a name, a transformer or a function.

    Parameters
    ----------
    value : Representation, "mlp1", "mlp2", scikit-learn transformer or function
        A `Representation` is returned as it is.
    random_state : int, default 0
        Random seed of networks given by name (`Network`) and of transformers.

    Returns
    -------
    Representation

    Raises
    ------
    ArgumentError
        If `value` is none of these.
    MissingTorchError
        If a network is given by name and torch is not installed.

    Examples
    --------
    >>> type(as_representation(abs)).__name__
    'Function'
    """
    check_instance("representation", value)
    if isinstance(value, Representation):
        return value
    if isinstance(value, str) and value in NAMES:
        from conjoin.representations.torch import tools

        tools.require_torch()  # before any data are read
        return Network(hidden=NAMES[value], random_state=random_state)
    if any(kind.__module__.startswith("torch.nn") for kind in type(value).__mro__):
        raise ArgumentError(
            "representation is a torch module; pass Tap(module, layer=...) with the name of the "
            "layer whose output you want."
        )
    if hasattr(value, "fit") and hasattr(value, "transform"):
        return Transformer(value, random_state)
    if callable(value):
        return Function(value)
    raise ArgumentError(
        f"representation={value!r} is not a representation; expected 'mlp1', 'mlp2', a "
        "Representation such as MLP or Tap, a scikit-learn transformer, or a function."
    )
