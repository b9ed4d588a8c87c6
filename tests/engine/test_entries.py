import numpy as np
import pytest

from conjoin.api.request import Request
from conjoin.engine.entries import Entry, Layout, Rows, average_entries
from conjoin.engine.study import make_study
from conjoin.tables import collect
from tests.bent import bent_tables


@pytest.fixture(scope="module")
def rows():
    table = collect(bent_tables(datasets=3), target="y")
    return Rows.of(table, make_study(table, Request(target="y")))


def entry(rows, noise, seed):
    held_out = rows.table.y + noise * np.random.default_rng(seed).normal(size=len(rows.table.y))
    lines = held_out[:, None]
    return Entry(np.zeros((3, 1)), np.full((3, 1, 4), noise), rows.losses(lines), lines)


def test_losses_are_sums_of_squares_in_working_units(rows):
    lines = rows.table.y[:, None] + 2.0
    assert rows.losses(lines).sum() * rows.units == pytest.approx(4 * len(rows.table.y))
    assert rows.mean_loss(rows.losses(lines)) * rows.units == pytest.approx(4)
    assert rows.counts().sum() == pytest.approx(1)


def test_the_average_is_better_than_its_parts(rows):
    parts = {"linear": entry(rows, 1.0, 0), "corrected": entry(rows, 1.0, 1)}
    group = rows.fold // 2
    average, weights = average_entries(parts, rows, group, seed=0)
    assert weights == pytest.approx({"linear": 0.5, "corrected": 0.5}, abs=0.15)
    least = min(rows.mean_loss(one.losses) for one in parts.values())
    assert rows.mean_loss(average.losses) < 0.7 * least
    assert average.slopes == pytest.approx(np.ones((3, 1, 4)))


def test_weights_have_not_seen_the_rows_that_they_are_judged_on(rows):
    parts = {"linear": entry(rows, 1.0, 0), "corrected": entry(rows, 1.0, 1)}
    group = rows.fold // 2
    before, _ = average_entries(parts, rows, group, seed=0)
    held_out = parts["linear"].held_out.copy()
    held_out[group == 1] += 100.0
    worse = Entry(np.zeros((3, 1)), np.ones((3, 1, 4)), rows.losses(held_out), held_out)
    after, _ = average_entries({**parts, "linear": worse}, rows, group, seed=0)
    own = group == 1
    share = (after.held_out - before.held_out)[own] / 100.0
    assert np.ptp(share) < 1e-9  # the same weights as before, whatever happened in the group
    assert share.mean() > 0.2


def test_predictions_stand_behind_the_columns():
    layout = Layout.of(2, 1, ("named", "pooled"))
    assert layout.size == 4
    assert layout.unit("pooled", 1).tolist() == [[[0, 0, 0, 1]]]
    assert layout.line_columns(corrected=True).tolist() == [0, 1, 2]
    assert layout.padded(np.ones((1, 2)), layout.line_columns(False)).tolist() == [[1, 1, 0, 0]]
    three = Layout.of(1, 3, ("named",))
    assert three.corrected_columns().tolist() == [1, 2]
    assert three.unit("named", 1)[0].tolist() == [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


@pytest.mark.parametrize("values", [["no", "yes"], [0.5, 1.0, 2.5]], ids=["classes", "numbers"])
def test_the_only_row_of_a_dataset_does_not_decide_on_weights(rows, values):
    assert np.array_equal(rows.capped_counts(), rows.counts())  # datasets of the same size
    rng = np.random.default_rng(0)
    sizes = {"large": 200, "small": 1}
    tables = {
        name: {"a": rng.normal(size=n), "y": rng.choice(values, n)} for name, n in sizes.items()
    }
    table = collect(tables, target="y")
    unequal = Rows.of(table, make_study(table, Request(target="y")))
    counts = unequal.counts()
    assert counts.max() == pytest.approx(0.5)
    assert unequal.capped_counts().max() == pytest.approx(3 * counts.mean())
    assert np.allclose(unequal.capped_counts()[:200], counts[:200])
