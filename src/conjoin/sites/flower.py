"""Sites that run Flower: the same requests and answers as in a folder, as Flower's messages.

`client_app` makes the app of the sites, and `server_app` that of the coordinator; `open_grid` is
for those who write their own. Documents are those of the folder (`sites.document`), as text in a
message, and the disclosure rules are the same: sums are exported by `sites.export`, rounds are
answered by `sites.serve`.

A site says in the configuration of its SuperNode where its rows are and which plan its data officer
has read. It answers requests of this plan only. What goes wrong at a site is printed there and does
not travel: Flower sends the text of an exception to the coordinator, and it may hold small counts.
"""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conjoin.errors import (
    ArgumentError,
    ConjoinError,
    DataError,
    ReadError,
    SilentSitesError,
    warn_caller,
)
from conjoin.sites.carry import PAUSE, Carrier
from conjoin.sites.document import ANSWER, EXPORT, ROUND, document_text, read_text
from conjoin.sites.export import export
from conjoin.sites.folder import Study
from conjoin.sites.ledger import Ledger
from conjoin.sites.plan import Plan, load_plan
from conjoin.sites.receive import Received, receive_texts
from conjoin.sites.rounds import Frame, check_answer_content, check_round_content
from conjoin.sites.rows import read_rows
from conjoin.sites.rules import Rules
from conjoin.sites.serve import answer_content
from conjoin.text import quoted

# What a SuperNode's configuration may hold.
SITE_KEYS = ("table", "name", "plan", "by", "ledger", "min-rows")
# What a run's configuration may hold, with what is taken where it is silent.
RUN_KEYS = {"plan": "", "sites": 2, "wait": 600.0, "without": "", "save": "", "report": ""}
RECORD = "conjoin"  # the record of a message that holds the document
REFUSED = "The site did not answer; its own log says why."


def _flower() -> Any:
    """Return Flower's parts.

    Raises
    ------
    ArgumentError
        If Flower is not installed.
    """
    try:
        import flwr.app
        import flwr.clientapp
        import flwr.serverapp
    except ImportError:
        raise ArgumentError(
            "Rounds over Flower need Flower; install it with: pip install conjoin[flower]"
        ) from None
    return flwr


# --- at a site -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class FlowerSite:
    """A site behind a SuperNode.

    Parameters
    ----------
    table : str
        The site's rows: a file or a database.
    name : str
        Name of the site.
    plan : str
        The plan that the site agreed to; requests of another one are refused.
    by : str, optional
        Column that names the datasets of a site with several.
    ledger : str, optional
        Folder of the site's own register of exports; by default that of the table.
    rules : Rules, optional
        The site's own rules, where they are stricter than the plan's.
    """

    table: str
    name: str
    plan: str
    by: str | None = None
    ledger: str | None = None
    rules: Rules | None = None

    @classmethod
    def of_config(cls, config: Mapping[str, Any]) -> "FlowerSite":
        """Return the site that a SuperNode's configuration describes.

        >>> site = FlowerSite.of_config({"table": "rows.csv", "name": "a", "plan": "plan.json"})
        >>> site.name, site.folder()
        ('a', PosixPath('.'))
        """
        missing = [key for key in ("table", "name", "plan") if not config.get(key)]
        if missing:
            raise ArgumentError(
                f"The SuperNode's configuration lacks {quoted(missing)}; expected --node-config "
                '\'table="rows.csv" name="clinic_3" plan="plan.json"\'.'
            )
        rows = config.get("min-rows")
        return cls(
            str(config["table"]),
            str(config["name"]),
            str(config["plan"]),
            config.get("by") or None,
            config.get("ledger") or None,
            None if rows is None else Rules(rows=int(rows)),
        )

    def folder(self) -> Path:
        """Return where the ledger is."""
        if self.ledger is None and "://" in self.table:
            raise ArgumentError("A database has no folder for the ledger; name one: ledger=...")
        return Path(self.ledger) if self.ledger else Path(self.table).parent

    def export(self, checksum: str) -> str:
        """Return the site's sums as text; `checksum` names the plan that is asked for."""
        found = export(
            self.table, self._agreed(checksum), self.name, by=self.by, rules=self.rules,
            ledger=self.folder(),
        )  # fmt: skip
        found.record("sent by Flower")
        return document_text(EXPORT, found.content)

    def answer(self, text: str) -> str:
        """Return the answer to a round, both as text."""
        content = read_text(text, "round", ROUND, check_round_content)
        plan = self._agreed(content["plan_checksum"])
        rows = read_rows(self.table, plan, self.name, self.by, self.rules)
        return document_text(ANSWER, answer_content(rows, content, Ledger.open(self.folder()))[0])

    def _agreed(self, checksum: str) -> Plan:
        """Return the site's plan, if it is the one that is asked for."""
        plan = load_plan(self.plan)
        if plan.checksum != checksum:
            raise DataError(
                f"The request belongs to another plan than {self.plan!r}; read the new plan, and "
                "name it in the SuperNode's configuration."
            )
        return plan


