import numpy as np

from conjoin.api.request import Request
from conjoin.engine.learning import (
    GROUPS,
    LearningTask,
    enough_rows,
    held_out_groups,
    separate_column,
)
from conjoin.engine.study import make_study
from conjoin.learners.boosting import Boosting
from conjoin.learners.columns import LearnerColumns
from conjoin.tables import collect
from tests.bent import QUICK, bent_tables


def study_of(tables):
    table = collect(tables, target="y")
    return table, make_study(table, Request(target="y"))


def test_rows_come_in_an_order_of_their_values():
    tables = bent_tables(datasets=2)
    turned = {n: {c: v[::-1] for c, v in t.items()} for n, t in tables.items()}
    found = []
    for data in (tables, turned):
        table, study = study_of(data)
        found.append(LearningTask.of(QUICK, LearnerColumns.of(table.schema), table, study))
    assert np.array_equal(found[0].rows.X, found[1].rows.X)
    assert np.array_equal(found[0].group, found[1].group)


def test_columns_come_back_in_the_order_of_the_table():
    table, study = study_of(bent_tables(datasets=2))
    task = LearningTask.of(QUICK, LearnerColumns.of(table.schema), table, study)
    column = task.column()
    back = task.in_task_order(task.in_table_order(column))
    assert np.array_equal(back.held_out, column.held_out)


def test_groups_hold_two_folds_each():
    _, study = study_of(bent_tables(datasets=2))
    group = held_out_groups(study)
    assert sorted(set(group.tolist())) == list(range(GROUPS))
    assert np.ptp(np.bincount(group)) <= 4


def test_few_rows_are_not_enough():
    assert enough_rows(*study_of(bent_tables(datasets=2, n=40)))
    assert not enough_rows(*study_of(bent_tables(datasets=2, n=20)))


def test_a_model_for_each_dataset_of_few_rows_follows_its_own_bend():
    # Each dataset is a wave with a phase of its own: 14 rows of it say more than all others.
    rng = np.random.default_rng(0)
    a = rng.uniform(0, 1, size=(12, 14))
    phase = rng.uniform(0, 6, size=(12, 1))
    y = 3 * np.sin(6 * a + phase) + rng.normal(0, 0.1, a.shape)
    table, study = study_of({f"d{k}": {"a": a[k], "y": y[k]} for k in range(12)})
    task = LearningTask.of(Boosting(), LearnerColumns.of(table.schema), table, study)
    quick = Boosting(rounds=20, shape="tiny")
    pooled = LearningTask.of(quick, task.columns, table, study).column(named=False)
    found = separate_column(task, quick, pooled)["separate"]
    assert len(found.model.models) == 12
    error = [np.mean((task.rows.y - one.held_out[:, 0]) ** 2) for one in (found, pooled)]
    assert error[0] < 0.5 * error[1]
    given = LearningTask.of(QUICK, task.columns, table, study)
    assert not separate_column(given, quick, pooled)["separate"].model.models
