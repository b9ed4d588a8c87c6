import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.paper.tables.classification import draw_rows, run_line, table, turn, write_lines

ROOT = Path(__file__).parents[3]
TERMS = ("sampling", "distance", "steps_corrected", "steps_printed", "cancelled", "change")


@pytest.mark.parametrize("d", [0.0, 0.3, 2.0])
def test_turning_keeps_norms_and_moves_by_d(d):
    rng = np.random.default_rng(0)
    beta = rng.standard_normal((3, 5))
    turned = turn(beta, d, rng)
    norm = np.linalg.norm(beta, axis=1)
    assert_allclose(np.linalg.norm(turned, axis=1), norm)
    assert_allclose(np.linalg.norm(turned - beta, axis=1), d * norm, atol=1e-12)


def test_drawn_rows_have_one_positive_score_and_a_margin():
    rng = np.random.default_rng(0)
    beta = rng.standard_normal((3, 5))
    X, y = draw_rows(beta, 200, 0.2, rng)
    scores = X @ beta.T
    assert X.shape == (200, 5)
    assert (scores[np.arange(200), y] > 0).all()
    assert (np.sort(scores, axis=1)[:, -2] < -0.2).all()


@pytest.mark.slow
def test_stored_table_is_that_of_a_fresh_run(tmp_path):
    lines = [run_line(100, 100, d, seed=0) for d in (0.0, 2.0)]
    write_lines(lines, tmp_path / "results.csv")
    stored_path = ROOT / "experiments" / "classification" / "results.csv"
    with (tmp_path / "results.csv").open() as new, stored_path.open() as stored:
        fresh, kept = list(csv.DictReader(new)), list(csv.DictReader(stored))
    for line in fresh:
        (same,) = [old for old in kept if all(old[key] == line[key] for key in ("n1", "n2", "d"))]
        for column, value in line.items():
            # Another processor may round a borderline pair the other way: one percent of pairs.
            allowed = 0.002 if column in TERMS else 1.01
            assert float(value) == pytest.approx(float(same[column]), abs=allowed), column


def test_a_line_is_a_row_of_the_printed_table():
    line = run_line(30, 40, 2.0, seed=0, pairs=2)
    header, _, row = table([line]).splitlines()
    assert header.startswith("| n1 | n2 | d | corrected |")
    assert row.startswith("| 30 | 40 | 2 | 100.0 |")
