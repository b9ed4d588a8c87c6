"""Documents are read within bounds, and old ones get the present form."""

import json
import os

import pytest

from conjoin.errors import ReadError
from conjoin.result.document import checksum, read_bytes, read_content, reason_of


def test_content_is_that_of_the_file(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    assert read_content(path) == document["content"]


def test_content_that_is_no_mapping_is_refused(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    for content in ([], "text", 3, None):
        path.write_text(json.dumps({**document, "content": content, "checksum": checksum(content)}))
        with pytest.raises(ReadError, match="cannot be used: the file is .*expected a mapping"):
            read_content(path)


def test_pipes_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ReadError, match="is a device or a pipe"):
        read_bytes(tmp_path / "pipe")


def test_reasons_are_short():
    assert reason_of(KeyError()) == "KeyError"
    assert reason_of(ValueError("one\ntwo")) == "ValueError: one"
