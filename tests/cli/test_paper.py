import json
import re

import numpy as np
import pandas as pd
import pytest

import conjoin
from conjoin.datasets import make_class_clusters
from conjoin.paper import Bound, Gaussian, Setting, Tuned, compare_classes
from conjoin.paper.classification import largest_norm

PAIR = ("d1.csv", "d3.csv", "-t", "y")
FEW = ("--resamples", "60")


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    path = tmp_path_factory.mktemp("known") / "known.json"
    one = {"mean": [0, 0], "covariance": [[1, 0], [0, 1]]}
    path.write_text(json.dumps({name: one for name in ("a", "b", "d1", "d2", "d3")}))
    return path


def facts(done):
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_algorithm_1_says_its_answer_first(conjoin_, frames):
    done = conjoin_("paper", "algorithm1", *PAIR, *FEW, "--delta", "0.05", "--no-intercept")
    assert re.match(
        r"Algorithm 1 of the paper says to keep them apart \(phi \S+ is not above psi \S+\)\. "
        r"Second opinion, conjoin's verdict: Keep d1 and d3 apart: ",
        done.out,
    ), done.out + done.err
    found = facts(
        conjoin_("paper", "algorithm1", *PAIR, *FEW, "--delta", "0.05", "--no-intercept", "--json")
    )
    ours = conjoin.compare(
        frames["d1"],
        frames["d3"],
        target="y",
        method=Bound(delta=0.05, resamples=60),
        intercept=False,
    )
    assert (found["phi"], found["psi"]) == pytest.approx((ours.phi, ours.psi), rel=1e-9)
    assert found["delta"] == 0.1  # the level of the verdict is an option of its own


def test_algorithm_2_takes_the_papers_options(conjoin_, frames, known):
    options = ("--n", "30", "--lambda", "0.8", "--alpha", "2:10:0.5", "--delta", "0.2")
    options += ("--known", known, "--out-of-samples", "50", "--level", "0.05", "--seed", "3")
    found = facts(conjoin_("paper", "algorithm2", *PAIR, *FEW, *options, "--json"))
    gaussian = Gaussian(np.zeros(2), np.eye(2))
    criterion = Tuned(
        rule="literal",
        n=30,
        lam=0.8,
        alpha_step=0.5,
        delta=0.2,
        known={"a": gaussian, "b": gaussian},
        out_of_samples=50,
        resamples=60,
    )
    ours = conjoin.compare(
        frames["d1"], frames["d3"], target="y", method=criterion, delta=0.05, random_state=3
    )
    assert found["proxy_acc"] == ours.proxy_acc == found["score"]
    assert found["proxy_acc_range"] == list(ours.proxy_acc_range)
    assert found["threshold"] == 0.8 and found["delta"] == 0.05 and found["alpha"] == ours.alpha


def test_algorithm_3_prints_its_clusters_and_steps(conjoin_):
    done = conjoin_("paper", "algorithm3", "long.parquet", "-t", "y", "-b", "store", *FEW)
    assert done.code == 0, done.err
    assert done.out.startswith("Algorithm 3 of the paper, with method tuned, finds ")
    assert "Steps of Algorithm 3" in done.out
    assert re.search(r"d1\s+d\d\s+[01]\.\d+\s+\+[01]\.\d+\s+[\d.]+\s+(joined|closes)", done.out)


def test_bounds_are_those_of_the_library(conjoin_, tmp_path):
    tables = make_class_clusters(sizes=(1, 1), n=80, p=2).tables()
    paths = []
    for name, table in tables.items():
        paths.append(tmp_path / f"{name}.csv")
        pd.DataFrame(table).to_csv(paths[-1], index=False)
    options = ("-t", "y", "--no-intercept", "--lambda", "0.2", "--reading", "printed")
    options += ("--steps", "50")
    done = conjoin_("paper", "bounds", *paths, *options)
    assert done.out.startswith("The bounds of the paper's appendix say to "), done.err
    assert "Second opinion: these bounds cannot tell similar datasets" in done.out
    found = facts(conjoin_("paper", "bounds", *paths, *options, "--json"))
    (X1, y1), (X2, y2) = (
        (np.column_stack([t["x1"], t["x2"]]), np.unique(t["y"], return_inverse=True)[1])
        for t in tables.values()
    )
    eta = 1 / np.arange(1, 51)
    setting = Setting(2, largest_norm(X1, X2), lam=0.2, eta=eta, reading="printed")
    ours = compare_classes(X1, y1, X2, y2, setting)
    assert found["Psi"] == pytest.approx(ours.Psi) and found["Phi"] == pytest.approx(ours.Phi)
    assert found["join"] == ours.join


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["algorithm2", *PAIR, "--alpha", "2-10"], "--alpha '2-10' is not a grid; expected MIN:"),
        (["algorithm2", *PAIR, "--lambda", "2"], "--lambda 2.0 is not a level"),
        (["algorithm2", *PAIR, "--rule", "x"], "--rule 'x' is unknown; expected 'signed' or"),
        (["algorithm1", "d1.csv", "-t", "y", "d2.csv", "d3.csv"], "There are 3 datasets ('d1', "),
        (["algorithm1", *PAIR, "--known", "d1.csv"], "--known 'd1.csv' cannot be read ("),
        (["algorithm1", *PAIR, "--known", "no.json"], "'no.json': No such file"),
        (["bounds", *PAIR], "numbers"),
        (["algorithm4", *PAIR], "No such command 'algorithm4'"),
    ],
)
def test_what_cannot_be_run_gets_one_sentence(conjoin_, words, message):
    done = conjoin_("paper", *words)
    assert done.code == 2
    assert message in done.err, done.err
    assert done.err.count("\n") == 1


def test_without_a_command_the_help_is_printed(conjoin_):
    done = conjoin_("paper")
    assert "algorithm1" in done.out + done.err and "bounds" in done.out + done.err
