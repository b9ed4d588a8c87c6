"""The golden corpus: 28 small cases of every kind, and the numbers that were found for them.

`find(case)` returns the numbers of one case as plain values; `corpus.json` holds them as they were
stored. A change that is to move no number is right where the two agree (`scripts.golden_corpus`).
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import conjoin
from conjoin.datasets import (
    load_seoul_bikes,
    make_class_clusters,
    make_clusters,
    make_count_clusters,
    make_pair,
)

STORED = Path(__file__).with_name("corpus.json")
ROWS = 7  # rows whose predictions are stored


def stored() -> dict[str, Any]:
    """Return the numbers of all cases as they were stored."""
    return json.loads(STORED.read_text())


def find(name: str, folder: Path) -> dict[str, Any]:
    """Return the numbers of one case; files it needs are written to the folder."""
    return CASES[name](folder)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(one) for one in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else str(float(value))
    return value.item() if isinstance(value, np.generic) else value


def _fit(fit: Any) -> dict[str, Any]:
    return {"intercept": fit.intercept, "coef": fit.coef, "rows": fit.rows, "error": fit.error}


def _partition(result: Any, rows: Any, dataset: Any = None) -> dict[str, Any]:
    errors = {n: [e.error, e.behind, e.standard_error] for n, e in result.errors.items()}
    predict = result.predict_proba if result.classes else result.predict
    ledger = [
        [list(line.left), list(line.right), line.joined, line.verdict, line.gain, line.interval]
        for line in result.ledger()
    ]
    first = next(iter(result.labels))
    nearby = [[a.cluster, a.verdict, a.gain, a.interval] for a in result.explain(first)]
    facts = {
        "clusters": result.clusters,
        "strategy": result.strategy,
        "models": [_fit(model) for model in result.models],
        "coefficients": {name: _fit(model) for name, model in result.coefficients.items()},
        "pooled": _fit(result.pooled),
        "weights": result.weights,
        "errors": errors,
        "ledger": ledger,
        "explain": nearby,
        "prediction": predict(rows) if dataset is None else predict(rows, dataset),
    }
    if result.classes:
        facts["scores"] = {n: [s.log_loss, s.brier, s.auc] for n, s in result.scores.items()}
    return _plain(facts)


def _tables(tables: dict[str, Any], folder: Path, **options: Any) -> dict[str, Any]:
    result = conjoin.partition(tables, target="y", learner="linear", **options)
    name, table = next(iter(tables.items()))
    return _partition(result, {c: v[:ROWS] for c, v in table.items()}, name)


def _bikes(folder: Path, **options: Any) -> dict[str, Any]:
    bikes = load_seoul_bikes()
    result = conjoin.partition(
        bikes, target="rented_bikes", **{"by": "hour", "learner": "linear", **options}
    )
    return _partition(result, {name: values[:ROWS] for name, values in bikes.items()})


def _pair(folder: Path, **options: Any) -> dict[str, Any]:
    found = {}
    for d in (0.0, 0.3, 1.0):
        a, b = make_pair(p=6, n=120, d=d, random_state=3).tables().values()
        found[str(d)] = _comparison(conjoin.compare(a, b, target="y", **options))
    return found


def _class_pair(folder: Path) -> dict[str, Any]:
    tables = make_class_clusters(sizes=(1, 1), n=250, p=3, random_state=1).tables()
    return _comparison(conjoin.compare(*tables.values(), target="y"))


def _comparison(c: Any) -> dict[str, Any]:
    names = ("verdict", "join", "gain", "interval", "rows_to_settle", "score", "phi", "psi")
    errors = [c.error_separate, c.error_joined]
    fits = [_fit(fit) for fit in (c.fit_a, c.fit_b, c.fit_joined)]
    return _plain({**{n: getattr(c, n) for n in names}, "errors": errors, "fits": fits})


def _weighted(folder: Path) -> dict[str, Any]:
    tables = make_clusters(sizes=(3, 2), n=60, p=3, distance=1.5, random_state=5).tables()
    rng = np.random.default_rng(5)
    tables = {k: {**t, "w": rng.uniform(0.2, 3.0, len(t["y"]))} for k, t in tables.items()}
    return _tables(tables, folder, weights="w", weigh_by="rows")


def _mixed_columns(folder: Path, missing: str) -> dict[str, Any]:
    """Text, truth values and gaps beside numbers."""
    tables = make_clusters(sizes=(2, 3), n=80, p=3, distance=1.5, random_state=6).tables()
    rng = np.random.default_rng(6)
    for table in tables.values():
        n = len(table["y"])
        kind = rng.choice(["red", "green", "blue"], n).astype(object)
        table["kind"] = kind
        table["open"] = rng.uniform(size=n) < 0.5
        table["y"] = table["y"] + (kind == "red")
        table["x1"] = np.where(rng.uniform(size=n) < 0.1, np.nan, table["x1"])
    return _tables(tables, folder, missing=missing)


def _files(folder: Path) -> dict[str, Any]:
    """One CSV file for each dataset."""
    tables = make_clusters(sizes=(2, 2), n=50, p=3, distance=2.0, random_state=7).tables()
    for name, table in tables.items():
        lines = [
            ",".join(table),
            *(",".join(map(repr, map(float, r))) for r in zip(*table.values())),
        ]
        (folder / f"{name}.csv").write_text("\n".join(lines))
    result = conjoin.partition(
        [str(folder / f"{name}.csv") for name in tables], target="y", learner="linear"
    )
    result.save(folder / "model.json", evidence=True)
    loaded = conjoin.load(folder / "model.json")
    name, table = next(iter(tables.items()))
    return _partition(loaded, {c: v[:ROWS] for c, v in table.items()}, name)


def _one_parquet(folder: Path) -> dict[str, Any]:
    """A Parquet file whose rows stay in DuckDB."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    bikes = load_seoul_bikes()
    pq.write_table(pa.table(bikes), folder / "bikes.parquet")
    path = str(folder / "bikes.parquet")
    result = conjoin.partition(
        path, target="rented_bikes", by="hour", strategy="partial", learner="linear"
    )
    return _partition(result, {name: values[:ROWS] for name, values in bikes.items()})


