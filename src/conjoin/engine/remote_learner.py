"""A learner for a table whose rows are not in memory.

A linear analysis and moments enter. The learner is trained on a sample of the rows
(`engine.sampling`). Then all rows come by in batches and are predicted by models that have not seen
them (`engine.wide`). A `LearnedAnalysis` leaves, whose lines, errors and weights are of all rows.
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from conjoin.engine.entries import KINDS, Layout, Rows
from conjoin.engine.learned import LearnedAnalysis
from conjoin.engine.learner_run import SURE, held_out_average, schema_of
from conjoin.engine.learning import (
    FEW_OWN,
    LearnedColumns,
    enough_rows,
    group_of_folds,
    learn_columns,
)
from conjoin.engine.placing import place_by_study
from conjoin.engine.remote_entries import Lines
from conjoin.engine.sampling import take_sample
from conjoin.engine.study import Study, make_study
from conjoin.engine.wide import Wide, gather
from conjoin.learners.schema import LearnedSchema
from conjoin.models.problem import LeastSquares
from conjoin.progress_parts import report, split_progress

if TYPE_CHECKING:
    from conjoin._typing import IntArray, Progress
    from conjoin.api.request import Request
    from conjoin.engine.analysed import Analysed
    from conjoin.engine.analysis import Analysis
    from conjoin.engine.corrected import Analyse
    from conjoin.engine.remote import Reduced
    from conjoin.learners.rows import Learner
    from conjoin.tables import DatasetCollection

# Shares of the time of the sample, of training and of the pass over all rows, for the progress bar;
# the analysis has the rest.
SHARES = 0.15, 0.5, 0.25


def add_remote_learner(
    learner: "Learner",
    linear: "Analysed",
    table: "Reduced",
    request: "Request",
    analyse: "Analyse",
    progress: "Progress | None" = None,
) -> "LearnedAnalysis | Analysis":
    """Train a learner on a sample beside the linear strategies, and judge it on all rows.

    With few rows a dataset the held-out predictions of a dataset's rows would flatter it
    (`learners.crossfit`), so the linear analysis stays.
    """
    study = linear.analysis.study
    if table.rows is None or sum(table.sizes) < FEW_OWN * len(table.names):
        return linear.analysis
    first, second, third, last = split_progress(progress, *SHARES)
    sample, sampled = take_sample(table, study, request.sample_rows)
    report(first, 1, 1)
    if not enough_rows(sample, sampled):
        return linear.analysis
    straight = partial(held_out_average, linear, sample.X, Rows.of(sample, sampled))
    learned = learn_columns(learner, sample, sampled, straight, second, keep=True)
    learned = _noted(learned, len(sample.y), sum(table.sizes))
    layout = Layout.of(len(table.schema.features), 1, tuple(learned.found))
    schema = schema_of(learned, sample, 1)
    wide = gather(learned, table)
    report(third, 1, 1)
    corrected = _corrected(wide, schema, layout, table, request, analyse)
    lines = Lines(wide, layout, study, group_of_folds(study))
    found = _combine(linear, corrected, lines, schema, _without_rows(sample, sampled), request)
    report(last, 1, 1)
    return found


def _noted(learned: LearnedColumns, rows: int, total: int) -> LearnedColumns:
    """Return the columns with the number of rows that taught them among their settings."""
    more = {"sampled_rows": rows, "all_rows": total} if rows < total else {}
    return replace(
        learned,
        found={
            kind: replace(one, settings={**one.settings, **more})
            for kind, one in learned.found.items()
        },
    )


def _corrected(
    wide: Wide,
    schema: LearnedSchema,
    layout: Layout,
    table: "Reduced",
    request: "Request",
    analyse: "Analyse",
) -> "Analysed":
    """Do the steps again with the learner's prediction as one more column."""
    basis, folds = wide.take(layout.corrected_columns())
    own = schema.predictions
    narrow = replace(own, models=dict([next(iter(own.models.items()))]), shown=1)
    (name,), (low, high) = narrow.names, (end[0] for end in wide.ends)
    width = high - low
    more = replace(
        table,
        schema=LearnedSchema.of(table.schema, narrow),
        limits={**table.limits, name: (float(low - width), float(high + width))},
        basis=basis,
        folds=folds,
    )
    return analyse(more, make_study(more, request), None)


def _combine(
    linear: "Analysed",
    corrected: "Analysed",
    lines: Lines,
    schema: LearnedSchema,
    rows: Rows,
    request: "Request",
) -> LearnedAnalysis:
    """Put all strategies into one table, and average them."""
    entries, own = lines.entries(linear, corrected)
    auto, shares = lines.average(entries, own, int(request.random_state))
    rivals = ["corrected", *(name for name in KINDS.values() if name in entries)]
    best = min((entries[name].losses for name in rivals), key=lines.mean_loss)
    leads = lines.is_better(best, entries["linear"].losses, SURE)
    if leads:  # with so many rows one model that knows the name is as good as one for each cluster
        corrected = corrected.with_labels(np.zeros(len(rows.weights), dtype=np.int64))
    flat, bent = linear.analysis, corrected.analysis
    inner = {n: shares["linear"] * w for n, w in flat.strategies.weights.items()}
    weights = {**inner, **{name: w for name, w in shares.items() if name != "linear"}}
    schema = LearnedSchema.of(schema, replace(schema.predictions, leads=leads))
    main, layout = bent if leads else flat, lines.layout
    entries["auto"] = auto
    found = LearnedAnalysis(main, flat, bent, entries, weights, schema, layout, rows)
    if not leads:
        return found
    used = layout.seen_by_engine("pooled")
    placed = place_by_study(_study_of(lines.wide, used, lines.study), bent.chosen.labels)
    columns = np.append(np.arange(layout.inputs), used)
    return replace(found, _found={"placement": replace(placed, columns=columns)})


def _study_of(wide: Wide, predictions: "IntArray", study: Study) -> Study:
    """Return the study of the columns and some of the predictions."""
    basis, folds = wide.take(predictions)
    return replace(study, basis=basis, given=LeastSquares(folds), scatter=None)


def _without_rows(sample: "DatasetCollection", study: Study) -> Rows:
    """Return what strategies know of rows, with none of them."""
    return Rows.of(sample, study).emptied()
