"""The data of a case: arrays by column, then the container that the case asks for."""

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from tests.campaign.cases import Case

Table = dict[str, np.ndarray]


def tables_of(case: Case) -> dict[str, Table]:
    """Return the columns of each dataset."""
    rng = np.random.default_rng([case.seed, 1])
    sizes = [_rows(case, k, rng) for k in range(case.datasets)]
    starts = np.cumsum([0, *sizes])
    with np.errstate(all="ignore"):
        X = _columns(case, starts, rng)
        y = _target(case, X, starts, rng)
        w = _weights(case, starts, rng)
    names = _distinct([*case.names, *(f"d{k}" for k in range(len(case.names), case.datasets))])
    heads = _distinct([*case.column_names, *(f"x{j}" for j in range(len(X)))][: len(X)])
    heads = [head if head not in ("y", "w", "t", "who", "g") else head + "_" for head in heads]
    table = dict(zip(heads, X))
    table["y"] = y
    if w is not None:
        table["w"] = w
    if case.time:
        start = datetime(2024, 1, 1)
        days = rng.integers(0, 400, len(y))
        table["t"] = np.array(
            [start + timedelta(days=int(d)) for d in days], dtype="datetime64[us]"
        )
    if case.repeat:
        table["who"] = rng.integers(0, max(2, len(y) // 3), len(y))
    parts = {}
    for k, name in enumerate(names):
        rows = np.arange(starts[k], starts[k + 1])
        if case.copies:
            rows = np.repeat(rows, 2)
        parts[name] = {head: column[rows] for head, column in table.items()}
    return parts


def _rows(case: Case, k: int, rng: np.random.Generator) -> int:
    return max(1, int(case.rows * rng.uniform(0.1, 1.5))) if case.ragged else case.rows


def _distinct(names: list[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        while name in found:
            name += "_"
        found.append(name)
    return found


def _scaled(x: np.ndarray, power: int) -> np.ndarray:
    """Return values times a power of ten; those beyond the largest double stay below it."""
    scaled = x * 10.0 ** (power / 2) * 10.0 ** (power - power / 2)
    return np.where(np.isfinite(x), np.nan_to_num(scaled, posinf=1.7e308, neginf=-1.7e308), scaled)


def _columns(case: Case, starts: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    n, X = int(starts[-1]), []
    for j, kind in enumerate(case.columns):
        power = case.column_powers[j] if j < len(case.column_powers) else 0
        x = _column(kind, n, starts, X, rng)
        X.append(_scaled(x, power) if x.dtype == np.float64 and power else x)
    return X


def _column(
    kind: str, n: int, starts: np.ndarray, before: list[np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    z = rng.standard_normal(n)
    row = int(rng.integers(n))
    numbers = [x for x in before if x.dtype == np.float64]
    other = numbers[-1] if numbers else z
    if kind in ("wild", "wild pair"):
        z[row] = 1e140
        if kind == "wild pair":
            z[(row + 1) % n] = -1e140
    elif kind == "missing":
        z[rng.random(n) < 0.3] = np.nan
    elif kind == "infinite":
        z[row] = np.inf
    made = {
        "flag": lambda: (np.arange(n) == row).astype(float),
        "constant": lambda: np.full(n, 7.3),
        "zero": lambda: np.zeros(n),
        "integers": lambda: rng.integers(-5, 5, n),
        "largest integers": lambda: rng.integers(2**62, 2**63 - 1, n),
        "text": lambda: rng.choice(np.array(["red", "green", "", "blå"], dtype=object), n),
        "boolean": lambda: z > 0,
        "date": lambda: np.datetime64("2024-01-01", "us") + rng.integers(0, 1e13, n).astype("m8"),
        "copy": lambda: other.copy(),
        "nearly copy": lambda: other * (1 + 1e-9 * z),
        "square": lambda: other * other,
        "offset": lambda: 1e15 + z,
        "mixed scales": lambda: z * 10.0 ** rng.integers(-200, 200, n),
        "subnormal": lambda: z * 1e-310,
        "lognormal": lambda: np.exp(8 * z),
        "one dataset only": lambda: np.where(np.arange(n) < starts[1], z, 0.0),
        "all missing": lambda: np.full(n, np.nan),
        "objects": lambda: np.array([z[i] if i % 2 else str(z[i]) for i in range(n)], dtype=object),
        "alternating": lambda: np.where(np.arange(n) % 2, 1e8, -1e8) + z,
    }  # fmt: skip
    return made[kind]() if kind in made else z


def _target(
    case: Case, X: list[np.ndarray], starts: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    n, row = int(starts[-1]), int(rng.integers(starts[-1]))
    signal = np.zeros(n)
    for x in X:
        if x.dtype.kind in "fib":
            z = np.nan_to_num(np.asarray(x, dtype=float), posinf=0, neginf=0)
            largest = np.abs(z).max()
            signal += z / largest if largest > 0 else z
    slopes = rng.choice([1.0, 1.0, -1.0], len(starts) - 1)
    signal = signal * np.repeat(slopes, np.diff(starts))
    noise = rng.standard_normal(n)
    if case.target == "count":
        y = rng.poisson(np.exp(np.clip(signal + 0.5, -5, 5))).astype(float)
        if case.quirk == "wild":
            y[row] = float(rng.choice([1e6, 1e14, 2.0**53]))
        if case.quirk == "rare":
            y = (np.arange(n) == row).astype(float)
        if case.quirk == "constant in one":
            y[: starts[1]] = 0.0
        return y
    if case.target in ("boolean", "classes"):
        score = signal + noise
        if case.quirk == "rare":
            score = np.where(np.arange(n) == row, 9.0, -9.0)
        if case.quirk == "constant in one":
            score[: starts[1]] = 9.0
        if case.target == "boolean":
            return score > 0
        cuts = np.array(["low", "mid", "high", "top"], dtype=object)
        return cuts[np.digitize(score, [-1.0, 0.3, 1.5])]
    return _scaled(_number(case, signal, noise, row, starts, rng), case.target_power)


def _number(case, signal, noise, row, starts, rng) -> np.ndarray:
    y = signal + 0.3 * noise
    if case.quirk == "exact":
        y = signal
    elif case.quirk == "constant in one":
        y[: starts[1]] = 2.0
    elif case.quirk == "wild":
        y[row] = 1e140
    elif case.quirk == "offset":
        y = y + 1e15
    elif case.quirk == "two values":
        y = np.where(y > 0, 1.0, 0.0)
    elif case.quirk == "missing":
        y[rng.random(len(y)) < 0.3] = np.nan
    elif case.quirk == "infinite":
        y[row] = np.inf
    elif case.quirk == "mixed scales":
        y = y * 10.0 ** rng.integers(-150, 140, len(y))
    elif case.quirk == "constant":
        y = np.full(len(y), 3.0)
    elif case.quirk == "rare":
        y = (np.arange(len(y)) == row).astype(float)
    return y


def _weights(case: Case, starts: np.ndarray, rng: np.random.Generator) -> np.ndarray | None:
    n = int(starts[-1])
    z = rng.standard_normal(n)
    made = {
        "lognormal": lambda: np.exp(3 * z),
        "zeros": lambda: (z > 0).astype(float),
        "extreme": lambda: 10.0 ** rng.uniform(-300, 300, n),
        "one heavy": lambda: np.where(np.arange(n) == 0, 1e12, 1.0),
        "negative": lambda: z,
        "missing": lambda: np.where(z > 1, np.nan, 1.0),
    }
    return made[case.weights]() if case.weights else None


def joined(tables: dict[str, Table]) -> Table:
    """Return all rows as one table with a column `g` of names."""
    heads = list(next(iter(tables.values())))
    one = {head: np.concatenate([t[head] for t in tables.values()]) for head in heads}
    names = [name for name, table in tables.items() for _ in range(len(table["y"]))]
    return {"g": np.array(names, dtype=object), **one}


def contain(case: Case, tables: dict[str, Table], folder: Path):
    """Return the data in the container of the case, and the argument `by`."""
    kind, _, mapping = case.container.partition(" mapping")
    if kind == "mapping":
        return tables, None
    if case.container.endswith(" mapping"):
        return {name: container_of(kind, one, folder) for name, one in tables.items()}, None
    return container_of(kind, joined(tables), folder), "g"


def rows_to_predict(case: Case, table: Table, folder: Path):
    """Return all rows in a container that rows may be predicted in: files are read."""
    kind = case.container.partition(" ")[0]
    kind = {"csv": "pandas", "parquet": "arrow", "scan": "polars", "dask": "pandas"}.get(kind, kind)
    return container_of(kind, table, folder)


def container_of(kind: str, table: Table, folder: Path):
    """Return one table in a container."""
    if kind in ("dict", "mapping"):
        return table
    if kind in ("pandas", "csv", "dask"):
        return _in_pandas(kind, table, folder)
    import pyarrow as pa

    arrow = pa.table(
        {
            h: pa.array([str(v) for v in c]) if c.dtype == object else pa.array(c)
            for h, c in table.items()
        }
    )
    if kind == "arrow":
        return arrow
    if kind in ("parquet", "scan"):
        import pyarrow.parquet as pq

        pq.write_table(arrow, folder / "data.parquet")
        if kind == "parquet":
            return folder / "data.parquet"
        import polars as pl

        return pl.scan_parquet(folder / "data.parquet")
    if kind in ("polars", "lazy"):
        import polars as pl

        polars = pl.DataFrame(arrow)
        return polars.lazy() if kind == "lazy" else polars
    import duckdb

    if kind == "duckdb":
        return duckdb.connect().from_arrow(arrow)
    with duckdb.connect(str(folder / "data.duckdb")) as connection:
        connection.from_arrow(arrow).create("data")
    return folder / "data.duckdb"


def _in_pandas(kind: str, table: Table, folder: Path):
    import pandas as pd

    frame = pd.DataFrame(table)
    if kind == "pandas":
        return frame
    if kind == "csv":
        frame.to_csv(folder / "data.csv", index=False)
        return folder / "data.csv"
    import dask.dataframe as dd

    return dd.from_pandas(frame, npartitions=2)
