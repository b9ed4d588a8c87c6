"""A new dataset learns quickly.

The error of a new dataset's model on later rows, by the number of rows it has shown so far.
"""

import matplotlib.pyplot as plt
import numpy as np

from conjoin import partition
from conjoin.datasets import make_clusters

tables = make_clusters(sizes=(6, 6), n=120, p=4, distance=1.5, random_state=0).tables()
new = tables.pop("d12")
result = partition(tables, target="y", learner="linear")
rest = {name: column[60:] for name, column in new.items()}
counts, errors = (2, 5, 10, 20, 40, 60), []
for n in counts:
    first = {name: column[:n] for name, column in new.items()}
    model = result.adding({"d12": result.assign(first, first["y"])})
    errors.append(np.mean((model.predict(rest, "d12") - rest["y"]) ** 2))
_, axes = plt.subplots()
axes.plot(counts, errors, marker="o", label="assigned model")
axes.axhline(
    np.mean((result.predict(rest, "d12") - rest["y"]) ** 2), color="C3", label="one model for all"
)
axes.axhline(1, linestyle=":", color="black", label="noise")
axes.set(
    xlabel="rows of the new dataset", ylabel="mean squared error", title="A thirteenth store opens"
)
axes.legend()
