"""Attacks on what leaves a site: they succeed where the rules refuse, and fail elsewhere."""

import numpy as np
import pytest

from conjoin.errors import DataError
from conjoin.models.remote_glm import Ask
from conjoin.moments import Basis
from conjoin.sites import export, make_plan
from conjoin.sites.check import check, check_round
from conjoin.sites.document import symmetric
from conjoin.sites.ledger import Ledger
from conjoin.sites.rounds import Frame, answer_round, round_to_plain
from conjoin.sites.rows import read_rows
from conjoin.sites.rules import Rules
from tests.attacks.solver import guess_from_margins, overlap, rebuild
from tests.sites.rows import flag, leaving

MOST = 9  # largest value of the target


def table(n, p, seed):
    """Return rows of p flags, each in half of the rows on average, and a whole-number target."""
    rng = np.random.default_rng(seed)
    flags = rng.random((n, p)) < 0.5
    y = np.clip(np.round(rng.normal(MOST / 2, MOST / 5, n)), 0, MOST)
    return np.column_stack([np.ones(n), flags, y])


def as_leaving(rows, **options):
    columns = {f"f{j}": column for j, column in enumerate(rows[:, 1:-1].T)}
    return leaving(columns, rows[:, -1], **options)


def sums_in(exported):
    """Return what an attacker reads from a file: sums of products in units, fold by fold."""
    (one,) = exported.content["datasets"]
    p = len(one["center"]) + 1
    back = np.diag(np.concatenate([[1.0], one["scale"]]))
    back[0, 1:] = one["center"]
    return [back.T @ P @ back for P in symmetric(np.array(one["products"]), p)]


def test_a_solver_rebuilds_a_site_from_folds_of_few_rows_which_the_rules_refuse():
    rows = table(30, 5, 0)
    one = as_leaving(rows, folds=6)
    assert {f.rule for f in check(one, Rules())} >= {"rows", "columns", "level"}
    solved, guessed = [], []
    for fold in range(6):
        part = rows[one.fold == fold]
        solved.append(overlap(rebuild(part.T @ part, MOST), part))
        guessed.append(overlap(guess_from_margins(part.T @ part, MOST), part))
    assert np.mean(solved) > 0.9
    assert np.mean(guessed) < 0.3


def test_on_a_file_that_may_leave_the_solver_does_no_better_than_guessing_from_margins():
    solved, guessed = [], []
    plan = make_plan({**{f"f{j}": "flag" for j in range(3)}, "y": "number"}, "y")
    for seed in range(3):
        rows = table(90, 3, seed)
        columns = {f"f{j}": column for j, column in enumerate(rows[:, 1:-1].T)}
        exported = export({**columns, "y": rows[:, -1]}, plan, "clinic")
        P = sum(sums_in(exported))
        assert np.allclose(P, rows.T @ rows)  # the attacker has the exact sums
        found = rebuild(P, MOST, seconds=3.0)
        assert found is None or np.allclose(found.T @ found, P)  # and rows that fit them
        solved.append(overlap(found, rows))
        guessed.append(overlap(guess_from_margins(P, MOST), rows))
    assert np.mean(solved) <= np.mean(guessed) + 0.05
    assert np.mean(solved) < 0.8


def test_the_row_of_a_flag_that_one_row_has_can_be_read_off():
    rows = table(200, 3, 0)
    rows[:, 1] = flag(200, 1, 70)
    found = {(f.rule, f.columns) for f in check(as_leaving(rows), Rules())}
    assert ("level", ("f0",)) in found
    assert np.array_equal((rows.T @ rows)[1], rows[70])


def test_so_can_the_row_in_which_columns_do_not_add_up():
    rng = np.random.default_rng(0)
    Z = np.column_stack([np.ones(100), rng.integers(20, 90, (100, 3)), rng.integers(0, 9, 100)])
    Z[:, 3] = Z[:, 1] + Z[:, 2]
    Z[42, 3] += 5
    one = leaving({"a": Z[:, 1], "b": Z[:, 2], "total": Z[:, 3]}, Z[:, 4])
    assert {f.rule for f in check(one, Rules())} & {"few rows", "dominance"}
    v = np.array([0, -1, -1, 1, 0])
    P = Z.T @ Z
    assert np.allclose(P @ v / np.sqrt(v @ P @ v), Z[42])


def test_and_a_value_that_makes_up_most_of_a_sum_of_squares():
    rng = np.random.default_rng(1)
    income = rng.gamma(2.0, 1000, 300)
    income[9] = 5e6
    one = leaving({"income": income}, rng.normal(size=300))
    assert ("dominance", ("income",)) in {(f.rule, f.columns) for f in check(one, Rules())}
    assert np.sqrt(income @ income) == pytest.approx(5e6, rel=0.01)


