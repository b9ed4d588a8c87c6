"""The public names are frozen: a name that goes, or a new one, changes this list on purpose.

docs/versions.md says how a name may go.
"""

import inspect
import re
import tomllib
from pathlib import Path

import pytest
import yaml

import conjoin
from conjoin import datasets, paper, representations, sites
from conjoin.result.partition import Partition

ROOT = Path(__file__).parents[1]

NAMES = {
    conjoin: """
        Alternative Assignment Boosting Bound Comparison ConjoinError ConjoinWarning Direct
        Estimate Gaussian JoinClassifier JoinRegressor LinearFit LogisticFit Merge Oracle
        Partition Risk Tuned Update Validated __version__ check compare datasets load paper
        partition representations sites update
    """,
    datasets: """
        SyntheticCollection SyntheticOutcomes load_seoul_bikes load_washington_bikes
        make_class_clusters make_class_pair make_clusters make_continuum make_count_clusters
        make_pair seoul_bikes_path washington_bikes_path
    """,
    sites: """
        Export Plan Rules SiteFiles encode export load_plan make_plan open_study with_trees
    """,
    paper: """
        Algorithm1 Algorithm2 Assumption2 BiFactor Bound ClassificationBounds Direct Gaussian
        MLP1 MLP2 Oracle Setting Tuned algorithm3 assumption2 bootstrapped_error compare_classes
        error_of_fit fit_bifactor joint_moore_penrose_error moore_penrose moore_penrose_error
        subgradient_estimator task_clusters validate_bifactor
    """,
}
RESULT = """
    added adding analysis assign calibration classes cluster_cost clusters coefficients columns
    departures errors explain family features grouping importance improvements intervals labels
    learner
    ledger linear method metrics models notices outliers partial_dependence plot_calibration
    plot_coefficients plot_errors plot_gains plot_tree pooled predict predict_encoded
    predict_proba predictor reach report representation save schema scores settings stability
    strategy summary to_frame using weights
"""


@pytest.mark.parametrize("module", NAMES, ids=lambda module: module.__name__)
def test_exported_names(module):
    assert sorted(module.__all__) == sorted(NAMES[module].split())
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_representations_export_what_they_did():
    assert {"MLP", "Tap", "Heads", "Network", "Transformer", "Training"} <= set(
        representations.__all__
    )


def test_members_of_a_result():
    found = {name for name, _ in inspect.getmembers(Partition) if not name.startswith("_")}
    found |= {name for name in Partition.__dataclass_fields__ if not name.startswith("_")}
    assert sorted(found) == sorted(RESULT.split())


def test_every_public_name_is_in_the_reference():
    from scripts.site_pages import REFERENCE

    shown = {
        name for _, _, modules in REFERENCE.values() for names in modules.values() for name in names
    }
    assert (
        set(conjoin.__all__) - {"__version__", "datasets", "paper", "representations", "sites"}
        <= shown
    )
    assert set(datasets.__all__) <= shown


def test_types_are_shipped_and_versions_agree():
    assert (ROOT / "src" / "conjoin" / "py.typed").exists()
    assert re.fullmatch(r"\d+\.\d+\.\d+", conjoin.__version__)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == conjoin.__version__
    assert citation["references"][0]["type"] == "conference-paper"
    assert conjoin.__version__ in (ROOT / "CHANGELOG.md").read_text()


def test_the_oldest_versions_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    oldest = dict(
        line.split("==") for line in (ROOT / "constraints-oldest.txt").read_text().split()
    )
    pinned = {name.lower(): version for name, version in oldest.items()}
    for requirement in project["dependencies"]:
        name, least = requirement.split(">=")
        version = pinned[name.lower()].split(".")
        parts = least.split(".")
        assert version[: len(parts)] == parts, requirement
        assert set(version[len(parts) :]) <= {"0"}, requirement
