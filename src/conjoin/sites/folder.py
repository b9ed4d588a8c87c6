"""Files of a study: which of the paths that a user names are files of sites.

Paths, patterns or a folder enter; `SiteFiles` leave, or None if the data are something else.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import Any

from conjoin.errors import ReadError
from conjoin.sites.carry import Carrier, FolderCarrier
from conjoin.sites.document import EXPORT, kind_of
from conjoin.sites.plan import Plan
from conjoin.sites.receive import Received, receive
from conjoin.sites.rounds import Frame

SUFFIX = ".json"
ROUND_NAME = re.compile(r"\.round_(\d+)\.json$")


class Study(ABC):
    """What sites sent, and a way to ask them more; `conjoin.partition` takes it as data."""

    @property
    @abstractmethod
    def plan(self) -> Plan:
        """The plan that the sites were asked with."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """What a result says that it was made of."""

    @property
    @abstractmethod
    def rounds(self) -> int:
        """Rounds that the sites were asked so far; 0 for targets that are numbers."""

    @abstractmethod
    def receive(self) -> Received:
        """Return what the sites exported."""

    @abstractmethod
    def carrier(self, frame: Frame, sites: Mapping[str, str], folds: Mapping[str, int]) -> Carrier:
        """Return what brings rounds to the sites; `sites` and `folds` are those of datasets."""


@dataclass(frozen=True)
class SiteFiles(Study):
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

    @property
    def names(self) -> list[str]:
        """Names of the files, without their folders."""
        return [path.name for path in self.exports]

    @property
    def rounds(self) -> int:
        """Rounds whose files are in the folder."""
        found = (ROUND_NAME.search(path.name) for path in self.folder.glob("*.round_*.json"))
        return max((int(one[1]) for one in found if one), default=0)

    def receive(self) -> Received:
        """Read the files of the sites."""
        return receive(self.exports).without(self.without)

    def carrier(
        self, frame: Frame, sites: Mapping[str, str], folds: Mapping[str, int]
    ) -> FolderCarrier:
        """Return what writes rounds into the folder, and reads the answers."""
        return FolderCarrier(self.folder, frame, sites, folds, self.wait)


def as_study(data: Any) -> Study | None:
    """Return the study that data are or name; None if data are something else.

    Raises
    ------
    ReadError
        If some of the files are of sites and others are not.
    """
    if isinstance(data, Study):
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
    found = as_study(data)
    if not isinstance(found, SiteFiles):
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
