"""Models in files: what is written comes back, and nothing else is accepted."""

import dataclasses
import json
import math
import os
import stat

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import conjoin
from conjoin.datasets import make_clusters
from conjoin.errors import ArgumentError, ReadError
from conjoin.result.load import load_with_extra
from conjoin.result.store import save

SENTINEL = 123.456789012345


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 240
    table = pd.DataFrame(
        {
            "store": np.repeat([f"shop {k}" for k in range(6)], n // 6),
            "price": rng.normal(10, 2, n),
            "kind": rng.choice(["food", "toys", None], n),
            "sales": rng.normal(100, 5, n),
        }
    )
    table["sales"] += np.where(table["store"] < "shop 3", 3, -3) * table["price"]
    table.loc[rng.choice(n, 12, replace=False), "price"] = np.nan
    table.loc[100, "price"] = SENTINEL
    table.loc[101, "price"] = 2 * SENTINEL  # the extremes are told by the limits
    table.loc[102, "price"] = -SENTINEL
    return table


@pytest.fixture(scope="module")
def result(frame):
    return conjoin.partition(frame, target="sales", by="store")


@pytest.fixture
def path(result, tmp_path):
    file = tmp_path / "model.json"
    result.save(file)
    return file


def test_everything_comes_back(frame, result, path):
    loaded = conjoin.load(path)
    assert loaded == result
    assert loaded.schema == result.schema
    assert loaded.columns == result.columns
    assert loaded.errors == result.errors
    assert loaded.weights == result.weights
    assert repr(loaded.ledger()) == repr(result.ledger())  # nan is not equal to itself
    assert repr(loaded.analysis.steps) == repr(result.analysis.steps)
    assert loaded.cluster_cost == result.cluster_cost
    assert loaded.predict(frame).tobytes() == result.predict(frame).tobytes()
    new = frame.assign(store="new")
    expected = result.predict(new, on_unseen="nearest")
    assert loaded.predict(new, on_unseen="nearest").tobytes() == expected.tobytes()
    with pytest.warns(conjoin.ConjoinWarning, match="it gets the pooled model"):
        expected = result.predict(new)
        assert loaded.predict(new).tobytes() == expected.tobytes()
    rows = frame[:40].drop(columns="store")
    assert repr(loaded.assign(rows, rows["sales"])) == repr(result.assign(rows, rows["sales"]))


@pytest.mark.parametrize("method", ["auto", "bic", "kmeans", "direct", "bound"])
@pytest.mark.parametrize("strategy", ["auto", "clusters", "pooled"])
def test_every_method_can_be_saved(tmp_path, method, strategy):
    tables = make_clusters(sizes=(2, 1), n=30, p=2, distance=2.0).tables()
    result = conjoin.partition(tables, target="y", method=method, strategy=strategy)
    result.save(str(tmp_path / "model"))
    loaded = conjoin.load(str(tmp_path / "model"))
    assert loaded == result
    assert repr(loaded.ledger()) == repr(result.ledger())


def test_extra_values_are_kept_beside(result, tmp_path):
    save(result, tmp_path / "model", extra={"why": ["a", 1]})
    assert load_with_extra(tmp_path / "model")[1] == {"why": ["a", 1]}


def test_the_file_is_strict_json_and_holds_no_rows(frame, path):
    def refuse(constant):
        raise AssertionError(constant)

    text = path.read_text(encoding="utf-8")
    document = json.loads(text, parse_constant=refuse)
    assert document["format"] == "conjoin-model"
    assert "123.4567" not in text
    for row in frame["sales"]:
        assert repr(row) not in text


def test_infinite_errors_survive(result, tmp_path):
    endless = dataclasses.replace(
        result,
        pooled=dataclasses.replace(result.pooled, error=math.inf),
        coefficients={
            name: dataclasses.replace(model, error=-math.inf if name == "shop 1" else model.error)
            for name, model in result.coefficients.items()
        },
    )
    endless.save(tmp_path / "model")
    loaded = conjoin.load(tmp_path / "model")
    assert loaded == endless
    assert loaded.pooled.error == math.inf


def test_another_strategy_is_not_in_the_file(path):
    loaded = conjoin.load(path)
    assert loaded.using("auto") is loaded
    with pytest.raises(ArgumentError, match="strategy='pooled' is not in the file, which holds"):
        loaded.using("pooled")


def read_error(path, message):
    with pytest.raises(ReadError, match=message) as caught:
        conjoin.load(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_part_of_a_file(path, share):
    text = path.read_bytes()
    path.write_bytes(text[: int(share * len(text))])
    read_error(path, "File 'model.json' is no model of conjoin, or only part of one; expected")


def test_an_edited_number(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    document["content"]["models"]["pooled"]["intercept"][0] += 1e-9
    path.write_text(json.dumps(document), encoding="utf-8")
    read_error(path, "File 'model.json' was changed after it was written: its checksum")


def test_a_file_that_was_only_laid_out_anew_is_read(path, result):
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(document, sort_keys=True, indent=4), encoding="utf-8")
    assert conjoin.load(path) == result


@pytest.mark.parametrize(
    "content",
    [b"{}", b"[]", b"3", b'{"format": "other"}', b"null", b'"conjoin-model"', b"NaN"],
)
def test_other_json(path, content):
    path.write_bytes(content)
    read_error(path, "File 'model.json' is no model of conjoin; expected a file written by save")


@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff\xfe" * 99, b"\x89PNG\r\n", b"PK\x03\x04", b"[" * 200_000, b"a,b\n1"]
)
def test_other_files(path, content):
    path.write_bytes(content)
    read_error(path, "File 'model.json' is no model of conjoin, or only part of one")


@pytest.mark.parametrize("version", [0, 2, "1", None, [1]])
def test_another_version(path, version):
    document = json.loads(path.read_text(encoding="utf-8"))
    document["format_version"] = version
    path.write_text(json.dumps(document), encoding="utf-8")
    read_error(path, "File 'model.json' has model format .* but conjoin .* reads format 1; use")


def test_content_that_is_not_there(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["content"]
    path.write_text(json.dumps(document), encoding="utf-8")
    read_error(path, "was changed after it was written")


def test_paths_without_a_file(result, tmp_path):
    read_error(tmp_path / "none", "does not exist; check the path")
    read_error(tmp_path, "cannot be read: Is a directory")
    for target in (tmp_path / "no folder" / "model", tmp_path):
        with pytest.raises(ArgumentError, match="cannot be written .*; name a file in a folder"):
            result.save(target)
    (tmp_path / "file").write_text("x")
    with pytest.raises(ArgumentError, match="cannot be written"):
        result.save(tmp_path / "file" / "model")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("step", ["replace", "chmod", "fdopen"])
def test_an_interrupted_save_leaves_the_old_file(result, path, monkeypatch, step):
    before = path.read_bytes()

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, step, interrupt)
    with pytest.raises(KeyboardInterrupt):
        result.using("pooled").save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["model.json"]
    path.unlink()
    monkeypatch.setattr(os, step, interrupt)
    with pytest.raises(KeyboardInterrupt):
        result.save(path)
    monkeypatch.undo()
    assert list(path.parent.iterdir()) == []


def test_a_full_disk_is_told(result, path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ArgumentError, match="cannot be written .No space left on device"):
        result.save(path)
    assert [p.name for p in path.parent.iterdir()] == ["model.json"]


def test_the_file_can_be_read_as_widely_as_others(result, tmp_path):
    result.save(tmp_path / "model")
    (tmp_path / "other").write_text("x")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("model", "other")}
    assert len(modes) == 1


names = st.one_of(
    st.sampled_from(
        ["it's", 'a "b"', "two\nlines", "\u00fc\U0001f6b2", "<img src=x onerror=a(1)>"]
    ),
    st.text(min_size=1, max_size=6),
)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 2**32 - 1),
    st.lists(names, min_size=2, max_size=4, unique=True),
    st.booleans(),
    st.booleans(),
)
def test_predictions_come_back_bit_by_bit(tmp_path, seed, datasets, gaps, levels):
    rng = np.random.default_rng(seed)
    tables = {}
    for name in datasets:
        n = int(rng.integers(6, 20))
        x = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4)
        if gaps:
            x[rng.random(n) < 0.3] = np.nan
        tables[name] = {"x": x, "z": rng.normal(size=n), "y": rng.normal(size=n)}
        if levels:
            tables[name]["a\n'b'"] = rng.choice(["it's", "<b>", '"', None], n)
    result = conjoin.partition(tables, target="y")
    result.save(tmp_path / "model")
    loaded = conjoin.load(tmp_path / "model")
    assert loaded.labels == result.labels
    for name, table in tables.items():
        order = rng.permutation(len(table["y"]))
        shuffled = {c: np.asarray(table[c])[order] for c in rng.permutation(list(table))}
        expected = result.predict(table, name, limit=False)
        assert loaded.predict(table, name, limit=False).tobytes() == expected.tobytes()
        again = loaded.predict(shuffled, name, limit=False)
        assert again.tobytes() == expected[order].tobytes()
