"""`compare`: the decision, the verdict with its interval, and the three models."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.datasets import make_class_pair, make_pair
from conjoin.errors import ArgumentError


def test_compare_returns_the_decision_the_fits_and_their_errors():
    pair = make_pair(p=4, n=300, d=0.0)
    result = conjoin.compare(*pair.tables().values(), target="y", method="tuned", random_state=1)
    assert result.join
    assert result.score > result.threshold == 0.0
    assert 2 <= result.alpha <= 10
    assert np.isfinite([result.phi, result.psi]).all()
    X = np.vstack([np.column_stack([np.ones(300), pair.X[k]]) for k in "ab"])
    expected = np.linalg.lstsq(X, np.concatenate([pair.y[k] for k in "ab"]), rcond=None)[0]
    found = [result.fit_joined.intercept, *result.fit_joined.coef.values()]
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert result.fit_a.rows == 300
    assert result.fit_joined.rows == 600
    assert_allclose(
        result.fit_a.predict(pair.X["a"][:2]),
        result.fit_a.intercept + pair.X["a"][:2] @ list(result.fit_a.coef.values()),
    )
    exact = pair.population_error("a", list(result.fit_a.coef.values()), result.fit_a.intercept)
    assert result.fit_a.error == pytest.approx(exact, rel=0.25)
    assert result.error_joined < result.error_separate
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.join = False


def test_weights_of_one_change_nothing_and_weights_move_the_fit():
    pair = make_pair(p=2, n=80, d=0.0)
    a, b = (pd.DataFrame(t) for t in pair.tables().values())
    plain = conjoin.compare(a, b, target="y", method="direct")
    ones = conjoin.compare(
        a.assign(w=2.0), b.assign(w=2.0), target="y", method="direct", weights="w"
    )
    assert ones.fit_a.coef == pytest.approx(plain.fit_a.coef)
    assert ones.fit_a.error == pytest.approx(plain.fit_a.error)
    w = np.linspace(0.1, 2, 80)
    moved = conjoin.compare(a.assign(w=w), b.assign(w=w), target="y", method="direct", weights="w")
    X = np.column_stack([np.ones(80), pair.X["a"]])
    expected = np.linalg.solve(X.T @ (w[:, None] * X), X.T @ (w * pair.y["a"]))
    assert_allclose([moved.fit_a.intercept, *moved.fit_a.coef.values()], expected, rtol=1e-8)


def test_ready_criterion_and_frozen_results():
    pair = make_pair(p=3, n=100, d=3.0)
    result = conjoin.compare(*pair.tables().values(), target="y", method=conjoin.Bound())
    assert result.method == "bound"
    assert not result.join
    assert conjoin.compare(*pair.tables().values(), target="y", method="direct").alpha != 0


def test_verdict_of_a_pair_is_told_with_its_interval():
    near = conjoin.compare(*make_pair(p=10, n=200, d=0.0).tables().values(), target="y")
    assert near.verdict == "join"
    assert near.interval[0] >= 0
    assert near.rows_to_settle == 1.0
    far = conjoin.compare(*make_pair(p=3, n=200, d=1.0).tables().values(), target="y")
    assert far.verdict == "apart"
    assert far.interval[1] <= 0
    assert not far.join
    strict = conjoin.compare(*make_pair(p=3, n=30, d=0.2).tables().values(), target="y", delta=0.01)
    assert strict.verdict == "undecided"
    assert strict.interval[0] < 0 < strict.interval[1]


@pytest.mark.parametrize("classes", [2, 3])
def test_compare_two_datasets(classes):
    near = make_class_pair(p=3, n=400, distance=0.0, classes=classes)
    far = make_class_pair(p=3, n=400, distance=4.0, classes=classes)
    same = conjoin.compare(*near.tables().values(), target="y")
    apart = conjoin.compare(*far.tables().values(), target="y")
    assert same.join and same.verdict in ("join", "undecided")
    assert same.gain > 0 > apart.gain
    assert not apart.join and apart.verdict == "apart"
    for found in (same, apart):
        low, high = found.interval
        assert low <= high
        assert found.fit_a.classes == near.response.classes
        assert np.isfinite([found.error_separate, found.error_joined]).all()
    assert apart.interval[1] <= 0
    assert apart.error_separate < apart.error_joined
    other = conjoin.compare(*reversed(far.tables().values()), target="y")
    assert other.verdict == apart.verdict
    assert other.gain == pytest.approx(apart.gain, rel=1e-3)


def test_compare_says_how_many_rows_would_settle_it():
    few = make_class_pair(p=4, n=20, distance=1.0)
    found = conjoin.compare(*few.tables().values(), target="y")
    assert found.verdict == "undecided"
    assert found.interval == (-np.inf, np.inf)
    assert found.rows_to_settle is None or found.rows_to_settle > 1.0


@pytest.mark.parametrize("rows", [40, 400])
def test_the_ledger_of_two_datasets_has_the_gain_of_their_comparison(rows):
    rng, tables = np.random.default_rng(0), {}
    for name, slope in (("a", 2.0), ("b", -2.0)):
        X = rng.standard_normal((rows, 8))
        yes = rng.random(rows) < 1 / (1 + np.exp(-slope * X[:, 0]))
        tables[name] = {f"x{j}": x for j, x in enumerate(X.T)} | {"y": np.where(yes, "yes", "no")}
    answer = conjoin.compare(tables["a"], tables["b"], target="y")
    [line] = conjoin.partition(tables, target="y").ledger()
    assert line.gain == pytest.approx(answer.gain, rel=1e-9)
    assert answer.gain == pytest.approx(answer.error_separate - answer.error_joined, rel=0.2)
    assert line.verdict == ("apart" if rows == 400 else "undecided")


# --- arguments -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"method": "magic"}, "method='magic' is unknown; expected one of risk, gcv, validated"),
        ({"method": "auto"}, "method='auto' is unknown"),  # a method of partition
        ({"delta": 0}, "delta=0 is not a level"),
        ({"method": "direct", "n": 3}, "method='direct' does not take n=...; expected some of"),
        (
            {"representation": "mlp1"},
            "compare has no representation; pass both tables to partition",
        ),
    ],
)
def test_arguments_that_cannot_be_used(wrong, words):
    tables = make_pair(p=2, n=30, d=0.0).tables().values()
    with pytest.raises(ArgumentError, match=words):
        conjoin.compare(*tables, target="y", **wrong)


@pytest.mark.parametrize("method", ["risk", "gcv", "validated", "tuned", "bound", "direct"])
def test_every_method_decides_and_all_share_the_verdict(method):
    tables = make_pair(p=3, n=150, d=2.0).tables().values()
    found = conjoin.compare(*tables, target="y", method=method)
    assert found.method == method
    assert found.join == (found.score > found.threshold) and not found.join
    expected = conjoin.compare(*tables, target="y")
    assert (found.verdict, found.gain, found.interval) == (
        expected.verdict,
        expected.gain,
        expected.interval,
    )


def test_files_are_read(tmp_path):
    tables = make_pair(p=2, n=40, d=1.0).tables()
    for name, table in tables.items():
        pd.DataFrame(table).to_csv(tmp_path / f"{name}.csv", index=False)
    found = conjoin.compare(tmp_path / "a.csv", str(tmp_path / "b.csv"), target="y")
    expected = conjoin.compare(*tables.values(), target="y")
    assert found.gain == pytest.approx(expected.gain)
    assert found.verdict == expected.verdict