def client_app(
    describe: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict,
) -> Any:
    """Return the Flower `ClientApp` of a site.

    It answers "query.export" with the site's sums, and "query.answer" with the answer to a round.

    Parameters
    ----------
    describe : callable, optional
        Makes the description of a site (`FlowerSite`) from a SuperNode's configuration; by default
        they are the same. In a simulation, nodes have a "partition-id" only.

    Returns
    -------
    flwr.clientapp.ClientApp

    Raises
    ------
    ArgumentError
        If Flower is not installed.
    """
    flwr = _flower()
    app = flwr.clientapp.ClientApp()

    def reply(message: Any, context: Any, act: Callable[[FlowerSite, str], str]) -> Any:
        found = respond(describe(context.node_config), message.content[RECORD]["text"], act)
        record = flwr.app.ConfigRecord(found)
        return flwr.app.Message(flwr.app.RecordDict({RECORD: record}), reply_to=message)

    def send_sums(message: Any, context: Any) -> Any:
        return reply(message, context, FlowerSite.export)

    def answer_round(message: Any, context: Any) -> Any:
        return reply(message, context, FlowerSite.answer)

    app.query("export")(send_sums)
    app.query("answer")(answer_round)
    return app


def respond(
    config: Mapping[str, Any], text: str, act: Callable[[FlowerSite, str], str]
) -> dict[str, Any]:
    """Return what leaves a site: its name, and a document or the fact that there is none.

    Whatever goes wrong is printed at the site: sentences can hold small counts, and those of other
    libraries even values.
    """
    name = str(config.get("name", ""))
    try:
        return {"site": name, "text": act(FlowerSite.of_config(config), text), "refused": ""}
    except ConjoinError as error:
        print(f"Site {name!r} does not answer. {error}", file=sys.stderr, flush=True)
    except Exception as error:
        print(f"Site {name!r} cannot answer: {error!r}", file=sys.stderr, flush=True)
    return {"site": name, "text": "", "refused": REFUSED}


# --- at the coordinator --------------------------------------------------------------------------


class Post:
    """Documents to nodes of a grid, and what they reply.

    Parameters
    ----------
    grid : flwr.serverapp.Grid
    wait : float
        Seconds to wait for replies.
    """

    def __init__(self, grid: Any, wait: float) -> None:
        self.grid, self.wait, self.flwr = grid, wait, _flower()
        self.rounds = 0

    def nodes(self, sites: int) -> list[int]:
        """Return the nodes, when so many are connected; fewer if they do not come in time."""
        end = time.monotonic() + self.wait
        while len(found := sorted(self.grid.get_node_ids())) < sites and time.monotonic() < end:
            time.sleep(PAUSE)
        return found

    def ask(self, action: str, texts: Mapping[int, str]) -> dict[int, dict[str, str]]:
        """Send a text to each node; return what those reply that do in time."""
        app = self.flwr.app
        messages = [
            app.Message(
                app.RecordDict({RECORD: app.ConfigRecord({"text": text})}),
                dst_node_id=node,
                message_type=f"query.{action}",
            )
            for node, text in texts.items()
        ]
        found: dict[int, dict[str, str]] = {}
        for one in self.grid.send_and_receive(messages, timeout=self.wait):
            node = int(one.metadata.src_node_id)
            if not one.has_content():  # the SuperNode failed before conjoin was asked
                found[node] = {"site": "", "text": "", "refused": REFUSED}
                continue
            record = one.content[RECORD]
            found[node] = {key: str(record[key]) for key in ("site", "text", "refused")}
        return found


