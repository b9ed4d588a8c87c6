"""Rows ordered in time or repeated by person, from the tables to the verdict."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.errors import ArgumentError, ConjoinWarning, DataError
from conjoin.report.again import commands
from conjoin.report.cautions import order_cautions


def table(n=60, K=3, seed=0, rho=0.0):
    """Return rows of K stores with a date, a customer and noise that depends on the day before."""
    rng = np.random.default_rng(seed)
    e = rng.standard_normal((K, n))
    for i in range(1, n):
        e[:, i] = rho * e[:, i - 1] + np.sqrt(1 - rho**2) * e[:, i]
    x = rng.standard_normal(K * n)
    day = np.tile(np.datetime64("2024-01-01") + np.arange(n), K)
    return {
        "store": np.repeat([f"s{k}" for k in range(K)], n),
        "day": day,
        "x": x,
        "who": rng.integers(0, 15, K * n),
        "y": x + e.ravel(),
    }


def find(data, **options):
    asked = {"ignore": ["who", "day"], **options}
    return conjoin.partition(data, target="y", by="store", learner="linear", **asked)


@pytest.fixture(scope="module")
def forward():
    return find(table(), time="day")


def test_errors_are_those_of_the_rows_that_come_next(forward):
    data = table()
    late = data["day"] >= data["day"].min() + 30
    x, y, store = data["x"], data["y"], data["store"]
    losses = {name: [] for name in np.unique(store)}
    for first in range(30, 60, 3):
        start = data["day"].min() + first
        for name, found in losses.items():
            past = (store == name) & (data["day"] < start)
            next_ = (store == name) & (data["day"] >= start) & (data["day"] < start + 3)
            line = np.polyfit(x[past], y[past], 1)
            found += ((y - np.polyval(line, x)) ** 2)[next_].tolist()
    assert late.sum() == sum(map(len, losses.values()))
    expected = np.mean([np.mean(one) for one in losses.values()])
    assert_allclose(forward.errors["separate"].error, expected, rtol=1e-8)


def test_the_order_of_rows_changes_nothing(forward):
    order = np.random.default_rng(1).permutation(180)
    again = find({name: column[order] for name, column in table().items()}, time="day")
    assert_allclose(again.errors["auto"].error, forward.errors["auto"].error, rtol=1e-9)
    assert again.clusters == forward.clusters


def test_a_file_keeps_what_time_was(forward, tmp_path):
    forward.save(tmp_path / "model.json")
    again = conjoin.load(tmp_path / "model.json")
    assert again.schema.roles.time == "day"
    assert "time='day'" in commands(again)["python"]


def test_a_dataset_that_ends_early_has_a_model_and_no_error():
    data = table()
    keep = (data["store"] != "s2") | (data["day"] < np.datetime64("2024-01-16"))
    found = find({name: column[keep] for name, column in data.items()}, time="day")
    assert np.isnan(found.coefficients["s2"].error)
    assert np.isfinite(found.coefficients["s0"].error)
    assert np.isfinite(found.errors["auto"].error)
    assert any("s2 has no rows after the first fit" in one for one in order_cautions(found))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"horizon": 3}, "horizon=3 needs time"),
        ({"time": "day", "gap": "1 year"}, "gap='1 year' leaves no row to judge models on"),
        ({"time": "x", "horizon": "2 days", "ignore": ["who", "day"]}, "time='x' holds numbers"),
        ({"time": "when"}, "time='when' is not a column"),
        ({"time": "day", "horizon": "soon"}, "horizon='soon' is no length of time"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(options, words):
    with pytest.raises((ArgumentError, DataError), match=words):
        find(table(), **options)


def test_one_date_and_one_person_are_refused():
    data = table()
    with pytest.raises(DataError, match="time='day' is 2024-01-01 in all rows"):
        find({**data, "day": np.repeat(data["day"][:1], 180)}, time="day")
    with pytest.raises(DataError, match="repeat='who' has one value in all rows"):
        find({**data, "who": np.ones(180)}, repeat="who", ignore=["day"])


def test_one_person_is_refused_with_a_time_too():
    with pytest.raises(DataError, match="repeat='who' has one value in all rows"):
        find({**table(), "who": np.ones(180)}, repeat="who", time="day")


def test_a_dataset_of_one_person_is_named():
    data = table()
    who = np.where(data["store"] == "s1", "anna", data["who"].astype(str))
    with pytest.warns(ConjoinWarning, match="one value in all rows of s1"):
        found = find({**data, "who": who}, repeat="who", ignore=["day"])
    lines = [one for one in found.ledger() if ("s1",) in (one.left, one.right)]
    assert [one.verdict for one in lines] == ["undecided"]


def test_a_gap_longer_than_the_horizon_says_what_it_does(forward):
    found = find(table(), time="day", horizon="3 days", gap="1 week")
    assert any("models predict 7 to 10 days after" in one for one in order_cautions(found))
    assert not any("models predict" in one for one in order_cautions(forward))


def test_rows_of_one_date_are_judged_together():
    data = table()
    twice = {name: np.concatenate([column, column]) for name, column in data.items()}
    twice["y"] = np.concatenate([data["y"], data["y"] + 0.1])
    found = find(twice, time="day")
    plan = found.analysis.study.dealt.forward
    for when in np.unique(plan.time):
        assert len(np.unique(plan.fold[plan.time == when])) == 1


def test_a_person_a_row_changes_no_verdict():
    data = {**table(), "who": np.arange(180)}
    plain = find(data)
    with pytest.warns(ConjoinWarning, match="repeat='who' has another value in every row"):
        single = find(data, repeat="who", ignore=["day"])
    for one, two in zip(plain.ledger(), single.ledger()):
        assert one.verdict == two.verdict
        assert_allclose(one.interval, two.interval, rtol=1e-8)


@pytest.mark.parametrize("learner", ["linear", "boosting"])
def test_compare_takes_both(learner):
    data = {k: v for k, v in table(n=100, K=2, rho=0.9).items() if k != "store"}
    a, b = ({k: v[i : i + 100] for k, v in data.items()} for i in (0, 100))
    widths = {}
    for name, options in {
        "plain": {},
        "time": {"time": "day"},
        "repeat": {"repeat": "who"},
    }.items():
        ignore = ["day"] if name == "repeat" else ["day", "who"]
        found = conjoin.compare(a, b, target="y", learner=learner, ignore=ignore, **options)
        low, high = found.interval
        widths[name] = max(high, 1e9 if np.isinf(high) else high) - low
    assert widths["time"] > 1.2 * widths["plain"]


def test_verdicts_on_classes_and_counts_allow_for_persons():
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(60), 10)
    x, shared = rng.standard_normal(600), rng.standard_normal(60)[who]
    targets = {
        "classes": np.where(x + 2 * shared + rng.logistic(size=600) > 0, "yes", "no"),
        "counts": rng.poisson(np.exp(0.5 + 0.2 * x + 0.7 * shared)),
    }
    for kind, y in targets.items():
        family = "poisson" if kind == "counts" else "auto"
        parts = [
            {"x": x[i : i + 300], "who": who[i : i + 300], "y": y[i : i + 300]} for i in (0, 300)
        ]
        ask = {"target": "y", "learner": "linear", "family": family}
        plain = conjoin.compare(*parts, ignore=["who"], **ask)
        found = conjoin.compare(*parts, repeat="who", **ask)
        low, high = np.diff([plain.interval, found.interval], axis=1)[:, 0]
        assert high > 1.2 * low, kind


def test_equal_rows_of_two_days_are_no_copies():
    data = table()
    x, y, day = data["x"].copy(), data["y"].copy(), data["day"].copy()
    x[1], y[1] = x[0], y[0]  # another day
    x[3], y[3], day[3] = x[2], y[2], day[2]  # the same day
    data = {**data, "x": x, "y": y, "day": day}
    assert find(data).analysis.copies == 2
    assert find(data, time="day").analysis.copies == 1
