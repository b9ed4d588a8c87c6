"""Rounds carried to sites and back: what all ways share, and files in a folder.

Questions of a `sites.desk.RoundDesk` enter at the coordinator, answers leave. A `Carrier` makes
one round for each site of them, and checks what comes back; how it travels is another's work
(`FolderCarrier` here, `sites.flower`).

In a folder that the coordinator and the sites see, or by hand, rounds are files
`SITE.round_N.json`, and answers are read from `SITE.answer_N.json`. Either somebody brings the
files to the sites and back (then the coordinator stops after every round, and goes on when it is
started again), or all see one folder (then it waits for the answers). An answer names the checksum
of its round, so that an old one is refused.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from conjoin.errors import ReadError, RoundsNeededError, SilentSitesError
from conjoin.models.remote_glm import Arrays, Ask
from conjoin.result.checked import Fault
from conjoin.result.document import checksum
from conjoin.sites.document import ANSWER, ROUND, read_document, write_document
from conjoin.sites.rounds import (
    Frame,
    answers_of,
    check_answer_content,
    check_round_content,
    questions_of,
    round_to_plain,
)
from conjoin.text import listed, quoted

PAUSE = 0.2  # seconds between two looks into the folder
# Rounds that a partition takes with its ledger of joins: about 20 on the tables of the tests.
USUAL_ROUNDS = 20


def round_path(folder: Path, site: str, number: int) -> Path:
    """Return the path of a round for one site."""
    return folder / f"{site}.round_{number}.json"


def answer_path(folder: Path, site: str, number: int) -> Path:
    """Return the path of a site's answer to a round."""
    return folder / f"{site}.answer_{number}.json"


def refused_path(folder: Path, site: str, number: int) -> Path:
    """Return the path of the note that a site did not answer a round."""
    return folder / f"{site}.refused_{number}.txt"


class Carrier(ABC):
    """What brings rounds to the sites, and their answers back.

    Parameters
    ----------
    frame : Frame
        What all questions share.
    sites : mapping of dataset to site
    folds : mapping of dataset to number of its folds
    """

    def __init__(self, frame: Frame, sites: Mapping[str, str], folds: Mapping[str, int]) -> None:
        self.frame, self.sites, self.folds = frame, dict(sites), dict(folds)
        self.rounds = 0

    def earlier(self) -> list[tuple[Ask, Arrays]]:
        """Return questions that were answered before, and the answers."""
        return []

    def __call__(self, asked: list[Ask]) -> list[Arrays]:
        """Bring one round to the sites, and return the answers in the order of the questions."""
        number = self.rounds + 1
        by_site: dict[str, list[Ask]] = {}
        for one in asked:
            by_site.setdefault(self.sites[one.dataset], []).append(one)
        contents = {
            site: round_to_plain(self.frame, site, number, some) for site, some in by_site.items()
        }
        answers = self.exchange(contents, number)
        found: dict[Any, Arrays] = {}
        for site, some in by_site.items():
            name, content = answers[site]
            parts = self.understood(name, site, content, contents[site], some)
            found |= {one.key: part for one, part in zip(some, parts)}
        self.rounds = number
        return [found[one.key] for one in asked]

    @abstractmethod
    def exchange(
        self, contents: Mapping[str, dict[str, Any]], number: int
    ) -> dict[str, tuple[str, dict[str, Any]]]:
        """Bring a round to each site; return for each the name and the content of its answer."""

    def understood(
        self, name: str, site: str, found: Any, content: dict[str, Any], asked: Sequence[Ask]
    ) -> list[Arrays]:
        """Return the answers of one site to a round, if they are answers to this one."""
        if found["site"] != site or found["round_checksum"] != checksum(content):
            raise ReadError(
                f"Answer {name!r} is of site {found['site']!r} to another round than round "
                f"{content['round']} of site {site!r}; ask the site to answer this round."
            )
        try:
            return answers_of(found, asked, self.frame, self.folds)
        except Fault as error:
            raise ReadError(
                f"Answer {name!r} cannot be used: {error.sentence}; {ANSWER.advice}."
            ) from None


