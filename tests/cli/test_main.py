"""What the commands print and write."""

import json
import re
import sqlite3

import duckdb
import pandas as pd
import pytest

from conjoin.cli.show import PLAIN_WIDTH

from .conftest import HOSTILE

BY_STORE = ["-t", "y", "-b", "store"]


def strict(text):
    """Read JSON that holds neither NaN nor Infinity."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def numbers(value):
    """Return all numbers in plain values."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [x for part in value for x in numbers(part)]
    return [value] if isinstance(value, float) else []


# --- partition -----------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["long.csv.gz", "long.parquet"])
def test_partition_prints_verdict_clusters_ledger_strategies(conjoin_, source):
    done = conjoin_("partition", source, *BY_STORE)
    assert done.code == 0, done.err
    assert done.err == ""
    first = done.out.splitlines()[0]
    assert re.match(r"(Best choice|In use): (one model per dataset|2 models for 3 datasets)", first)
    assert re.search(
        r"RMSE is (\S+ % lower than|the same as) with 3 separate models( that borrow nothing)? "
        r"\(90 % interval .* and "
        r"\S+ % lower than with one model for all \(90 % interval ",
        first,
    )
    assert re.search(r"2 models for 3 datasets \(\{d1, d2\}, \{d3\}\)", first)
    assert re.search(r"\d of 3 datasets (has|have) a lower error than with a separate model", first)
    assert "when resampled" in done.out and "Stability: the search was repeated in 20" in done.out
    parts = ["Clusters, one model each", "Ledger of joins", "Strategies ('auto' is used)"]
    assert sorted(done.out.index(part) for part in parts) == [done.out.index(p) for p in parts]
    assert "\x1b" not in done.out  # plain when not a terminal
    assert max(map(len, done.out.splitlines()[1:])) <= PLAIN_WIDTH


def test_partition_of_many_files_a_folder_and_a_pattern(conjoin_, folder, tmp_path):
    for name in ("d1", "d2", "d3"):
        (tmp_path / f"{name}.csv").write_bytes((folder / f"{name}.csv").read_bytes())
    outputs = {
        conjoin_("partition", *sources, "-t", "y").out
        for sources in (["d1.csv", "d2.csv", "d3.csv"], [tmp_path], [f"{tmp_path}/d?.csv"])
    }
    assert len(outputs) == 1
    assert "{d1, d2}, {d3}" in outputs.pop()


def test_partition_of_a_database_and_a_query(conjoin_, frames, tmp_path):
    long = pd.concat([frame.assign(store=name) for name, frame in frames.items()])
    with duckdb.connect(tmp_path / "shop.duckdb") as connection:
        connection.execute("CREATE TABLE sales AS SELECT * FROM long")
    with sqlite3.connect(tmp_path / "shop.sqlite") as connection:
        long.to_sql("sales", connection, index=False)
    expected = conjoin_("partition", "long.parquet", *BY_STORE).out
    for name in ("shop.duckdb::sales", "shop.sqlite::sales"):
        assert conjoin_("partition", tmp_path / name, *BY_STORE).out == expected
    part = conjoin_(
        "partition", "long.parquet", *BY_STORE, "--query", "SELECT * FROM data WHERE store <> 'd3'"
    )
    assert re.search("puts all 2 datasets into one|one model for all 2 datasets", part.out)


def test_several_columns_name_the_dataset(conjoin_):
    query = "SELECT *, CASE WHEN x1 > 0 THEN 'high' ELSE 'low' END AS half FROM data"
    done = conjoin_("partition", "long.parquet", *BY_STORE, "-b", "half", "--query", query)
    assert done.code == 0, done.err
    assert "d1 | high" in done.out
    again = conjoin_("partition", "long.parquet", *BY_STORE, "-b", "store")
    assert again.out == conjoin_("partition", "long.parquet", *BY_STORE).out


@pytest.mark.parametrize("way", ["intersect", "impute"])
def test_columns_that_some_files_lack(conjoin_, way):
    done = conjoin_(
        "partition", "d1.csv", "more_columns.csv", "d3.csv", "-t", "y", "--columns", way, "--json"
    )
    assert done.code == 0, done.err
    assert ("extra" in strict(done.out)["columns"]) == (way == "impute")


def test_options_reach_the_library(conjoin_):
    done = conjoin_(
        "partition", "long.parquet", *BY_STORE, "--features", "x1, x2", "--strategy", "pooled",
        "--method", "bic", "--weigh-by", "rows", "--missing", "drop", "--seed", 3, "--delta", 0.2,
        "--json",
    )  # fmt: skip
    facts = strict(done.out)
    assert (facts["strategy"], facts["method"]) == ("pooled", "bic")
    weighted = conjoin_(
        "partition", "long.parquet", *BY_STORE, "--weights", "w", "--json",
        "--query", "SELECT *, 1 + abs(x1) AS w FROM data",
    )  # fmt: skip
    assert weighted.code == 0, weighted.err
    assert "w" not in strict(weighted.out)["columns"]


