"""Turn stored results of one side of the arena into a page with tables.

    python -m benchmarks.arena.table regression --output docs/arena.md
    python -m benchmarks.arena.table classification --output docs/classification-arena.md
    python -m benchmarks.arena.table regression --contestants all --hindsight --seeds 0

The side's ``results.csv`` enters, a page in markdown leaves. Its measures:

- The *reference* of a set and share is the separate or the pooled model, whichever has the smaller
  error averaged over seeds.
- The *relative error* of a contestant is its error divided by the reference's error on the same
  split, averaged over seeds (arithmetic mean). The reference has 1 by definition; below 1 is better
  than both models, above 1 is a loss.
- The *regret* is the relative error divided by the least relative error among given strategies on
  the same set and share: the price of not knowing beforehand which of them to use. With
  ``--hindsight`` a second regret compares with the best of all contestants, shown or not.
"""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.arena.learners import NAMES as LEARNERS
from benchmarks.arena.ours import WITH_LEARNER, contestant_of
from benchmarks.arena.results import CELL, KEY, read_results
from benchmarks.arena.side import Page, Side
from benchmarks.arena.sides import parse

REFERENCES = ("separate", "pooled")
README = "benchmarks/arena/README.md"
# A note that starts so is not a failure: the contestant is not made for such sets.
NOT_RUN = "NotImplementedError"
# Words for `--contestants`: all but the trees of `benchmarks.arena.learners`; every contestant.
LINES, ALL = "lines", "all"


@dataclass(frozen=True)
class Scores:
    """The numbers of the tables.

    Attributes
    ----------
    relative : DataFrame
        Relative errors, a row for every set and share, a column for every contestant; NaN unless
        the contestant has an error for every seed.
    reference : Series
        Name of the reference of every row.
    failed : DataFrame
        Number of seeds on which the contestant failed, in the shape of `relative`. Sets that it is
        not made for do not count.
    seconds : Series
        Total time of every contestant.
    """

    relative: pd.DataFrame
    reference: "pd.Series[str]"
    failed: pd.DataFrame
    seconds: "pd.Series[float]"


def score(results: pd.DataFrame, references: Sequence[str] = REFERENCES) -> Scores:
    """Compute relative errors.

    Parameters
    ----------
    results : DataFrame
        As `benchmarks.arena.results.read_results` returns them, the references among them.
    references : sequence of str
        Two contestants; the better one is the reference of a set and share.

    Returns
    -------
    Scores
        Sets and contestants in their order of appearance.
    """
    missing = set(references) - set(results["contestant"])
    if missing:
        raise ValueError(f"The results lack {sorted(missing)}: relative errors need both.")
    errors = _pivot(results, "error")
    means = errors[list(references)].groupby(level=CELL, sort=False).mean()
    reference = means.idxmin(axis=1)
    of_split = reference.loc[[key[:2] for key in errors.index]]
    own = errors.to_numpy()[np.arange(len(errors)), errors.columns.get_indexer(of_split)]
    ratios = errors.div(own, axis=0)
    cells = ratios.groupby(level=CELL, sort=False)
    relative = cells.mean().where(cells.count().eq(cells.size(), axis=0))
    declined = results["note"].astype(str).str.startswith(NOT_RUN)
    failures = results.assign(failed=(results["error"].isna() & ~declined).astype(float))
    failed = _pivot(failures, "failed").groupby(level=CELL, sort=False).sum()
    seconds = results.groupby("contestant", sort=False)["seconds"].sum()
    return Scores(relative, reference, failed, seconds)


def _pivot(results: pd.DataFrame, values: str) -> pd.DataFrame:
    """Return a row for each split and a column for each contestant, in order of appearance."""
    table = results.set_index(KEY)[values].unstack("contestant")
    splits = pd.MultiIndex.from_frame(results[[*CELL, "seed"]].drop_duplicates())
    return table.reindex(index=splits, columns=results["contestant"].unique())


def choose(scores: Scores, contestants: str) -> list[str]:
    """Return the contestants that are shown.

    Parameters
    ----------
    scores : Scores
        Relative errors.
    contestants : str
        "lines" for all but boosted trees and forests, "all", or names separated by commas.
    """
    known = list(scores.relative.columns)
    if contestants in (LINES, ALL):
        bent = {*LEARNERS, *map(contestant_of, WITH_LEARNER)}
        return [name for name in known if contestants == ALL or name not in bent]
    return _known(scores, contestants.split(","))


def _known(scores: Scores, names: Sequence[str]) -> list[str]:
    """Return the names as a list, or say which of them have no results."""
    unknown = set(names) - set(scores.relative.columns)
    if unknown:
        there = ", ".join(scores.relative.columns)
        raise ValueError(f"No results of {sorted(unknown)}; there are {there}.")
    return list(names)