class FolderCarrier(Carrier):
    """Rounds as files in a folder.

    Parameters
    ----------
    folder : Path
    frame, sites, folds
        As for `Carrier`.
    wait : float
        Seconds to wait for the answers of a round; with 0 the work stops after writing it.
    """

    def __init__(
        self,
        folder: Path,
        frame: Frame,
        sites: Mapping[str, str],
        folds: Mapping[str, int],
        wait: float = 0.0,
    ) -> None:
        super().__init__(frame, sites, folds)
        self.folder, self.wait = folder, wait

    def earlier(self) -> list[tuple[Ask, Arrays]]:
        """Return the questions of earlier rounds that all sites have answered, and the answers.

        Rounds that a site has not answered are asked again under the same number.
        """
        known: list[tuple[Ask, Arrays]] = []
        while True:
            number = self.rounds + 1
            there = [one for one in self._all_sites() if self._round(one, number).exists()]
            if not there or self._silent(there, number):
                return known
            for site in there:
                content = read_document(self._round(site, number), ROUND, check_round_content)
                if content["plan_checksum"] != self.frame.plan.checksum:
                    raise ReadError(
                        f"File {self._round(site, number).name!r} is a round of another plan; "
                        "remove the rounds and answers of the other study from the folder."
                    )
                asked = questions_of(content)
                name, found = self._answer(site, number)
                known += zip(asked, self.understood(name, site, found, content, asked))
            self.rounds = number

    def exchange(
        self, contents: Mapping[str, dict[str, Any]], number: int
    ) -> dict[str, tuple[str, dict[str, Any]]]:
        """Write a round for each site, wait for the answers, and read them."""
        for site, content in contents.items():
            refused_path(self.folder, site, number).unlink(missing_ok=True)  # it is asked again
            self._publish(site, number, content)
        self._await(list(contents), number)
        return {site: self._answer(site, number) for site in contents}

    def _publish(self, site: str, number: int, content: dict[str, Any]) -> None:
        """Write a round, unless the same one is there; an answer to another one is removed."""
        path, old = self._round(site, number), answer_path(self.folder, site, number)
        if path.exists():
            try:
                if read_document(path, ROUND, check_round_content) == content:
                    return
            except ReadError:
                pass
        old.unlink(missing_ok=True)
        write_document(path, ROUND, content)

    def _await(self, sites: Sequence[str], number: int) -> None:
        """Wait for answers; raise an error that says what to do if they do not come."""
        end = time.monotonic() + self.wait
        while silent := self._silent(sites, number):
            if not self.wait:
                raise RoundsNeededError(self._needed(silent, number))
            refused = [one for one in silent if refused_path(self.folder, one, number).exists()]
            if refused:
                raise SilentSitesError(
                    f"Sites {quoted(refused)} refused round {number}, for a reason that only they "
                    "see; ask them, or leave them out with --without "
                    f"{refused[0]}."
                )
            if time.monotonic() > end:
                raise SilentSitesError(
                    f"Sites {quoted(silent)} did not answer round {number} within {self.wait:g} "
                    "seconds; wait longer with --wait, or leave them out with --without "
                    f"{silent[0]}."
                )
            time.sleep(PAUSE)

    def _needed(self, silent: Sequence[str], number: int) -> str:
        site = silent[0]
        left = USUAL_ROUNDS - number
        more = f"about {left} rounds are left" if left > 1 else "a few more rounds may follow"
        return (
            f"Round {number} is written for {len(silent)} sites ({listed(silent)}); {more}. "
            f"Every site answers its file, such as: conjoin site answer TABLE "
            f"--plan plan.json --name {site} --round {self._round(site, number).name} -o "
            f"{answer_path(self.folder, site, number).name}. Put the answers beside the rounds and "
            "run the same command again. With a folder that all sites see, --wait 600 does all "
            "rounds in one go."
        )

    def _answer(self, site: str, number: int) -> tuple[str, dict[str, Any]]:
        """Return the name and the content of a site's answer."""
        path = answer_path(self.folder, site, number)
        return path.name, read_document(path, ANSWER, check_answer_content)

    def _silent(self, sites: Sequence[str], number: int) -> list[str]:
        return [one for one in sites if not answer_path(self.folder, one, number).exists()]

    def _all_sites(self) -> list[str]:
        return list(dict.fromkeys(self.sites.values()))

    def _round(self, site: str, number: int) -> Path:
        return round_path(self.folder, site, number)