class GridCarrier(Carrier):
    """Rounds as messages; parameters as for `Carrier`, and the node of each site."""

    def __init__(
        self,
        post: Post,
        nodes: Mapping[str, int],
        frame: Frame,
        sites: Mapping[str, str],
        folds: Mapping[str, int],
    ) -> None:
        super().__init__(frame, sites, folds)
        self.post, self.nodes = post, nodes

    def exchange(
        self, contents: Mapping[str, dict[str, Any]], number: int
    ) -> dict[str, tuple[str, dict[str, Any]]]:
        """Send a round to each site, and return the answers."""
        texts = {self.nodes[site]: document_text(ROUND, one) for site, one in contents.items()}
        replies = self.post.ask("answer", texts)
        self.post.rounds = max(number, self.post.rounds)
        silent = [site for site in contents if not replies.get(self.nodes[site], {}).get("text")]
        if silent:
            raise SilentSitesError(
                f"Sites {quoted(silent)} did not answer round {number} within {self.post.wait:g} "
                f"seconds, or refused it; see their logs, or leave them out: without={silent!r}."
            )
        name = f"answer to round {number}"
        return {
            site: (name, read_text(replies[self.nodes[site]]["text"], name, ANSWER,
                                   check_answer_content))
            for site in contents
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class GridStudy(Study):
    """Sites behind a grid of Flower: data for `conjoin.partition`.

    Parameters
    ----------
    asked : Plan
        What the sites were asked for.
    post : Post
    texts : mapping of site to str
        What the sites exported.
    nodes : mapping of site to int
        The node of each site.
    without : tuple of str
        Sites to leave out.
    """

    asked: Plan
    post: Post
    texts: Mapping[str, str]
    nodes: Mapping[str, int]
    without: tuple[str, ...] = ()

    @property
    def plan(self) -> Plan:
        """The plan that the sites were asked with."""
        return self.asked

    @property
    def names(self) -> list[str]:
        """The sites."""
        return sorted(self.texts)

    @property
    def rounds(self) -> int:
        """Rounds that the sites were asked."""
        return self.post.rounds

    def receive(self) -> Received:
        """Return what the sites exported."""
        found = receive_texts(self.texts)
        if found.plan.checksum != self.asked.checksum:
            raise ReadError("The sites exported with another plan than they were asked for.")
        return found.without(self.without)

    def carrier(
        self, frame: Frame, sites: Mapping[str, str], folds: Mapping[str, int]
    ) -> GridCarrier:
        """Return what sends rounds to the sites."""
        return GridCarrier(self.post, self.nodes, frame, sites, folds)


def open_grid(
    grid: Any,
    plan: Plan,
    *,
    sites: int = 2,
    wait: float = 600.0,
    without: Sequence[str] = (),
    leave_out: bool = False,
) -> GridStudy:
    """Ask all sites behind a grid for their sums; the result is data for `conjoin.partition`.

    Parameters
    ----------
    grid : flwr.serverapp.Grid
        What a Flower `ServerApp` gets.
    plan : Plan
        What is asked for; each site must have agreed to the same plan.
    sites : int, default 2
        Number of sites to wait for.
    wait : float, default 600
        Seconds to wait for the sites, and for the answers to each round.
    without : list of str
        Sites to leave out.
    leave_out : bool, default False
        Whether to go on, with a warning, without sites that do not answer.

    Returns
    -------
    GridStudy

    Raises
    ------
    SilentSitesError
        If sites did not come or did not answer, and `leave_out` is False.
    ReadError
        If two nodes have the same site.
    """
    post = Post(grid, float(wait))
    nodes = post.nodes(sites)
    replies = post.ask("export", {node: plan.checksum for node in nodes})
    texts: dict[str, str] = {}
    places: dict[str, int] = {}
    silent = ["a site that is not connected"] * (sites - len(nodes))
    for node in nodes:
        found = replies.get(node, {"site": "", "text": ""})
        site = found["site"]
        if not found["text"]:
            silent.append(f"site {site!r}" if site else f"node {node}")
        elif site in texts:
            raise ReadError(f"Two nodes are of site {site!r}; give each site a name of its own.")
        else:
            texts[site], places[site] = found["text"], node
    sentence = f"No sums came within {wait:g} seconds from: {', '.join(silent)}."
    if silent and (not leave_out or not texts):
        raise SilentSitesError(
            f"{sentence} See the log of the site, wait longer, or go on without: leave_out=True."
        )
    if silent:
        warn_caller(f"{sentence} The result is made without.")
    return GridStudy(plan, post, texts, places, tuple(without))


def server_app(decide: Callable[[GridStudy], Any], usual: Mapping[str, Any] | None = None) -> Any:
    """Return the Flower `ServerApp` of a coordinator.

    Parameters
    ----------
    decide : callable
        Makes a result from a study: `conjoin.partition`, perhaps with options.
    usual : mapping, optional
        What is taken for keys that the configuration of the run does not have.

    Returns
    -------
    flwr.serverapp.ServerApp
        The configuration of its run names "plan", and if wanted "sites" (number of them), "wait"
        (seconds), "without" (names with commas), "save" and "report" (files to write).

    Raises
    ------
    ArgumentError
        If Flower is not installed.
    """
    app = _flower().serverapp.ServerApp()

    def main(grid: Any, context: Any) -> None:
        asked = {**RUN_KEYS, **(usual or {}), **context.run_config}
        if not asked["plan"]:
            raise ArgumentError("The run's configuration lacks 'plan', the path of the plan.")
        names = [one.strip() for one in str(asked["without"]).split(",") if one.strip()]
        study = open_grid(
            grid,
            load_plan(str(asked["plan"])),
            sites=int(asked["sites"]),
            wait=float(asked["wait"]),
            without=names,
        )
        result = decide(study)
        print(result, flush=True)
        if asked["save"]:
            result.save(str(asked["save"]), evidence=True)
        if asked["report"]:
            result.report(str(asked["report"]))
        if study.rounds:
            print(f"The sites answered {study.rounds} rounds.", flush=True)

    app.main()(main)
    return app
