"""A site that answers rounds: one file at a time, or all that appear in a folder.

The path of a round enters, an answer is written. Before that the site's ledger learns how many
numbers leave, and the disclosure rules are checked with all earlier rounds (`sites.rounds`).
"""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conjoin.errors import ConjoinError, ReadError
from conjoin.files import write_text
from conjoin.sites.carry import PAUSE, answer_path, refused_path
from conjoin.sites.document import ANSWER, ROUND, read_document, write_document
from conjoin.sites.ledger import Ledger
from conjoin.sites.rounds import answer_round, check_round_content
from conjoin.sites.rows import SiteRows, refuse


def answer_file(rows: SiteRows, path: str | Path, output: str | Path, ledger: Ledger) -> Ledger:
    """Answer a round, and return the ledger with what was sent.

    Parameters
    ----------
    rows : SiteRows
        The site's rows, as the plan reads them (`sites.rows.read_rows`).
    path : path
        The round.
    output : path
        The answer to write.
    ledger : Ledger
        The site's register of what has left.

    Raises
    ------
    ReadError
        If the round cannot be read.
    DataError
        If it is for another site or plan, or if the answer would disclose rows.
    """
    found, ledger = answer_content(rows, read_document(path, ROUND, check_round_content), ledger)
    write_document(output, ANSWER, found)
    return ledger


def answer_content(
    rows: SiteRows, content: dict[str, Any], ledger: Ledger
) -> tuple[dict[str, Any], Ledger]:
    """Return the answer to the checked content of a round, and the ledger that knows of it.

    Raises
    ------
    DataError
        If it is for another site or plan, or if the answer would disclose rows.
    """
    plan = rows.plan.checksum
    # A row that was added since the export would be the difference of two answers.
    refuse(ledger.compare(rows.leaving(), rows.rules, rows.identity))
    found, count = answer_round(rows, content, ledger.numbers(plan))
    # The ledger is written first: what it does not know must not leave.
    return found, ledger.record_round(plan, count)


def serve(
    rows: SiteRows,
    folder: str | Path,
    ledger: Ledger,
    *,
    idle: float = 600.0,
    tell: Callable[[str], Any] = lambda sentence: None,
) -> int:
    """Answer all rounds for a site that appear in a folder, and return how many there were.

    Parameters
    ----------
    rows : SiteRows
    folder : path
        A folder that the coordinator sees too.
    ledger : Ledger
    idle : float, default 600
        Seconds without a new round after which the site stops.
    tell : callable
        Called with a sentence for every round.

    Raises
    ------
    ConjoinError
        If a round cannot be answered. The reason is written to the folder too, without numbers.
    """
    place, done = Path(folder), 0
    if not place.is_dir():
        raise ReadError(f"Folder {str(place)!r} does not exist; check the path.")
    last = time.monotonic()
    while time.monotonic() - last < idle:
        for number, path in open_rounds(place, rows.site):
            try:
                ledger = answer_file(rows, path, answer_path(place, rows.site, number), ledger)
            except ConjoinError:
                # The sentence may hold small counts, so only the fact leaves.
                refused = refused_path(place, rows.site, number)
                write_text(refused, "The site did not answer.\n")
                raise
            done, last = done + 1, time.monotonic()
            tell(f"Round {number} answered.")
        time.sleep(PAUSE)
    return done


def open_rounds(folder: Path, site: str) -> list[tuple[int, Path]]:
    """Return the rounds for a site that have no answer yet, by number."""
    name = re.compile(re.escape(site) + r"\.round_(\d+)\.json")
    found = []
    for path in folder.iterdir():
        match = name.fullmatch(path.name)
        if match and not answer_path(folder, site, int(match[1])).exists():
            found.append((int(match[1]), path))
    return sorted(found)
