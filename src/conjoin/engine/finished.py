"""Finished steps of the engine that a checkpoint keeps: which inputs they have, and their results.

Problems and fits of strategies enter; inputs to be hashed, and fits that may come from the
checkpoint, leave (`conjoin.sources.checkpoints`).
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.grouping.search import FindPartition
from conjoin.models.problem import Problem
from conjoin.sources.checkpoints import (
    TEXT,
    Packed,
    checkpointing,
    digest,
    files_of_run,
    remembered,
    remembered_array,
)
from conjoin.sources.read import is_source
from conjoin.strategies.plan import Start
from conjoin.strategies.validation import Fitted, validate_partition
from conjoin.tables import DatasetCollection

if TYPE_CHECKING:
    from conjoin.api.request import Request
    from conjoin.engine.remote import Reduced

FIELDS = ("G", "h", "q", "n", "w")  # arrays of moments


def inputs_of(problem: Problem) -> tuple[Any, ...]:
    """Return the arrays that identify a problem: moments of datasets, and of their folds."""
    return tuple(
        getattr(moments, name) for moments in (problem.moments, problem.folds) for name in FIELDS
    )


def finished_fits(
    inputs: tuple[Any, ...], fit: Callable[[], dict[str, Fitted]]
) -> dict[str, Fitted]:
    """Return the fits of all strategies, from the checkpoint if they are there."""
    return remembered("strategies", inputs, fit, _pack, _unpack)


def _pack(fits: dict[str, Fitted]) -> Packed:
    found = {}
    for name, one in fits.items():
        found[f"{name} coef"], found[f"{name} fold_coef"] = one.coef, one.fold_coef
    return found


def _unpack(found: Mapping[str, Any]) -> dict[str, Fitted]:
    names = [name.removesuffix(" fold_coef") for name in found if name.endswith(" fold_coef")]
    return {name: Fitted(found[f"{name} coef"], found[f"{name} fold_coef"]) for name in names}


def validated_search(method: str, find: FindPartition, start: Start) -> FloatArray:
    """Return losses (F, K) of a search that is repeated outside every fold (`strategies`)."""
    inputs = (method, *inputs_of(start.problem))
    return remembered_array("validation", inputs, lambda: validate_partition(find, start))


def finished_sums(inputs: tuple[Any, ...], compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return sums by dataset and fold, as columns of plain values, from the checkpoint or computed.

    Rows are elsewhere, so the files they are in identify them.
    """
    return remembered("moments", (files_of_run(), *inputs), compute, _pack_sums, _unpack_sums)


def _pack_sums(sums: dict[str, Any]) -> Packed:
    names = {name: values for name, values in sums.items() if name.startswith("g")}
    numbers = {name: np.array(sums[name], dtype=np.float64) for name in sums if name not in names}
    return {**numbers, TEXT: json.dumps(names, default=str)}


def _unpack_sums(found: Mapping[str, Any]) -> dict[str, Any]:
    return {**json.loads(found[TEXT]), **{name: found[name] for name in found if name != TEXT}}


def files_in(data: Any) -> list[tuple[str, int, int]] | None:
    """Return name, size and time of change of the files that data names; None if it names none."""
    if not is_source(data):
        return None
    named = [data] if isinstance(data, str | Path) else list(data)
    found = []
    for one in map(Path, named):
        if one.is_file():
            about = one.stat()
            found.append((str(one), about.st_size, about.st_mtime_ns))
    return found


@contextmanager
def checkpoint_of(
    request: "Request", data: Any
) -> Iterator[Callable[["DatasetCollection | Reduced"], None]]:
    """Keep finished steps of a run; the caller passes the table, which must be the same as before.

    Without `request.checkpoint` nothing is kept.
    """
    with checkpointing(request.checkpoint, request.identity(), files_in(data)) as store:

        def check(table: "DatasetCollection | Reduced") -> None:
            if store is not None:
                store.check_data(data_digest(table))

        yield check


def data_digest(table: "DatasetCollection | Reduced") -> str:
    """Return what identifies the rows of a table: a hash of them, or of their moments."""
    if not isinstance(table, DatasetCollection):
        arrays = (getattr(table.folds, name) for name in FIELDS)
        return digest((table.names, table.sizes, table.basis, *arrays))
    order = None if table.order is None else vars(table.order)
    return digest((table.names, table.X, table.y, table.weights, table.starts, order))
