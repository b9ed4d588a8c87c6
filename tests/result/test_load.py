"""Models from files: old files are read, and nothing else is accepted."""

import json
from pathlib import Path

import numpy as np
import pytest

import conjoin
from conjoin.errors import ArgumentError, ReadError
from conjoin.result.document import checksum
from conjoin.result.load import load_with_extra

GOLDEN = Path(__file__).parents[1] / "golden"


def test_another_strategy_is_not_in_the_file(path):
    loaded = conjoin.load(path)
    assert loaded.using("auto") is loaded
    with pytest.raises(ArgumentError, match="'pooled' is not in the file.*--strategy 'pooled'"):
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


def test_a_file_in_another_layout_is_read(path, of_shops):
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(document, sort_keys=True, indent=4), encoding="utf-8")
    assert conjoin.load(path) == of_shops


@pytest.mark.parametrize(
    "content",
    [b"{}", b"[]", b"3", b'{"format": "other"}', b"null", b'"conjoin-model"'],
)
def test_other_json(path, content):
    path.write_bytes(content)
    read_error(path, "File 'model.json' is no model of conjoin; expected a file written by save")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff\xfe" * 99,
        b"\x89PNG\r\n",
        b"PK\x03\x04",
        b"[" * 200_000,
        b"a,b\n1",
        b"NaN",
        b'{"a": 1, "a": 2}',
    ],
)
def test_other_files(path, content):
    path.write_bytes(content)
    read_error(path, "File 'model.json' is no model of conjoin, or only part of one")


@pytest.mark.parametrize("version", [0, 3, "1", None, [1]])
def test_another_version(path, version):
    document = json.loads(path.read_text(encoding="utf-8"))
    document["format_version"] = version
    path.write_text(json.dumps(document), encoding="utf-8")
    read_error(
        path, "File 'model.json' has model format .* but conjoin .* reads formats 1 and 2; use"
    )


def test_content_that_is_not_there(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["content"]
    path.write_text(json.dumps(document), encoding="utf-8")
    read_error(path, "was changed after it was written")


def test_paths_without_a_file(tmp_path):
    read_error(tmp_path / "none", "does not exist; check the path")
    read_error(tmp_path, "cannot be read: Is a directory")
    read_error("/dev/zero", "is a device or a pipe; expected a model file")


def test_a_file_that_is_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr("conjoin.result.document.MOST_BYTES", 2**20)
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(2**20 + 1)
    read_error(path, "more than any model of conjoin")


# --- files of version 0.1 ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model.json", "classes.json"])
def test_a_file_of_format_1_is_read_with_the_new_names(name):
    old = json.loads((GOLDEN / name).read_text(encoding="utf-8"))
    assert old["format_version"] == 1
    assert old["content"]["settings"]["count"] == "datasets"
    result = conjoin.load(GOLDEN / name)
    assert (result.method, result.settings["method"]) == ("auto", "auto")
    assert result.settings["weigh_by"] == "datasets"
    assert "count" not in result.settings
    assert [line.verdict for line in result.ledger()] == [
        line["verdict"] for line in old["content"]["verdicts"]
    ]
    assert [line.score.score for line in result.ledger()] == [
        step["score"]["score"] for step in old["content"]["history"]
    ]
    assert [line.joined for line in result.ledger()] == [
        step["score"]["join"] for step in old["content"]["history"]
    ]


@pytest.mark.parametrize("name", ["model.json", "classes.json"])
def test_a_file_of_format_1_is_written_in_the_new_format(name, tmp_path):
    result = conjoin.load(GOLDEN / name)
    result.save(tmp_path / "new.json", evidence=True)
    assert json.loads((tmp_path / "new.json").read_text(encoding="utf-8"))["format_version"] == 2
    again = conjoin.load(tmp_path / "new.json")
    assert again == result
    assert again.settings == result.settings
    assert repr(again.ledger()) == repr(result.ledger())
    X = np.zeros((3, len(result.features)))
    assert again.predict(X, "d1").tolist() == result.predict(X, "d1").tolist()


def old_file(path, grouping, method):
    """Write a file of format 1 in which an estimator asked for a method."""
    document = json.loads((GOLDEN / "model.json").read_text(encoding="utf-8"))
    content = document["content"]
    content.update(grouping=grouping, method=method)
    content["settings"] |= {"grouping": grouping, "method": method}
    content["extra"] = {"params": {"method": method, "count": "rows", "delta": 0.1}}
    document["checksum"] = checksum(content)
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize(
    ("grouping", "old", "new"),
    [
        ("agglomerative", "risk", "auto"),
        ("agglomerative", "mallows", "risk"),
        ("agglomerative", "bic", "bic"),
        ("greedy", "risk", "risk"),  # the criterion of a pair kept its name
        ("greedy", "tuned", "tuned"),
    ],
)
def test_methods_of_format_1_get_their_new_names(tmp_path, grouping, old, new):
    old_file(tmp_path / "old.json", grouping, old)
    result, extra = load_with_extra(tmp_path / "old.json")
    assert (result.method, result.settings["method"]) == (new, new)
    assert extra["params"] == {"method": new, "weigh_by": "rows", "delta": 0.1}