def test_cautions_are_printed(conjoin_):
    done = conjoin_(
        "partition", "long.parquet", *BY_STORE, "--query", "SELECT *, 2 * y AS twice FROM data"
    )
    caution = (
        "Caution: The features predict 'y' almost exactly; does one of them contain it? Leave "
    )
    assert caution + "such columns out with --features." in " ".join(done.out.split())


def test_json_of_a_partition_has_the_documented_keys(conjoin_):
    done = conjoin_("partition", "long.parquet", *BY_STORE, "--json")
    facts = strict(done.out)
    assert {
        "conjoin", "target", "by", "verdict", "method", "strategy", "clusters", "strategies",
        "ledger", "datasets", "columns", "cautions",
    } <= set(facts)  # fmt: skip
    assert [cluster["datasets"] for cluster in facts["clusters"]] == [["d1", "d2"], ["d3"]]
    assert {"datasets", "rows", "error", "model"} <= set(facts["clusters"][0])
    assert {"error", "behind", "standard_error", "weight"} <= set(facts["strategies"]["auto"])
    step = {"left", "right", "joined", "verdict", "gain", "interval"}
    assert all(step <= set(line) for line in facts["ledger"])
    assert facts["datasets"]["d3"]["cluster"] == 1
    assert set(facts["datasets"]["d1"]["model"]["coef"]) == {"x1", "x2"}
    assert "2 models for 3 datasets ({d1, d2}, {d3})" in facts["verdict"]
    assert numbers(facts)


def test_save_says_what_comes_next_and_json_stays_json(conjoin_, folder):
    done = conjoin_("partition", "long.parquet", *BY_STORE, "--save", "new.json")
    assert done.out.endswith(
        "Models written to new.json; next: conjoin predict new.json DATA -o OUT\n"
    )
    written = (folder / "new.json").read_bytes()
    quiet = conjoin_("partition", "long.parquet", *BY_STORE, "--save", "new.json", "--json")
    strict(quiet.out)
    assert (folder / "new.json").read_bytes() == written
    (folder / "new.json").unlink()


def test_hostile_names_are_text(conjoin_, folder):
    done = conjoin_("partition", "hostile.parquet", *BY_STORE, "--save", "hostile.json")
    assert done.code == 0, done.err
    first = done.out.splitlines()[0]
    assert HOSTILE["d1"] in first
    assert "[red]x[/red]\\nline\\x1b[31m :warning: \\u202eback\\" in first
    assert "é☃👩‍👩‍👧long" in first
    assert len(first) < 1000
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", done.out)
    for name in HOSTILE.values():
        explained = conjoin_("explain", "hostile.json", name)
        assert explained.code == 0, explained.err
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", explained.out)
    facts = strict(conjoin_("partition", "hostile.parquet", *BY_STORE, "--json").out)
    assert set(facts["datasets"]) == set(HOSTILE.values())
    (folder / "hostile.json").unlink()


# --- compare -------------------------------------------------------------------------------------


def test_compare_says_it_on_one_line(conjoin_):
    done = conjoin_("compare", "d1.csv", "d3.csv", "-t", "y")
    assert re.match(
        r"Keep d1.csv and d3.csv apart: joining raises the expected squared error by \S+ \(gain "
        r"between -\S+ and -\S+, each end with 90 % confidence\)\. The RMSE is \S+ joined and ",
        done.out,
    )
    assert done.out.count("\n") == 1
    assert re.search(r"\.\n$", done.out)
    paper = conjoin_("compare", "d1.csv", "d3.csv", "-t", "y", "--method", "tuned")
    assert re.match(
        r"Algorithm 2 of the paper, with the signed rule, says to keep them apart \(signed score "
        r"-\S+, not above 0; proxy_acc \S+, over eight seeds \S+ to \S+; alpha \S+\)\. Second "
        r"opinion, conjoin's verdict: Keep d1.csv and d3.csv apart: ",
        paper.out,
    )


def test_compare_says_how_many_rows_settle_it(conjoin_):
    done = conjoin_("compare", "d1.csv", "d2.csv", "-t", "y")
    assert done.out.startswith("Undecided on d1.csv and d2.csv: joining lowers the expected")
    found = re.search(
        r"About (\S+) times the rows would settle it \((\S+) more of the first, (\S+) more of the "
        r"second\)\. The better guess \(method risk\) is to join them\.\n$",
        done.out,
    )
    factor, more, _ = found.groups()
    assert int(more.replace(",", "")) == pytest.approx((float(factor) - 1) * 120, abs=10)


