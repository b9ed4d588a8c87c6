"""Turn the results of the arena into two tables in markdown.

``python -m benchmarks.arena.table --output docs/arena.md`` reads ``results.csv``.

For a set and a share, the *reference* is separate or pooled least squares, whichever has the
smaller error averaged over seeds. The *relative error* of a contestant is its error divided by
that of the reference on the same split, averaged over seeds (arithmetic mean): the reference has
1 by definition, below 1 is better than both, above 1 is a loss. The *regret* is the relative error
divided by the least relative error among given strategies on the same set and share: how much is
lost against knowing beforehand which of them to use.
"""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.arena.run import RESULTS

REFERENCES = ("separate", "pooled")
NOT_RUN = "NotImplementedError"  # a note that begins so is no failure: not made for such sets
_CELL = ["set", "share"]
_KEY = [*_CELL, "seed", "contestant"]


@dataclass(frozen=True)
class Page:
    """What the page of an arena says beside its tables.

    Attributes
    ----------
    command : str
        How the tables are written, for the help.
    title : str
        Heading of the page.
    error : str
        What the error of a set is and what the references are.
    source : str
        File that describes the runs.
    results : Path
        CSV file of the runs.
    blanks : str
        What an empty cell of the second table means, if there are any.
    others : tuple of str
        Other references, against which contestants are shown too, if there are any.
    why : str
        What these are.
    """

    command: str
    title: str
    error: str
    source: str
    results: Path
    blanks: str = ""
    others: tuple[str, ...] = ()
    why: str = ""


REGRESSION = Page(
    command="python -m benchmarks.arena.table",
    title="Arena: accuracy on real grouped data",
    error="The error on a set is the mean over groups of the test MSE. The *reference* of a set "
    "and share is separate or pooled least squares",
    source="benchmarks/arena/README.md",
    results=RESULTS,
)


@dataclass(frozen=True)
class Scores:
    """What the tables are made of.

    Attributes
    ----------
    relative : DataFrame
        Relative errors, a row for every set and share, a column for every contestant; NaN unless
        the contestant has an error for every seed.
    reference : Series
        Name of the reference of every row.
    failed : DataFrame
        Of the same shape as `relative`: the number of seeds on which the contestant failed; sets
        that it is not made for are no failures.
    seconds : Series
        Total time of every contestant.
    """

    relative: pd.DataFrame
    reference: "pd.Series[str]"
    failed: pd.DataFrame
    seconds: "pd.Series[float]"


def read_results(path: Path) -> pd.DataFrame:
    """Read results; of rows with the same set, share, seed and contestant the last one counts."""
    return pd.read_csv(path).drop_duplicates(_KEY, keep="last")


def score(results: pd.DataFrame, references: Sequence[str] = REFERENCES) -> Scores:
    """Compute relative errors.

    Parameters
    ----------
    results : DataFrame
        As `read_results` returns them; the references must be among the contestants.
    references : sequence of str
        Contestants, the better of which is the reference of a set and share.

    Returns
    -------
    Scores
        Sets and contestants in their order of appearance.
    """
    missing = set(references) - set(results["contestant"])
    if missing:
        raise ValueError(f"The results lack {sorted(missing)}: relative errors need both.")
    errors = _pivot(results, "error")
    means = errors[list(references)].groupby(level=_CELL, sort=False).mean()
    reference = means.idxmin(axis=1)
    of_split = reference.loc[[key[:2] for key in errors.index]]
    own = errors.to_numpy()[np.arange(len(errors)), errors.columns.get_indexer(of_split)]
    ratios = errors.div(own, axis=0)
    cells = ratios.groupby(level=_CELL, sort=False)
    relative = cells.mean().where(cells.count().eq(cells.size(), axis=0))
    declined = results["note"].astype(str).str.startswith(NOT_RUN)
    failures = results.assign(failed=(results["error"].isna() & ~declined).astype(float))
    failed = _pivot(failures, "failed").groupby(level=_CELL, sort=False).sum()
    seconds = results.groupby("contestant", sort=False)["seconds"].sum()
    return Scores(relative, reference, failed, seconds)


def _pivot(results: pd.DataFrame, values: str) -> pd.DataFrame:
    """Return one row a split and one column a contestant, both in order of appearance."""
    table = results.set_index(_KEY)[values].unstack("contestant")
    splits = pd.MultiIndex.from_frame(results[[*_CELL, "seed"]].drop_duplicates())
    return table.reindex(index=splits, columns=results["contestant"].unique())


