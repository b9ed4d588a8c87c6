"""Time what sites and their coordinator do: `python -m benchmarks.speed.sites [--output FILE]`.

Export: a site's table of 1,000,000 rows and 20 columns (Parquet, seed 0) is exported by the command
line. DuckDB forms the same sums of products for comparison, in its own process; the bound is twice
its time plus start-up of Python and conjoin. Decide: 1,000 site files of 200 rows and 5 columns are
partitioned by the command line; the bound is 20 seconds. Prints wall-clock and processor seconds,
and writes them to ``sites.csv``. On a busy machine, compare the second.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.speed.common import output_of, write_csv
from conjoin.moments import deal_rows
from conjoin.sites import Plan, make_plan
from conjoin.sites.export import Export, export_rows
from conjoin.sites.ledger import Identity
from conjoin.sites.rows import SiteRows

OUTPUT = Path(__file__).with_name("sites.csv")
# The sizes behind the stored times; with others, new times cannot be compared with them.
ROWS, COLUMNS = 1_000_000, 20
SITES, SITE_ROWS, SITE_COLUMNS, CLUSTERS = 1000, 200, 5, 4
COMMAND = [sys.executable, "-m", "conjoin.cli.main"]
SUMS = f"""
import sys, duckdb
names = [f"x{{j}}" for j in range({COLUMNS})] + ["y"]
pairs = [f"sum({{a}} * {{b}})" for i, a in enumerate(names) for b in names[i:]]
sums = ", ".join([f"sum({{name}})" for name in names] + pairs)
duckdb.connect().execute(f"SELECT {{sums}} FROM read_parquet(?)", [sys.argv[1]]).fetchall()
"""


def seconds(command: list[str]) -> tuple[float, float]:
    """Return wall-clock and processor seconds of a process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, capture_output=True, text=True, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def plan_of(columns: int) -> Plan:
    """Return a plan of number columns."""
    return make_plan({**{f"x{j}": "number" for j in range(columns)}, "y": "number"}, "y")


def time_export(folder: Path) -> list[list[object]]:
    """Time DuckDB's sums, start-up, and the export."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, COLUMNS))
    y = X @ rng.standard_normal(COLUMNS) + rng.standard_normal(ROWS)
    table = {**{f"x{j}": X[:, j] for j in range(COLUMNS)}, "y": y}
    rows, plan = folder / "rows.parquet", folder / "plan.json"
    pq.write_table(pa.table(table), rows)
    plan_of(COLUMNS).save(plan)
    sums = seconds([sys.executable, "-c", SUMS, str(rows)])
    start = seconds([sys.executable, "-c", "import conjoin; conjoin.partition, conjoin.sites"])
    export = ["site", "export", str(rows), "--plan", str(plan), "--name", "clinic"]
    found = seconds([*COMMAND, *export, "-o", str(folder / "clinic.json")])
    bound = [2 * a + b for a, b in zip(sums, start)]
    return [
        ["export", ROWS, COLUMNS, *(f"{x:.2f}" for x in (*found, *bound, *sums))],
    ]


def write_sites(folder: Path) -> None:
    """Write the files of many sites; the rules are not checked, since only reading is timed."""
    rng, plan = np.random.default_rng(1), plan_of(SITE_COLUMNS)
    slopes = rng.standard_normal((CLUSTERS, SITE_COLUMNS))
    for k in range(SITES):
        X = rng.standard_normal((SITE_ROWS, SITE_COLUMNS))
        y = X @ slopes[k % CLUSTERS] + rng.standard_normal(SITE_ROWS)
        starts = np.array([0, SITE_ROWS])
        dealt = deal_rows(X, y, starts, plan.folds, plan.seed)
        name = f"site_{k:04}"
        identity = Identity((), np.zeros((SITE_ROWS, 0)))
        rows = SiteRows(plan, name, (name,), X, y, starts, (dealt,), (plan.folds,), (), 0,
                        plan.rules, identity)  # fmt: skip
        Export(export_rows(rows)).save(folder / f"{name}.json")


def time_decision(folder: Path) -> list[list[object]]:
    """Time the partition of many site files."""
    write_sites(folder)
    found = seconds([*COMMAND, "partition", str(folder / "site_*.json")])
    return [
        ["decide", SITES * SITE_ROWS, SITE_COLUMNS, *(f"{x:.2f}" for x in found), 20, 20, "", ""]
    ]


def main() -> None:
    """Time both, print and write them."""
    output = output_of(__doc__, OUTPUT)
    rows: list[list[object]] = []
    for work in (time_export, time_decision):
        with tempfile.TemporaryDirectory() as folder:
            rows += work(Path(folder))
        print(*rows[-1], flush=True)
    header = ["what", "rows", "columns", "wall", "processor", "bound wall", "bound processor",
              "sums wall", "sums processor"]  # fmt: skip
    write_csv(output, header, rows)


if __name__ == "__main__":
    main()
