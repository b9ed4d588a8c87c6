"""What the command line prints: readable on a terminal, plain elsewhere.

Names come from files, so they are printed as text: no markup in them is followed.
"""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from conjoin.cli.words import with_options
from conjoin.report.measure import Measure, measure_of, measure_of_fit
from conjoin.report.summarize import cautions, headline, scores_in_words
from conjoin.result.fits import LogisticFit
from conjoin.result.partition import Comparison, Partition
from conjoin.text import listed, printable

BAR_WIDTH = 16
MOST_STEPS_SHOWN = 12
MOST_CLUSTERS_SHOWN = 30
MOST_MEMBERS_SHOWN = 12
MOST_JOINED_SHOWN = 4
MOST_FEATURES_SHOWN = 8
MOST_SCORES_SHOWN = 12
MOST_COLUMNS_SHOWN = 4
PLAIN_WIDTH = 100
VERDICT_STYLES = {"join": "green", "apart": "red", "undecided": "yellow"}


def show_json(facts: dict[str, Any]) -> None:
    """Print plain values as JSON."""
    print(json.dumps(facts, indent=2, ensure_ascii=not _is_unicode(), allow_nan=False))


def show_partition(result: Partition, *, columns: bool = False) -> None:
    """Print the verdict, the clusters, the ledger, the strategies and, if asked, the columns."""
    console = _console()
    console.print(_text(headline(result), "bold"), soft_wrap=True)
    if result.representation is not None:
        console.print(_text(f"Features: {result.representation}."), soft_wrap=True)
    _section(console, "Clusters, one model each", _clusters(result))
    _section(console, "Ledger of joins", _ledger(result))
    hidden = len(result.history) - MOST_STEPS_SHOWN
    if hidden > 0:
        console.print(_text(f"... and {hidden:,} more steps; --json prints all."))
    note = (
        f"Gain: estimated fall of the {measure_of(result.family).gain} when the two are joined; it "
        "is above its interval where the two look more alike than noise lets equals look. Clusters "
        "are chosen by all the evidence together; only a verdict 'apart' speaks against a join."
    )
    if any(s.joined and s.verdict == "apart" for s in result.ledger(MOST_STEPS_SHOWN)):
        note += (
            " 'Apart' and joined all the same: a join is undone only at a level that allows for "
            "the number of steps, or not at all where joining everything predicts better."
        )
    console.print(_text(note, "dim"))
    _section(console, f"Strategies ('{result.strategy}' is used)", _strategies(result))
    words = "'clusters' is validated with the partition found anew outside the rows left out."
    console.print(_text(words, "dim"))
    if result.classes:
        _show_scores(console, result)
    for caution in cautions(result):
        console.print(_text(f"Caution: {with_options(caution)}", "yellow"))
    if columns:
        table = _table("column", "what was done")
        for name, words in result.columns.items():
            table.add_row(_text(name), _text(words))
        _section(console, "Columns", table)


def _show_scores(console: Console, result: Partition) -> None:
    """Print how good the probabilities are."""
    scored = result.analysis.scored(result.strategy)
    if scored is None:
        console.print(_text(scores_in_words(result), "dim"))
        return
    two = len(result.classes) == 2
    share = printable(f"share of {listed([str(result.classes[1])])}") if two else "most frequent"
    numbers = ("rows", "log loss", "Brier score", "AUC", share)
    table = _table("dataset", *numbers, right=numbers)
    for name, one in list(scored.scores.items())[:MOST_SCORES_SHOWN]:
        best = result.classes[1] if two else max(one.shares, key=lambda c: one.shares[c])
        words = f"{100 * one.shares[best]:.0f} %"
        words = words if two else f"{listed([str(best)])}, {words}"
        table.add_row(_text(listed([name])), f"{one.rows:,}", *_scores(asdict(one)), _text(words))
    hidden = len(scored.scores) - MOST_SCORES_SHOWN
    if hidden > 0:
        table.add_row(f"... and {hidden:,} more")
    table.add_row(Text("mean of datasets", "bold"), "", *_scores(scored.means()))
    _section(console, f"Probabilities on left-out rows ('{result.strategy}' is used)", table)
    kind = "of one of the two classes" if two else "summed over classes"
    words = f"Brier score: mean squared difference between probability and outcome, {kind}."
    console.print(_text(words, "dim"))


