"""What the command line prints: readable on a terminal, plain elsewhere.

The dicts of `conjoin.report.facts` enter, printed tables and sentences leave. Names come from
files, so they are printed as text: no markup in them is followed.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from conjoin.cli.fitted import print_fitted
from conjoin.cli.words import with_options
from conjoin.report import wording
from conjoin.report.assignment import MODELS, assigned_note, assignment_facts, in_words
from conjoin.report.facts import comparison_facts, facts
from conjoin.report.joins import share_together
from conjoin.report.learners import bare_note, judged_note
from conjoin.report.ledger_notes import gain_note, ledger_notes
from conjoin.report.measure import Measure, error_text, measure_of
from conjoin.report.strategies import behind_note
from conjoin.result.values import NOT_JUDGED, THEORY
from conjoin.text import listed, printable

if TYPE_CHECKING:
    from conjoin.result.comparison import Comparison
    from conjoin.result.partition import Partition

# How much of a long result is printed: about three screens in all. --json prints everything.
MOST_STEPS_SHOWN = 12
MOST_CLUSTERS_SHOWN = 30
MOST_MEMBERS_SHOWN = 12
MOST_JOINED_SHOWN = 4
MOST_FEATURES_SHOWN = 8
MOST_SCORES_SHOWN = 12
MOST_COLUMNS_SHOWN = 4
BAR_WIDTH = 16  # characters: with it the table of strategies stays within PLAIN_WIDTH
NARROW_BAR = 8  # characters: with it the table stays within 80
PLAIN_WIDTH = 100  # characters of a line where the output is no terminal, such as a file
# Columns whose words stay whole while lines are wrapped; names may be folded inside a word.
WRAPPED = ("interval", "verdict", "decision and reason", "when resampled", "what was done")
HOLDS = " *"  # behind a verdict that holds after the adjustment for the number of joins
VERDICT_STYLES = {"join": "green", "apart": "red", "undecided": "yellow"}


def show_json(found: Mapping[str, Any]) -> None:
    """Print plain values as JSON."""
    print(json.dumps(found, indent=2, ensure_ascii=not _is_unicode(), allow_nan=False))


def show_partition(result: "Partition", *, columns: bool = False) -> None:
    """Print the verdict, clusters, ledger, strategies, cautions and, if asked, the columns."""
    console, found = _console(), facts(result, most_steps=MOST_STEPS_SHOWN)
    _show_notices(console, found["notices"])
    console.print(_text(found["verdict"], "bold"), soft_wrap=True)
    if "representation" in found:
        words = f"Features: {found['representation']['description']}."
        console.print(_text(words), soft_wrap=True)
    _section(console, "Clusters, one model each", _clusters(found))
    if found["stability"]:
        _notes(console, [found["stability"]["words"]])
    measure = measure_of(found["family"])
    lines = _ledger(found["ledger"], measure, learned=found["learner"] != "linear")
    _section(console, "Ledger of joins", lines)
    hidden = found["steps"] - len(found["ledger"])
    if hidden > 0:
        console.print(_text(f"... and {hidden:,} more steps; --json prints all."))
    _notes(console, ledger_notes(found["ledger"], measure, found["learner"]))
    bar = BAR_WIDTH if console.width >= PLAIN_WIDTH else NARROW_BAR
    _section(console, f"Strategies ('{found['strategy']}' is used)", _strategies(found, bar))
    _notes(console, [behind_note(measure), wording.clusters_note(found)])
    if "classes" in found:
        _show_scores(console, found)
    for caution in found["cautions"]:
        console.print(_text(f"Caution: {with_options(caution)}", "yellow"))
    if columns:
        table = _table("column", "what was done")
        for name, words in found["columns"].items():
            table.add_row(_text(name), _text(words))
        _section(console, "Columns", table)


def print_table(
    title: str, head: Sequence[str], lines: Sequence[Sequence[str]], right: Sequence[str]
) -> None:
    """Print lines of texts as a table; columns named in `right` hold numbers."""
    table = _table(*head, right=right)
    for line in lines:
        table.add_row(*(_text(text) for text in line))
    _section(_console(), title, table)


def print_text(text: str) -> None:
    """Print a sentence."""
    _console().print(_text(text, "bold"), soft_wrap=True)


def _show_notices(console: Console, notices: Sequence[str]) -> None:
    """Print what to know before the answer."""
    for notice in notices:
        console.print(_text(with_options(notice), "yellow"), soft_wrap=True)


def _notes(console: Console, notes: Sequence[str]) -> None:
    console.print(_text(" ".join(notes), "dim"))


def _show_scores(console: Console, found: Mapping[str, Any]) -> None:
    """Print how good the probabilities are."""
    if "scores" not in found:
        _notes(console, [wording.UNKNOWN_SCORES])
        return
    two = len(found["classes"]) == 2
    label = str(found["classes"][1])
    head = printable(f"share of {listed([label])}") if two else "most frequent"
    numbers = ("rows", "log loss", "Brier score", "AUC", head)
    table = _table("dataset", *numbers, right=numbers)
    for name, line in list(found["datasets"].items())[:MOST_SCORES_SHOWN]:
        scores = line["scores"]
        best = label if two else max(scores["shares"], key=lambda c: scores["shares"][c])
        words = f"{100 * scores['shares'][best]:.0f} %"
        words = words if two else f"{listed([best])}, {words}"
        texts = wording.score_texts(scores)
        table.add_row(_text(listed([name])), f"{scores['rows']:,}", *texts, _text(words))
    hidden = len(found["datasets"]) - MOST_SCORES_SHOWN
    if hidden > 0:
        table.add_row(f"... and {hidden:,} more")
    table.add_row(Text("mean of datasets", "bold"), "", *wording.score_texts(found["scores"]))
    _section(console, f"Probabilities on held-out rows ('{found['strategy']}' is used)", table)
    _notes(console, [wording.brier_note(len(found["classes"]))])


def columns_in_words(columns: Sequence[str]) -> str:
    """Return the names of written columns, the first few.

    >>> columns_in_words(["prediction"])
    "column 'prediction'"
    """
    shown = ", ".join(f"'{printable(name)}'" for name in columns[:MOST_COLUMNS_SHOWN])
    more = len(columns) - MOST_COLUMNS_SHOWN
    plural = "columns" if len(columns) > 1 else "column"
    return f"{plural} {shown}{f' and {more} more' if more > 0 else ''}"


class _Console(Console):
    """A console that lets the command decide what happens when the reader closes the pipe."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def _console(width: int | None = None) -> Console:
    """Return the console; a file has lines of `width`, since nothing says how wide it is read."""
    console = _Console()
    return console if console.is_terminal else _Console(width=width or PLAIN_WIDTH)


