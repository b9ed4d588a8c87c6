"""Training of the paper's networks against a plain loop in torch.

    python -m benchmarks.speed.representations [--output FILE]

An epoch of stochastic gradient descent, batches of 64, from arrays in memory: ours, with the
gradient written out, and the loop that everybody writes, with automatic differentiation and
torch.optim. Both start from the same weights and go through the rows in the same order, so that
losses must agree. One thread, double precision.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import csv
import time
from pathlib import Path

import numpy as np
import torch

from conjoin.representations.perceptron import train_perceptron
from conjoin.representations.torch.mlp import as_linear, first_layers
from conjoin.representations.training import Training

CASES = [(100_000, 20, 1), (100_000, 20, 2), (100_000, 40, 2)]  # rows, columns, hidden layers
ROUNDS = 3
ONE_EPOCH = Training(epochs=1)
OUTPUT = Path(__file__).parent / "representations.csv"


def ours(layers: list[np.ndarray], X: np.ndarray, y: np.ndarray) -> float:
    """Train for an epoch; return the mean loss on the way."""
    rng = np.random.default_rng(0)
    _, course = train_perceptron(layers, X, y, np.ones(len(y)), ONE_EPOCH, rng)
    return course.trained[0]


def plain_torch(layers: list[np.ndarray], X: np.ndarray, y: np.ndarray) -> float:
    """Do the same as one would without us."""
    parts = [part for layer in layers for part in (as_linear(layer), torch.nn.ReLU())]
    network = torch.nn.Sequential(*parts[:-1]).requires_grad_(True)
    steps = ONE_EPOCH
    optimizer = torch.optim.SGD(network.parameters(), lr=steps.rate, momentum=steps.momentum)
    x, t = torch.tensor(X), torch.tensor(y)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))[rng.permutation(len(y))]  # as ours draws it
    total = 0.0
    for rows in torch.tensor(order).split(steps.batch):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(network(x[rows])[:, 0], t[rows])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    return total / len(y)


def main() -> int:
    """Time both in turn, so that both see the same machine, and keep the best of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    output = parser.parse_args().output
    torch.set_num_threads(1)
    with output.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["rows", "columns", "hidden", "ours", "torch", "times_faster", "loss_gap"])
        for n, p, hidden in CASES:
            rng = np.random.default_rng(1)
            X = rng.standard_normal((n, p))
            y = X[:, 0] + rng.standard_normal(n)
            layers = first_layers((p, *[p] * hidden, 1), rng)
            seconds, loss = {}, {}
            for _ in range(ROUNDS):
                for run in (ours, plain_torch):
                    start = time.perf_counter()
                    loss[run] = run(layers, X, y)
                    took = time.perf_counter() - start
                    seconds[run] = min(seconds.get(run, np.inf), took)
            ratio = seconds[plain_torch] / seconds[ours]
            gap = abs(loss[ours] / loss[plain_torch] - 1)
            print(
                f"{n:,} rows, {p} columns, {hidden} hidden: {seconds[ours]:.3f} s an epoch, torch "
                f"{seconds[plain_torch]:.3f} s, {ratio:.1f} x, losses differ by {gap:.0e}"
            )
            times = (f"{seconds[run]:.3f}" for run in (ours, plain_torch))
            writer.writerow([n, p, hidden, *times, f"{ratio:.1f}", f"{gap:.0e}"])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
