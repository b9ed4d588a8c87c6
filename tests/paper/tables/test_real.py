import csv
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression

from benchmarks.arena.data import shared_data
from conjoin.datasets import make_clusters
from conjoin.errors import ArgumentError, ReadError
from conjoin.paper.tables import fetch
from conjoin.paper.tables.protocol import (
    BIFACTOR,
    BIFACTOR_CLUSTERS,
    BOOTSTRAP,
    DEFAULT,
    HELD_OUT,
    INDIVIDUAL,
    LITERAL,
    POOLED,
    SIGNED,
    Plan,
    algorithm3,
    compare_methods,
    embed,
    least_squares,
    plain,
)
from conjoin.paper.tables.real import TABLES, cells_of, lines_for, text_rows
from conjoin.paper.tables.sets import SETS, GroupedRows, load
from conjoin.paper.tables.timings import PAPER_SECONDS, run_timings
from conjoin.paper.tables.write import read_lines, write_lines

ROOT = Path(__file__).parents[2]
QUICK = Plan(bootstraps=2, splits=2, draws=1)
# Datasets and columns of every set, as the data's README and the queries have them.
SHAPES = {
    "DFOIP": (10, 1_800, 9),
    "DFOIP by category": (4, 18_000, 9),
    "WDAF": (2, 6_435, 12),
    "WDAF by stores": (5, 6_435, 12),
    "BB": (3, 730, 7),
    "PPGE": (6, 1_197, 12),
    "RSS": (4, 844_338, 16),
    "SSF": (210, 421_035, 13),
    "CFGSF": (165, 114_048, 12),
    "SBSD": (4, 8_760, 11),
    "MITV": (9, 48_180, 9),
}


@pytest.fixture(scope="session")
def paper_data():
    try:
        return shared_data() / "paper"
    except FileNotFoundError as error:
        pytest.skip(f"the paper's data are not here: {error}")


def planted(n=120, seed=0):
    truth = make_clusters(sizes=(2, 2), n=n, p=3, distance=2.0, random_state=seed)
    names = tuple(truth.X)
    return GroupedRows(
        names,
        ("x1", "x2", "x3"),
        np.concatenate([truth.X[name] for name in names]),
        np.concatenate([truth.y[name] for name in names]),
        np.cumsum([0, *(len(truth.y[name]) for name in names)]),
    )


# --- reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SETS)
def test_sets_are_read_whole(name, paper_data):
    rows = load(name, paper_data)
    assert (len(rows.names), *rows.X.shape) == SHAPES[name]
    assert np.isfinite(rows.X).all() and np.isfinite(rows.y).all()
    assert rows.starts[-1] == len(rows.y)
    assert (np.ptp(rows.X, axis=0) > 0).all()


def test_a_set_is_the_same_whatever_the_order_of_its_file(tmp_path, paper_data):
    source = paper_data / "bb" / "day.csv"
    head, *lines = source.read_text().splitlines()
    (tmp_path / "bb").mkdir()
    (tmp_path / "bb" / "day.csv").write_text("\n".join([head, *reversed(lines)]))
    one, two = load("BB", source.parents[1]), load("BB", tmp_path)
    assert one.names == two.names
    assert (one.X == two.X).all() and (one.y == two.y).all()


def test_a_set_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ReadError, match=r"Set BB needs bb/day.csv under .* --data"):
        load("BB", tmp_path)
    with pytest.raises(ReadError, match="top100_items.csv.gz or dfoip/orders.csv with dfoip/items"):
        load("DFOIP", tmp_path)
    with pytest.raises(ArgumentError, match="Set 'XX' is unknown; expected one of DFOIP"):
        load("XX", tmp_path)


