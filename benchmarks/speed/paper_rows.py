"""The row-resampling procedure as the paper describes it, against ours on moments.

    python -m benchmarks.speed.paper_rows [--output FILE]

Settings: n = 50, p = 10, datasets of 1,000 rows, the 801 alphas of the grid, and 1,000 resamples
for tuning, for each expectation and for the final pass.

The plain procedure samples rows of a frame for every resample, 1,000 times for each of the five
expectations in A0 and B0. It forms the (n1+n2) x (n1+n2) matrices of the paper, draws 1,000
out-of-samples, and evaluates phi and psi one alpha after the other. One thing is in its favour: all
alphas use the same resamples, where the printed loop draws new ones for each of them.

Ours is the public `Tuned` criterion: one pair from rows to decision, and Algorithm 3 over 20
datasets. Times, ratios and decisions are printed and written to ``paper_rows.csv``.
"""

import sys
import time
from collections.abc import Callable
from math import e, log, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import conjoin
from benchmarks.speed.common import output_of, write_csv
from conjoin.criterion import PairScore
from conjoin.engine.criteria import to_units
from conjoin.paper.greedy import greedy
from conjoin.paper.tuned import TunedUnit
from conjoin.tables import collect

# The paper's settings: n and p as in its Table 3, its resamples, its grid of alphas and its delta.
N, P, RESAMPLES = 50, 10, 1000
ALPHAS = 2 + 0.01 * np.arange(801)
DELTA = 0.1
# Enough rows for three parts (400, 400 and 200), each larger than n.
ROWS = 1000
# Datasets of each of two clusters: 20 datasets are 190 pairs, enough for the mean time of a pair.
CLUSTER = 10
# Calls of our pair; one takes less than a tenth of a second.
REPEATS = 5
OUTPUT = Path(__file__).parent / "paper_rows.csv"


def plain_sample(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, pd.DataFrame]:
    """Draw n rows of a frame; also return the rows not drawn."""
    drawn = frame.sample(N, replace=True)
    rest = frame.drop(index=drawn.index.unique())
    return drawn.drop(columns="y").to_numpy(), drawn["y"].to_numpy(), rest


