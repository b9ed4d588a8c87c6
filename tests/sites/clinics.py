"""Tables of nine clinics, and what pooled rows give with the same plan and the same folds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conjoin.api.request import Request
from conjoin.engine.steps import Task, find
from conjoin.engine.study import make_study
from conjoin.moments.folds import Dealt
from conjoin.result.partition import Partition
from conjoin.sites import Plan, export, make_plan
from conjoin.sites.ledger import Ledger
from conjoin.sites.rows import SiteRows, read_rows
from conjoin.tables import DatasetCollection

Tables = dict[str, dict[str, Any]]
COLUMNS = {
    "age": {"type": "number", "unit": "years"},
    "dose": "number",
    "sex": {"type": "category", "levels": ["f", "m"], "other": False},
}
TARGETS = {
    "gaussian": {"type": "number"},
    "logistic": {"type": "class", "classes": ["no", "yes"]},
    "poisson": {"type": "count"},
    "classes": {"type": "class", "classes": ["home", "ward", "other"]},
}


def clinics(family: str = "gaussian", sites: int = 9, rows: int = 300, seed: int = 0) -> Tables:
    """Return tables of clinics; the first five share a model, the others another one."""
    rng = np.random.default_rng(seed)
    found: Tables = {}
    for k in range(sites):
        n = rows + 20 * k
        age, dose = rng.uniform(20 + k, 80, n), rng.uniform(0, 1, n)
        sex = rng.choice(["f", "m"], n)
        own = (0.03, 1.5, 0.4) if k < 5 else (-0.02, -1.5, 0.4)
        line = own[0] * (age - 50) + own[1] * (dose - 0.5) + own[2] * (sex == "m")
        y: Any = line + 0.5 * rng.standard_normal(n)
        if family == "logistic":
            y = np.where(rng.uniform(size=n) < 1 / (1 + np.exp(-line)), "yes", "no")
        if family == "classes":
            scores = np.stack([0 * line, line, 0.8 * dose - 0.6]) + rng.gumbel(size=(3, n))
            y = np.array(TARGETS["classes"]["classes"])[np.argmax(scores, axis=0)]
        if family == "poisson":
            y = rng.poisson(np.exp(1 + 0.5 * line)).astype(float)
        found[f"clinic_{k + 1}"] = {"age": age, "dose": dose, "sex": sex, "y": y}
    return found


def plan_of(family: str = "gaussian", **options: Any) -> Plan:
    """Return the plan of the clinics."""
    return make_plan({**COLUMNS, "y": TARGETS[family]}, "y", **options)


def export_all(tables: Tables, plan: Plan, folder: Path) -> list[Path]:
    """Write the files of all clinics."""
    paths = []
    for name, table in tables.items():
        path = folder / f"{name}.json"
        export(table, plan, name).save(path)
        paths.append(path)
    return paths


def pooled_rows(tables: Tables, plan: Plan) -> tuple[DatasetCollection, Dealt, int]:
    """Return the rows of all sites together, with the folds that the sites dealt."""
    sites = [read_rows(table, plan, name) for name, table in tables.items()]
    starts = np.concatenate([[0], np.cumsum([len(one.y) for one in sites])])
    X, y = np.concatenate([one.X for one in sites]), np.concatenate([one.y for one in sites])
    varying = X.min(axis=0) < X.max(axis=0)
    schema = plan.schema.without(
        [name for name, varies in zip(plan.schema.features, varying) if not varies]
    )
    table = DatasetCollection(tuple(tables), schema, X[:, varying], y, np.ones(len(y)), starts)
    return table, _dealt(sites), max(one.folds[0] for one in sites)


def _dealt(sites: list[SiteRows]) -> Dealt:
    most = max(one.folds[0] for one in sites)
    spread = [one.dealt[0].fold * most // one.folds[0] for one in sites]
    own = [one.dealt[0] for one in sites]
    repeats = None
    if any(one.repeats is not None for one in own):
        repeats = np.concatenate(
            [np.ones(len(d.fold), int) if d.repeats is None else d.repeats for d in own]
        )
    return Dealt(
        np.concatenate(spread),
        np.concatenate([one.copies for one in own]),
        np.concatenate([one.rank for one in own]),
        repeats,
    )


def partition_of_rows(tables: Tables, plan: Plan) -> Partition:
    """Return the partition of pooled rows, read by the plan, with the folds of the sites.

    Variances of numbers are found to the last digits, as with `keep_moments=True`.
    """
    table, dealt, folds = pooled_rows(tables, plan)
    request = Request(target=plan.target, folds=folds, learner="linear")
    task = Task(request, None, None, {**request.to_plain(), "data": []}, False)
    study = make_study(table, request, dealt)
    with pytest.MonkeyPatch.context() as patch:
        if plan.family == "gaussian":
            patch.setattr("conjoin.engine.steps._starts_of", lambda table: {})
        return find(task, table, study).analysis.using("auto")


def largest_difference(one: Partition, two: Partition) -> float:
    """Return the largest relative difference of errors, gains, intervals and coefficients."""
    return max(evidence_difference(one, two), coefficient_difference(one, two))


def evidence_difference(one: Partition, two: Partition) -> float:
    """Return that of errors, gains and intervals; clusters and verdicts are the same."""
    assert one.clusters == two.clusters
    assert [line.verdict for line in one.ledger()] == [line.verdict for line in two.ledger()]
    found = []
    for name, error in one.errors.items():
        other = two.errors[name]
        found.append(_difference([error.error, *error.interval], [other.error, *other.interval]))
    scale = max(abs(line.gain) for line in two.ledger())
    for a, b in zip(one.ledger(), two.ledger()):
        found.append(_difference([a.gain], [b.gain], scale))
        # The ends of an interval come from a root search with a tolerance of its own.
        assert _difference([*a.interval], [*b.interval], scale) < 1e-5
    return max(found)


def coefficient_difference(one: Partition, two: Partition) -> float:
    """Return that of coefficients, over the largest one of each dataset."""
    found = []
    for name, fit in one.coefficients.items():
        found.append(_difference(_numbers(fit), _numbers(two.coefficients[name])))
    return max(found)


def _numbers(fit: Any) -> list[float]:
    lines = getattr(fit, "lines", (fit,))
    return [value for line in lines for value in (line.intercept, *line.coef.values())]


def _difference(one: list[float], two: list[float], scale: float | None = None) -> float:
    a, b = np.array(one), np.array(two)
    assert np.array_equal(np.isfinite(a), np.isfinite(b))
    known = np.isfinite(a)
    if not known.any():
        return 0.0
    return float(np.max(np.abs(a - b)[known]) / (scale or np.max(np.abs(b[known]))))


def ledger_of(folder: Path, name: str) -> Ledger:
    """Return the ledger of a site, in a folder of its own."""
    place = folder / f"at_{name}"
    place.mkdir(exist_ok=True)
    return Ledger.open(place)
