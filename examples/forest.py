"""Which datasets to train together if you train random forests.

    python examples/forest.py

Six sensors follow two laws. A line sees neither; a forest does. conjoin finds the two groups for
the forest and says what joining brings.
"""

import numpy as np
from sklearn.ensemble import RandomForestRegressor

import conjoin


def sensors(rows: int = 150, seed: int = 0) -> dict[str, dict[str, np.ndarray]]:
    """Return six tables; every other sensor follows another law."""
    rng = np.random.default_rng(seed)
    tables = {}
    for k in range(6):
        heat, load = rng.uniform(-2, 2, size=(2, rows))
        law = np.abs(heat) if k % 2 else np.sign(load) * heat**2
        tables[f"sensor {k}"] = {"heat": heat, "load": load, "y": law + rng.normal(0, 0.2, rows)}
    return tables


def main() -> None:
    """Find the groups and print the errors."""
    forest = RandomForestRegressor(60, min_samples_leaf=3, random_state=0)
    result = conjoin.partition(sensors(), target="y", learner=forest)
    print("Train together:", result.clusters)
    for name in ("linear", "learner separate", "learner pooled", "learner clusters", "auto"):
        print(f"{name:17} {result.errors[name].error:.3f}")


if __name__ == "__main__":
    main()
