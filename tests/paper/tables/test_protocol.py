from dataclasses import replace

import numpy as np
import pytest

from conjoin.paper.tables import protocol
from conjoin.paper.tables.methods import (
    BIFACTOR,
    BIFACTOR_CLUSTERS,
    DEFAULT,
    INDIVIDUAL,
    LITERAL,
    POOLED,
    SIGNED,
)
from conjoin.paper.tables.protocol import HELD_OUT, compare_methods, embed, plain
from conjoin.paper.tables.sets import GroupedRows
from tests.paper.tables.helpers import QUICK, planted


def test_methods_are_compared_on_the_same_rows_with_all_sizes():
    methods = [POOLED, LITERAL, SIGNED, DEFAULT, BIFACTOR, BIFACTOR_CLUSTERS]
    lines = compare_methods(planted(), "planted", "columns", methods, QUICK)
    assert len(lines) == 3 * (1 + len(methods))
    held = {line.method: line for line in lines if line.protocol == HELD_OUT and line.rows == 50}
    assert held[INDIVIDUAL].reduction == 0
    assert held[POOLED].reduction < -50  # clusters differ
    assert held[DEFAULT].reduction > 0
    assert held[DEFAULT].clusters == 2
    for line in lines:
        own = next(
            other
            for other in lines
            if (other.protocol, other.rows, other.method) == (line.protocol, line.rows, INDIVIDUAL)
        )
        assert line.reduction == pytest.approx(100 * (1 - line.error / own.error))


def test_the_same_seed_gives_the_same_results():
    once, again = (
        compare_methods(planted(), "planted", "columns", [SIGNED, DEFAULT], QUICK) for _ in "ab"
    )
    assert once == again
    other = compare_methods(planted(), "planted", "columns", [SIGNED], replace(QUICK, seed=1))
    assert other[0].error != once[0].error


def test_held_out_rows_are_used_by_nothing(monkeypatch):
    """Neither the representation, nor decisions, nor models may know a held-out target."""
    seen = []

    def watched(rows):
        seen.append(set(rows.y))
        return plain(rows)

    monkeypatch.setitem(protocol.REPRESENTATIONS, "columns", watched)
    rows = planted()
    judged = []
    judge = protocol._Task.judge

    def note(task, tally, learned, drawn, test, labels):
        if tally.head[2] == HELD_OUT:
            targets = {value for own in test for value in learned.y[own]}
            judged.append((seen[-1], targets))
            assert not targets & {value for own in drawn for value in learned.y[own]}
        judge(task, tally, learned, drawn, test, labels)

    monkeypatch.setattr(protocol._Task, "judge", note)
    compare_methods(rows, "planted", "columns", [DEFAULT], QUICK)
    assert len(judged) == 2 * QUICK.splits
    assert all(not taught & tested for taught, tested in judged)


def test_tiny_datasets_do_not_spoil_the_bootstrap():
    rows = planted(n=60)
    few = GroupedRows(
        rows.names, rows.columns, rows.X[:123], rows.y[:123], np.array([0, 60, 100, 120, 123])
    )
    lines = compare_methods(few, "few", "columns", [POOLED], QUICK)
    assert all(np.isfinite(line.error) for line in lines)


def test_columns_with_one_value_are_dropped():
    rows = planted()
    constant = replace(rows, X=np.column_stack([rows.X, np.ones(len(rows.y))]))
    assert embed(constant, plain(constant)).X.shape[1] == 3


def test_progress_counts_every_fit_of_the_plan():
    seen = []
    compare_methods(
        planted(), "planted", "columns", [POOLED], QUICK, lambda *step: seen.append(step)
    )
    assert seen == [(i + 1, QUICK.steps) for i in range(QUICK.steps)]
