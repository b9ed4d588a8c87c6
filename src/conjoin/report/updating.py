"""An update in words: what was added, which clusters and verdicts changed, and why.

An `Update` enters; sentences for the terminal, and plain values for `--json`, leave.
"""

from typing import TYPE_CHECKING, Any

from conjoin.text import quoted

if TYPE_CHECKING:
    from conjoin.result.update import Groups, Move, Update, VerdictChange

UNSOUND = " A join of the clusters before no longer holds."
MOST_VERDICTS = 10  # verdicts that are listed: more do not fit on a screen


def sentences(update: "Update") -> list[str]:
    """Return what was added and what changed, one sentence each."""
    found = [_added(update)]
    for move in update.moves:
        found.append(_moved(move) if move.made else _stayed(move))
    if not any(move.made for move in update.moves):
        placed = [_placed(name, update) for name in update.new]
        found += placed or ["No dataset changed its cluster."]
    if not update.verdicts:
        found.append("No verdict changed.")
    found += [_verdict(one, update) for one in update.verdicts[:MOST_VERDICTS]]
    more = len(update.verdicts) - MOST_VERDICTS
    if more > 0:
        found.append(f"{more} more verdicts changed.")
    return found


def _added(update: "Update") -> str:
    rows, datasets = sum(update.rows.values()), len(update.rows)
    new = f", of which {quoted(update.new)} {_is(update.new)} new" if update.new else ""
    return (
        f"Added {rows:,} {'row' if rows == 1 else 'rows'} of {datasets} "
        f"{'dataset' if datasets == 1 else 'datasets'}{new}."
    )


def _is(names: tuple[str, ...]) -> str:
    return "is" if len(names) == 1 else "are"


def _moved(move: "Move") -> str:
    return (
        f"Clusters changed from {_groups(move.before)} to {_groups(move.after)}: the error on "
        f"held-out rows {_falls(move)}.{UNSOUND if move.unsound else ''}"
    )


def _stayed(move: "Move") -> str:
    return (
        f"Clusters stay {_groups(move.before)}. A fresh search prefers {_groups(move.after)}, but "
        f"the error on held-out rows {_falls(move)}: the gain does not exceed its standard error. "
        "With settled=False (--free) the change is made."
    )


def _falls(move: "Move") -> str:
    words = "falls" if move.gain >= 0 else "rises"
    return (
        f"{words} by {100 * abs(move.gain):.2g} % "
        f"(standard error {100 * move.standard_error:.2g} %)"
    )


def _placed(name: str, update: "Update") -> str:
    result = update.result
    others = [one for one in result.clusters[result.labels[name]] if one != name]
    where = f"joined {quoted(others)}" if others else "has a cluster of its own"
    return f"New dataset {name!r} {where}."


def _groups(groups: "Groups") -> str:
    return " ".join("{" + ", ".join(group) + "}" for group in groups)


def _verdict(change: "VerdictChange", update: "Update") -> str:
    before, after = change.before, change.after
    rows = sum(update.rows.get(name, 0) for name in (*after.left, *after.right))
    why = f"{rows:,} new rows" if rows else "no new rows, but others changed what is shared"
    return (
        f"{{{', '.join(after.left)}}} and {{{', '.join(after.right)}}}: verdict "
        f"{before.verdict!r} became {after.verdict!r}. The gain was {before.gain:.3g} and is "
        f"{after.gain:.3g}{_interval(after.interval)} ({why})."
    )


def _interval(ends: tuple[float, float]) -> str:
    low, high = ends
    return "" if low != low else f", interval {low:.3g} to {high:.3g}"


def update_facts(update: "Update") -> dict[str, Any]:
    """Return an update as plain values."""
    return {
        "rows": dict(update.rows),
        "new": list(update.new),
        "settled": update.settled,
        "clusters": update.result.clusters,
        "moves": [
            {
                "before": [list(group) for group in move.before],
                "after": [list(group) for group in move.after],
                "gain": move.gain,
                "standard_error": move.standard_error,
                "made": move.made,
            }
            for move in update.moves
        ],
        "verdicts": [
            {
                "left": list(one.after.left),
                "right": list(one.after.right),
                "before": one.before.verdict,
                "after": one.after.verdict,
                "gain_before": one.before.gain,
                "gain": one.after.gain,
                "interval": list(one.after.interval),
            }
            for one in update.verdicts
        ],
    }
