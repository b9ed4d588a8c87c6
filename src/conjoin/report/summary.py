"""A result as one text of tables, in the manner of statistics packages.

A `Partition` enters; lines of text leave: what was asked for, the error of every strategy, the
clusters, and the coefficients of their models. The numbers are those of `report.frames`.
"""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from conjoin.report.frames import table_of
from conjoin.report.headline import in_short
from conjoin.report.learners import learner_in_words
from conjoin.report.measure import measure_of
from conjoin.report.numbers import number
from conjoin.report.wording import by_error, weight_in_words
from conjoin.text import printable

if TYPE_CHECKING:
    from conjoin.result.partition import Partition

WIDTH = 88  # characters of a line: what a terminal and a notebook show without wrapping
# Lines of the longest tables; frames have all of them.
MOST_CLUSTERS, MOST_COEFFICIENTS = 20, 25
NAMES_WIDTH = 44  # characters for the datasets of a cluster: what the other columns leave


class Summary:
    """A text that prints as it is, in a console and in a notebook."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


def summary_text(result: "Partition") -> str:
    """Return the summary of a result."""
    parts = [
        _head(result),
        _strategies(result),
        _clusters(result),
        _coefficients(result),
        "\n".join(textwrap.wrap(printable(in_short(result)), WIDTH)),
    ]
    title = "Which datasets to train together".center(WIDTH).rstrip()
    return "\n".join([title, *(f"{'=' * WIDTH}\n{part}" for part in parts if part), "=" * WIDTH])


def _head(result: "Partition") -> str:
    """Return what was asked for on the left, and what was found on the right."""
    one, measure = result.errors[result.strategy], measure_of(result.family)
    low, high = (number(measure.shown(end)) for end in one.interval)
    learner = "lines" if result.learner == "linear" else learner_in_words(result.learner)
    left = {
        "Target": result.schema.roles.target,
        "Family": result.family,
        "Method": result.method,
        "Strategy": result.strategy,
        "Clusters of": learner,
        "Version": _version(),
    }
    right = {
        "Datasets": f"{len(result.labels):,}",
        "Clusters": f"{len(result.clusters):,}",
        "Rows": f"{result.pooled.rows:,}",
        "Features": f"{len(result.features):,}",
        measure.head: number(measure.shown(one.error)),
        "90 % interval": f"{low} to {high}",
    }
    half = WIDTH // 2 - 1
    return "\n".join(
        f"{_pair(a, half)}  {_pair(b, half)}" for a, b in zip(left.items(), right.items())
    )


def _version() -> str:
    from conjoin.version import __version__

    return f"conjoin {__version__}"


def _pair(item: tuple[str, str], width: int) -> str:
    """Return a name on the left and its value on the right of a field."""
    name, value = item[0] + ":", printable(str(item[1]))
    room = width - len(name) - 1
    return f"{name} {value[-room:] if len(value) > room else value:>{room}}"


def _strategies(result: "Partition") -> str:
    head = measure_of(result.family).head
    rows = {row["strategy"]: row for row in table_of(result, "strategies").to_pylist()}
    lines = []
    for name, row in by_error(rows):
        ends = f"{number(row['low'])} to {number(row['high'])}" if row["low"] is not None else ""
        behind = "" if row["percent"] is None else f"{row['percent']:.1f} %"
        mark = " *" if row["in_use"] else ""
        weight = weight_in_words(row["weight"])
        lines.append([name + mark, number(row["shown"]), ends, behind, weight])
    table = _table(["strategy (* in use)", head, "90 % interval", "behind", "weight"], lines)
    return table


def _clusters(result: "Partition") -> str:
    head = measure_of(result.family).head
    rows = table_of(result, "clusters").to_pylist()
    lines = [
        [
            str(row["cluster"]),
            textwrap.shorten(printable(row["members"]), NAMES_WIDTH, placeholder=" ..."),
            f"{row['datasets']:,}",
            f"{row['rows']:,}",
            number(row["shown"]),
        ]
        for row in rows[:MOST_CLUSTERS]
    ]
    table = _table(["cluster", "datasets", "number", "rows", head], lines, left=2)
    return table + _more(len(rows) - MOST_CLUSTERS, "clusters", "clusters")


def _coefficients(result: "Partition") -> str:
    """Return the coefficients of the clusters' models; none where a file has no such figures."""
    if result.analysis.details is None:
        return ""
    found = table_of(result, "coefficients")
    rows = found.filter(pa.compute.equal(found["of"], "cluster")).to_pylist()
    ratio = next((name for name in ("odds_ratio", "rate_ratio") if name in found.column_names), "")
    lines = []
    for row in rows[:MOST_COEFFICIENTS]:
        several = len(result.classes) > 2
        term = f"{row['class']}: {row['term']}" if several else row["term"]
        numbers = [row["estimate"], row["standard_error"], row["low"], row["high"]]
        if ratio:
            numbers.append(row[ratio])
        texts = ["" if x is None else number(x) for x in numbers]
        lines.append([row["name"], _short(term), *texts])
    head = ["cluster", "term", "coef", "std err", "[5 %", "95 %]"]
    table = _table([*head, *([ratio.replace("_", " ")] if ratio else [])], lines, left=2)
    return table + _more(len(rows) - MOST_COEFFICIENTS, "coefficients", "coefficients")


def _short(text: str) -> str:
    return textwrap.shorten(printable(text), NAMES_WIDTH // 2, placeholder="...")


def _more(count: int, words: str, what: str) -> str:
    if count <= 0:
        return ""
    return f"\n... and {count:,} more {words}: result.to_frame('{what}')"


def _table(head: Sequence[str], lines: Sequence[Sequence[Any]], left: int = 1) -> str:
    """Return a table in columns as wide as the page; the first `left` columns are texts."""
    widths = [max(len(str(line[j])) for line in [head, *lines]) for j in range(len(head))]
    spare = max(WIDTH - sum(widths), len(head) - 1)
    gap, extra = divmod(spare, max(len(head) - 1, 1))
    rows = []
    for line in [head, *lines]:
        text = ""
        for j, cell in enumerate(line):
            room = widths[j] + (0 if j == 0 else gap + (1 if j <= extra else 0))
            if j < left:
                before = "" if j == 0 else " " * (room - widths[j])
                text += before + f"{cell:<{widths[j]}}"
            else:
                text += f"{cell:>{room}}"
        rows.append(text.rstrip())
    return "\n".join([rows[0], "-" * WIDTH, *rows[1:]])