def _scores(values: Mapping[str, Any]) -> list[str]:
    """Return log loss, Brier score and AUC as text."""
    area = values["auc"]
    known = "none" if area is None or math.isnan(area) else f"{area:.3f}"
    return [f"{values['log_loss']:.4g}", f"{values['brier']:.4g}", known]


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
    """A console that leaves it to the command what happens when nobody reads on."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def _console() -> Console:
    console = _Console()
    return console if console.is_terminal else _Console(width=PLAIN_WIDTH)


def _section(console: Console, title: str, table: Table) -> None:
    console.print()
    console.print(_text(title, "bold"))
    console.print(table)


def _text(text: str, style: str = "") -> Text:
    """Return a text as it is: nothing in it is markup, and hidden characters are spelled out."""
    return Text(printable(text), style)


def _table(*columns: str, right: Sequence[str] = ()) -> Table:
    """Return a table whose numbers, columns `right`, and verdicts stay whole; names are folded."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in columns:
        table.add_column(
            name,
            justify="right" if name in right else "left",
            no_wrap=name in right or name in ("verdict", "decision", "strategy"),
            overflow="fold",
        )
    return table


def _clusters(result: Partition) -> Table:
    measure = measure_of(result.family)
    numbers = ("rows", measure.head)
    table = _table("cluster", "datasets", *numbers, right=numbers)
    pairs = list(enumerate(zip(result.clusters, result.models), start=1))
    for i, (cluster, model) in pairs[:MOST_CLUSTERS_SHOWN]:
        names = _text(listed(cluster, MOST_MEMBERS_SHOWN))
        table.add_row(str(i), names, f"{model.rows:,}", measure.text(model.error))
    if len(pairs) > MOST_CLUSTERS_SHOWN:
        table.add_row("...", f"and {len(pairs) - MOST_CLUSTERS_SHOWN:,} more clusters", "", "")
    return table


def _strategies(result: Partition) -> Table:
    """Return what every way to share is worth, the best one first."""
    measure = measure_of(result.family)
    numbers = (measure.head, f"{measure.name} above best", "weight in auto")
    table = _table("strategy", numbers[0], "", *numbers[1:], right=numbers)
    lines = sorted(result.errors.items(), key=lambda item: item[1].error)
    most, least = (measure.shown(e.error) or 0.0 for _, e in (lines[-1], lines[0]))
    full = min(most, 2 * least)
    for name, estimate in lines:
        weight = result.weights.get(name)
        style = "bold" if name == result.strategy else ""
        table.add_row(
            Text(name, style),
            measure.text(estimate.error),
            Text(_bar(measure.shown(estimate.error), full), style),
            _above(estimate.error, estimate.behind, estimate.standard_error),
            f"{weight:.2f}" if weight else "",
        )
    return table


def _bar(value: float | None, full: float) -> str:
    """Return a bar from zero to a value; one that is longer than `full` ends in an arrow."""
    block, more = ("█", "▶") if _is_unicode() else ("#", ">")
    if value is None or not full > 0:
        return ""
    if value > full * 1.001:
        return block * (BAR_WIDTH - 1) + more
    return block * max(round(BAR_WIDTH * value / full), 1)


