"""Build wheel and source distribution, and try them in empty environments: `make package`.

Nothing of the repository is on the path there. Without extras the core must work, and each extra
must bring what it promises. The extra `nn` (torch, large) is tried with `--all`. The bill of
materials of the core is written to `build/`, and its licences are checked.

The wheel has an environment of its own. The source distribution and the extras come on top of it:
each in a folder that sees the core and nothing of the others, so the core is installed once.
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
    """Build wheel and source distribution, and check what is in them and what they need."""
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    wheel, sdist = next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for needed in ("conjoin/py.typed", "conjoin/datasets/data/washington_bikes.csv.gz"):
        assert needed in names, f"the wheel lacks {needed}"
    assert not [name for name in names if name.startswith(("tests/", "scripts/"))]
    with tarfile.open(sdist) as archive:
        inside = {Path(name).name: name for name in archive.getnames()}
        described = archive.extractfile(inside["PKG-INFO"])
        assert described is not None
        told = described.read().decode()
    assert {"pyproject.toml", "LICENSE", "README.md"} <= set(inside)
    with zipfile.ZipFile(wheel) as archive:
        same = archive.read(next(n for n in names if n.endswith(".dist-info/METADATA"))).decode()
    assert needs(told) == needs(same), "wheel and source distribution need other packages"
    return wheel, sdist


def needs(metadata: str) -> list[str]:
    """Return the lines that name what a distribution needs; there is at least one."""
    found = [line for line in metadata.splitlines() if line.startswith("Requires-")]
    assert found, "the metadata name no requirement"
    return found


def environment(folder: Path, *packages: str, core: Path | None = None) -> Path:
    """Make an environment with packages and nothing else, or on top of another; return its Python.

    Files are compiled when they are loaded, and pip stays outside: both would take longer than what
    is tried.
    """
    venv.create(folder)
    python = folder / "bin" / "python"
    if core is not None:
        own, below = (next((one / "lib").glob("python*/site-packages")) for one in (folder, core))
        (own / "core.pth").write_text(f"{below}\n")
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
    pins = ("--constraint", ROOT / "constraints.txt")
    run(*pip, "install", "--quiet", "--no-compile", *pins, *packages)
    return python


def whole_environment(folder: Path, *packages: str, pins: str) -> Path:
    """Make an environment as users do, with pip and compiled files; return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--constraint", ROOT / pins, *packages)
    return python


def try_core(folder: Path, source: Path, *how: str, core: Path | None = None) -> Path:
    """Install a wheel or a source distribution, try it, and return its environment."""
    place = folder / source.suffix
    python = environment(place, *how, str(source), core=core)
    own = f"import conjoin\nassert {str(place)!r} in conjoin.__file__, conjoin.__file__"
    run(python, "-c", f"{own}\n{CORE}", cwd=folder)
    run(place / "bin" / "conjoin", "--version", cwd=folder)
    print(f"{source.name}: the core works in an empty environment", flush=True)
    return place


def try_extra(folder: Path, wheel: Path, extra: str, code: str, core: Path) -> None:
    """Install an extra, run its code, and run the tests that need it.

    An extra with constraints of its own has a whole environment: its programs start others there.
    """
    pins, tools = CONSTRAINTS.get(extra), ["pytest", "hypothesis"] if extra in TESTS else []
    packages = [f"{wheel}[{extra}]", *tools]
    if pins:
        python = whole_environment(folder / extra, *packages, pins=pins)
    else:
        python = environment(folder / extra, *packages, core=core)
    run(python, "-c", code, cwd=folder)
    if extra in TESTS:
        env = {**os.environ, "CONJOIN_FLOWER_NET": "1"}  # Flower's own processes, for real
        run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS[extra], cwd=ROOT, env=env)


def main() -> int:
    """Build, install, try."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, sdist = build(folder)
        core = try_core(folder, wheel)
        # What it needs is what the wheel needs (`build`), and that is there.
        try_core(folder, sdist, "--no-deps", "--ignore-installed", core=core)
        bill = ROOT / "build" / f"{wheel.name.split('-py3')[0]}.cdx.json"
        chain = ROOT / "scripts" / "supply_chain.py"
        run(core / "bin" / "python", "-I", chain, "--bill", bill, cwd=folder)
        print(f"bill of materials: {bill.relative_to(ROOT)}", flush=True)
        for extra, code in EXTRAS.items():
            if extra == "nn" and "--all" not in sys.argv:
                continue
            try_extra(folder, wheel, extra, code, core)
            print(f"conjoin[{extra}] works", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
