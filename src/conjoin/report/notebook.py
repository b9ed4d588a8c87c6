"""What a notebook shows of a fitted estimator: a few lines of HTML, all names escaped."""

from collections.abc import Sequence
from html import escape

from conjoin.report.measure import measure_of
from conjoin.report.summarize import scores_in_words
from conjoin.result.partition import Partition
from conjoin.text import listed

MOST_ERRORS = 200  # datasets up to which a notebook shows the strategies' errors unasked
MOST_CLUSTERS, MOST_MEMBERS = 20, 8  # that a notebook shows


def notebook_view(result: Partition) -> str:
    """Return a few lines of HTML: datasets, clusters and, if soon found, errors of strategies."""
    datasets, clusters = len(result.labels), len(result.clusters)
    parts = [
        f"<p><b>{_number(datasets, 'dataset')} in {_number(clusters, 'cluster')}</b>, strategy "
        f"{escape(result.strategy)}</p>"
    ]
    if datasets <= MOST_ERRORS:
        weights, measure = result.weights, measure_of(result.family)
        rows = [
            (name, measure.text(e.error, 4), f"{weights[name]:.0%}" if name in weights else "")
            for name, e in sorted(result.errors.items(), key=lambda item: item[1].error)
        ]
        parts.append(_html_table(("strategy", measure.head, "weight"), rows))
        if result.classes:
            parts.append(f"<p>{escape(scores_in_words(result))}</p>")
    members = [
        (str(k), str(len(names)), listed(names, MOST_MEMBERS))
        for k, names in enumerate(result.clusters[:MOST_CLUSTERS])
    ]
    parts.append(_html_table(("cluster", "size", "datasets"), members))
    if clusters > MOST_CLUSTERS:
        parts.append(f"<p>and {_number(clusters - MOST_CLUSTERS, 'cluster')} more</p>")
    return f'<div class="conjoin-summary">{"".join(parts)}</div>'


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [
        f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in row)}</tr>"
        for tag, group in (("th", [head]), ("td", rows))
        for row in group
    ]
    return f"<table>{''.join(lines)}</table>"


def _number(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
