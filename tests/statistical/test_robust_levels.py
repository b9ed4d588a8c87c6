"""Level, power and coverage of the robust verdict: on real tables, and just where joining turns.

Two random samples of one table are never apart (`benchmarks.levels`). In simulations the true
difference has the size at which joining gains (almost) nothing, in the direction in which its
estimate varies most, and the noise may depend on a column.
"""

import csv

import numpy as np
import pytest

from benchmarks.arena.data import shared_data
from benchmarks.levels.run import OUTPUT, measure
from conjoin.criterion.judge import Judge
from conjoin.models.scatter import Scatter
from conjoin.moments import Moments

pytestmark = pytest.mark.slow

DELTA = 0.1
# Pairs of each simulated setting: two standard errors of a rate of 0.1 are then 0.03.
PAIRS = 400
# Pairs of samples of a real table.
SAMPLES = 150


def allowed(pairs, rate=DELTA):
    return rate + 2 * np.sqrt(rate * (1 - rate) / pairs)


def equal(Z, side):
    return np.ones(len(Z))


def unequal(Z, side):
    return np.full(len(Z), (1.0, 3.0)[side])


def grows(Z, side):
    return 0.2 + 2 * np.abs(Z[:, -1])


def true_forms(Zs, noise, fresh):
    """B, the covariance of the difference and the variance saved, from the true noise."""
    G = [Z.T @ Z for Z in Zs]
    M = [(Z * noise(Z, k)[:, None] ** 2).T @ Z for k, Z in enumerate(Zs)]
    own = [np.linalg.inv(g) for g in G]
    V = [g @ m @ g for g, m in zip(own, M)]
    inverse = np.linalg.inv(G[0] + G[1])
    p = Zs[0].shape[1]
    # New rows are normal; the rows at hand have their own second moments.
    A = [np.eye(p) / 2 if fresh else g / len(Z) / 2 for g, Z in zip(G, Zs)]
    B = G[1] @ inverse @ A[0] @ inverse @ G[1] + G[0] @ inverse @ A[1] @ inverse @ G[0]
    joint = np.sum((inverse @ (A[0] + A[1]) @ inverse) * (M[0] + M[1]))
    saved = sum(np.sum(a * v) for a, v in zip(A, V)) - joint
    return B, V[0] + V[1], saved


def turning(B, S, saved):
    """Return the difference at which joining gains nothing, where its estimate varies most."""
    K = np.linalg.cholesky(B).T
    top = np.linalg.eigh(K @ S @ K.T)[1][:, -1]
    return np.linalg.solve(K, top) * np.sqrt(max(saved, 0.0))


def verdicts(n, p, noise, where, robust=True, seed=0):
    """Return the answers on pairs: at no difference, or just where joining turns."""
    rng = np.random.default_rng([seed, p, *n])
    Z, t = [], []
    for _ in range(PAIRS):
        Zs = [np.column_stack([np.ones(m), rng.standard_normal((m, p - 1))]) for m in n]
        d = np.zeros(p)
        if where != "same":
            d = turning(*true_forms(Zs, noise, fresh=where == "gaining"))
        Z += Zs
        t += [
            X @ (d if k == 0 else 0 * d) + noise(X, k) * rng.standard_normal(len(X))
            for k, X in enumerate(Zs)
        ]
    rows, target = np.concatenate(Z), np.concatenate(t)
    starts = np.cumsum([0, *(len(one) for one in t)])
    scatter = Scatter.of_rows(rows, target, np.ones(len(target)), starts) if robust else None
    judge = Judge.of(Moments.by_dataset(rows, target, starts), scatter=scatter)
    pairs = [((2 * i,), (2 * i + 1,)) for i in range(PAIRS)]
    return np.array(judge.judge(pairs, delta=DELTA, interval=False).answers)


SETTINGS = [((50, 50), 10), ((20, 60), 3), ((30, 30), 2), ((200, 200), 5)]


@pytest.mark.parametrize("noise", [equal, unequal, grows])
@pytest.mark.parametrize("n, p", SETTINGS)
def test_false_joins(n, p, noise):
    rate = np.mean(verdicts(n, p, noise, "losing") == "join")
    print(f"false joins: n={n} p={p} {noise.__name__}: {rate:.3f}")
    assert rate <= allowed(PAIRS)


@pytest.mark.parametrize("noise", [equal, unequal, grows])
@pytest.mark.parametrize("n, p", SETTINGS)
def test_false_aparts(n, p, noise):
    rate = np.mean(verdicts(n, p, noise, "gaining") == "apart")
    print(f"false aparts: n={n} p={p} {noise.__name__}: {rate:.3f}")
    assert rate <= allowed(PAIRS)


def test_power_lost_on_normal_data_is_small():
    power = {
        robust: np.mean(verdicts((50, 50), 10, equal, "same", robust) == "join")
        for robust in (True, False)
    }
    print(
        f"joins at no difference, n=50, p=10: robust {power[True]:.3f}, gaussian {power[False]:.3f}"
    )
    assert power[False] - power[True] <= 0.15


@pytest.mark.parametrize("table", ["diamonds", "nycflights", "rss"])
def test_samples_of_one_real_table_are_not_apart_and_intervals_cover(table):
    try:
        shared_data()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    found = next(line for line in measure(table, 150, SAMPLES) if line["verdict"] == "robust")
    assert found["apart"] <= allowed(SAMPLES)
    assert 1 - found["cover"] <= allowed(SAMPLES, 2 * DELTA)


@pytest.mark.parametrize("table", ["noise grows", "lognormal columns", "bent", "missing values"])
def test_samples_of_one_skewed_law_are_not_apart_and_intervals_cover(table):
    found = next(line for line in measure(table, 60, SAMPLES) if line["verdict"] == "robust")
    assert found["apart"] <= allowed(SAMPLES)
    assert 1 - found["cover"] <= allowed(SAMPLES, 2 * DELTA)


def test_stored_levels_hold_on_all_tables():
    with OUTPUT.open() as file:
        lines = [line for line in csv.DictReader(file) if line["verdict"] == "robust"]
    assert len({line["table"] for line in lines}) >= 11
    assert {int(line["rows"]) for line in lines} == {50, 150, 500, 2000}
    for line in lines:
        pairs = int(line["pairs"])
        assert float(line["apart"]) <= allowed(pairs), line
        assert 1 - float(line["cover"]) <= allowed(pairs, 2 * DELTA), line