def test_a_file_with_other_columns_is_refused(tmp_path):
    (tmp_path / "bb").mkdir()
    (tmp_path / "bb" / "day.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ReadError, match="do not have the columns of the originals"):
        load("BB", tmp_path)


def test_cfgsf_is_made_of_the_originals(tmp_path, paper_data):
    """All but the flag of holidays, which the file that stands for them has from elsewhere."""
    folder = tmp_path / "cfgsf"
    folder.mkdir()
    for name in ("stores.csv", "oil.csv", "transactions.csv.gz", "holidays_events.csv"):
        shutil.copy(paper_data / "cfgsf" / name, folder / name)
    days = pd.read_parquet(next((paper_data / "cfgsf").glob("*.parquet")))
    days["onpromotion"] = 3 * days.promotion_active
    columns = ["date", "store_nbr", "family", "sales", "onpromotion"]
    days[columns].to_csv(folder / "train.csv", index_label="id")
    one, two = load("CFGSF", paper_data), load("CFGSF", tmp_path)
    assert one.names == two.names and one.starts.tolist() == two.starts.tolist()
    kept = [j for j, name in enumerate(one.columns) if name != "holiday"]
    for rows, others in ((one.rows(k), two.rows(k)) for k in (0, 80, 164)):
        a, b = (
            np.column_stack([some.X[:, kept], some.y])[own]
            for some, own in ((one, rows), (two, others))
        )
        assert_allclose(a[np.lexsort(a.T)], b[np.lexsort(b.T)])


def test_dfoip_is_made_of_the_originals(tmp_path, paper_data):
    """All but prices before an item was first sold, which nobody knows."""
    folder = tmp_path / "dfoip"
    folder.mkdir()
    days = pd.read_csv(paper_data / "dfoip" / "daily_orders_top100_items.csv.gz")
    sold = days[days.order > 0]
    pd.DataFrame(
        {
            "time": sold.date + " 10:00:00",
            "transactID": np.arange(len(sold)),
            "itemID": sold.itemID,
            "order": sold.order,
            "salesPrice": sold.salesPrice_day_mean,
        }
    ).to_csv(folder / "orders.csv", sep="|", index=False)
    items = pd.read_csv(paper_data / "dfoip" / "items.csv.gz")
    items.to_csv(folder / "items.csv", sep="|", index=False)
    one, two = load("DFOIP", paper_data), load("DFOIP", tmp_path)
    assert one.names == two.names
    assert_allclose(one.y, two.y)
    assert_allclose(one.X[:, 1:], two.X[:, 1:])
    differ = one.X[:, 0] != two.X[:, 0]
    assert differ.mean() < 0.02 and (one.y[differ] == 0).all()


def test_uci_sets_without_the_package_or_a_network_are_one_sentence(tmp_path):
    with pytest.raises(ReadError, match=r"Set SBSD .*(ucimlrepo|could not be fetched)"):
        list(fetch.fetch_sets(tmp_path))


def test_uci_sets_that_are_there_are_not_fetched(paper_data):
    assert list(fetch.fetch_sets(paper_data)) == []


# --- the protocol --------------------------------------------------------------------------------


def test_individual_fits_are_least_squares():
    rows = planted()
    predict = least_squares(rows, np.arange(4))
    for k in range(4):
        own = rows.rows(k)
        line = LinearRegression().fit(rows.X[own], rows.y[own])
        assert_allclose(predict(k, rows.X), line.predict(rows.X), rtol=1e-8)


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


def test_the_same_seed_gives_the_same_lines():
    once, again = (
        compare_methods(planted(), "planted", "columns", [SIGNED, DEFAULT], QUICK) for _ in "ab"
    )
    assert once == again
    other = compare_methods(planted(), "planted", "columns", [SIGNED], replace(QUICK, seed=1))
    assert other[0].error != once[0].error


def test_held_out_rows_are_seen_by_nothing(monkeypatch):
    """Neither the representation, nor decisions, nor models may know a held-out target."""
    from conjoin.paper.tables import protocol

    seen = []

    def watched(rows):
        seen.append(set(rows.y))
        return plain(rows)

    monkeypatch.setitem(protocol.REPRESENTATIONS, "columns", watched)
    rows = planted()
    judged = []
    judge = protocol._judge

    def note(tally, learned, drawn, test, *rest):
        if tally.head[2] == HELD_OUT:
            targets = {value for own in test for value in learned.y[own]}
            judged.append((seen[-1], targets))
            assert not targets & {value for own in drawn for value in learned.y[own]}
        judge(tally, learned, drawn, test, *rest)

    monkeypatch.setattr(protocol, "_judge", note)
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


def test_algorithm_3_on_representations_of_the_same_rows_is_the_one_of_partition():
    labels = algorithm3(planted(), SIGNED, 50, 0)
    assert labels.tolist() == [0, 0, 1, 1]


def test_columns_with_one_value_are_left_out():
    rows = planted()
    constant = replace(rows, X=np.column_stack([rows.X, np.ones(len(rows.y))]))
    assert embed(constant, plain(constant)).X.shape[1] == 3


# --- tables --------------------------------------------------------------------------------------


def test_lines_are_written_and_read(tmp_path):
    lines = compare_methods(planted(), "BB", "columns", TABLES["table5"].methods, QUICK)
    write_lines(lines, tmp_path / "a" / "results.csv")
    again = read_lines(tmp_path / "a" / "results.csv")
    assert [line.method for line in again] == [line.method for line in lines]
    assert_allclose([line.error for line in again], [line.error for line in lines], rtol=1e-5)
    rows = text_rows("table5", again)
    assert len(rows) == 1 + len(TABLES["table5"].methods)
    assert rows[1][:4] == ("BB", "columns", LITERAL, "34.5")


def test_tables_share_what_they_have_in_common():
    cells = cells_of(["table1", "table6"], ["RSS"])
    assert list(cells) == [("RSS", "MLP1"), ("RSS", "MLP2")]
    assert BIFACTOR in cells["RSS", "MLP1"] and BIFACTOR not in cells["RSS", "MLP2"]
    with pytest.raises(ArgumentError, match="Set 'BB' is not in table1; expected one of RSS, SSF"):
        cells_of(["table1"], ["BB"])


def stored(table):
    return read_lines(ROOT / "experiments" / table / "results.csv")


@pytest.mark.parametrize("table", TABLES)
def test_stored_tables_are_whole(table):
    lines = stored(table)
    assert lines_for(table, lines) == lines
    assert {(line.set, line.representation) for line in lines} == set(TABLES[table].printed)
    assert len(lines) == 3 * (1 + len(TABLES[table].methods)) * len(TABLES[table].printed)


@pytest.mark.slow
def test_stored_lines_come_from_the_command(paper_data):
    """A set of table 5, run again."""
    from conjoin.paper.tables.real import run_cell

    fresh = run_cell(("WDAF", "columns"), [POOLED, DEFAULT], paper_data)
    kept = {
        (line.protocol, line.rows, line.method): line.error
        for line in stored("table5")
        if line.set == "WDAF"
    }
    for line in fresh:
        expected = kept[line.protocol, line.rows, line.method]
        assert line.error == pytest.approx(expected, rel=1e-3)


def test_printed_reductions_follow_from_printed_errors_but_for_two():
    wrong = {}
    for table in TABLES.values():
        for cell, printed in table.printed.items():
            if printed.individual is not None:
                follows = 100 * (1 - printed.joined / printed.individual)
                if abs(follows - printed.reduction) > 0.1:
                    wrong[cell] = round(follows, 1)
    assert wrong == {("MITV", "MLP1"): 34.2, ("SBSD", "MLP2"): 64.1}


def line_of(table, name, method, *, protocol=HELD_OUT, representation="columns"):
    return next(
        line
        for line in stored(table)
        if (line.set, line.representation, line.method) == (name, representation, method)
        and (line.protocol, line.rows) == (protocol, 50)
    )


MISSED = pytest.mark.xfail(reason="missed; docs/paper-tables.md has the figures")


@pytest.mark.parametrize(
    ("name", "paper", "protocol"),
    [
        ("WDAF", 17.5, BOOTSTRAP),
        ("BB", 34.5, BOOTSTRAP),
        ("PPGE", 29.1, BOOTSTRAP),
        pytest.param("WDAF", 17.5, HELD_OUT, marks=MISSED),
        ("BB", 34.5, HELD_OUT),
        ("PPGE", 29.1, HELD_OUT),
    ],
)
def test_the_default_reduces_the_error_as_much_as_the_paper_says(name, paper, protocol):
    assert line_of("table5", name, DEFAULT, protocol=protocol).reduction >= paper


@pytest.mark.parametrize(
    ("name", "rival"),
    [
        ("BB", BIFACTOR_CLUSTERS),
        ("DFOIP by category", BIFACTOR_CLUSTERS),
        ("WDAF by stores", BIFACTOR_CLUSTERS),
        # Its own coefficients, which the paper does not report: a tie, see scripts/close_call.py.
        pytest.param("BB", BIFACTOR, marks=MISSED),
        ("DFOIP by category", BIFACTOR),
        ("WDAF by stores", BIFACTOR),
    ],
)
def test_the_default_beats_bifactor_on_every_set_of_table_7(name, rival):
    ours, theirs = (
        line_of("table7", name, method, representation="MLP1").error for method in (DEFAULT, rival)
    )
    assert ours < theirs


def test_the_paper_page_has_the_stored_figures():
    from scripts.paper_tables import render

    page = ROOT / "docs" / "paper-tables.md"
    assert render(page.read_text()) == page.read_text()


def test_bootstrap_lines_are_those_of_seen_rows():
    assert {line.protocol for line in stored("table5")} == {BOOTSTRAP, HELD_OUT}


# --- time ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_files_become_models_within_a_minute(paper_data):
    for timing in run_timings(paper_data, greedy=False):
        assert timing.total < 60, timing
        assert 0 < timing.training_share < 1


def test_stored_timings_name_the_share_of_training():
    with (ROOT / "experiments" / "timings" / "results.csv").open() as file:
        lines = {line["set"]: line for line in csv.DictReader(file)}
    assert set(lines) == set(PAPER_SECONDS)
    for line in lines.values():
        assert float(line["total"]) < 60
        assert 0 < float(line["training, %"]) < 100