def _learned(folder: Path, representation: Any) -> dict[str, Any]:
    tables = make_clusters(sizes=(2, 2), n=150, p=4, distance=1.5, random_state=8).tables()
    return _tables(tables, folder, representation=representation)


def _squares(X: np.ndarray) -> np.ndarray:
    return np.concatenate([X, X**2], axis=1)


def _one_dataset(folder: Path, kind: str) -> dict[str, Any]:
    """Estimators without names of datasets."""
    rng = np.random.default_rng(9)
    X = rng.standard_normal((120, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.standard_normal(120)
    if kind == "regressor":
        model = conjoin.JoinRegressor().fit(X, y)
    else:
        model = conjoin.JoinClassifier().fit(X, np.where(y > 0, "yes", "no"))
    predict = model.predict if kind == "regressor" else model.predict_proba
    errors = {n: e.error for n, e in model.errors_.items()}
    fit = _fit(model.result_.pooled)
    return _plain({"prediction": predict(X[:ROWS]), "errors": errors, "fit": fit})


def _clusters(**options: Any) -> dict[str, Any]:
    return make_clusters(sizes=(3, 3, 2), n=60, p=4, distance=1.2, **options).tables()


def _synthetic(folder: Path, **options: Any) -> dict[str, Any]:
    return _tables(_clusters(random_state=1), folder, **options)


def _few_rows(folder: Path) -> dict[str, Any]:
    sizes = (5, 40, 8, 60, 3, 30)
    tables = make_clusters(sizes=(3, 3), n=sizes, p=6, distance=2.0, random_state=2).tables()
    return _tables(tables, folder)


def _classes(folder: Path, classes: int, **options: Any) -> dict[str, Any]:
    shops = make_class_clusters(sizes=(3, 2), n=120, p=3, classes=classes, random_state=3)
    return _tables(shops.tables(), folder, **options)


def _counts(folder: Path) -> dict[str, Any]:
    shops = make_count_clusters(sizes=(2, 3), n=100, p=3, random_state=4)
    return _tables(shops.tables(), folder, family="poisson")


CASES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "synthetic": _synthetic,
    "synthetic without an intercept": partial(_synthetic, intercept=False, strategy="best"),
    "few rows": _few_rows,
    "bikes": _bikes,
    "bikes in clusters": partial(_bikes, strategy="clusters", weigh_by="rows"),
    "method risk": partial(_bikes, method="risk"),
    "method evidence": partial(_synthetic, method="evidence", strategy="mixture"),
    "method validated": partial(_synthetic, method="validated", strategy="full"),
    "method chow": partial(_bikes, method="chow", strategy="clusters"),
    "method bic": partial(_synthetic, method="bic", strategy="separate"),
    "method kmeans": partial(_synthetic, method="kmeans", strategy="slopes"),
    "method tuned": partial(_synthetic, method="tuned", resamples=40, n=20, random_state=2),
    "method bound": partial(_synthetic, method="bound", delta=0.2),
    "two classes": partial(_classes, classes=2),
    "three classes": partial(_classes, classes=3, strategy="clusters"),
    "counts": _counts,
    "weights": _weighted,
    "missing values, indicator": partial(_mixed_columns, missing="indicator"),
    "missing values, dropped": partial(_mixed_columns, missing="drop"),
    "files": _files,
    "a file whose rows stay in DuckDB": _one_parquet,
    "representation mlp1": partial(_learned, representation="mlp1"),
    "representation by a function": partial(_learned, representation=_squares),
    "a single dataset of numbers": partial(_one_dataset, kind="regressor"),
    "a single dataset of classes": partial(_one_dataset, kind="classifier"),
    "pairs": _pair,
    "pairs, tuned": partial(_pair, method="tuned", resamples=60, n=30),
    "a pair of classes": _class_pair,
}