def common(scores: Scores, shown: Sequence[str]) -> Scores:
    """Keep the sets and shares for which all contestants shown have a relative error."""
    return _keep(scores, scores.relative[list(shown)].notna().all(axis=1))


def _keep(scores: Scores, rows: "pd.Series[bool]") -> Scores:
    kept = scores.relative.index[rows]
    return replace(
        scores,
        relative=scores.relative.loc[kept],
        reference=scores.reference.loc[kept],
        failed=scores.failed.loc[kept],
    )


def summarise(
    scores: Scores,
    strategies: Sequence[str] = (),
    shown: Sequence[str] = (),
    hindsight: bool = False,
) -> pd.DataFrame:
    """Summarise contestants over sets and shares.

    Parameters
    ----------
    scores : Scores
        Relative errors.
    strategies : sequence of str
        The contestants that the regret compares with; those shown by default.
    shown : sequence of str
        The contestants to summarise; all of them by default.
    hindsight : bool
        Whether two columns have the regret to the best of all contestants, shown or not.

    Returns
    -------
    DataFrame
        One row for each contestant, the smallest geometric mean first.
    """
    relative = scores.relative
    names = list(shown or relative.columns)
    best = relative[_known(scores, strategies) or names].min(axis=1)
    of_all = relative.min(axis=1) if hindsight else None
    rows = [_summary_row(name, relative[name], best, of_all) for name in names]
    table = pd.DataFrame(rows).assign(seconds=[scores.seconds[name] for name in names])
    return table.sort_values("geometric mean", kind="stable", ignore_index=True)


def _summary_row(
    name: str,
    relative: "pd.Series[float]",
    best: "pd.Series[float]",
    of_all: "pd.Series[float] | None",
) -> dict[str, object]:
    known = relative.dropna()
    place = " ".join(map(str, known.idxmax())) if len(known) else ""
    return {
        "contestant": name,
        "geometric mean": _geometric_mean(known),
        "median": known.median(),
        "worst": known.max(),
        "worst on": place,
        "below 1": int((known < 1).sum()),
        "above 1": int((known > 1).sum()),
        **_regret(relative / best, "regret"),
        **({} if of_all is None else _regret(relative / of_all, "regret to all")),
        "cells": f"{len(known)} of {len(relative)}",
    }


def _regret(ratios: "pd.Series[float]", name: str) -> dict[str, object]:
    known = ratios.dropna()
    return {name: _geometric_mean(known), f"worst {name}": known.max()}


def _geometric_mean(values: "pd.Series[float]") -> float:
    return float(np.exp(np.log(values).mean()))


def render(
    scores: Scores,
    page: Page,
    strategies: Sequence[str] = (),
    shown: Sequence[str] = (),
    hindsight: bool = False,
) -> str:
    """Write both tables and what their columns mean, as markdown; arguments as in `summarise`."""
    summary = summarise(scores, strategies, shown, hindsight)
    compared = ", ".join(f"`{name}`" for name in strategies) or "all contestants of this table"
    of_all = (
        " *Regret to all* compares with the best of all contestants that were run, also of those "
        "that are not on this page."
    )
    parts = [
        f"# {page.title}",
        _introduction(scores, page),
        "## Contestants",
        "Geometric mean, median and worst are those of the relative error over sets and shares. "
        "*Below 1* and *above 1* count wins and losses against the reference.",
        "*Regret* is the relative error divided by the least one on the same set and share "
        f"(geometric mean, and worst). It compares with: {compared}." + of_all * hindsight,
        "*Cells* are the sets and shares with a result for every seed; only these enter a "
        "contestant's row. *Seconds* is the total time of all fits and predictions on one thread. "
        "The machine was not equally busy in all runs, so it is an order of magnitude only.",
        *filter(None, [page.names]),
        _markdown(summary.columns, summary.to_numpy(dtype=object)),
        *_failures(scores, list(summary["contestant"])),
        "## Sets",
        " ".join(
            filter(None, ["Relative errors. The least one of a row is in bold.", page.blanks])
        ),
        _sets_table(scores, list(summary["contestant"])),
    ]
    return "\n\n".join(parts) + "\n"


def _introduction(scores: Scores, page: Page) -> str:
    """Say what was run and what a relative error is."""
    sets = scores.relative.index.get_level_values("set").nunique()
    shares = " or ".join(f"{s:g}" for s in scores.relative.index.unique("share"))
    return (
        f"This page compares contestants on {sets} sets. In every group, a share of {shares} of "
        f"the rows is for training and the rest for testing. {page.error}\n\n"
        f"The *reference* of a set and share is {page.reference}, whichever has the smaller error "
        "averaged over seeds. A *relative error* is a contestant's error divided by the "
        "reference's error on the same split, averaged over seeds. Below 1 is better than both "
        "reference models; above 1 is a loss.\n\n"
        "Several sets have the same source, so they are not independent evidence. "
        f"`{README}` says how to run the arena."
    )


