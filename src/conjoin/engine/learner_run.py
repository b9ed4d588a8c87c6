"""The steps with a learner: columns of predictions, the analysis with them, and all strategies.

A linear analysis with its fits and the rows of the table enter; a `LearnedAnalysis` leaves. The
steps of `engine.run` are done again with the learner's prediction as one more column.
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from conjoin._typing import FloatArray, Progress
from conjoin.api.request import Request
from conjoin.engine.analysed import Analysed
from conjoin.engine.analysis import Analysis
from conjoin.engine.corrected import Analyse, correct, with_prediction
from conjoin.engine.entries import (
    KINDS,
    Entry,
    Layout,
    Rows,
    average_entries,
    curves_entry,
    engine_average,
    entries_of_learner,
    entry_of_engine,
    held_out_lines,
    residual_entry,
)
from conjoin.engine.learned import LearnedAnalysis
from conjoin.engine.learner_choice import warn_of_weights
from conjoin.engine.learner_clusters import is_better
from conjoin.engine.learner_sound import find_sound_clusters
from conjoin.engine.learning import LearnedColumns, enough_rows, learn_columns
from conjoin.learners.rows import Learner
from conjoin.learners.schema import LearnedSchema, PredictionColumns
from conjoin.progress_parts import report, split_progress
from conjoin.tables import DatasetCollection

if TYPE_CHECKING:
    from conjoin.engine.remote import Reduced
    from conjoin.strategies.validation import Validated


# Standard errors by which a learner must be better than lines before clusters and verdicts are
# about it. The best of several is compared, so one would be passed by chance too often.
SURE = 2.0
# Shares of the time of the learner's columns and of the analysis with them, for the progress bar;
# the clusters have the rest.
SHARES = 0.75, 0.1


def add_learner(
    learner: Learner,
    linear: Analysed,
    table: "DatasetCollection | Reduced",
    request: Request,
    analyse: Analyse,
    progress: Progress | None = None,
) -> LearnedAnalysis | Analysis:
    """Train a learner beside the linear strategies; with too few rows the linear analysis stays."""
    assert isinstance(table, DatasetCollection)  # a learner reads rows (`engine.learner_choice`)
    study = linear.analysis.study
    if not enough_rows(table, study):
        return linear.analysis
    rows = Rows.of(table, study)
    warn_of_weights(learner, table.weights)
    straight = partial(held_out_average, linear, table.X, rows)
    first, second, last = split_progress(progress, *SHARES)
    learned = learn_columns(learner, table, study, straight, first)
    lines = learned.found["named"].held_out.shape[1]
    layout = Layout.of(table.X.shape[1], lines, tuple(learned.found))
    schema = schema_of(learned, table, lines)
    corrected = correct(learned, schema, layout, table, request, study, analyse, second)
    report(second, 1, 1)
    leads, judge, contest = _leads(linear, corrected, learned, rows), None, None
    if leads:
        proposals = [one.analysis.chosen.labels for one in (corrected, linear)]
        search = corrected.analysis.search
        sound, judge = find_sound_clusters(learner, learned, rows, request, proposals, search, last)
        labels, column, contest = sound.clusters
        corrected = corrected.with_labels(labels, sound.joins)
        if column is not None:
            learned = replace(learned, found={**learned.found, "clusters": column})
            layout = Layout.of(table.X.shape[1], lines, tuple(learned.found))
    report(last, 1, 1)
    schema = schema_of(learned, table, lines, leads=leads)
    combined = _combine(linear, corrected, learned, schema, layout, rows, straight(), request)
    return replace(combined, judge=judge, contest=contest)


def _leads(linear: Analysed, corrected: Analysed, learned: LearnedColumns, rows: Rows) -> bool:
    """Say whether the learner clearly predicts better than lines."""
    auto = [one.analysis.strategies.validated["auto"].losses for one in (linear, corrected)]
    own = [rows.losses(learned.found[kind].held_out) for kind in KINDS if kind in learned.found]
    best = min([auto[1], *own], key=rows.mean_loss)
    return is_better(best, auto[0], rows, SURE)


def held_out_average(found: Analysed, X: FloatArray, rows: Rows) -> FloatArray:
    """Return held-out linear predictors (n, L) of the average of the engine's strategies."""
    if found.held_out is not None:
        return found.held_out
    both = engine_average(found.fits, found.analysis.strategies.weights)
    return held_out_lines(both.fold_coef, found.analysis.study, X, rows)


def schema_of(
    learned: LearnedColumns, table: DatasetCollection, lines: int, *, leads: bool = True
) -> LearnedSchema:
    """Return the schema whose features include the predictions."""
    plain = {
        "named": learned.learner,
        **{kind: f"{learned.learner} ({kind})" for kind in learned.found if kind != "named"},
        "curves": "curves",
    }
    names = {kind: _free(name, table.features, lines) for kind, name in plain.items()}
    found = learned.found.items()
    predictions = PredictionColumns(
        learned.learner,
        learned.task.columns,
        {names[kind]: one.model for kind, one in found},
        {name: k for k, name in enumerate(table.names)},
        lines,
        {names[kind]: one.settings for kind, one in found},
        leads=leads,
    )
    return LearnedSchema.of(table.schema, predictions)


def _free(name: str, taken: tuple[str, ...], lines: int) -> str:
    """Return a name that no column of the table has, nor with the number of a line behind it."""
    while {name, *(f"{name} {line + 1}" for line in range(lines))} & set(taken):
        name += "_"
    return name


def _combine(
    linear: Analysed,
    corrected: Analysed,
    learned: LearnedColumns,
    schema: LearnedSchema,
    layout: Layout,
    rows: Rows,
    straight: FloatArray,
    request: Request,
) -> LearnedAnalysis:
    """Put all strategies into one table, and average them."""
    flat, bent = linear.analysis, corrected.analysis
    entries = {
        name: entry_of_engine(one, flat.study, layout, None, corrected=False)
        for name, one in flat.strategies.validated.items()
        if name != "auto"
    }
    averages = flat.strategies.validated["auto"], bent.strategies.validated["auto"]
    curved = held_out_average(corrected, with_prediction(rows.table, learned, layout), rows)
    entries["linear"] = _entry(averages[0], flat, layout, straight, False)
    entries["corrected"] = _entry(averages[1], bent, layout, curved, True)
    if "residual" in learned.found:
        entries["residual"] = residual_entry(entries["linear"], learned, layout, rows)
    if learned.curve_lines is not None:
        entries["curves"] = curves_entry(learned, flat.study, layout, rows)
    entries |= entries_of_learner(learned, layout, rows)
    auto, shares = average_entries(entries, rows, learned.group, int(request.random_state))
    inner = {n: shares["linear"] * w for n, w in flat.strategies.weights.items()}
    weights = {**inner, **{name: w for name, w in shares.items() if name != "linear"}}
    entries["auto"] = auto
    main = bent if schema.predictions.leads else flat
    return LearnedAnalysis(main, flat, bent, entries, weights, schema, layout, rows, learned)


def _entry(
    one: "Validated", analysis: Analysis, layout: Layout, held_out: FloatArray, corrected: bool
) -> Entry:
    return entry_of_engine(one, analysis.study, layout, held_out, corrected=corrected)
