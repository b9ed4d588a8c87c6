import numpy as np

from conjoin.api.request import Request
from conjoin.engine.learning import GROUPS, LearningTask, enough_rows, held_out_groups
from conjoin.engine.study import make_study
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