def plain_sides(
    X1: np.ndarray, y1: np.ndarray, X2: np.ndarray, y2: np.ndarray, A0: float, B0: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return phi > psi at each alpha, and the three coefficient vectors."""
    p, n0 = X1.shape[1], len(y1) + len(y2) - X1.shape[1]
    b1, b2 = (np.linalg.inv(X.T @ X) @ X.T @ y for X, y in ((X1, y1), (X2, y2)))
    Xc, yc = np.vstack([X1, X2]), np.concatenate([y1, y2])
    bc = np.linalg.inv(Xc.T @ Xc) @ Xc.T @ yc
    X0 = np.block([[X1, np.zeros_like(X1)], [np.zeros_like(X2), X2]])
    C = np.hstack([np.eye(p), -np.eye(p)])
    half = X0 @ np.linalg.inv(X0.T @ X0)
    A = half @ C.T
    H, M = half @ X0.T, A @ np.linalg.inv(A.T @ A) @ A.T
    s2c = float(yc @ (np.eye(len(yc)) - H + M) @ yc / n0)
    DtD = np.linalg.inv(np.linalg.inv(X1.T @ X1) + np.linalg.inv(X2.T @ X2))
    Dd2 = float((b1 - b2) @ DtD @ (b1 - b2))
    Sigma = half @ C.T @ B0 @ C @ half.T
    trace, trace2 = float(np.trace(Sigma)), float(np.trace(Sigma @ Sigma))
    norm = float(np.linalg.norm(Sigma, 2))
    g = float((b1 - b2) @ B0 @ (b1 - b2))
    sample = Sample(n0, A0, s2c, Dd2, trace, trace2, norm, g)
    return np.array([plain_join(alpha, sample) for alpha in ALPHAS.tolist()]), (b1, b2, bc)


class Sample(NamedTuple):
    """What phi and psi need of a resampled pair, in the paper's symbols."""

    n0: float
    A0: float
    s2c: float
    Dd2: float
    trace: float
    trace2: float
    norm: float
    g: float


def plain_join(a: float, sample: Sample) -> bool:
    """Evaluate phi > psi at one alpha."""
    n0, A0, s2c, Dd2, trace, trace2, norm, g = sample
    tau = n0 + 2 * sqrt(n0 * a) + 2 * a
    lower = tau * (3 + 4 * sqrt(a / n0))
    phi = n0 * A0 / lower * s2c - 2 * A0 * (1 + 2 * sqrt(a / n0)) / lower * Dd2
    L = sqrt(log(4 / (1 + DELTA)))
    k = sqrt(2 * n0) * (L + 1 / (2 * L))
    c1, c2 = sqrt(n0 * s2c) * sqrt(tau), sqrt(n0 * s2c) * sqrt(Dd2)
    c3 = -n0 / 8 * (1 + DELTA) / sqrt(e * log(4 / (1 + DELTA))) - k * sqrt(tau) + tau
    c4 = sqrt(Dd2) * (k - 2 * sqrt(tau))
    discriminant = (c1 - c4) ** 2 - 4 * c3 * (Dd2 - c2)
    if discriminant < 0:
        return False
    c0 = (c1 - c4 + sqrt(discriminant)) / (2 * c3)
    psi = (sqrt(g) + c0 * sqrt(trace + 2 * sqrt(trace2 * a) + 2 * norm * a)) ** 2
    return phi > psi


def plain_mean(
    one: pd.DataFrame, two: pd.DataFrame, value: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return an expectation over designs as an average over resampled rows."""
    total = np.zeros((P, P))
    for _ in range(RESAMPLES):
        (X1, _, _), (X2, _, _) = plain_sample(one), plain_sample(two)
        total += value(X1.T @ X1, X2.T @ X2)
    return total / RESAMPLES


def plain_sandwich(G: np.ndarray, Gc: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return Z'WZ with Z = Gc^-1 G."""
    Z = np.linalg.inv(Gc) @ G
    return Z.T @ W @ Z


def plain_error(b: np.ndarray, rest: pd.DataFrame) -> float:
    """Mean squared error on 1,000 out-of-samples drawn from rows of a frame."""
    drawn = rest.sample(1000, replace=True)
    residual = drawn["y"].to_numpy() - drawn.drop(columns="y").to_numpy() @ b
    return float(np.mean(residual**2))


def plain_pair(one: pd.DataFrame, two: pd.DataFrame, seed: int) -> tuple[float, float]:
    """Run Algorithm 2 on rows; return alpha and the signed score."""
    np.random.seed(seed)
    one, two = one.sample(frac=1), two.sample(frac=1)
    tune1, estimate1, final1 = one[:400], one[400:800], one[800:]
    tune2, estimate2, final2 = two[:400], two[400:800], two[800:]
    W1, W2 = (
        f.drop(columns="y").to_numpy().T @ f.drop(columns="y").to_numpy() / len(f)
        for f in (estimate1, estimate2)
    )
    inverses = [
        plain_mean(estimate1, estimate2, lambda G1, G2: np.linalg.inv(G1)),
        plain_mean(estimate1, estimate2, lambda G1, G2: np.linalg.inv(G2)),
        plain_mean(estimate1, estimate2, lambda G1, G2: np.linalg.inv(G1 + G2)),
    ]
    A0 = float(np.trace(W1 @ (inverses[0] - inverses[2]) + W2 @ (inverses[1] - inverses[2])))
    B0 = plain_mean(estimate1, estimate2, lambda G1, G2: plain_sandwich(G1, G1 + G2, W2))
    B0 = B0 + plain_mean(estimate1, estimate2, lambda G1, G2: plain_sandwich(G2, G1 + G2, W1))
    correct = np.zeros(len(ALPHAS))
    for _ in range(RESAMPLES):
        join, gain = plain_round(tune1, tune2, A0, B0)
        correct += join if gain > 0 else ~join
    best = int(np.argmax(correct))
    score = 0
    for _ in range(RESAMPLES):
        join, gain = plain_round(final1, final2, A0, B0)
        score += int(join[best] and gain > 0) - int(not join[best] and gain < 0)
    return float(ALPHAS[best]), score / RESAMPLES


def plain_round(
    one: pd.DataFrame, two: pd.DataFrame, A0: float, B0: np.ndarray
) -> tuple[np.ndarray, float]:
    """Draw once from both frames; return phi > psi at each alpha, and the gain of joining."""
    (X1, y1, rest1), (X2, y2, rest2) = plain_sample(one), plain_sample(two)
    join, (b1, b2, bc) = plain_sides(X1, y1, X2, y2, A0, B0)
    own = plain_error(b1, rest1) + plain_error(b2, rest2)
    return join, own - plain_error(bc, rest1) - plain_error(bc, rest2)


class Counted(conjoin.Tuned):
    """The criterion, with a count of the pairs that it compares."""

    pairs = 0

    def compare(self, a: TunedUnit, b: TunedUnit) -> PairScore:
        """Count and compare."""
        Counted.pairs += 1
        return super().compare(a, b)


def units_of(tables: Any) -> list[Any]:
    """Return the units of some tables, as criteria take them."""
    return to_units(collect(tables, target="y"), intercept=False)


def our_pair(pair: dict[str, pd.DataFrame]) -> PairScore:
    """Decide one pair from its rows."""
    criterion = conjoin.Tuned(n=N, resamples=RESAMPLES)
    return criterion.compare(*(criterion.prepare(unit, 0) for unit in units_of(pair)))


def measure() -> list[tuple[str, float, float, str]]:
    """Time all three; return what was timed, seconds, ratio to the plain pair, and a note."""
    stores = conjoin.datasets.make_clusters(
        sizes=(CLUSTER, CLUSTER), n=ROWS, p=P, distance=0.3, random_state=0
    )
    tables = stores.tables()
    one, two = (pd.DataFrame(tables[name]) for name in stores.names[:2])
    pair = {"a": one, "b": two}
    our_pair(pair)  # imports and first-use costs
    started = time.perf_counter()
    alpha, score = plain_pair(one, two, seed=0)
    plain = time.perf_counter() - started
    started = time.perf_counter()
    for _ in range(REPEATS):
        ours = our_pair(pair)
    single = (time.perf_counter() - started) / REPEATS
    Counted.pairs = 0
    started = time.perf_counter()
    result = greedy(Counted(n=N, resamples=RESAMPLES), units_of(tables), 0)
    each = (time.perf_counter() - started) / Counted.pairs
    decision = f"alpha {ours.alpha:.2f}, score {ours.score:+.3f}"
    whole = f"{Counted.pairs} pairs, {len(result.clusters)} clusters"
    return [
        ("plain pair on rows", plain, 1.0, f"alpha {alpha:.2f}, score {score:+.3f}"),
        ("ours, single pair", single, plain / single, decision),
        ("ours, a pair in Algorithm 3", each, plain / each, whole),
    ]


def main() -> int:
    """Print and write the times."""
    output = output_of(__doc__, OUTPUT)
    rows = measure()
    print(
        f"n={N} p={P} resamples={RESAMPLES} alphas={len(ALPHAS)} rows={ROWS}, one thread, "
        f"numpy {np.__version__}, Python {sys.version.split()[0]}"
    )
    for what, seconds, ratio, note in rows:
        print(f"{what:30s} {seconds:9.4f} s   {ratio:7.0f}x   {note}")
    cells = ((what, f"{s:.5f}", f"{ratio:.0f}", note) for what, s, ratio, note in rows)
    write_csv(output, ["what", "seconds", "ratio", "note"], cells)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
