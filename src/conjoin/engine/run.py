"""The whole flow, step by step: from a request and data to a partition with its models.

Every step takes and returns frozen values:

1. read: tables, files or databases become rows of datasets, or moments formed where rows live; if
   rows have gross errors, steps 2 to 7 are done with and without them (`engine.wild`);
2. study: shared coordinates, moments of every dataset and fold, start values;
3. search partitions: the merge tree, the partition and the mixture of best evidence, and the
   variances of every strategy;
4. fit strategies: coefficients from all rows, and from the rows outside every fold;
5. validate: losses on held-out rows, and the weights of the average;
6. choose: the partition that the method finds, with the fits of its clusters;
7. verdicts: on demand and once, by the `Analysis` that is returned inside the result.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

from conjoin.api.request import Request
from conjoin.engine.criteria import pair_criterion
from conjoin.engine.features import learn_features, make_representation, settings_of
from conjoin.engine.hints import check_method, hint_at_classes
from conjoin.engine.learner_choice import make_learner
from conjoin.engine.learner_run import add_learner
from conjoin.engine.reading import reading, source_names
from conjoin.engine.remote import Reduced, has_rows
from conjoin.engine.remote_learner import add_remote_learner
from conjoin.engine.single import analyse_single
from conjoin.engine.steps import Task, find
from conjoin.engine.study import DatasetFacts, make_study, rows_of
from conjoin.engine.wild import settle_partition
from conjoin.execution import give_back_memory, large_arrays_given_back, one_thread
from conjoin.progress_parts import split_progress

if TYPE_CHECKING:
    from conjoin._typing import Progress
    from conjoin.result.partition import Partition
    from conjoin.tables import DatasetCollection

# Share of the time that lines take beside a learner, for the progress bar.
LINEAR_SHARE = 0.1


def run(
    request: Request, data: Any, progress: "Progress | None" = None, *, alone: bool = False
) -> "Partition":
    """Find the clusters of the datasets and fit their models.

    With `alone` the data may be a single dataset.
    """
    criterion, representation = pair_criterion(request), make_representation(request)
    settings = {**settings_of(request, representation), "data": source_names(data)}

    # 1 Read.
    rows_needed = criterion is not None or representation is not None or request.robust
    rows_needed = rows_needed or request.time is not None or request.repeat is not None
    with reading(data, request, rows_needed=rows_needed, alone=alone) as table:
        check_method(table, request, criterion)
        task = Task(request, criterion, representation, settings, alone)
        rows = rows_of(table)
        with large_arrays_given_back(0 if rows is None else len(rows.y)):
            return settle_partition(table, request, partial(analyse, task), progress)


def analyse(
    task: Task, table: "DatasetCollection | Reduced", progress: "Progress | None"
) -> "Partition":
    """Do steps 2 to 7 for the rows of a table."""
    request, dealt = task.request, None
    if task.representation is not None:
        table, dealt, progress = learn_features(table, task.representation, request, progress)
    facts = DatasetFacts.of(table)

    with one_thread():
        # 2 Study.
        give_back_memory()
        study = make_study(table, request, dealt)
        give_back_memory()
        if study.given.exact:
            hint_at_classes(study.basis, study.given.moments, request.target, request.family)
        if task.alone and len(facts.names) == 1:
            single = analyse_single(facts, study, request.delta, task.settings, rows_of(table))
            return single.using("separate")

    # 3 Search partitions. 4 Fit strategies. 5 Validate. 6 Choose. 7 Verdicts, on demand.
    learner = make_learner(request, task.criterion) if has_rows(table) else None
    first, last = split_progress(progress, 1.0 if learner is None else LINEAR_SHARE)
    found = find(task, table, study, first)
    give_back_memory()

    # The same with a learner, whose predictions are further columns.
    if learner is None:
        return found.analysis.using(request.strategy)
    steps = partial(find, task)
    if isinstance(table, Reduced):
        remote = add_remote_learner(learner, found, table, request, steps, last)
        return remote.using(request.strategy)
    learned = add_learner(learner, found, table, request, steps, last)
    return learned.using(request.strategy)