def test_json_of_a_comparison_has_the_documented_keys(conjoin_):
    facts = strict(conjoin_("compare", "d1.csv", "d2.csv", "-t", "y", "--json").out)
    assert {
        "conjoin", "verdict", "join", "gain", "interval", "delta", "rows_to_settle", "method",
        "score", "error_separate", "error_joined", "models",
    } <= set(facts)  # fmt: skip
    assert set(facts["models"]) == {"a", "b", "joined"}
    assert facts["verdict"] == "undecided"


# --- explain -------------------------------------------------------------------------------------


def test_explain_a_dataset(conjoin_):
    done = conjoin_("explain", "long.json", "d1")
    first = done.out.splitlines()[0]
    assert first.startswith("d1 is trained with d2. Joined: ")
    assert re.search(r"Joining them lowers the expected squared error|points the other way", first)
    assert "The nearest other cluster is {d3}. Joining it raises the expected squared" in first
    for part in ("Joining it with a cluster", "1 (its own)", "Errors", "differs most from"):
        assert part in done.out
    alone = conjoin_("explain", "long.json", "d3")
    assert alone.out.startswith(
        "d3 is alone in its cluster, where its model still borrows strength. The nearest other "
        "cluster is {d1, d2}."
    )


def test_explain_all(conjoin_):
    done = conjoin_("explain", "long.json")
    fitted = conjoin_("partition", "long.parquet", *BY_STORE)
    assert done.out.startswith(fitted.out)
    assert "what was done" in done.out
    facts = strict(conjoin_("explain", "long.json", "--json").out)
    assert facts == strict(conjoin_("partition", "long.parquet", *BY_STORE, "--json").out)


def test_json_of_a_dataset_has_the_documented_keys(conjoin_):
    facts = strict(conjoin_("explain", "long.json", "d1", "--json").out)
    assert {
        "dataset", "cluster", "members", "rows", "strategy", "reason", "errors", "alternatives",
        "coef",
    } <= set(facts)  # fmt: skip
    own, other = facts["alternatives"]
    assert (own["own"], own["datasets"], other["datasets"]) == (True, ["d2"], ["d3"])


# --- predict -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
def test_predict_writes_all_columns_and_the_prediction(conjoin_, tmp_path, name):
    done = conjoin_("predict", "long.json", "long.parquet", "-o", tmp_path / name)
    assert done.code == 0, done.err
    assert done.out == f"360 rows with columns 'prediction', 'model' written to {tmp_path / name}\n"
    read = pd.read_parquet if name.endswith("parquet") else pd.read_csv
    assert list(read(tmp_path / name)) == ["x1", "x2", "y", "store", "prediction", "model"]


def test_predict_tells_of_unseen_datasets_once(conjoin_, folder, tmp_path):
    for name in ("new1.csv", "new2.csv"):
        (tmp_path / name).write_bytes((folder / "d1.csv").read_bytes())
    arguments = ["predict", "files.json", tmp_path, "d3.csv", "-o", tmp_path / "out.parquet"]
    done = conjoin_(*arguments)
    assert done.err == (
        "Note: 2 datasets were not there at fitting ('new1', 'new2'); they get the model for all "
        "(240 of 360 rows).\n"
    )
    refused = conjoin_(*arguments, "--on-unseen", "raise")
    assert refused.code == 2
    assert "Choose --on-unseen 'pooled' or 'nearest'" in refused.err


# --- help ----------------------------------------------------------------------------------------


def test_help_fits_a_screen(conjoin_):
    done = conjoin_("--help")
    assert done.code == 0
    lines = done.out.splitlines()
    assert len(lines) <= 27
    assert max(map(len, lines)) <= 80
    for word in ("partition", "compare", "predict", "assign", "explain", "Example: conjoin "):
        assert word in done.out
    assert (
        "Exit codes: 0 done, 2 bad input, 3 something needs a look, 130 or 143 stopped." in done.out
    )
    bare = conjoin_()
    assert (bare.code, bare.out, bare.err) == (2, "", done.out)


@pytest.mark.parametrize(
    "command", ["partition", "compare", "predict", "assign", "explain", "reproduce"]
)
def test_help_of_a_command(conjoin_, command):
    done = conjoin_(command, "--help")
    assert done.code == 0
    assert done.out.startswith(f"Usage: conjoin {command} [OPTIONS] ")
    assert len(done.out.splitlines()) <= 90  # most options take one line


def test_version(conjoin_):
    assert re.fullmatch(r"conjoin \d+\.\d+\.\d+\S*\n", conjoin_("--version").out)
