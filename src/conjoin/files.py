"""Files that are written completely or not at all.

A path enters, and a text or whatever the caller writes. The new file stands, and is on the disk,
when the call returns. An error, an interruption or a kill leaves the old file or the new one, but
never half of one. Links are written through, permissions are kept, and what is no regular file (a
folder, a device, a pipe) is refused, never replaced.
"""

import errno
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from conjoin.errors import ArgumentError

# A folder for files in the making: it names the process, so that what a kill left is recognised.
MAKING = re.compile(r"\..*\.(\d+)-\w+\.part")
# What a full or broken disk says only when a file is brought to it: the file is not whole then.
LOST = tuple(getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EIO") if hasattr(errno, name))


def path_of(path: object, what: str) -> Path:
    """Return the path of a file; `what` names it in the message if there is none."""
    if isinstance(path, (str, os.PathLike)):
        with suppress(UnicodeEncodeError):
            if b"\0" not in os.fsencode(path):
                return Path(path)
    raise ArgumentError(f"{what}={path!r} is no file; expected a name such as 'stores.json'.")


def check_writable(path: Path, what: str) -> None:
    """Raise an error if a file can surely not be written; `what` names it in the message."""
    target = _target_of(path)
    fault = _fault_of(target)
    if fault:
        raise ArgumentError(f"{what} cannot be written: {fault}; name a file.")
    if not target.parent.is_dir():
        raise ArgumentError(f"{what} cannot be written: name a file in a folder that exists.")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; at the end rename the file there to `path`.

    The path is in a temporary folder on the same disk, so the rename is one step. The folder is
    removed in any case. A new file gets the permissions of any new file.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    target = _target_of(path)
    _refuse(target)
    with _workshop(target) as folder:
        part = folder / path.name
        yield part
        _finish(part, target)
        part.replace(target)
        _sync(target.parent)


def write_text(path: Path, text: str) -> None:
    """Write a text to a file, completely or not at all.

    Raises
    ------
    ArgumentError
        If the file cannot be written.
    """
    write_together({path: text.encode("utf-8", errors="surrogatepass")})


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write files of one folder, all of them completely or none at all.

    Raises
    ------
    ArgumentError
        If a file cannot be written.
    """
    path = list(files)[-1]
    try:
        targets = [_target_of(one) for one in files]
        for target in targets:
            _refuse(target)
        with _workshop(targets[-1]) as folder:
            for number, (target, data) in enumerate(zip(targets, files.values())):
                part = folder / f"{number}.new"
                part.write_bytes(data)
                _finish(part, target)
            _replace_all(targets, folder)
            _sync(targets[-1].parent)
    except OSError as error:
        raise ArgumentError(
            f"{str(path)!r} cannot be written ({error.strerror}); name a file in a folder that "
            "exists and that you may write to."
        ) from None


def _target_of(path: Path) -> Path:
    """Return the file that a path stands for: links are followed."""
    return Path(os.path.realpath(path))


def _fault_of(target: Path) -> str:
    """Return why a path is not for a file, in words; empty if it is."""
    try:
        mode = target.stat().st_mode
    except OSError:
        return ""
    if stat.S_ISREG(mode):
        return ""
    return "it is a folder" if stat.S_ISDIR(mode) else "it is a device or a pipe"


def _refuse(target: Path) -> None:
    """Raise an error if something other than a regular file would be replaced."""
    fault = _fault_of(target)
    if fault:
        raise OSError(0, fault)


@contextmanager
def _workshop(target: Path) -> Iterator[Path]:
    """Yield a temporary folder beside a file; remove it, and what killed processes left."""
    parent = target.parent
    _clear(parent)
    prefix = f".{target.name[:100]}.{os.getpid()}-"
    with tempfile.TemporaryDirectory(dir=parent, prefix=prefix, suffix=".part") as folder:
        yield Path(folder)


def _clear(parent: Path) -> None:
    """Remove the folders of processes that no longer exist."""
    with suppress(OSError):
        for entry in os.scandir(parent):
            found = MAKING.fullmatch(entry.name)
            if found and not _exists(int(found[1])):
                shutil.rmtree(entry.path, ignore_errors=True)


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it belongs to somebody else
        return True
    return True


def _finish(part: Path, target: Path) -> None:
    """Give a new file the permissions and owner of the old one, and bring it to the disk."""
    with suppress(OSError):
        old = target.stat()
        os.chmod(part, stat.S_IMODE(old.st_mode))
        if hasattr(os, "chown") and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
            os.chown(part, old.st_uid, old.st_gid)
    _sync(part)


def _sync(path: Path) -> None:
    """Bring a file or folder to the disk; some file systems cannot, and that is no error."""
    try:
        number = os.open(path, os.O_RDONLY)
    except OSError:  # a folder that may be written to, but not read
        return
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno in LOST:
            raise
    finally:
        os.close(number)


def _replace_all(paths: Sequence[Path], folder: Path) -> None:
    """Rename the new files in a folder to their paths; after an error bring the old ones back."""
    new = [folder / f"{number}.new" for number in range(len(paths))]
    old = [folder / f"{number}.old" for number in range(len(paths))]
    try:
        for number, path in enumerate(paths):
            # The last file is replaced in one step: with it all are there.
            if number < len(paths) - 1 and path.exists():
                _keep(path, old[number])
            new[number].replace(path)
    except BaseException:
        if new[-1].exists():
            for number, path in enumerate(paths):
                if old[number].exists():
                    old[number].replace(path)
                elif not new[number].exists():
                    path.unlink(missing_ok=True)
        raise


def _keep(path: Path, copy: Path) -> None:
    """Keep a file under a second name; it stays where it is, so that a kill loses nothing."""
    try:
        os.link(path, copy)
    except OSError:  # the file system has no hard links
        shutil.copy2(path, copy)
