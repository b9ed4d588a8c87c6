"""Curves: lines beside boosted trees.

The wear of a machine has a bend that no line follows. The learner is averaged with the lines
where it helps.
"""

import matplotlib.pyplot as plt
import numpy as np

from conjoin import Boosting, partition

rng = np.random.default_rng(0)
tables = {}
for number in range(4):
    x = rng.uniform(-2, 2, 100)
    tables[f"machine {number + 1}"] = {
        "load": x,
        "wear": 2 * np.abs(x) + 0.3 * rng.normal(size=100),
    }
result = partition(tables, target="wear", learner=Boosting(rounds=60, leaves=8))
grid = {"load": np.linspace(-2, 2, 200)}
one = tables["machine 1"]
_, axes = plt.subplots()
axes.scatter(one["load"], one["wear"], s=10, color="grey", label="machine 1")
axes.plot(grid["load"], result.predict(grid, "machine 1"), label="auto")
axes.plot(grid["load"], result.using("linear").predict(grid, "machine 1"), label="lines only")
axes.set(xlabel="load", ylabel="wear", title="A bend that no line follows")
axes.legend()
