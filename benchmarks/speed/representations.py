"""Training of the paper's networks against a plain loop in torch.

    python -m benchmarks.speed.representations [--output FILE]

One epoch of stochastic gradient descent, in batches of 64, from arrays in memory. Ours has the
gradient written out; the plain loop uses automatic differentiation and torch.optim. Both start from
the same weights and take the rows in the same order, so that their losses must agree. One thread,
double precision. Times, ratios and the gap between losses go to ``representations.csv``.
"""

import time
from pathlib import Path

import numpy as np
import torch

from benchmarks.speed.common import output_of, write_csv
from conjoin.representations.perceptron import train_perceptron
from conjoin.representations.torch.mlp import as_linear, first_layers
from conjoin.representations.training import Training

# Rows, columns, hidden layers: the paper's two networks, and a wider one. With 100,000 rows an
# epoch takes a tenth of a second or more.
CASES = [(100_000, 20, 1), (100_000, 20, 2), (100_000, 40, 2)]
# The best of three: one disturbed round does no harm.
ROUNDS = 3
ONE_EPOCH = Training(epochs=1)
OUTPUT = Path(__file__).parent / "representations.csv"


def ours(layers: list[np.ndarray], X: np.ndarray, y: np.ndarray) -> float:
    """Train for an epoch; return the mean loss of its batches."""
    rng = np.random.default_rng(0)
    _, history = train_perceptron(layers, X, y, np.ones(len(y)), ONE_EPOCH, rng)
    return history.train[0]


def plain_torch(layers: list[np.ndarray], X: np.ndarray, y: np.ndarray) -> float:
    """Train for an epoch with a plain loop in torch; return the same."""
    parts = [part for layer in layers for part in (as_linear(layer), torch.nn.ReLU())]
    network = torch.nn.Sequential(*parts[:-1]).requires_grad_(True)
    steps = ONE_EPOCH
    optimizer = torch.optim.SGD(network.parameters(), lr=steps.rate, momentum=steps.momentum)
    x, t = torch.tensor(X), torch.tensor(y)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))[rng.permutation(len(y))]  # the order in which ours takes rows
    total = 0.0
    for rows in torch.tensor(order).split(steps.batch):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(network(x[rows])[:, 0], t[rows])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    return total / len(y)


def measure(n: int, p: int, hidden: int) -> list[object]:
    """Time both in turn, so that both see the same machine; return a row with the best of each."""
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
    return [n, p, hidden, *times, f"{ratio:.1f}", f"{gap:.0e}"]


def main() -> int:
    """Measure all cases and write the times."""
    output = output_of(__doc__, OUTPUT)
    torch.set_num_threads(1)
    header = ["rows", "columns", "hidden", "ours", "torch", "times_faster", "loss_gap"]
    write_csv(output, header, [measure(*case) for case in CASES])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
