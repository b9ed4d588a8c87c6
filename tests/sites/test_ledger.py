import json
import stat
from dataclasses import replace

import narwhals as nw
import numpy as np
import pandas as pd
import pytest

from conjoin.errors import ArgumentError, DataError, ReadError
from conjoin.sites import export, make_plan
from conjoin.sites.ledger import KEY, LEDGER, Identity, Ledger
from conjoin.sites.privacy import Budget
from conjoin.sites.rules import Rules
from tests.sites.rows import flag, leaving


def site(n=300, seed=0, **more):
    rng = np.random.default_rng(seed)
    columns = {"age": rng.normal(50, 9, n), "smoker": rng.permutation(flag(n, n // 3)), **more}
    return leaving(columns, rng.normal(size=n), folds=2)


@pytest.fixture
def ledger(tmp_path):
    return Ledger.open(tmp_path).record(site(), Rules(), {"plan": "p1"})


def without(rows, count):
    return rows.chosen(np.arange(len(rows.y)) >= count)


def test_the_same_rows_may_leave_again_after_reading_the_ledger_anew(ledger):
    again = Ledger.open(ledger.folder)
    assert again.entries == ledger.entries
    assert again.compare(site(), Rules()) == ()


def test_sets_of_one_export_that_are_alike_may_leave_again(tmp_path):
    """Two flags that differ in few rows: the second time tells nothing new."""
    rng = np.random.default_rng(3)
    smoker = rng.permutation(flag(300, 100))
    other = smoker.copy()
    other[np.flatnonzero(smoker)[:4]] = 0.0
    rows = leaving({"smoker": smoker, "treated": other}, rng.normal(size=300), folds=2)
    ledger = Ledger.open(tmp_path).record(rows, Rules(), {})
    assert ledger.compare(rows, Rules()) == ()
    assert ledger.compare(without(rows, 2), Rules()) != ()


@pytest.mark.parametrize("count", [1, 3, 10])
def test_few_rows_less_or_more_are_refused(ledger, count):
    (finding,) = ledger.compare(without(site(), count), Rules())
    assert finding.rule == "difference"
    assert 0 < finding.value <= count
    assert "earlier file" in finding.advice()
    larger = Ledger.open(ledger.folder)
    assert larger.compare(site(300).chosen(np.append(np.arange(300), 5)), Rules()) != ()


def test_one_corrected_value_is_refused(ledger):
    rows = site()
    rows.X[17, 0] += 1.0
    assert ledger.compare(rows, Rules()) != ()


def test_other_rows_may_leave(ledger):
    assert ledger.compare(site(seed=1), Rules()) == ()


def test_many_rows_less_may_leave_unless_few_of_them_have_a_level(ledger):
    rows = site()
    smokers = np.flatnonzero(rows.X[:, 1] == 1)
    others = np.flatnonzero(rows.X[:, 1] == 0)
    # Enough of each level, so that folds differ in enough rows too.
    fine = np.concatenate([smokers[:60], others[:60]])
    assert ledger.compare(rows.chosen(np.setdiff1d(np.arange(300), fine)), Rules()) == ()
    one_smoker = np.concatenate([smokers[:1], others[:80]])
    (finding,) = ledger.compare(rows.chosen(np.setdiff1d(np.arange(300), one_smoker)), Rules())
    assert "smoker = 1" in finding.sentence


def test_a_ward_that_is_nearly_the_whole_site_is_refused(tmp_path):
    rows = leaving({"age": site().X[:, 0]}, site().y)
    ledger = Ledger.open(tmp_path).record(rows, Rules(), {})
    wards = leaving({"age": rows.X[:, 0]}, rows.y, dataset=(np.arange(300) < 5).astype(int))
    (finding,) = ledger.compare(wards, Rules())
    assert "ward 1" in finding.sentence


def test_other_columns_of_the_same_table_meet_the_same_prints(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.normal(size=200),
            "ward": rng.choice(["a", "b"], 200),
            "dose": rng.normal(size=200),
            "cost": rng.normal(size=200),
        }
    )

    def who(part):
        return Identity.of_frame(nw.from_native(part, eager_only=True))

    first = leaving({"age": table["age"]}, table["cost"])
    ledger = Ledger.open(tmp_path).record(first, Rules(), {}, identity=who(table))
    second = leaving({"dose": table["dose"]}, table["cost"])
    assert ledger.compare(second, Rules(), who(table)) == ()
    part = table.iloc[1:]
    second = leaving({"dose": part["dose"]}, part["cost"])
    (finding,) = ledger.compare(second, Rules(), who(part))
    assert finding.value == 1
    # A table with another column cannot be told apart row by row: numbers of rows are compared.
    wider = who(part.assign(more=1.0))
    (finding,) = ledger.compare(second, Rules(), wider)
    assert finding.value == 1


def test_no_value_stands_in_the_ledger_and_only_the_owner_reads_it(tmp_path):
    rows = leaving({"age": np.full(50, 123456.0)}, np.arange(50) + 987654.0)
    Ledger.open(tmp_path).record(rows, Rules(), {"site": "clinic"})
    text = (tmp_path / LEDGER).read_text()
    assert "987654" not in text
    for name in (LEDGER, KEY):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    # The only value in words is that of a constant column, which is a level of all rows.
    assert "123456" in text


@pytest.mark.parametrize("damage", ["edit", "drop", "cut", "other key", "no key"])
def test_damage_is_noticed(ledger, damage):
    ledger.record(site(seed=2), Rules(), {})
    path, key = ledger.folder / LEDGER, ledger.folder / KEY
    content = json.loads(path.read_text())
    if damage == "edit":
        content["exports"][0]["epsilon"] = 0.5
    if damage == "drop":
        content["exports"].pop(0)
    path.write_text(json.dumps(content)[: 100 if damage == "cut" else None])
    if damage == "other key":
        key.write_text("00" * 32)
    if damage == "no key":
        key.unlink()
    with pytest.raises(ReadError, match="bring"):
        Ledger.open(ledger.folder)


def test_two_exports_at_a_time_do_not_miss_each_other(tmp_path):
    first, second = Ledger.open(tmp_path), Ledger.open(tmp_path)
    assert not list(tmp_path.iterdir())  # what is only shown leaves no trace
    first = first.record(site(), Rules(), {})
    with pytest.raises(ReadError, match="made by another export meanwhile"):
        second.record(site(seed=2), Rules(), {})
    second = Ledger.open(tmp_path)
    first.record(site(seed=3), Rules(), {})
    with pytest.raises(ReadError, match="got an entry meanwhile"):
        second.record(site(seed=2), Rules(), {})


def test_budgets_add_up(tmp_path):
    ledger = Ledger.open(tmp_path)
    for _ in range(3):
        ledger = ledger.record(site(), Rules(), {}, budget=Budget(3.0))
    assert ledger.spent() == pytest.approx((9.0, 3e-6))
    with pytest.raises(ArgumentError, match="spent 9 of 10"):
        ledger.record(site(), Rules(), {}, budget=Budget(2.0))
    assert ledger.compare(without(site(), 1), Rules()) == ()  # noise hides the difference


def test_numbers_of_rounds_add_up_by_plan(ledger):
    ledger = ledger.record_round("p1", 20).record_round("p1", 20).record_round("p2", 7)
    assert Ledger.open(ledger.folder).numbers("p1") == 40


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(ArgumentError, match="does not exist; make it"):
        Ledger.open(tmp_path / "nowhere")


def clinic(n=400, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.uniform(20, 90, n)
    return pd.DataFrame({"age": age, "older": age, "cost": rng.normal(size=n)})


def planned(name="age", **how):
    return make_plan({name: {"type": "number", **how}, "cost": "number"}, "cost", folds=1)


@pytest.fixture
def exported(tmp_path):
    export(clinic(), planned(limits=[18, 89]), "a", ledger=tmp_path).save(tmp_path / "a.json")
    return tmp_path


@pytest.mark.parametrize("how", [{"limits": [18, 87.5]}, {"limits": [18, 89], "unit": "months"}])
def test_a_column_that_a_plan_reads_otherwise_needs_i_know_if_values_change(exported, how):
    table = clinic()
    if "unit" in how:  # the site follows the plan; it is another table to the ledger
        table["age"] = table["age"].to_numpy() / 1.001
    with pytest.raises(DataError, match="'age' other values than that of export 1.*--i-know"):
        export(table, planned(**how), "a", ledger=exported)
    export(table, planned(**how), "a", ledger=exported, i_know=True).save(exported / "b.json")
    export(table, planned(**how), "a", ledger=exported)  # nothing new leaves


def test_also_if_the_table_has_grown_by_many_rows(exported):
    grown = pd.concat([clinic(), clinic(200, seed=1)])
    export(grown, planned(limits=[18, 89]), "a", ledger=exported)
    with pytest.raises(DataError, match="--i-know"):
        export(grown, planned(limits=[18, 100]), "a", ledger=exported)


def test_another_plan_that_changes_no_value_is_answered(exported):
    for how in ({"limits": [10, 89]}, {"limits": [18, 89], "fill": 50, "missing": True}):
        export(clinic(), planned(**how), "a", ledger=exported)


def test_two_columns_that_differ_in_few_rows_do_not_leave_one_after_the_other(tmp_path):
    table = clinic()
    table.loc[[3, 5], "older"] += 1.0
    export(table, planned(), "a", ledger=tmp_path).save(tmp_path / "a.json")
    with pytest.raises(DataError, match="'older' in all rows .* 'age' .* export 1 in 2 rows"):
        export(table, planned("older"), "a", ledger=tmp_path)


def test_an_older_entry_without_prints_of_columns_still_guards_rows(ledger):
    old = [{k: v for k, v in e.items() if k not in ("columns", "readings")} for e in ledger.entries]
    older = replace(ledger, entries=tuple(old))
    assert older.compare(site(), Rules()) == ()
    assert older.compare(without(site(), 3), Rules()) != ()
