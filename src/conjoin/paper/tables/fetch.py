"""Sets of the paper that the UCI repository offers through its package `ucimlrepo`.

A folder enters; the sets that it lacks are downloaded into it, and their paths leave.
"""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from conjoin.errors import ReadError
from conjoin.paper.tables.sets import PAGE, SETS

# Number of each set at UCI. BB was made from UCI's 275 with other dates and units: not here.
UCI = {"SBSD": 560, "MITV": 492, "PPGE": 597}


def fetch_sets(folder: Path) -> Iterator[Path]:
    """Download the sets that are not in the folder yet; yield each file written."""
    for name, number in UCI.items():
        (candidates,) = SETS[name].files.values()
        if any((folder / candidate).is_file() for candidate in candidates):
            continue
        path = folder / candidates[-1]
        path.parent.mkdir(parents=True, exist_ok=True)
        _fetch(name, number).to_csv(path, index=False)
        yield path


def _fetch(name: str, number: int):  # type: ignore[no-untyped-def] # a pandas frame
    try:
        package = import_module("ucimlrepo")
    except ImportError:
        raise ReadError(
            f"Set {name} needs the package ucimlrepo, which is not installed; run pip install "
            f"ucimlrepo, or download the file yourself ({PAGE})."
        ) from None
    try:
        return package.fetch_ucirepo(id=number).data.original
    except Exception as error:  # the package raises errors of many kinds without a network
        raise ReadError(
            f"Set {name} (number {number} at UCI) could not be downloaded: {error}; check the "
            f"network, or download the file yourself ({PAGE})."
        ) from None