def summarise(scores: Scores, strategies: Sequence[str] = ()) -> pd.DataFrame:
    """Summarise every contestant over sets and shares.

    Parameters
    ----------
    scores : Scores
        Relative errors.
    strategies : sequence of str
        The contestants that hindsight may choose from; all of them by default.

    Returns
    -------
    DataFrame
        One row a contestant, the smallest geometric mean first.
    """
    relative = scores.relative
    unknown = set(strategies) - set(relative.columns)
    if unknown:
        raise ValueError(
            f"No results of {sorted(unknown)}; there are {', '.join(relative.columns)}."
        )
    best = relative[list(strategies or relative.columns)].min(axis=1)
    rows = [_summary_row(name, relative[name], best, scores.seconds) for name in relative]
    return pd.DataFrame(rows).sort_values("geometric mean", kind="stable", ignore_index=True)


def _summary_row(
    name: str, relative: "pd.Series[float]", best: "pd.Series[float]", seconds: "pd.Series[float]"
) -> dict[str, object]:
    known = relative.dropna()
    regret = (relative / best).dropna()
    place = " ".join(map(str, known.idxmax())) if len(known) else ""
    return {
        "contestant": name,
        "geometric mean": _geometric_mean(known),
        "median": known.median(),
        "worst": known.max(),
        "worst on": place,
        "below 1": int((known < 1).sum()),
        "above 1": int((known > 1).sum()),
        "regret": _geometric_mean(regret),
        "worst regret": regret.max(),
        "cells": f"{len(known)} of {len(relative)}",
        "seconds": seconds[name],
    }


def _geometric_mean(values: "pd.Series[float]") -> float:
    return float(np.exp(np.log(values).mean()))


def render(scores: Scores, strategies: Sequence[str] = (), page: Page = REGRESSION) -> str:
    """Write both tables and what their columns mean, as markdown."""
    summary = summarise(scores, strategies)
    hindsight = ", ".join(f"`{name}`" for name in strategies) or "all contestants"
    sets = scores.relative.index.get_level_values("set").nunique()
    shares = ", ".join(f"{s:g}" for s in scores.relative.index.unique("share"))
    parts = [
        f"# {page.title}",
        f"{sets} sets, training shares {shares} of every group's rows, the rest for testing. "
        f"{page.error}, whichever has the smaller error averaged "
        "over seeds; a *relative error* is a contestant's error divided by the reference's on the "
        "same split, averaged over seeds. Below 1 is better than both, above 1 is a loss. "
        "Several sets share their source and are not independent evidence. How it is run: "
        f"`{page.source}`.",
        "## Contestants",
        "Geometric mean, median and worst of the relative error over sets and shares; *below 1* "
        "and *above 1* count wins and losses against the reference. *Regret* is the relative "
        f"error divided by the least one, on the same set and share, among {hindsight} (geometric "
        "mean, and worst). *Cells* are the sets and shares with a result for every seed; only "
        "they enter a contestant's row. *Seconds* add up all fits and predictions, one thread.",
        _markdown(summary.columns, summary.to_numpy(dtype=object)),
        *_failures(scores),
        "## Sets",
        " ".join(filter(None, ["Relative errors, the least of a row in bold.", page.blanks])),
        _sets_table(scores, list(summary["contestant"])),
    ]
    return "\n\n".join(parts) + "\n"


def _failures(scores: Scores) -> list[str]:
    """Return a paragraph that names what failed, or nothing."""
    stacked = scores.failed.stack()
    lines = [
        f"- `{name}` on {set_name}, share {share:g}: {int(count)} of its fits"
        for (set_name, share, name), count in stacked[stacked > 0].items()
    ]
    return ["Failed fits (the notes in the CSV file say why):\n\n" + "\n".join(lines)] * bool(lines)


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


def main(arguments: Sequence[str] | None = None, page: Page = REGRESSION) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the command line by default.
    page : Page, optional
        That of the regression arena by default.

    Returns
    -------
    int
        Exit code 0.
    """
    parser = argparse.ArgumentParser(
        prog=page.command, description="Write the tables of the arena."
    )
    parser.add_argument("--results", type=Path, default=page.results, help="CSV file of the runs")
    parser.add_argument("--strategies", default="", help="a,b,c: what hindsight may choose from")
    parser.add_argument(
        "--references", default=",".join(REFERENCES), help="a,b: others to divide by"
    )
    parser.add_argument("--output", type=Path, help="markdown file; printed if not given")
    options = parser.parse_args(arguments)
    strategies = [name for name in options.strategies.split(",") if name]
    references = options.references.split(",")
    results = read_results(options.results)
    text = render(score(results, references), strategies, page)
    if page.others and set(page.others) <= set(results["contestant"]):
        table = summarise(score(results, page.others), strategies)
        shown = _markdown(table.columns, table.to_numpy(dtype=object))
        text += f"\n## Other references\n\n{page.why}\n\n{shown}\n"
    if options.output is None:
        print(text, end="")
    else:
        options.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
