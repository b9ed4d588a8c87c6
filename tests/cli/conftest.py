"""A folder of small tables and a saved model, and the command line inside this process."""

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import conjoin
from conjoin.cli.main import app
from conjoin.datasets import make_clusters

HOSTILE = {
    "d1": "<img src=x onerror=alert(1)>",
    "d2": "[red]x[/red]\nline\x1b[31m :warning: \u202eback\\",
    "d3": "é☃👩‍👩‍👧" + "long" * 400,
}


@dataclass
class Done:
    code: int
    out: str
    err: str


@pytest.fixture
def conjoin_(folder, monkeypatch):
    """Run a command inside the folder, without a new process."""
    monkeypatch.chdir(folder)

    def run(*arguments):
        result = CliRunner().invoke(app, [str(a) for a in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.stderr
        assert "Traceback" not in result.stdout + result.stderr
        return Done(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture(scope="session")
def frames():
    tables = make_clusters(sizes=(2, 1), n=120, p=2, distance=2.0).tables()
    return {name: pd.DataFrame(columns) for name, columns in tables.items()}


@pytest.fixture(scope="session")
def folder(tmp_path_factory, frames):
    path = tmp_path_factory.mktemp("data")
    for name, frame in frames.items():
        frame.to_csv(path / f"{name}.csv", index=False)
    long = pd.concat([frame.assign(store=name) for name, frame in frames.items()])
    long.to_csv(path / "long.csv.gz", index=False)
    long.to_parquet(path / "long.parquet", index=False)
    names = long["store"].map(HOSTILE)
    long.assign(store=names).to_parquet(path / "hostile.parquet", index=False)
    _write_bad_tables(path, long)
    files = conjoin.partition([str(path / f"d{k}.csv") for k in (1, 2, 3)], target="y")
    files.save(path / "files.json", evidence=True)
    conjoin.partition(long, target="y", by="store").save(path / "long.json", evidence=True)
    _write_bad_models(path)
    return path


def _write_bad_tables(path, long):
    rng = np.random.default_rng(0)
    (path / "bad").mkdir()
    (path / "bad" / "empty.csv").touch()
    (path / "bad" / "junk.csv").write_bytes(rng.bytes(4000))
    (path / "bad" / "junk.parquet").write_bytes(rng.bytes(4000))
    (path / "bad" / "cut.parquet").write_bytes((path / "long.parquet").read_bytes()[:2000])
    (path / "bad" / "sheet.xlsx").write_bytes(b"x")
    (path / "bad" / "notes.txt").write_text("a,b\n1,2\n")
    (path / "bad" / "header.csv").write_text("x1,x2,y,store\n")
    long.assign(y="a").to_csv(path / "text_target.csv", index=False)
    long.assign(y=np.nan).to_csv(path / "no_target.csv", index=False)
    long.assign(store="one").to_csv(path / "one_dataset.csv", index=False)
    long.assign(x1=["cheap", *long["x1"][1:]]).to_csv(path / "mixed.csv", index=False)
    one = long[long["store"] == "d2"].drop(columns="store")
    one.assign(extra=np.arange(len(one)) % 7).to_csv(path / "more_columns.csv", index=False)
    one.assign(x1="cheap").to_csv(path / "other_type.csv", index=False)
    one[["x1", "y"]].to_csv(path / "fewer_columns.csv", index=False)
    rows = np.arange(10_000)
    singles = pd.DataFrame({"s": rows, "x": np.sqrt(rows), "y": rng.standard_normal(10_000)})
    singles.to_parquet(path / "singles.parquet", index=False)


def _write_bad_models(path):
    text = (path / "long.json").read_text()
    (path / "cut.json").write_text(text[: len(text) // 2])
    (path / "foreign.json").write_text('{"name": "something else"}')
    (path / "junk.json").write_bytes(bytes(range(256)))
    document = json.loads(text)
    (path / "future.json").write_text(json.dumps({**document, "format_version": 99}))
    document["content"]["strategy"] = "pooled"
    (path / "edited.json").write_text(json.dumps(document))
