"""Neighbours of very many points by scipy's tree and by faiss.

    python -m benchmarks.speed.neighbours [--output FILE]

Points lie around 40 centres, as coefficients of datasets do: centres are standard normal, points
differ from theirs by a fifth. For 500 of the points the true 12 nearest others are computed.
`found` is the share of them that a way finds, `same_cluster` the share of its neighbours that have
the same centre. `seconds` are of the processor. The tree uses the 20 directions of largest
variance.
"""

import time
from pathlib import Path

import numpy as np

from benchmarks.speed.common import output_of, write_csv
from conjoin.grouping import neighbours as nb

CENTRES, NEAREST, LOOKED_AT = 40, 12, 500
CASES = [(10_000, 10), (10_000, 50), (30_000, 50), (100_000, 50)]


def make_points(K: int, columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return points (K, columns) and the centre of each."""
    rng = np.random.default_rng(seed)
    centre = np.arange(K) % CENTRES
    around = rng.normal(size=(CENTRES, columns))[centre]
    return around + 0.2 * rng.normal(size=(K, columns)), centre


def share_found(points: np.ndarray, found: np.ndarray) -> float:
    """Return the share of true neighbours among those found, for some points."""
    some = np.random.default_rng(1).choice(len(points), LOOKED_AT, replace=False)
    hits = 0
    for k in some:
        nearest = np.argsort(np.sum((points - points[k]) ** 2, axis=1))[1 : NEAREST + 1]
        hits += len(np.intersect1d(nearest, found[k]))
    return hits / (NEAREST * LOOKED_AT)


def main() -> None:
    """Measure all cases, and store them."""
    output = output_of(__doc__, Path(__file__).with_suffix(".csv"))
    lines = []
    for K, columns in CASES:
        points, centre = make_points(K, columns)
        for way in ("tree", "faiss"):
            start = time.process_time()
            if way == "faiss":
                found = nb._by_faiss(points, NEAREST + 1)
            else:
                used = points if columns <= nb.MOST_COLUMNS else nb._leading(points)
                found = nb._by_tree(used, NEAREST + 1, nb.SLACK)
            seconds = time.process_time() - start
            same = float(np.mean(centre[found] == centre[:, None]))
            row = (K, columns, way, round(seconds, 2), round(share_found(points, found), 3), same)
            print(*row)
            lines.append(row)
    head = ("points", "columns", "way", "seconds", "found", "same_cluster")
    write_csv(output, head, lines)


if __name__ == "__main__":
    main()
