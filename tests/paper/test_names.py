"""Every entry of docs/paper-names.md, called on a small case."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import conjoin
from conjoin import paper
from conjoin.datasets import make_clusters, make_pair
from conjoin.engine.criteria import to_units
from conjoin.paper import classification, surrogate
from conjoin.paper.bound import inequality, pair_statistics
from conjoin.paper.design import Designs, design_constants
from conjoin.paper.tuned import agreement, correct_counts, joining_gain
from conjoin.tables import collect
from tests.collections_ import make

PAGE = Path(__file__).parents[2] / "docs" / "paper-names.md"
BETA = np.array([[1.0, 0.0], [-1.0, 0.0]])
X, Y = np.array([[1.0, 0.2], [0.8, -0.1], [-1.0, 0.3], [-0.9, 0.0]]), np.array([0, 0, 1, 1])
SETTING = paper.Setting(C=2, B=1.2, eta=surrogate.step_sizes(50))
QUICK = {"n": 20, "resamples": 40, "alpha_step": 0.5}


@cache
def pair():
    return make_pair(p=2, n=80, d=0.0)


def compared(method="tuned", **options):
    return conjoin.compare(*pair().tables().values(), target="y", method=method, **options)


@cache
def tuned():
    return conjoin.compare(*pair().tables().values(), target="y", method=paper.Tuned(**QUICK))


@cache
def prepared():
    units = to_units(collect(pair().tables(), target="y"), intercept=False)
    criterion = paper.Tuned(**QUICK)
    one, two = (criterion.prepare(unit, 0) for unit in units)
    constants = design_constants(one.designs, two.designs)
    stats, beta_c = pair_statistics(one.sample.fits, two.sample.fits, constants)
    return one, two, constants, stats, joining_gain(one.sample, two.sample, beta_c)


def sides():
    return inequality(prepared()[3], 2.0, 0.1)


@cache
def both():
    features = paper.Gaussian(np.ones(2), np.eye(2))
    return paper.assumption2((features, features), (np.ones(2), np.zeros(2)), (20, 20), 1.0)


@cache
def bifactor():
    truth = make("clusters", K=6, n=12, p=3, clusters=2, seed=1)
    return truth, paper.fit_bifactor(truth.moments, 2, 1.0)


def finite(*values):
    return all(np.all(np.isfinite(value)) for value in values)


def clusters_of_three():
    tables = make_clusters(sizes=(2, 1), n=60, p=2, distance=3.0).tables()
    units = to_units(collect(tables, target="y"))
    return tables, paper.algorithm3(paper.Algorithm2(**QUICK), units, 0)


CASES = {
    "Algorithm 1": lambda: compared(paper.Algorithm1(resamples=50)).method == "bound",
    "Algorithm 2": lambda: tuned().method == "tuned" and paper.Algorithm2 is paper.Tuned,
    "Algorithm 3": lambda: len(clusters_of_three()[1].clusters) in (1, 2, 3),
    "Direct Comparison": lambda: not compared("direct").join,
    "Merge": lambda: tuned().join in (True, False),
    "proxy_acc": lambda: tuned().proxy_acc_range[0] <= tuned().proxy_acc,
    "SR": lambda: agreement(np.array([True, False]), np.array([1.0, 1.0])) == 0.5,
    "lambda": lambda: paper.Tuned(rule="literal", lam=0.8).threshold == 0.8,
    "eta (grid)": lambda: len(paper.Tuned(alpha_step=1.0).alphas) == 9,
    "[alpha_min, alpha_max]": lambda: paper.Tuned(alpha_min=3, alpha_max=4).alphas[-1] == 4,
    "max_iterations": lambda: len(prepared()[4]) == 2 * QUICK["resamples"],
    "correct_alpha": lambda: (
        len(correct_counts(prepared()[3], prepared()[4], np.array([2.0, 3.0]), 0.1)) == 2
    ),
    "alpha_opt": lambda: 2 <= tuned().alpha <= 10,
    "delta": lambda: compared("bound", paper_delta=0.2).alpha == pytest.approx(np.log(5)),
    "n_1, n_2 (training rows)": lambda: paper.Tuned(n=30).rows_drawn(4) == 30,
    "number of out-of-samples": lambda: finite(
        compared(paper.Tuned(**QUICK, out_of_samples=30)).score
    ),
    "c_k (clusters)": lambda: set(clusters_of_three()[1].clusters[0]) <= {"d1", "d2", "d3"},
    "Theorem 1": lambda: compared(pair().oracle()).join,
    "h, g": lambda: compared(pair().oracle()).phi > compared(pair().oracle()).psi,
    "OSE": lambda: both()[0].ose > 1 and both()[0].ose_joint > 1,
    "OSE_dif": lambda: finite(prepared()[4]),
    "W": lambda: isinstance(prepared()[0].designs, Designs) and prepared()[0].designs.W[0, 0] > 0,
    "Z": lambda: finite(design_constants(prepared()[0].designs, prepared()[1].designs).B0),
    "A0, B0": lambda: prepared()[2].A0 > 0 and np.linalg.eigvalsh(prepared()[2].B0)[0] > 0,
    "phi_delta, psi_delta": lambda: finite(sides().phi) and len(sides().psi) == 80,
    "A1, A2": lambda: np.all(sides().A1 > 0) and np.all(sides().A2 < 0),
    "c0 to c5": lambda: all(hasattr(sides(), f"c{i}") for i in range(6)),
    "n0": lambda: prepared()[3].n0 == 2 * QUICK["n"] - 2,
    "D": lambda: np.all(prepared()[3].Dd2 >= 0),
    "Sigma": lambda: np.all(prepared()[3].norm <= prepared()[3].trace + 1e-12),
    "sigma-hat-c": lambda: np.all(prepared()[3].n0_s2c > 0),
    "Assumption 2": lambda: both()[0].holds and both()[0].Lambda.shape == (2, 2),
    "Theorem 2": lambda: finite(both()[0].ose, paper.error_of_fit(*np.eye(2), np.eye(2), 1.0)),
    "Theorem 3": lambda: both()[1].ose_joint > both()[1].sigma2,
    "OSE_M": lambda: paper.bootstrapped_error(np.zeros(2), X, Y.astype(float), M=3) >= 0,
    "MP estimator": lambda: paper.moore_penrose(X[:1], np.array([1.0])).shape == (2,),
    "OSE of the MP estimator": lambda: (
        paper.moore_penrose_error(np.ones(2), 1.0, np.eye(2), X[:1].T @ X[:1])[1] > 0
        and finite(
            *paper.joint_moore_penrose_error(
                BETA, 1.0, np.array([np.eye(2)] * 2), np.array([X.T @ X] * 2)
            )
        )
    ),
    "Psi <= Phi + Phi": lambda: paper.compare_classes(X, Y, X, 1 - Y, SETTING).join,
    "Phi, Psi": lambda: finite(
        *paper.compare_classes(X, Y, X, Y, SETTING).Phi,
        paper.compare_classes(X, Y, X, Y, SETTING).Psi,
    ),
    "phi1 to phi3": lambda: finite(
        classification.phi1(9, BETA, SETTING),
        classification.phi2(9, BETA, SETTING),
        classification.phi3(SETTING),
    ),
    "psi1 to psi3": lambda: finite(
        classification.psi1(9, 9, BETA, BETA, SETTING),
        classification.psi2(9, 9, BETA, BETA, SETTING),
        classification.psi3(SETTING),
    ),
    "omega": lambda: classification.omega(BETA, SETTING) > 0,
    "G": lambda: classification.G(SETTING) > 0,
    "a1, a2": lambda: finite(classification.a1(SETTING), classification.a2(SETTING)),
    "b1 to b3": lambda: finite(*(getattr(classification, f"b{i}")(SETTING) for i in (1, 2, 3))),
    "R_n, R_n1,n2": lambda: finite(
        classification.R_n(9, BETA, SETTING), classification.R_n1_n2(9, 9, BETA, BETA, SETTING)
    ),
    "l_lambda": lambda: surrogate.cross_entropy(BETA, X, Y, 0.1) > 0,
    "l_lambda,gamma": lambda: len(surrogate.surrogate_rows(BETA, BETA, X, 0.1, 0.1)) == 4,
    "L-hat_lambda,gamma": lambda: finite(surrogate.surrogate_loss(BETA, BETA, X, 0.1, 0.1)),
    "g_gamma": lambda: surrogate.ramp(np.array([-1.0, 0.5, 2.0]), 1.0).tolist() == [1, 0.5, 0],
    "eta^[k], K": lambda: surrogate.step_sizes(3).tolist() == [1, 1 / 2, 1 / 3],
    "subgradient method estimator": lambda: (
        paper.subgradient_estimator([(X, BETA)], 0.1, 0.1, surrogate.step_sizes(9)).s <= 9
    ),
    "B, C, lambda (ridge)": lambda: (SETTING.C, SETTING.B, SETTING.lam) == (2, 1.2, 0.1),
    "MLP1, MLP2": lambda: (paper.MLP1().hidden, paper.MLP2().hidden) == (1, 2),
    "BiFactor MTL": lambda: (
        bifactor()[1].Sigma.shape == (3, 3)
        and len(paper.validate_bifactor(bifactor()[0].folds, ranks=[1], ridges=[0.1]).errors) == 1
    ),
    "task clusters of BiFactor": lambda: len(paper.task_clusters(bifactor()[1], 2)) == 6,
    "Tables 1 to 7, Figure 1": lambda: {"table1", "table7", "figure1"} <= set(reproduced()),
}


def reproduced():
    from conjoin.cli.reproduce import ALL

    return ALL


def entries():
    rows = re.findall(r"^\| (.+?) \| .* \|$", PAGE.read_text(), flags=re.MULTILINE)
    return [row for row in rows if row not in ("paper", "---")]


def test_every_entry_of_the_page_has_a_case():
    assert sorted(entries()) == sorted(CASES)


@pytest.mark.parametrize("name", CASES)
def test_the_entry_works_on_a_small_case(name):
    assert CASES[name]()


def test_what_the_page_calls_ours_is_there():
    for name in re.findall(r"`paper\.([\w.]+)", PAGE.read_text()):
        place = paper
        for part in name.split("."):
            try:
                place = getattr(place, part)
            except AttributeError:
                fields = getattr(place, "__dataclass_fields__", {})
                assert part in fields, name
                break
