"""Files are written completely or not at all."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from conjoin.errors import ArgumentError
from conjoin.files import check_writable, replacing, write_text, write_together


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
        with pytest.raises(ArgumentError, match="Output cannot be written: .*name a file"):
            check_writable(path, "Output")
    assert not os.listdir(tmp_path)


def test_devices_and_pipes_are_refused_and_stay(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path(os.devnull)):
        kind = stat.S_IFMT(path.stat().st_mode)
        with pytest.raises(ArgumentError, match="it is a device or a pipe"):
            write_text(path, "text")
        with pytest.raises(ArgumentError, match="it is a device or a pipe; name a file"):
            check_writable(path, "Output")
        with pytest.raises(OSError, match="device"), replacing(path):
            raise AssertionError("nothing is written")
        assert stat.S_IFMT(path.stat().st_mode) == kind


def test_links_are_written_through(tmp_path):
    (tmp_path / "folder").mkdir()
    for there in (True, False):
        target = tmp_path / "folder" / f"target {there}.txt"
        if there:
            target.write_text("old")
        link = tmp_path / f"link {there}.txt"
        link.symlink_to(target)
        write_text(link, "new")
        assert link.is_symlink() and target.read_text() == "new"
        with replacing(link) as part:
            part.write_text("newer")
        assert link.is_symlink() and target.read_text() == "newer"


def test_permissions_of_an_old_file_are_kept(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    for mode in (0o600, 0o640):
        path.chmod(mode)
        write_text(path, "new")
        assert stat.S_IMODE(path.stat().st_mode) == mode


def test_what_a_killed_process_left_is_cleared(tmp_path):
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    left = tmp_path / f".a.txt.{done.stdout.strip()}-abc.part"
    own = tmp_path / f".b.txt.{os.getpid()}-abc.part"
    other = tmp_path / ".a.txt.part"
    for folder in (left, own, other):
        folder.mkdir()
        (folder / "half").write_text("x")
    write_text(tmp_path / "a.txt", "text")
    assert not left.exists() and own.exists() and other.exists()


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
