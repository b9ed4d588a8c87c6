"""The row-resampling procedure as the paper describes it, against ours on moments.

    python -m benchmarks.speed.paper_rows [--output FILE]

Settings: n = 50, p = 10, 1,000 resamples for tuning, for each expectation and for the final pass,
the 801 alphas of the grid, datasets of 1,000 rows. The plain procedure samples rows of a frame for
every resample, 1,000 times for each of the five expectations in A0 and B0, forms the
(n1+n2) x (n1+n2) matrices of the paper, draws 1,000 out-of-samples, and evaluates phi and psi alpha
by alpha; to its favour all alphas see the same resamples, where the printed loop draws anew for
each of them.
Ours is the public `Tuned` criterion: one pair from rows to decision, and Algorithm 3 over 20
datasets.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import csv
import sys
import time
from collections.abc import Callable
from math import e, log, sqrt
from pathlib import Path

import numpy as np
import pandas as pd

import conjoin
from conjoin.api.pipeline import to_units
from conjoin.criterion import PairScore
from conjoin.paper.greedy import greedy
from conjoin.paper.tuned import TunedUnit
from conjoin.tables import collect

N, P, RESAMPLES, ROWS, DATASETS = 50, 10, 1000, 1000, 20
ALPHAS = 2 + 0.01 * np.arange(801)
DELTA = 0.1
DEFAULT_OUTPUT = Path(__file__).parent / "paper_rows.csv"


def plain_sample(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, pd.DataFrame]:
    """Draw n rows of a frame; also return the rows not drawn."""
    drawn = frame.sample(N, replace=True)
    rest = frame.drop(index=drawn.index.unique())
    return drawn.drop(columns="y").to_numpy(), drawn["y"].to_numpy(), rest


def plain_sides(
    X1: np.ndarray, y1: np.ndarray, X2: np.ndarray, y2: np.ndarray, A0: float, B0: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return what phi > psi says over the grid, and the three coefficient vectors."""
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
    values = (n0, A0, s2c, Dd2, trace, trace2, norm, g)
    return np.array([plain_join(alpha, *values) for alpha in ALPHAS.tolist()]), (b1, b2, bc)


def plain_join(
    a: float,
    n0: float,
    A0: float,
    s2c: float,
    Dd2: float,
    trace: float,
    trace2: float,
    norm: float,
    g: float,
) -> bool:
    """Evaluate phi > psi at one alpha."""
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
    """Draw from both frames once: what phi > psi says at each alpha, and what joining gained."""
    (X1, y1, rest1), (X2, y2, rest2) = plain_sample(one), plain_sample(two)
    join, (b1, b2, bc) = plain_sides(X1, y1, X2, y2, A0, B0)
    own = plain_error(b1, rest1) + plain_error(b2, rest2)
    return join, own - plain_error(bc, rest1) - plain_error(bc, rest2)


def main() -> int:
    """Time both, print the ratios, write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=DEFAULT_OUTPUT)
    output = parser.parse_args().output
    stores = conjoin.datasets.make_clusters(
        sizes=(10, 10), n=ROWS, p=P, distance=0.3, random_state=0
    )
    tables = stores.tables()
    frames = [pd.DataFrame(tables[name]) for name in stores.names]
    criterion = conjoin.Tuned(n=N, resamples=RESAMPLES)

    def our_pair() -> PairScore:
        units = to_units(collect({"a": frames[0], "b": frames[1]}, target="y"), intercept=False)
        return criterion.compare(*(criterion.prepare(unit, 0) for unit in units))

    our_pair()  # imports and first-use costs
    started = time.perf_counter()
    alpha, score = plain_pair(frames[0], frames[1], seed=0)
    plain = time.perf_counter() - started
    repeats = 5
    started = time.perf_counter()
    for _ in range(repeats):
        ours = our_pair()
    single = (time.perf_counter() - started) / repeats

    pairs = 0

    class Counted(conjoin.Tuned):
        def compare(self, a: TunedUnit, b: TunedUnit) -> PairScore:
            nonlocal pairs
            pairs += 1
            return super().compare(a, b)

    counted = Counted(n=N, resamples=RESAMPLES)
    started = time.perf_counter()
    result = greedy(counted, to_units(collect(tables, target="y"), intercept=False), 0)
    each = (time.perf_counter() - started) / pairs

    rows = [
        ("plain pair on rows", plain, 1.0, f"alpha {alpha:.2f}, score {score:+.3f}"),
        (
            "ours, single pair",
            single,
            plain / single,
            f"alpha {ours.alpha:.2f}, score {ours.score:+.3f}",
        ),
        (
            "ours, a pair in Algorithm 3",
            each,
            plain / each,
            f"{pairs} pairs, {len(result.clusters)} clusters",
        ),
    ]
    print(
        f"n={N} p={P} resamples={RESAMPLES} alphas={len(ALPHAS)} rows={ROWS}, one thread, "
        f"numpy {np.__version__}, Python {sys.version.split()[0]}"
    )
    for what, seconds, ratio, note in rows:
        print(f"{what:30s} {seconds:9.4f} s   {ratio:7.0f}x   {note}")
    with output.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["what", "seconds", "ratio", "note"])
        writer.writerows((w, f"{s:.5f}", f"{r:.0f}", note) for w, s, r, note in rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
