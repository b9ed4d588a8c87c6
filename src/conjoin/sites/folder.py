"""Files of a study: which of the paths that a user names are files of sites.

Paths, patterns or a folder enter; `SiteFiles` leave, or None if the data are something else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import Any

from conjoin.errors import ReadError
from conjoin.sites.document import EXPORT, kind_of
from conjoin.sites.plan import Plan
from conjoin.sites.receive import Received, receive

SUFFIX = ".json"


@dataclass(frozen=True)
class SiteFiles:
    """The files of a study, as `conjoin.partition` and `conjoin.compare` take them.

    Parameters
    ----------
    exports : tuple of Path
        Files that sites exported.
    without : tuple of str
        Sites to leave out.
    wait : float
        For classes and counts: seconds to wait for the sites' answers to a round; with 0 the work
        stops after every round.
    """

    exports: tuple[Path, ...]
    without: tuple[str, ...] = ()
    wait: float = 0.0

    @property
    def plan(self) -> Plan:
        """The plan of the first file; `receive` compares all of them."""
        return receive(self.exports[:1]).plan

    @property
    def folder(self) -> Path:
        """Where rounds and answers are: beside the first file."""
        return self.exports[0].parent

    def receive(self) -> Received:
        """Read the files of the sites."""
        return receive(self.exports).without(self.without)


def as_site_files(data: Any) -> SiteFiles | None:
    """Return the files of sites that data name; None if data are something else.

    Raises
    ------
    ReadError
        If some of the files are of sites and others are not.
    """
    if isinstance(data, SiteFiles):
        return data
    if isinstance(data, (str, Path)):
        data = [data]
    if not isinstance(data, Sequence) or not data:
        return None
    if not all(isinstance(one, (str, Path)) for one in data):
        return None
    paths = _paths([str(one) for one in data])
    kinds = {path: kind_of(path) for path in paths}
    if not any(kind == EXPORT for kind in kinds.values()):
        return None
    other = [path for path, kind in kinds.items() if kind is None]
    if other:
        raise ReadError(
            f"File {other[0].name!r} is no file of a site, but others are; name files of sites "
            "only, or tables only."
        )
    return SiteFiles(tuple(path for path in paths if kinds[path] == EXPORT))


def open_study(data: Any, *, wait: float = 0.0, without: Sequence[str] = ()) -> SiteFiles:
    """Return the files of a study, with what `conjoin.partition` needs to know besides.

    Parameters
    ----------
    data : path, or list of paths
        Files that sites exported, a pattern, or a folder of them.
    wait : float, default 0
        For classes and counts: seconds to wait for the answers to a round. With 0, a
        `RoundsNeededError` is raised after every round; the same call goes on when the answers are
        there.
    without : list of str
        Sites to leave out, for example because they do not answer.

    Returns
    -------
    SiteFiles

    Raises
    ------
    ReadError
        If data name no file of a site.
    """
    found = as_site_files(data)
    if found is None:
        raise ReadError(f"{data!r} names no file that a site exported; check the path.")
    return replace(found, wait=float(wait), without=tuple(without))


def _paths(named: Sequence[str]) -> list[Path]:
    """Return the JSON files that names, patterns and folders stand for; none if there are others.

    In a folder, files that are not of a study are passed over.
    """
    found: list[Path] = []
    for name in named:
        path = Path(name)
        if "://" in name or "::" in name:
            return []
        if path.is_dir():
            found += [one for one in sorted(path.glob(f"*{SUFFIX}")) if kind_of(one) is not None]
        elif path.suffix.lower() == SUFFIX:
            there = [path] if path.exists() else [Path(one) for one in sorted(glob(name))]
            found += there
        else:
            return []
    return list(dict.fromkeys(found))
