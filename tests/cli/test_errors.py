"""Every bad input gets one sentence on standard error and exit code 2."""

import pytest

ONE = ["partition", "long.parquet", "-t", "y", "-b", "store"]
FILES = ["partition", "d1.csv", "d2.csv", "-t", "y"]
PREDICT = ["predict", "long.json", "long.parquet", "-o"]

BAD = {
    # files
    "missing file": (["partition", "nowhere.csv", "-t", "y"], "does not exist"),
    "pattern": (["partition", "q*.csv", "-t", "y"], "No file matches 'q*.csv'"),
    "empty file": (["partition", "bad/empty.csv", "-t", "y"], "is empty (0 bytes)"),
    "header only": (["partition", "bad/header.csv", "-t", "y"], "has a header but no rows"),
    "junk text": (["partition", "bad/junk.csv", "-t", "y"], "'junk.csv' is not text"),
    "junk parquet": (["partition", "bad/junk.parquet", "-t", "y"], "cannot be read"),
    "cut parquet": (["partition", "bad/cut.parquet", "-t", "y"], "cannot be read"),
    "unknown ending": (["partition", "bad/notes.txt", "-t", "y"], "has an unknown ending"),
    "spreadsheet": (["partition", "bad/sheet.xlsx", "-t", "y"], "spreadsheets are not read"),
    "folder": (["compare", "bad", "d1.csv", "-t", "y"], "File 'cut.parquet' cannot be read"),
    "same file twice": (["partition", "d1.csv", "d1.csv", "-t", "y"], "is named twice"),
    "database": (["partition", "shop.duckdb::sales", "-t", "y"], "does not exist"),
    # columns and rows
    "no target": (
        ["partition", "long.parquet", "-b", "store"],
        "target is missing; name the column",
    ),
    "target": (["partition", "long.parquet", "-t", "z", "-b", "store"], "--target 'z' is not a c"),
    "target of a pair": (["compare", "d1.csv", "d2.csv", "-t", "z"], "--target 'z' is not a col"),
    "text target": (
        ["partition", "text_target.csv", "-t", "y", "-b", "store"],
        "Target 'y' has one class in all rows, 'a'",
    ),
    "text target as a number": (
        ["partition", "text_target.csv", "-t", "y", "-b", "store", "--family", "gaussian"],
        "--target 'y' is not numeric: its type is String, with values such as 'a'",
    ),
    "family": (
        ["partition", "long.parquet", "-t", "y", "-b", "store", "--family", "binomial"],
        "--family 'binomial' is unknown; expected one of auto, gaussian, logistic, poisson.",
    ),
    "numbers as classes": (
        ["compare", "d1.csv", "d2.csv", "-t", "y", "--family", "logistic"],
        "Target 'y' is continuous",
    ),
    "numbers as counts": (
        ["partition", "long.parquet", "-t", "y", "-b", "store", "--family", "poisson"],
        "but --family 'poisson' is for counts",
    ),
    "target missing": (
        ["partition", "no_target.csv", "-t", "y", "-b", "store"],
        "'y' or 'store' is missing in all 360 rows",
    ),
    "no by": (["partition", "long.parquet", "-t", "y"], "--by is missing"),
    "by": (["partition", "long.parquet", "-t", "y", "-b", "shop"], "--by 'shop' is not a column"),
    "by in files": ([*FILES, "-b", "shop"], "--by 'shop' is not a column"),
    "one dataset": (
        ["partition", "one_dataset.csv", "-t", "y", "-b", "store"],
        "There is only one dataset ('one')",
    ),
    "columns differ": (
        ["partition", "d1.csv", "more_columns.csv", "-t", "y"],
        "choose --columns 'intersect' to leave them out, --columns 'impute' to fill them in",
    ),
    "columns differ in a pair": (
        ["compare", "d1.csv", "more_columns.csv", "-t", "y"],
        "Columns 'extra' are not in every dataset",
    ),
    "types differ": (["partition", "d1.csv", "other_type.csv", "-t", "y"], "text in 'other_type'"),
    "mixed": (
        ["partition", "mixed.csv", "-t", "y", "-b", "store"],
        "Column 'x1' mixes numbers with text such as 'cheap'",
    ),
    "single rows": (
        ["partition", "singles.parquet", "-t", "y", "-b", "s"],
        "Each of the 10,000 datasets has a single row",
    ),
    "features": ([*ONE, "--features", "x1,x9"], "--features 'x9' is not a column"),
    "weights": ([*ONE, "--weights", "w"], "--weights 'w' is not a column"),
    # options
    "strategy": ([*ONE, "--strategy", "magic"], "--strategy 'magic' is unknown; expected one of"),
    "method": ([*ONE, "--method", "magic"], "--method 'magic' is unknown; expected one of"),
    "missing": ([*ONE, "--missing", "magic"], "--missing 'magic' is unknown; expected one of"),
    "columns": ([*ONE, "--columns", "magic"], "--columns 'magic' is unknown; expected"),
    "weigh by": ([*ONE, "--weigh-by", "magic"], "--weigh-by 'magic' is unknown; expected"),
    "flag that is gone": (
        [*ONE, "--learn-share", "0.5"],
        "--learn-share: networks are cross-fitted now: all rows train them, and no row is judged "
        "by a network that saw it. Leave it out.",
    ),
    "old flag": ([*ONE, "--count", "rows"], "--count is now called --weigh-by."),
    "old method": ([*ONE, "--method", "mallows"], "--method 'mallows' is now called 'risk'"),
    "delta": ([*ONE, "--delta", "2"], "--delta 2.0 is not a level"),
    "delta is text": ([*ONE, "--delta", "low"], "Invalid value for '--delta'"),
    "seed": ([*ONE, "--seed", "-3"], "--seed -3 is negative"),
    "rule": ([*ONE, "--rule", "literal"], "does not take --rule"),
    "no SELECT": ([*ONE, "--query", "DROP TABLE data"], "is not one SELECT"),
    "bad SQL": ([*ONE, "--query", "SELECT shop FROM data"], "cannot be run"),
    "broken SQL": ([*ONE, "--query", "SELEC 1"], "cannot be run"),
    "no rows": ([*ONE, "--query", "SELECT * FROM data WHERE x1 > 99"], "data has no rows"),
    "save": ([*ONE, "--save", "nowhere/model.json"], "--save 'nowhere/model.json' cannot be wr"),
    "report of another kind": ([*ONE, "--report", "page.pdf"], "ends in .html"),
    "save to a folder": ([*ONE, "--save", "bad"], "--save 'bad' cannot be written"),
    "no data": (["partition", "-t", "y"], "Missing argument 'DATA'; see conjoin partition --help"),
    "no command": (["partitio", "d1.csv"], "Did you mean 'partition'?"),
    "no option": ([*ONE, "--targett", "y"], "No such option: --targett"),
    "no global option": (["--verzion"], "No such option: --verzion"),
    "table": (["reproduce", "table9"], "Table 'table9' is unknown"),
    "repetitions": (["reproduce", "table2", "--repetitions", "0"], "--repetitions 0 is not a c"),
    "paper's data": (["reproduce", "table5"], "Set DFOIP needs dfoip/daily_orders_top100_items"),
    "set": (["reproduce", "table5", "--sets", "QQ"], "Set 'QQ' is not in table5; expected one of"),
    "one file": (["reproduce", "all", "--output", "a.csv"], "--output names one file"),
    # models
    "no model": (["explain", "nowhere.json"], "'nowhere.json' does not exist"),
    "cut model": (["explain", "cut.json"], "is no model of conjoin, or only part of one"),
    "junk model": (["explain", "junk.json"], "is no model of conjoin, or only part of one"),
    "foreign model": (["explain", "foreign.json"], "is no model of conjoin"),
    "table as model": (["explain", "d1.csv"], "is no model of conjoin"),
    "edited model": (["explain", "edited.json"], "was changed after it was written"),
    "future model": (["explain", "future.json"], "has model format 99"),
    "unknown dataset": (["explain", "long.json", "zzz"], "known are 'd1', 'd2', 'd3'."),
    "nearly a dataset": (["explain", "long.json", "d12"], "did you mean 'd2' or 'd1'?"),
    # prediction
    "predict with a cut model": (["predict", "cut.json", "d1.csv", "-o", "o.csv"], "no model"),
    "no output": (["predict", "long.json", "long.parquet"], "Missing option '--output'"),
    "output ending": ([*PREDICT, "out.xlsx"], "expected one of .csv, .csv.gz, .parquet"),
    "output folder": ([*PREDICT, "nowhere/out.csv"], "'nowhere/out.csv' cannot be written"),
    "output name": ([*PREDICT, "o" * 300 + ".csv"], "File name too long"),
    "unseen": ([*PREDICT, "o.csv", "--on-unseen", "magic"], "--on-unseen 'magic' is unknown"),
    "no rows to predict": (
        [*PREDICT, "o.csv", "--query", "SELECT * FROM data WHERE x1 > 99"],
        "There are no rows to predict",
    ),
    "lacks a column": (
        ["predict", "files.json", "fewer_columns.csv", "-o", "o.csv"],
        "'fewer_columns.csv' lacks column 'x2'",
    ),
    "lacks the name": (
        ["predict", "long.json", "more_columns.csv", "-o", "o.csv"],
        "'more_columns.csv' lacks column 'store', which names the dataset of a row",
    ),
    "other type": (
        ["predict", "files.json", "other_type.csv", "-o", "o.csv"],
        "was a number at fitting, but now it is String with values such as 'cheap'",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence_and_exit_code_2(conjoin_, folder, case):
    arguments, message = BAD[case]
    before = sorted(folder.iterdir())
    done = conjoin_(*arguments)
    assert done.code == 2
    assert message in done.err
    assert done.err.startswith("Error: ")
    assert done.err.count("\n") == 1
    assert done.out == ""
    assert sorted(folder.iterdir()) == before


def test_names_in_messages_are_printed_as_text(conjoin_):
    done = conjoin_("explain", "long.json", "two\nlines\x1b[31m [red]")
    assert done.err.count("\n") == 1
    assert "\x1b" not in done.err
    assert "[red]" in done.err


def test_notes_come_before_an_error(conjoin_, folder):
    rows = (folder / "d1.csv").read_text().splitlines()
    (folder / "bad" / "gaps.csv").write_text(
        "\n".join([f"{rows[0]},store", *(f"{r},a" for r in rows[1:40]), "1,2,,b", "1,3,,b"])
    )
    done = conjoin_("partition", "bad/gaps.csv", "-t", "y", "-b", "store")
    note, error = done.err.splitlines()
    assert note.startswith("Note: 2 of 41 rows are left out because 'y' or 'store' is missing")
    assert error.startswith("Error: There is only one dataset ('a')")
    (folder / "bad" / "gaps.csv").unlink()