def _section(console: Console, title: str, table: Table) -> None:
    console.print()
    console.print(_text(title, "bold"))
    print_fitted(console, table)


def _text(text: str, style: str = "") -> Text:
    """Return a text as it is: nothing in it is markup, and hidden characters are spelled out."""
    return Text(printable(text), style)


def _table(*columns: str, right: Sequence[str] = ()) -> Table:
    """Return a table whose numbers, columns `right`, stay whole; names are folded."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in columns:
        wrapped = name in WRAPPED
        table.add_column(
            name,
            justify="right" if name in right else "left",
            no_wrap=not wrapped and (name in right or name == "strategy"),
            overflow="ellipsis" if wrapped else "fold",
        )
    return table


def _clusters(found: Mapping[str, Any]) -> Table:
    head = measure_of(found["family"]).head
    stability, numbers = found["stability"], ("rows", head)
    kept = ("when resampled",) if stability else ()
    table = _table("cluster", "datasets", *numbers, *kept, right=numbers)
    clusters = found["clusters"]
    for one in clusters[:MOST_CLUSTERS_SHOWN]:
        names = _text(listed(one["datasets"], MOST_MEMBERS_SHOWN))
        words = [_kept(stability, one)] if stability else []
        error = error_text(one["shown"])
        table.add_row(str(one["number"]), names, f"{one['rows']:,}", error, *words)
    if len(clusters) > MOST_CLUSTERS_SHOWN:
        table.add_row("...", f"and {len(clusters) - MOST_CLUSTERS_SHOWN:,} more clusters", "", "")
    return table


def _kept(stability: Mapping[str, Any], one: Mapping[str, Any]) -> str:
    """Return how often the datasets of a cluster are together in resamples."""
    return share_together(stability["clusters"][one["number"] - 1], len(one["datasets"]))


def _strategies(found: Mapping[str, Any], bar: int) -> Table:
    """Return the error of every strategy, the lowest first, with bars of at most `bar`."""
    numbers = (measure_of(found["family"]).head, "behind the best", "weight in auto")
    table = _table("strategy", numbers[0], "", *numbers[1:], right=numbers)
    lines = wording.by_error(found["strategies"])
    least, most = (lines[i][1]["shown"] or 0.0 for i in (0, -1))
    full = min(most, 2 * least)
    for name, line in lines:
        style = "bold" if line["in_use"] else ""
        table.add_row(
            Text(name, style),
            error_text(line["shown"]),
            Text(_bar(line["shown"], full, bar), style),
            wording.behind_with_error(line),
            wording.weight_in_words(line["weight"]),
        )
    return table


def _bar(value: float | None, full: float, width: int) -> str:
    """Return a bar from zero to a value; one that is longer than `full` ends in an arrow."""
    block, more = ("█", "▶") if _is_unicode() else ("#", ">")
    if value is None or not full > 0:
        return ""
    if value > full * 1.001:
        return block * (width - 1) + more
    return block * max(round(width * value / full), 1)


def _is_unicode() -> bool:
    return (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")


def _ledger(lines: Sequence[Mapping[str, Any]], measure: Measure, *, learned: bool) -> Table:
    numbers = ("gain", "interval")
    head = ("verdict", "decision and reason")
    table = _table("join", "with", *numbers, *head, right=numbers)
    for line in lines:
        verdict = _verdict(line["verdict"], line["judged_by"] if learned else "")
        verdict.append(HOLDS if line["holds_for_all"] else "")
        table.add_row(
            _text(listed(line["left"], MOST_JOINED_SHOWN)),
            _text(listed(line["right"], MOST_JOINED_SHOWN)),
            *_gain(line, measure),
            verdict,
            line["why"],
        )
    return table


def _verdict(verdict: str, judged_by: str = "") -> Text:
    """Return a verdict in its colour; where most are of a learner, those by theory say so."""
    if judged_by == NOT_JUDGED:
        return Text("not judged", VERDICT_STYLES.get(verdict, ""))
    words = f"{verdict} (theory)" if judged_by == THEORY else verdict
    return Text(words, VERDICT_STYLES.get(verdict, ""))


def _gain(line: Mapping[str, Any], measure: Measure) -> tuple[str, str]:
    """Return a gain and its interval as text."""
    gain, (low, high) = line["gain"], line["interval"]
    ends = measure.few if line["too_few_rows"] else ""
    if low is not None and high is not None:
        ends = f"{_end(low, gain)} to {_end(high, gain)}"
    elif low is not None or high is not None:
        ends = f"at most {_end(high, gain)}" if low is None else f"at least {_end(low, gain)}"
    return "unknown" if gain is None else f"{gain:+.4g}", ends


def _end(end: float, gain: float | None) -> str:
    """Return the end of an interval as text, on the same side of the gain as it is.

    >>> _end(0.02904, 0.02904), _end(-0.05107, 0.02904)
    ('+0.02904', '-0.0511')
    """
    text = f"{end:+.3g}"
    crosses = gain is not None and (float(text) - gain) * (end - gain) <= 0 and float(text) != gain
    return f"{end:+.4g}" if crosses else text


def show_dataset(found: Mapping[str, Any]) -> None:
    """Print why a dataset is where it is, and what its nearest alternatives are."""
    console, measure = _console(), measure_of(found["family"])
    console.print(_text(found["reason"], "bold"), soft_wrap=True)
    if found["alternatives"]:
        learner, lines = found["learner"], found["alternatives"]
        table = _alternatives(lines, measure, learned=learner != "linear")
        _section(console, "Joining it with a cluster", table)
        _notes(console, [gain_note(measure), judged_note(lines, learner)])
    table = _table("model", measure.head, right=(measure.head,))
    for key, one in found["models"].items():
        used = f"{wording.IN_USE} (strategy '{found['strategy']}')"
        table.add_row(_text(wording.MODELS.get(key, used)), error_text(one["shown"]))
    _section(console, "Errors on its held-out rows", table)
    if found["others_note"]:
        _notes(console, [found["others_note"]])
    if "scores" in found:
        _, brier, area = wording.score_texts(found["scores"])
        shares = wording.shares_in_words(found["scores"]["shares"])
        console.print(_text(f"In use: Brier score {brier}, AUC {area}. {shares}"))
    largest = sorted(found["coef"].items(), key=lambda item: -abs(item[1]["shift"] or 0.0))
    numbers = (wording.IN_USE, wording.MODELS["all"])
    table = _table("coefficient", *numbers, right=numbers)
    for name, values in largest[:MOST_FEATURES_SHOWN]:
        table.add_row(_text(name), f"{values['in_use']:.5g}", f"{values['all']:.5g}")
    _section(console, f"Where it differs most from the {wording.MODELS['all']}", table)
    if found["learner"] != "linear" and not any(v["all"] for _, v in largest[:MOST_FEATURES_SHOWN]):
        _notes(console, [bare_note(found["learner"])])
    if len(found.get("classes", [])) == 2:
        _notes(console, [wording.log_odds_note(found["classes"])])


def _alternatives(lines: Sequence[Mapping[str, Any]], measure: Measure, *, learned: bool) -> Table:
    numbers = ("gain", "interval")
    table = _table("cluster", "datasets", *numbers, "verdict", right=numbers)
    for line in lines:
        table.add_row(
            f"{line['number']}{' (its own)' if line['own'] else ''}",
            _text(listed(line["datasets"])),
            *_gain(line, measure),
            _verdict(line["verdict"], line["judged_by"] if learned else ""),
        )
    return table


def show_comparison(result: "Comparison", a: str, b: str) -> None:
    """Print in a few sentences whether to join two datasets, and how sure that is."""
    console, found = _console(), comparison_facts(result, a, b)
    _show_notices(console, found["notices"])
    console.print(_text(found["sentence"]), soft_wrap=True)


def show_assignments(family: str, lines: Sequence[Mapping[str, Any]]) -> None:
    """Print where new datasets belong, and the errors of their models."""
    console, numbers = _console(), ("rows", *MODELS.values())
    table = _table("new dataset", "closest cluster", "its datasets", *numbers, right=numbers)
    for line in lines:
        table.add_row(
            _text(listed([line["dataset"]])),
            in_words(line),
            _text(listed(line["members"], MOST_JOINED_SHOWN)),
            f"{line['rows']:,}",
            *(error_text(line["errors"][key]["shown"], 4) for key in MODELS),
        )
    print_fitted(console, table)
    _notes(console, [assigned_note(measure_of(family))])


def show_assigned(result: "Partition", name: str, *, as_json: bool) -> None:
    """Print what is known of a dataset that got its model after fitting."""
    lines = assignment_facts(result, {name: result.added[name]})
    if as_json:
        show_json({"family": result.family, "datasets": lines})
        return
    print_text(
        f"Dataset {name!r} was not there at fitting: assign gave it a model, with which predict "
        "predicts its rows. No join was judged for it; for that, fit all datasets again."
    )
    show_assignments(result.family, lines)
