"""What it costs to join datasets in rounds on the graph of neighbours, instead of trying all pairs.

    python -m benchmarks.speed.neighbour_risk [--output FILE]

Both searches run on the same moments: 40 rows and 4 columns a dataset. The estimated risk is the
expected squared error of the clusters' fits on new rows. `excess` is by how much that of the rounds
is higher, in percent; negative means that it is lower. Rounds go down to a tenth of the datasets,
where `partition` stops at 2,000; so more is joined in rounds here.

========== =======================================================================
kind       slopes of datasets
========== =======================================================================
clusters   40 clusters with the same slopes each
near       40 clusters whose centres lie close: a quarter of the usual distance
continuum  no clusters: a normal law around common slopes
unequal    40 clusters; datasets have 10 to 160 rows
strays     40 clusters, and a fifth of the datasets has slopes of its own
========== =======================================================================
"""

import time
from pathlib import Path

import numpy as np

from benchmarks.speed.common import output_of, write_csv
from conjoin.grouping import agglomerative as ag
from conjoin.grouping.objective import RiskObjective
from conjoin.grouping.search import evidence
from conjoin.models.noise import noise_variances
from conjoin.models.partial import SLOPES, fit_variances
from conjoin.moments import Basis, Moments

KINDS = ("clusters", "near", "continuum", "unequal", "strays")
SIZES, CLUSTERS, ROWS, COLUMNS = (500, 1_000, 2_000), 40, 40, 4


def make_moments(kind: str, K: int, seed: int = 0) -> Moments:
    """Return the moments (K,) of simulated datasets."""
    rng = np.random.default_rng([seed, K, KINDS.index(kind)])
    labels = np.arange(K) % CLUSTERS
    apart = 0.25 if kind == "near" else 1.0
    beta = apart * rng.standard_normal((CLUSTERS, COLUMNS))[labels]
    if kind == "continuum":
        beta = rng.standard_normal(COLUMNS) + 0.5 * rng.standard_normal((K, COLUMNS))
    if kind == "strays":
        own = rng.random(K) < 0.2
        beta[own] = rng.standard_normal((int(own.sum()), COLUMNS))
    counts = rng.choice([10, 40, 160], K) if kind == "unequal" else np.full(K, ROWS)
    starts = np.append(0, np.cumsum(counts))
    X = rng.standard_normal((starts[-1], COLUMNS))
    y = np.sum(X * np.repeat(beta, counts, axis=0), axis=1) + rng.standard_normal(len(X))
    basis = Basis.from_rows(X, y)
    return Moments.by_dataset(basis.design(X), basis.response(y), starts, np.ones(len(y)))


def risks(moments: Moments) -> tuple[float, float, int, int]:
    """Return estimated risk of all pairs and of rounds, and the clusters that each finds."""
    near, objective = evidence(moments, fit_variances(moments, SLOPES))
    K = len(near)
    risk = RiskObjective.of(moments, noise_variances(moments), np.full(K, 1 / K))
    found = []
    for most_full, one_by_one in ((K, K), (ag.MOST_FULL, K // 10)):
        before = ag.MOST_FULL, ag.MOST_ONE_BY_ONE
        ag.MOST_FULL, ag.MOST_ONE_BY_ONE = most_full, one_by_one
        try:
            found.append(ag.improve(objective, ag.prune(ag.grow(objective, near)), near))
        finally:
            ag.MOST_FULL, ag.MOST_ONE_BY_ONE = before
    full, fast = found
    cost = ag.total_cost(risk, full), ag.total_cost(risk, fast)
    return *cost, int(full.max()) + 1, int(fast.max()) + 1


def main() -> None:
    """Measure all kinds and sizes, and store them."""
    output = output_of(__doc__, Path(__file__).with_suffix(".csv"))
    lines = []
    for K in SIZES:
        for kind in KINDS:
            start = time.process_time()
            full, fast, clusters, clusters_fast = risks(make_moments(kind, K))
            excess = round(100 * (fast / full - 1), 3)
            lines.append((kind, K, excess, clusters, clusters_fast))
            print(*lines[-1], f"{time.process_time() - start:.0f} s", flush=True)
    head = ("kind", "datasets", "excess_percent", "clusters_all_pairs", "clusters_rounds")
    write_csv(output, head, lines)


if __name__ == "__main__":
    main()