def _is_unicode() -> bool:
    return (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")


def _above(error: float, behind: float, spread: float) -> str:
    """Return by how much an error exceeds the least one."""
    least = error - behind
    if behind <= 0:
        return "best"
    if not least > 0 or not math.isfinite(error):
        return "unknown"
    if behind > 10 * least:
        return f"{error / least:,.0f} times"
    return f"{100 * behind / least:.1f} ± {100 * spread / least:.1f} %"


def _ledger(result: Partition) -> Table:
    numbers = ("gain", "interval")
    table = _table("join", "with", *numbers, "verdict", "decision", right=numbers)
    for line in result.ledger(MOST_STEPS_SHOWN):
        table.add_row(
            _text(listed(line.left, MOST_JOINED_SHOWN)),
            _text(listed(line.right, MOST_JOINED_SHOWN)),
            _signed(line.gain),
            _interval(line.interval),
            _verdict(line.verdict),
            "joined" if line.joined else "kept apart",
        )
    return table


def _verdict(verdict: str) -> Text:
    return Text(verdict, VERDICT_STYLES.get(verdict, ""))


def _signed(value: float | None) -> str:
    return f"{value:+.4g}" if value is not None and math.isfinite(value) else "unknown"


def _interval(interval: Sequence[float | None]) -> str:
    low, high = (float("nan") if x is None else x for x in interval)
    if math.isinf(low) and math.isinf(high):
        return "too few rows"
    return "" if math.isnan(low) or math.isnan(high) else f"{low:+.3g} to {high:+.3g}"


def show_dataset(facts: dict[str, Any]) -> None:
    """Print why a dataset is where it is, and what its nearest alternatives are."""
    console, measure = _console(), measure_of(facts["family"])
    console.print(_text(facts["reason"], "bold"), soft_wrap=True)
    if facts["alternatives"]:
        _section(console, "Joining it with a cluster", _alternatives(facts["alternatives"]))
        words = f"Gain: estimated fall of the {measure.gain} when joined."
        console.print(_text(words, "dim"))
    table = _table("model", measure.head, right=(measure.head,))
    for name, error in facts["errors"].items():
        table.add_row(_text(name), measure.text(error))
    _section(console, "Errors", table)
    if "scores" in facts:
        console.print(_text(_scores_of_one(facts["scores"])))
    largest = sorted(facts["coef"].items(), key=lambda item: -abs(item[1]["shift"] or 0.0))
    numbers = ("its coefficient", "pooled")
    table = _table("feature", *numbers, right=numbers)
    for name, values in largest[:MOST_FEATURES_SHOWN]:
        table.add_row(_text(name), f"{values['own']:.5g}", f"{values['pooled']:.5g}")
    _section(console, "Where it differs most from the pooled model", table)
    if len(facts.get("classes", [])) == 2:
        first, second = facts["classes"]
        words = f"Coefficients are of the log-odds of {second!r} against {first!r}."
        console.print(_text(words, "dim"))


def _scores_of_one(scores: dict[str, Any]) -> str:
    """Say how good the probabilities of a dataset are."""
    _, brier, area = _scores(scores)
    shares = ", ".join(f"{label} {100 * x:.0f} %" for label, x in scores["shares"].items())
    return f"In use: Brier score {brier}, AUC {area}. Shares of classes: {shares}."


def _alternatives(lines: Sequence[dict[str, Any]]) -> Table:
    numbers = ("gain", "interval")
    table = _table("cluster", "datasets", *numbers, "verdict", right=numbers)
    for line in lines:
        table.add_row(
            f"{line['cluster'] + 1}{' (its own)' if line['own'] else ''}",
            _text(listed(line["datasets"])),
            _signed(line["gain"]),
            _interval(line["interval"]),
            _verdict(line["verdict"]),
        )
    return table


def show_comparison(result: Comparison, a: str, b: str) -> None:
    """Print one sentence with the verdict, the gain and its interval."""
    words = {
        "join": f"Join {a} and {b}",
        "apart": f"Keep {a} and {b} apart",
        "undecided": f"Undecided on {a} and {b}",
    }
    low, high = result.interval
    measure: Measure = measure_of_fit(result.fit_joined)
    known = math.isfinite(low) or math.isfinite(high)
    ends = f"between {low:+.4g} and {high:+.4g} at level {result.delta:g}; " if known else ""
    text = (
        f"{words[result.verdict]}: the gain of joining, the fall of the expected {measure.gain}, "
        f"is {result.gain:+.4g} ({ends}"
        f"{measure.short} {measure.text(result.error_joined)} joined, "
        f"{measure.text(result.error_separate)} separate)"
    )
    if math.isfinite(high) and result.gain > high:
        text += "; above its interval, since the two look more alike than noise lets equals look"
    guess = "join them" if result.join else "keep them apart"
    if result.verdict == "undecided":
        text += f"; {_more_rows(result)}; the better guess (method {result.method}) is to {guess}"
    elif result.join != (result.verdict == "join") or result.method != "risk":
        text += f"; method {result.method} says to {guess} (score {result.score:+.3f})"
    _console().print(_text(f"{text}."), soft_wrap=True)


def _more_rows(result: Comparison) -> str:
    """Say how many more rows would settle an undecided comparison."""
    factor = result.rows_to_settle
    if factor is None and isinstance(result.fit_joined, LogisticFit):
        return "one of them has too few rows of a class, or none, for a verdict"
    if factor is None:
        return "even a thousand times the rows would not settle it"
    more_a, more_b = (math.ceil((factor - 1) * fit.rows) for fit in (result.fit_a, result.fit_b))
    return (
        f"about {factor:.1f} times the rows would settle it ({more_a:,} more of the first, "
        f"{more_b:,} more of the second)"
    )
