"""Files are written completely or not at all."""

import os
import stat
from pathlib import Path

import pytest

from conjoin.errors import ArgumentError
from conjoin.files import replacing, write_text, write_together


def test_text_replaces_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    for text in ("old", "new: größe \udcff\n"):
        write_text(path, text)
        assert path.read_text(encoding="utf-8", errors="surrogatepass") == text
    assert os.listdir(tmp_path) == ["a.txt"]


def test_permissions_are_those_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    write_text(tmp_path / "a.txt", "text")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(error), replacing(path) as part:
        part.write_text("half of the n")
        assert part.parent.parent == tmp_path
        raise error
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_relative_path_is_written_to_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_text(Path("a.txt"), "text")
    assert (tmp_path / "a.txt").read_text() == "text"


def test_a_file_that_cannot_be_written(tmp_path):
    for path in (tmp_path / "nowhere" / "a.txt", tmp_path):
        with pytest.raises(ArgumentError, match="cannot be written .*; name a file in a folder"):
            write_text(path, "text")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("fails", [0, 1])
def test_files_are_written_together_or_not_at_all(tmp_path, monkeypatch, old, fails):
    paths = [tmp_path / "b.bin", tmp_path / "a.txt"]
    if old:
        write_together({path: b"old" for path in paths})
    replace = Path.replace

    def interrupted(self, target):
        if Path(target) == paths[fails] and self.suffix == ".new":
            raise KeyboardInterrupt
        return replace(self, target)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "replace", interrupted)
        write_together({path: b"new" for path in paths})
    left = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert left == ({"a.txt": b"old", "b.bin": b"old"} if old else {})
    write_together({path: b"new" for path in paths})
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"new"}
