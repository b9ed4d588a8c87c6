"""Models to files: what is written comes back, completely or not at all."""

import dataclasses
import json
import math
import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import conjoin
from conjoin.datasets import make_clusters
from conjoin.errors import ArgumentError
from conjoin.result.load import load_with_extra
from conjoin.result.store import save

names = st.one_of(
    st.sampled_from(
        ["it's", 'a "b"', "two\nlines", "\u00fc\U0001f6b2", "<img src=x onerror=a(1)>"]
    ),
    st.text(min_size=1, max_size=6),
)


def test_everything_comes_back(shops, of_shops, path):
    loaded = conjoin.load(path)
    assert loaded == of_shops
    assert loaded.schema == of_shops.schema
    assert loaded.columns == of_shops.columns
    assert loaded.errors == of_shops.errors
    assert loaded.weights == of_shops.weights
    assert repr(loaded.ledger()) == repr(of_shops.ledger())  # nan is not equal to itself
    assert repr(loaded.analysis.steps) == repr(of_shops.analysis.steps)
    assert loaded.cluster_cost == of_shops.cluster_cost
    assert loaded.predict(shops).tobytes() == of_shops.predict(shops).tobytes()
    new = shops.assign(store="new")
    expected = of_shops.predict(new, on_unseen="nearest")
    assert loaded.predict(new, on_unseen="nearest").tobytes() == expected.tobytes()
    with pytest.warns(conjoin.ConjoinWarning, match="it gets the model for all"):
        expected = of_shops.predict(new)
        assert loaded.predict(new).tobytes() == expected.tobytes()
    rows = shops[:40].drop(columns="store")
    assert repr(loaded.assign(rows, rows["sales"])) == repr(of_shops.assign(rows, rows["sales"]))


@pytest.mark.parametrize("method", ["auto", "bic", "kmeans", "direct", "bound"])
@pytest.mark.parametrize("strategy", ["auto", "clusters", "pooled"])
def test_every_method_can_be_saved(tmp_path, method, strategy):
    tables = make_clusters(sizes=(2, 1), n=30, p=2, distance=2.0).tables()
    result = conjoin.partition(tables, target="y", method=method, strategy=strategy)
    result.save(str(tmp_path / "model"), evidence=True)
    loaded = conjoin.load(str(tmp_path / "model"))
    assert loaded == result
    assert repr(loaded.ledger()) == repr(result.ledger())


def test_extra_values_are_kept_beside(of_shops, tmp_path):
    save(of_shops, tmp_path / "model", extra={"why": ["a", 1]})
    assert load_with_extra(tmp_path / "model")[1] == {"why": ["a", 1]}


def test_the_file_is_strict_json_and_holds_no_rows(shops, path):
    def refuse(constant):
        raise AssertionError(constant)

    text = path.read_text(encoding="utf-8")
    document = json.loads(text, parse_constant=refuse)
    assert document["format"] == "conjoin-model"
    assert "123.4567" not in text
    for row in shops["sales"]:
        assert repr(row) not in text


def test_infinite_errors_survive(of_shops, tmp_path):
    endless = dataclasses.replace(
        of_shops,
        pooled=dataclasses.replace(of_shops.pooled, error=math.inf),
        coefficients={
            name: dataclasses.replace(model, error=-math.inf if name == "shop 1" else model.error)
            for name, model in of_shops.coefficients.items()
        },
    )
    endless.save(tmp_path / "model", evidence=True)
    loaded = conjoin.load(tmp_path / "model")
    assert loaded == endless
    assert loaded.pooled.error == math.inf


def test_paths_that_cannot_be_written(of_shops, tmp_path):
    for target in (tmp_path / "no folder" / "model", tmp_path):
        with pytest.raises(ArgumentError, match="cannot be written .*; name a file in a folder"):
            of_shops.save(target, evidence=True)
    (tmp_path / "file").write_text("x")
    with pytest.raises(ArgumentError, match="cannot be written"):
        of_shops.save(tmp_path / "file" / "model", evidence=True)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("step", ["write_bytes", "replace"])
def test_an_interrupted_save_leaves_the_old_file(of_shops, path, monkeypatch, step):
    before = path.read_bytes()

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, step, interrupt)
    with pytest.raises(KeyboardInterrupt):
        of_shops.using("pooled").save(path, evidence=True)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["model.json"]
    path.unlink()
    with pytest.raises(KeyboardInterrupt):
        of_shops.save(path, evidence=True)
    assert list(path.parent.iterdir()) == []


def test_a_full_disk_is_an_error_that_says_so(of_shops, path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ArgumentError, match="cannot be written .No space left on device"):
        of_shops.save(path, evidence=True)
    assert [p.name for p in path.parent.iterdir()] == ["model.json"]


def test_the_file_can_be_read_as_widely_as_others(of_shops, tmp_path):
    of_shops.save(tmp_path / "model", evidence=True)
    (tmp_path / "other").write_text("x")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("model", "other")}
    assert len(modes) == 1


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
    result.save(tmp_path / "model", evidence=True)
    loaded = conjoin.load(tmp_path / "model")
    assert loaded.labels == result.labels
    for name, table in tables.items():
        order = rng.permutation(len(table["y"]))
        shuffled = {c: np.asarray(table[c])[order] for c in rng.permutation(list(table))}
        expected = result.predict(table, name, limit=False)
        assert loaded.predict(table, name, limit=False).tobytes() == expected.tobytes()
        again = loaded.predict(shuffled, name, limit=False)
        assert again.tobytes() == expected[order].tobytes()
