"""Build wheel and source distribution, and try them in empty environments: `make package`.

Nothing of the repository is on the path there. Without extras the core must work, and each extra
must bring what it promises. The extra `nn` (torch, large) is tried with `--all`. The bill of
materials of the core is written to `build/`, and its licences are checked.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]

CORE = """
import tempfile, conjoin
from conjoin.datasets import load_washington_bikes, make_clusters
assert len(load_washington_bikes()["rentals"]) == 6365
tables = make_clusters(sizes=(2, 1), n=40, p=2, distance=2.0).tables()
result = conjoin.partition(tables, target="y")
assert result.clusters == [["d1", "d2"], ["d3"]], result.clusters
assert result.to_frame("clusters").num_rows == 2  # an Arrow table: pandas is not there
with tempfile.TemporaryDirectory() as folder:
    result.save(f"{folder}/model.json")
    result.report(f"{folder}/report.html")
    assert conjoin.load(f"{folder}/model.json").clusters == result.clusters
try:
    result.plot_errors()
except Exception as error:
    assert "conjoin[plot]" in str(error), error
else:
    raise AssertionError("matplotlib is there")
print(conjoin.__version__)
"""
EXTRAS = {
    "plot": """
import matplotlib
matplotlib.use("Agg")
import conjoin
from conjoin.datasets import make_clusters
result = conjoin.partition(
    make_clusters(sizes=(2, 1), n=40, p=2).tables(), target="y", learner="linear"
)
assert "RMSE" in result.plot_errors().get_xlabel()
""",
    "skops": """
import tempfile, conjoin
from sklearn.tree import DecisionTreeRegressor
from conjoin.datasets import make_clusters
tables = make_clusters(sizes=(2, 1), n=40, p=2).tables()
result = conjoin.partition(tables, target="y", learner=DecisionTreeRegressor(max_depth=3))
with tempfile.TemporaryDirectory() as folder:
    result.save(f"{folder}/model.json")
    types = ["sklearn.model_selection._split.KFold", "sklearn.tree._tree.Tree"]
    again = conjoin.load(f"{folder}/model.json", trusted=types)
assert (again.predict(tables["d1"], "d1") == result.predict(tables["d1"], "d1")).all()
""",
    "privacy": """
import numpy, conjoin
from conjoin.sites import export, make_plan
rng = numpy.random.default_rng(0)
rows = {"age": rng.uniform(20, 80, 500), "cost": rng.uniform(0, 9, 500)}
plan = make_plan({"age": "number", "cost": "number"}, "cost")
bounds = {"age": (0.0, 110.0), "cost": (0.0, 10.0)}
found = export(rows, plan, "clinic", epsilon=2.0, bounds=bounds)
assert found.content["privacy"]["epsilon"] == 2.0, found.content["privacy"]
""",
    "flower": """
from conjoin.sites.flower import client_app, server_app
assert type(client_app()).__name__ == "ClientApp"
assert type(server_app(print)).__name__ == "ServerApp"
""",
    "nn": """
import conjoin
from conjoin.datasets import make_clusters
tables = make_clusters(sizes=(2, 1), n=60, p=2).tables()
result = conjoin.partition(tables, target="y", representation="mlp1")
assert result.representation is not None
""",
}
# Tests of an extra that the environment of all other tests cannot have: Flower asks for older
# versions of typer and rich.
TESTS = {"flower": "tests/sites/test_flower.py"}
CONSTRAINTS = {"flower": "constraints-flower.txt"}


def run(*command: str | Path, **options: object) -> None:
    """Run a command and stop if it fails."""
    subprocess.run([str(one) for one in command], check=True, **options)  # type: ignore[call-overload]


def build(folder: Path) -> tuple[Path, Path]:
    """Build wheel and source distribution, and check what is in them."""
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    wheel, sdist = next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for needed in ("conjoin/py.typed", "conjoin/datasets/data/washington_bikes.csv.gz"):
        assert needed in names, f"the wheel lacks {needed}"
    assert not [name for name in names if name.startswith(("tests/", "scripts/"))]
    with tarfile.open(sdist) as archive:
        inside = {Path(name).name for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md"} <= inside
    return wheel, sdist


def environment(folder: Path, *packages: str, pins: str = "constraints.txt") -> Path:
    """Make an environment with packages and nothing else; return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--constraint", ROOT / pins, *packages)
    return python


def try_extra(folder: Path, wheel: Path, extra: str, code: str) -> None:
    """Install an extra, run its code, and run the tests that need it."""
    packages, pins = [f"{wheel}[{extra}]"], CONSTRAINTS.get(extra, "constraints.txt")
    tools = ["pytest", "hypothesis"] if extra in TESTS else []
    python = environment(folder / extra, *packages, *tools, pins=pins)
    run(python, "-c", code, cwd=folder)
    if extra in TESTS:
        env = {**os.environ, "CONJOIN_FLOWER_NET": "1"}  # Flower's own processes, for real
        run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS[extra], cwd=ROOT, env=env)


def main() -> int:
    """Build, install, try."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, sdist = build(folder)
        for source in (wheel, sdist):
            python = environment(folder / source.suffix, str(source))
            run(python, "-c", CORE, cwd=folder)
            run(folder / source.suffix / "bin" / "conjoin", "--version", cwd=folder)
            print(f"{source.name}: the core works in an empty environment", flush=True)
        bill = ROOT / "build" / f"{wheel.name.split('-py3')[0]}.cdx.json"
        chain = ROOT / "scripts" / "supply_chain.py"
        run(folder / wheel.suffix / "bin" / "python", "-I", chain, "--bill", bill, cwd=folder)
        print(f"bill of materials: {bill.relative_to(ROOT)}", flush=True)
        for extra, code in EXTRAS.items():
            if extra == "nn" and "--all" not in sys.argv:
                continue
            try_extra(folder, wheel, extra, code)
            print(f"conjoin[{extra}] works", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