def test_and_the_target_where_columns_give_it_exactly():
    rng = np.random.default_rng(2)
    X = np.column_stack([np.ones(80), rng.normal(size=(80, 2))])
    y = X @ [1.0, 2.0, -3.0]
    one = leaving({"a": X[:, 1], "b": X[:, 2]}, y)
    assert "perfect fit" in {f.rule for f in check(one, Rules())}
    assert np.allclose(X[5] @ np.linalg.solve(X.T @ X, X.T @ y), y[5])


def test_and_the_row_in_which_two_exports_differ(tmp_path):
    rows = table(150, 3, 3)
    fewer = np.delete(rows, 33, axis=0)
    ledger = Ledger.open(tmp_path).record(as_leaving(rows), Rules(), {})
    # Each export may leave by itself; the second is refused after the first.
    assert not check(as_leaving(rows), Rules()) and not check(as_leaving(fewer), Rules())
    assert ledger.compare(as_leaving(fewer), Rules())
    difference = rows.T @ rows - fewer.T @ fewer
    assert np.allclose(difference[0], rows[33])


@pytest.mark.parametrize(
    ("first", "second"),
    [({"limits": [18, 120]}, {"limits": [18, 100]}), ({"fill": 40}, {"fill": 60})],
    ids=["limits", "fill"],
)
def test_and_the_row_whose_value_two_plans_read_differently(tmp_path, first, second):
    rng = np.random.default_rng(5)
    rows = {
        "age": rng.uniform(20, 90, 200),
        "dose": rng.normal(size=200),
        "smoker": rng.permutation(flag(200, 90)),
        "cost": rng.normal(50, 9, 200),
    }
    rows["age"][77] = 113 if "limits" in first else np.nan
    plans = [
        make_plan(
            {"age": {"type": "number", **one}, "dose": "number", "smoker": "flag",
             "cost": "number"},
            "cost",
        )
        for one in (first, second)
    ]  # fmt: skip
    # Each export may leave by itself. The difference of both is the row: what the value changed by
    # (its product with the constant) times the constant, dose, smoker and cost of the row.
    one, two = (sum(sums_in(export(rows, plan, "clinic"))) for plan in plans)
    changed = (one - two)[1]
    rebuilt = changed[[0, 2, 3, 4]] / changed[0]
    assert np.allclose(rebuilt, [1, rows["dose"][77], rows["smoker"][77], rows["cost"][77]])
    if "limits" in first:
        assert changed[1] / changed[0] - 100 == pytest.approx(113)
    # With a ledger the second is refused, also if the officer says that he knows.
    export(rows, plans[0], "clinic", ledger=tmp_path).save(tmp_path / "first.json")
    for i_know in (False, True):
        with pytest.raises(DataError, match="'age' .* in 1 row; .* Next: send the earlier file"):
            export(rows, plans[1], "clinic", ledger=tmp_path, i_know=i_know)


def test_and_the_row_that_extreme_coefficients_leave_weight_on():
    rng = np.random.default_rng(4)
    age, y = rng.uniform(20, 90, 200), rng.permutation(flag(200, 90))
    Z = np.column_stack([np.ones(200), age, rng.normal(size=200)])
    one = leaving({"age": age, "x": Z[:, 2]}, y, target="died")
    assert not check(one, Rules())
    # The coordinator asks at coefficients that separate neighbours in age.
    eta = np.clip(500.0 * (age - age[7]), -700, 700)
    weights = 1 / (2 + np.exp(eta) + np.exp(-eta))
    assert {"weights", "dominance"} <= {f.rule for f in check_round(one, weights, 6, Rules())}
    information = Z.T @ (Z * weights[:, None])
    assert np.allclose(information[0] / information[0, 0], Z[7], rtol=0.01)


@pytest.mark.parametrize("kind", ["loss", "total"])
def test_and_the_value_beyond_which_a_loss_has_one_row(kind, monkeypatch):
    rng = np.random.default_rng(6)
    rows = {"age": rng.uniform(20, 90, 400), "died": rng.permutation(flag(400, 180))}
    plan = make_plan(
        {"age": "number", "died": {"type": "class", "classes": [0, 1]}}, "died", folds=2
    )
    site = read_rows(rows, plan, "clinic")
    second, first = np.sort(rows["age"])[-2:]
    far, edge = 1e4, (first + second) / 2
    beta = far * np.array([-edge, 1.0])
    frame = Frame(plan, ("age",), Basis(np.zeros(1), np.ones(1), 0.0, 1.0, True))
    arrays = (np.stack([beta, beta]),) if kind == "loss" else (beta,)
    content = round_to_plain(frame, "clinic", 1, [Ask(kind, "clinic", kind == "loss", arrays)])
    with pytest.raises(DataError, match="at the coefficients asked .* at least 11"):
        answer_round(site, content)
    # Without the rules the answer is the value of the oldest, beside sums that the file has.
    monkeypatch.setattr("conjoin.sites.rounds.refuse_answers", lambda *about: None)
    loss = np.sum(answer_round(site, content)[0]["answers"][0][0])
    known = far * np.sum(site.y * (site.X[:, 0] - edge))
    assert edge + (loss + known) / far == pytest.approx(first)
