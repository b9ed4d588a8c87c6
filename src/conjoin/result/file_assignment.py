"""New datasets in files: each gets a model from its rows with known target.

A partition and files enter; an `Assignment` for each new dataset leaves. The models are those of
`Partition.assign`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from conjoin._typing import Progress
from conjoin.errors import DataError, warn_caller
from conjoin.progress_parts import report
from conjoin.result.assigning import assign, known_target
from conjoin.result.file_prediction import find_names
from conjoin.result.partition import Partition
from conjoin.result.values import Assignment
from conjoin.sources.read import Source, open_source
from conjoin.tables.frame import in_memory, to_frame
from conjoin.tables.names import dataset_names, natural_order
from conjoin.tables.roles import close_match
from conjoin.text import quoted


def assign_source(
    model: Partition,
    sources: Sequence[str | Path],
    by: Sequence[str] | None = None,
    *,
    query: str | None = None,
    unsafe_query: bool = False,
    progress: Progress | None = None,
) -> dict[str, Assignment]:
    """Return the model of every dataset in the sources that was not there at fitting.

    Columns `by` name the dataset of a row, by default those that did so at fitting. If the sources
    lack them, each file is a dataset, named after the file. Rows without a target are left out with
    a warning, and so are datasets that were there at fitting.
    """
    why = "from whose values a model of the new dataset is learned"
    frame, names, what = read_with_names(model, sources, by, query, why, unsafe_query=unsafe_query)
    target = model.schema.roles.target
    known = _known(frame.get_column(target).to_list(), target)
    return _assign_each(model, frame, names, known, what, progress)


def read_with_names(
    model: Partition,
    sources: Sequence[str | Path],
    by: Sequence[str] | None,
    query: str | None,
    why: str,
    *,
    unsafe_query: bool = False,
) -> tuple[Any, list[str | None], str]:
    """Return rows with a target, the dataset of each, and what the sources are called.

    `why` says for what the target is needed.
    """
    target = model.schema.roles.target
    opened = open_source(sources, by=tuple(by or ()), query=query, unsafe_query=unsafe_query)
    with opened as source, source.reading():
        columns = source.relation.columns
        if target not in columns:
            raise DataError(
                f"{source.description} lacks the target {target!r}, {why}; "
                f"{close_match(target, columns)}"
            )
        frame = in_memory(to_frame(source.with_boolean_target(target).relation))
        return frame, _names(model, source, frame, by), source.description


def read_labelled(
    model: Partition, sources: Sequence[str | Path], query: str | None = None
) -> tuple[Any, list[str | None], list[Any], str]:
    """Return rows of sources with a target, their datasets and targets, and the sources' name."""
    why = "with which predictions are compared"
    frame, names, what = read_with_names(model, sources, None, query, why)
    target = model.schema.roles.target
    known = _known(frame.get_column(target).to_list(), target)
    kept = frame.filter(known.tolist())
    some = [name for name, there in zip(names, known) if there]
    return kept, some, _values(kept, target, model), what


def _names(
    model: Partition, source: Source, frame: Any, by: Sequence[str] | None
) -> list[str | None]:
    """Return the dataset of each row."""
    if by:
        return dataset_names(frame, by)
    if all(name in frame.columns for name in model.schema.roles.by):
        return dataset_names(frame, model.schema.roles.by)
    if len(source.by) == 1:  # several files, one dataset each
        return list(frame.get_column(source.by[0]).to_list())
    if len(source.file_names) == 1:
        return [source.file_names[0]] * len(frame)
    return dataset_names(frame, (find_names(model, source) or "",))


def _known(values: list[Any], target: str) -> np.ndarray[Any, Any]:
    """Say which rows have a target; warn of others."""
    blank = (None, "")
    known = np.array([value not in blank and value == value for value in values], dtype=bool)
    if not known.any():
        raise DataError(
            f"The target {target!r} is missing in all {len(values):,} rows; some rows "
            "with a known target are needed."
        )
    if not known.all():
        without = int((~known).sum())
        warn_caller(f"{without:,} of {len(values):,} rows have no target; they are left out.")
    return known


def _assign_each(
    model: Partition,
    frame: Any,
    names: list[str | None],
    known: np.ndarray[Any, Any],
    what: str,
    progress: Progress | None,
) -> dict[str, Assignment]:
    """Return an assignment for each new dataset, in natural order."""
    own_names = np.array(names, dtype=object)
    nameless = int(sum(name is None for name in names))
    if nameless:
        warn_caller(f"{nameless:,} of {len(names):,} rows name no dataset; they are left out.")
    labelled = {str(name) for name in own_names[known] if name is not None}
    seen = natural_order(sorted(labelled & model.labels.keys()))
    new = natural_order(sorted(labelled - model.labels.keys()))
    if not new:
        raise DataError(
            "There is no new dataset: "
            + (
                f"{quoted(seen)} {'were' if len(seen) > 1 else 'was'} there at fitting. Name the "
                "datasets with by, or fit all datasets again."
                if seen
                else "no row with a known target names a dataset."
            )
        )
    if seen:
        warn_caller(
            f"{quoted(seen)} {'were' if len(seen) > 1 else 'was'} there at fitting and "
            f"{'keep their models' if len(seen) > 1 else 'keeps its model'}."
        )
    taken = known & np.array([name in new for name in names], dtype=bool)
    kept, own = frame.filter(taken.tolist()), own_names[taken]
    response, values = model.schema.response, _values(kept, model.schema.roles.target, model)
    rows = model.predictor.encode_new(kept.to_native(), what)
    y = known_target(values, len(rows), response)
    found = {}
    for number, name in enumerate(new):
        report(progress, number, len(new))
        found[name] = assign(model, rows[own == name], y[own == name])
    report(progress, len(new), len(new))
    return found


def _values(part: Any, target: str, model: Partition) -> list[Any]:
    """Return the target of rows; numbers may be written as text."""
    values: list[Any] = part.get_column(target).to_list()
    if model.classes:
        return values
    try:
        return [float(value) for value in values]
    except (TypeError, ValueError):
        raise DataError(
            f"The target {target!r} was a number at fitting, but now it has the value "
            f"{_first_text(values)!r}; correct or drop it."
        ) from None


def _first_text(values: list[Any]) -> Any:
    """Return the first value that is no number."""
    for value in values:
        try:
            float(value)
        except (TypeError, ValueError):
            return value
    return None