def _failures(scores: Scores, contestants: Sequence[str]) -> list[str]:
    """Return a paragraph that lists failed fits, or nothing."""
    shown = [name for name in scores.failed.columns if name in contestants]
    stacked = scores.failed[shown].stack()
    lines = [
        f"- `{name}` on {set_name}, share {share:g}: {int(count)} fits"
        for (set_name, share, name), count in stacked[stacked > 0].items()
    ]
    head = "Fits without a result (the notes in the CSV file say why):"
    return [head + "\n\n" + "\n".join(lines)] * bool(lines)


def _sets_table(scores: Scores, contestants: Sequence[str]) -> str:
    relative = scores.relative[list(contestants)]
    rows = []
    for (name, share), values in relative.iterrows():
        least = values.min()
        cells = [
            _cell(v, v == least, scores.failed.loc[(name, share), c]) for c, v in values.items()
        ]
        rows.append([name, f"{share:g}", scores.reference.loc[(name, share)], *cells])
    return _markdown(["set", "share", "reference", *contestants], rows)


def _cell(value: float, least: bool, failed: float) -> str:
    if np.isnan(value):
        return "failed" if failed > 0 else ""
    return f"**{_number(value)}**" if least else _number(value)


def _markdown(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    names = list(header)
    lines = [names, ["---"] * len(names)]
    lines += [[_number(x) if isinstance(x, float) else str(x) for x in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _number(value: float) -> str:
    """Write three decimals up to 10, else three figures.

    Examples
    --------
    >>> _number(0.6394), _number(412.34), _number(5.3e7)
    ('0.639', '412', '5.3e+07')
    """
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.3g}"


def other_references(
    results: pd.DataFrame, page: Page, strategies: Sequence[str], contestants: str = LINES
) -> str:
    """Write the summary with the page's other references, or nothing without results of these."""
    if not page.others or not set(page.others) <= set(results["contestant"]):
        return ""
    scores = score(results, page.others)
    table = summarise(scores, strategies, choose(scores, contestants))
    shown = _markdown(table.columns, table.to_numpy(dtype=object))
    return f"\n## Other references\n\n{page.why}\n\n{shown}\n"


def without_sets(
    scores: Scores,
    sets: Sequence[str],
    strategies: Sequence[str],
    shown: Sequence[str],
    hindsight: bool,
) -> str:
    """Write the summary once more without some sets, on which a mean may depend too much."""
    left_out = scores.relative.index.get_level_values("set").isin(sets)
    rest = _keep(scores, pd.Series(~left_out, scores.relative.index))
    summary = summarise(rest, strategies, shown, hindsight)
    names = " and ".join(f"`{name}`" for name in sets)
    table = _markdown(summary.columns, summary.to_numpy(dtype=object))
    why = "The first table without these sets, to see how much it depends on them."
    return f"\n## Without {names}\n\n{why} Times are those of all sets.\n\n{table}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print or write the page of a side; return the exit code 0."""
    description = "Write the tables of one side of the arena."
    side, options = parse("table", description, _add_options, arguments)
    strategies = [name for name in options.strategies.split(",") if name]
    results = read_results(options.results)
    if options.seeds:
        results = results[results["seed"].isin(options.seeds)]
    scores = score(results, options.references.split(","))
    shown = choose(scores, options.contestants)
    scores = common(scores, shown) if options.common else scores
    text = render(scores, side.page, strategies, shown, options.hindsight)
    text += other_references(results, side.page, strategies, options.contestants)
    if options.without:
        text += without_sets(scores, options.without, strategies, shown, options.hindsight)
    if options.output is None:
        print(text, end="")
    else:
        options.output.write_text(text, encoding="utf-8")
    return 0


def _add_options(parser: argparse.ArgumentParser, side: Side) -> None:
    add = parser.add_argument
    add("--results", type=Path, default=side.results, help="CSV file of the runs")
    add("--strategies", default="", help="a,b,c: contestants that the regret compares with")
    add("--references", default=",".join(REFERENCES), help="a,b: other models to divide by")
    shown = f"a,b,c: what is shown; or {ALL}; by default {LINES}: all but trees and forests"
    add("--contestants", default=LINES, help=shown)
    add("--seeds", nargs="+", type=int, help="only these seeds; all by default")
    add("--without", nargs="+", default=(), help="sets; a table without them is added")
    add("--common", action="store_true", help="only sets and shares that all shown have")
    add("--hindsight", action="store_true", help="also the regret to the best of all contestants")
    add("--output", type=Path, help="markdown file; printed if not given")


if __name__ == "__main__":
    raise SystemExit(main())
