import csv
import subprocess
import sys

import pandas as pd
import pytest

from conjoin.datasets import make_clusters

COMMAND = [sys.executable, "-m", "conjoin.cli.main"]


def run(*arguments, cwd):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=300
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data")
    tables = make_clusters(sizes=(2, 1), n=120, p=2, distance=2.0).tables()
    frames = {name: pd.DataFrame(columns) for name, columns in tables.items()}
    for name, frame in frames.items():
        frame.to_csv(path / f"{name}.csv", index=False)
    long = pd.concat([frame.assign(store=name) for name, frame in frames.items()])
    long.to_csv(path / "long.csv.gz", index=False)
    long.to_parquet(path / "long.parquet", index=False)
    (path / "empty.csv").touch()
    (path / "broken.parquet").write_bytes(b"PAR1 not really")
    (path / "sheet.xlsx").write_bytes(b"x")
    return path


@pytest.mark.parametrize("source", ["long.csv.gz", "long.parquet"])
def test_partition_of_one_table(folder, source):
    done = run("partition", source, "--target", "y", "--by", "store", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Train 2 models of 'y' for 3 datasets" in done.stdout
    assert "Ledger of joins" in done.stdout
    assert "one pooled model" in done.stdout
    assert "d1, d2" in done.stdout
    assert "\x1b" not in done.stdout  # plain when not a terminal


def test_partition_of_many_files(folder):
    done = run("partition", "d1.csv", "d2.csv", "d3.csv", "-t", "y", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "d1, d2" in done.stdout


def test_compare(folder):
    done = run("compare", "d1.csv", "d3.csv", "-t", "y", "--method", "tuned", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Keep apart d1.csv and d3.csv")


BAD = {
    "missing file": (["partition", "nowhere.csv", "-t", "y"], "does not exist"),
    "missing target": (["compare", "d1.csv", "d2.csv", "-t", "z"], "target='z' is not a column"),
    "missing by": (["partition", "long.parquet", "-t", "y"], "by is missing"),
    "wrong by": (["partition", "long.parquet", "-t", "y", "-b", "shop"], "by='shop' is not a col"),
    "text column": (["partition", "d1.csv", "long.parquet", "-t", "y"], "not in every dataset"),
    "empty file": (["compare", "empty.csv", "d1.csv", "-t", "y"], "is empty (0 bytes)"),
    "unreadable file": (["compare", "broken.parquet", "d1.csv", "-t", "y"], "cannot be read"),
    "unknown ending": (["compare", "sheet.xlsx", "d1.csv", "-t", "y"], "unknown ending"),
    "folder": (["compare", ".", "d1.csv", "-t", "y"], "is a folder"),
    "same file twice": (["partition", "d1.csv", "d1.csv", "-t", "y"], "Two files are named 'd1'"),
    "method": (["compare", "d1.csv", "d2.csv", "-t", "y", "-m", "magic"], "method='magic'"),
    "seed": (["compare", "d1.csv", "d2.csv", "-t", "y", "--seed", "-3"], "random_state=-3"),
    "table": (["reproduce", "table9"], "Table 'table9' is unknown"),
    "by with files": (["partition", "d1.csv", "d2.csv", "-t", "y", "-b", "s"], "--by goes with"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence_and_exit_code_2(folder, case):
    arguments, message = BAD[case]
    done = run(*arguments, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1


def test_reproduce_writes_the_table(tmp_path):
    output = tmp_path / "deep" / "t.csv"
    done = run("reproduce", "table2", "--repetitions", "1", "--output", output, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with output.open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "p", "d", "shift", "paper", "ours", "paper_direct", "one_minus_join_rate", "direct_exact",
    ]  # fmt: skip
    assert [row["d"] for row in rows] == ["0", "0.1", "0.3"]
    default = run("reproduce", "table2", "--repetitions", "1", cwd=tmp_path)
    assert default.returncode == 0
    assert (tmp_path / "experiments" / "table2" / "results.csv").read_text() == output.read_text()


def test_help_names_the_commands(tmp_path):
    done = run("--help", cwd=tmp_path)
    assert done.returncode == 0
    for command in ("partition", "compare", "reproduce"):
        assert command in done.stdout
