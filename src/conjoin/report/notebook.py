"""What a notebook shows of a fitted estimator: a few lines of HTML, all names escaped.

A result enters, HTML leaves. Of very many datasets no errors are shown, since they take long to
find and a notebook shows its result unasked.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from conjoin.report.facts import brief_facts, facts
from conjoin.report.measure import error_text, measure_of
from conjoin.report.wording import by_error, scores_in_words, weight_in_words
from conjoin.text import listed

if TYPE_CHECKING:
    from conjoin.result.partition import Partition

MOST_ERRORS = 200  # datasets up to which errors take less than about a second
MOST_CLUSTERS, MOST_MEMBERS = 20, 8  # that fit a notebook's cell without scrolling


def notebook_view(result: "Partition") -> str:
    """Return a few lines of HTML: datasets, clusters and, if soon found, errors of strategies."""
    few = len(result.labels) <= MOST_ERRORS
    found = facts(result, most_steps=0) if few else brief_facts(result)
    datasets, clusters = found["counts"]["datasets"], found["clusters"]
    parts = [f"<p>{escape(text)}</p>" for text in found["notices"]]
    parts += [
        f"<p><b>{_number(datasets, 'dataset')} in {_number(len(clusters), 'cluster')}</b>, "
        f"strategy {escape(found['strategy'])}</p>"
    ]
    if few:
        parts += [f"<p>{escape(found['verdict'])}</p>", _strategies(found)]
        if result.classes:
            parts.append(f"<p>{escape(scores_in_words(found.get('scores')))}</p>")
        parts += [f"<p>Caution: {escape(text)}</p>" for text in found["cautions"]]
    members = [
        (str(one["number"]), str(len(one["datasets"])), listed(one["datasets"], MOST_MEMBERS))
        for one in clusters[:MOST_CLUSTERS]
    ]
    parts.append(_html_table(("cluster", "size", "datasets"), members))
    if len(clusters) > MOST_CLUSTERS:
        parts.append(f"<p>and {_number(len(clusters) - MOST_CLUSTERS, 'cluster')} more</p>")
    return f'<div class="conjoin-summary">{"".join(parts)}</div>'


def _strategies(found: Mapping[str, Any]) -> str:
    rows = [
        (name, error_text(line["shown"], 4), weight_in_words(line["weight"]))
        for name, line in by_error(found["strategies"])
    ]
    head = measure_of(found["family"]).head
    return _html_table(("strategy", head, "weight in auto"), rows)


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [
        f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in row)}</tr>"
        for tag, group in (("th", [head]), ("td", rows))
        for row in group
    ]
    return f"<table>{''.join(lines)}</table>"


def _number(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
