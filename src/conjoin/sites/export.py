"""What a site sends: sums of products by dataset and fold, and no row.

Rows of a site enter (`sites.rows`); an `Export` leaves, which is written to a file and described in
words. Sums are formed around the mean of each dataset and in its own standard deviations, so that
no digits are lost. The receiver moves them to common coordinates exactly (`sites.receive`).

For numbers, the scatter of residuals around the dataset's own fit is part of it
(`models.scatter`): verdicts need it, and it cannot be found from sums of products.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.moments.basis import FARTHEST
from conjoin.result.document import checksum
from conjoin.sites.document import EXPORT, numbers, triangle_of, write_document
from conjoin.sites.ledger import Ledger
from conjoin.sites.plan import NEVER, Plan
from conjoin.sites.privacy import Budget
from conjoin.sites.private_export import bounds_of, describe_privacy, private_dataset
from conjoin.sites.rows import SiteRows, read_rows, refuse
from conjoin.sites.rules import Rules
from conjoin.sites.scattered import Standardised, scatter_of, scatter_to_plain
from conjoin.text import listed
from conjoin.version import __version__


@dataclass(frozen=True)
class Export:
    """What leaves a site, as plain values.

    Parameters
    ----------
    content : dict
        What the file holds.
    steps : tuple of str
        What was done at the site so that the rules are kept.
    left_out : int
        Rows that were left out, because they have no target.
    rows : SiteRows, optional
        The rows; they stay at the site.
    ledger : Ledger, optional
        The site's register of exports, to which this one is added when it is saved.
    budget : Budget, optional
        What it spends of differential privacy.
    notes : tuple of str
        What the site should know, in sentences.
    """

    content: dict[str, Any]
    steps: tuple[str, ...] = ()
    left_out: int = 0
    rows: SiteRows | None = None
    ledger: Ledger | None = None
    budget: Budget | None = None
    notes: tuple[str, ...] = ()

    def save(self, path: str | Path) -> None:
        """Write the file, completely or not at all; the ledger knows of it before."""
        self.record(Path(path).name)
        write_document(path, EXPORT, self.content)

    def record(self, file: str) -> None:
        """Tell the site's ledger that the sums are about to leave, under the name of a file."""
        if self.ledger is None or self.rows is None:
            return
        about = {
            "site": self.content["site"],
            "plan": self.content["plan_checksum"],
            "file": file,
            "checksum": checksum(self.content),
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        rows = self.rows
        self.ledger.record(
            rows.leaving(), rows.rules, about, identity=rows.identity, budget=self.budget
        )

    def describe(self) -> str:
        """Return in words what is in the file and what is not."""
        content = self.content
        p = len(content["features"]) + 2
        lines = [f"Site {content['site']!r}, target {content['plan']['target']!r}:"]
        for one in content["datasets"]:
            folds = len(one["n"])
            parts = f"{folds} folds" if folds > 1 else "no folds"
            count = folds * p * (p + 1) // 2 + 2 * p + 1
            count += 0 if one["scatter"] is None else p * (p - 1) + 3
            about = "" if content["privacy"] is None else "about "
            lines.append(
                f"  {one['name']}: {about}{sum(one['n']):,} rows, {parts}, {count:,} numbers in "
                "the file"
            )
        lines += ["In the file:", *(f"  {line}" for line in self._inside())]
        lines += ["Not in the file:", *(f"  {line}" for line in NEVER)]
        done = list(self.steps)
        if self.left_out:
            done.append(f"{self.left_out:,} rows without a target were left out.")
        if done:
            lines += ["Done before the export:", *(f"  {line}" for line in done)]
        if self.notes:
            lines += ["Worth knowing:", *(f"  {line}" for line in self.notes)]
        return "\n".join(lines)

    def _inside(self) -> list[str]:
        """Return what the file holds, in sentences."""
        if self.content["privacy"] is not None:
            return [
                "Noisy sums of products of every two columns.",
                "The declared bounds of the columns, and how large the noise is.",
                str(self.content["privacy"]["promise"]),
                "All sums share this budget, and there are no folds. Exports of this site have "
                f"spent epsilon {self.content['privacy']['spent'][0]:g} together.",
            ]
        found = [
            "Means and standard deviations of the columns of each dataset.",
            "Sums of products of every two columns, for each fold.",
            "Number of rows, and of rows at each level of a category.",
        ]
        if self.content["datasets"][0]["scatter"] is not None:
            found.append("Two matrices that say how far residuals scatter.")
        return found


def export(
    table: Any,
    plan: Plan,
    name: str,
    *,
    by: str | Sequence[str] | None = None,
    rules: Rules | None = None,
    i_know: bool = False,
    ledger: str | Path | None = None,
    epsilon: float | None = None,
    delta: float = Budget.delta,
    bounds: Mapping[str, tuple[float, float]] | None = None,
) -> Export:
    """Return what a site sends to the coordinator; no row of the table is in it.

    Parameters
    ----------
    table : frame, mapping of columns, or files
        The site's rows.
    plan : Plan
        What the coordinator sent.
    name : str
        Name of the site.
    by : str or list of str, optional
        Columns that name the datasets of a site that has several, such as wards.
    rules : Rules, optional
        Disclosure rules of the site, where they are stricter than those of the plan.
    i_know : bool, default False
        Whether a plan whose rules allow more than the default is accepted.
    ledger : path, optional
        Folder of the site's register of exports. An export that differs from an earlier one in few
        rows is then refused.
    epsilon : float, optional
        Adds noise for differential privacy; the disclosure rules are not needed then.
    delta : float, default 1e-6
        Probability that the promise of differential privacy fails.
    bounds : mapping of column to (low, high), optional
        Declared ends of the columns and the target, for differential privacy. They must not come
        from the rows.

    Returns
    -------
    Export
        `describe()` says in words what it holds; `save(path)` writes the file.

    Raises
    ------
    DataError
        If a column of the plan is missing, or if the sums would disclose rows.

    Examples
    --------
    >>> from conjoin.sites import make_plan
    >>> rng = np.random.default_rng(0)
    >>> rows = {"age": rng.uniform(20, 80, 200), "cost": rng.uniform(0, 9, 200)}
    >>> plan = make_plan({"age": "number", "cost": "number"}, "cost")
    >>> print(export(rows, plan, "clinic_3").describe().splitlines()[1])
      clinic_3: 200 rows, 10 folds, 76 numbers in the file
    """
    register = None if ledger is None else Ledger.open(ledger)
    if epsilon is not None:
        budget = Budget(epsilon, delta)
        rows = read_rows(table, plan, name, by, rules, i_know=i_know, private=True)
        content = _private(rows, budget, bounds or {}, register)
        notes = () if register is None else _exact_before(register)
        return Export(content, (), rows.left_out, rows, register, budget, notes)
    rows = read_rows(table, plan, name, by, rules, i_know=i_know)
    if register is not None:
        refuse(register.compare(rows.leaving(), rows.rules, rows.identity))
    content = export_rows(rows)
    notes = _long_tails(rows, content)
    return Export(content, rows.steps, rows.left_out, rows, register, notes=notes)


def export_rows(rows: SiteRows) -> dict[str, Any]:
    """Return the content of a site's file."""
    return _content(rows, [_dataset(rows, k) for k in range(len(rows.names))])


def _long_tails(rows: SiteRows, content: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a sentence about columns far from their mean, if the plan has no limits for them."""
    features, free = rows.plan.schema.features, ~np.isfinite(rows.plan.known_ranges()[1])
    found = np.zeros(len(features), dtype=bool)
    for k, one in enumerate(content["datasets"]):
        low, high = (end(axis=0)[:-1] for end in (rows.sums(k).low.min, rows.sums(k).high.max))
        center, scale = (np.array(one[name][:-1], np.float64) for name in ("center", "scale"))
        found |= free & (np.maximum(high - center, center - low) > FARTHEST * scale)
    if not found.any():
        return ()
    names = listed([name for name, one in zip(features, found) if one])
    return (
        f"Values beyond {FARTHEST:g} standard deviations, and no limits in the plan: {names}. "
        "Errors may differ a little from those of pooled rows. Next: ask the coordinator for a "
        'plan with "limits" for them.',
    )


def _exact_before(register: Ledger) -> tuple[str, ...]:
    """Return a sentence if sums without noise have left before; no noise takes them back."""
    exact = [str(i) for i, one in enumerate(register.entries, start=1) if one["epsilon"] == 0]
    if not exact:
        return ()
    return (
        f"Sums without noise have left this site before (ledger entry {listed(exact)}): the "
        "promise holds for this file, not for both together.",
    )


def _private(
    rows: SiteRows,
    budget: Budget,
    given: Mapping[str, tuple[float, float]],
    register: Ledger | None,
) -> dict[str, Any]:
    """Return the content of a site's file with differential privacy."""
    bounds = bounds_of(rows.plan, given)
    spent = (0.0, 0.0)
    if register is not None:
        register.check_budget(budget)
        spent = register.spent()
    datasets, added, noise = [], {}, 0.0
    for k, name in enumerate(rows.names):
        own = rows.rows(k)
        one, noise, added[name] = private_dataset(name, rows.X[own], rows.y[own], bounds, budget)
        datasets.append(one)
    total = (spent[0] + budget.epsilon, spent[1] + budget.delta)
    return _content(rows, datasets, describe_privacy(budget, total, noise, added))


def _content(
    rows: SiteRows, datasets: list[dict[str, Any]], privacy: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "site": rows.site,
        "plan": rows.plan.to_plain(),
        "plan_checksum": rows.plan.checksum,
        "conjoin": __version__,
        "features": list(rows.plan.schema.features),
        "rules": rows.rules.to_plain(),
        "privacy": privacy,
        "datasets": datasets,
        "not in this file": list(NEVER),
    }


def _dataset(rows: SiteRows, k: int) -> dict[str, Any]:
    """Return what leaves of one dataset."""
    own = rows.rows(k)
    X, y, dealt = rows.X[own], rows.y[own], rows.dealt[k]
    sums = rows.sums(k)
    center, scale, products = sums.standardised()
    scatter = None
    if rows.plan.family == "gaussian":
        place = Standardised(X, y, center, scale, products.sum(axis=0))
        scatter = scatter_to_plain(scatter_of(place, dealt.repeats, rows.rules))
    return {
        "name": rows.names[k],
        "n": sums.n.tolist(),
        "center": numbers(center),
        "scale": numbers(scale),
        "levels": _levels(rows, X),
        "classes": _classes(rows, y),
        "products": numbers(triangle_of(products)),
        "copies": int(dealt.copies[0]),
        "scatter": scatter,
    }


def _levels(rows: SiteRows, X: FloatArray) -> dict[str, int]:
    """Return the number of rows at every level of a category, by feature."""
    names = rows.plan.schema.features
    low, high = rows.plan.known_ranges()
    flags = [j for j in range(len(names)) if (low[j], high[j]) == (0.0, 1.0)]
    return {names[j]: int(X[:, j].sum()) for j in flags if np.isin(X[:, j], (0.0, 1.0)).all()}


def _classes(rows: SiteRows, y: FloatArray) -> list[int]:
    """Return the number of rows of every class; none for numbers."""
    count = len(rows.plan.schema.response.classes)
    return np.bincount(y.astype(np.int64), minlength=count).tolist() if count else []
