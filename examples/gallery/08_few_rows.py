"""When borrowing strength pays.

With few rows one model for all is good, with many rows separate ones are. The average of
strategies is close to the best everywhere.
"""

import matplotlib.pyplot as plt

from conjoin import partition
from conjoin.datasets import make_continuum

sizes = (12, 25, 50, 100)
errors = {name: [] for name in ("separate", "pooled", "auto")}
for n in sizes:
    tables = make_continuum(8, n=n, p=5, random_state=0).tables()
    result = partition(tables, target="y", learner="linear")
    for name, found in errors.items():
        found.append(result.errors[name].error)
_, axes = plt.subplots()
for name, found in errors.items():
    axes.plot(sizes, found, marker="o", label=name)
axes.set(
    xscale="log",
    xlabel="rows of each dataset",
    ylabel="mean squared error, held-out rows",
    ylim=(0.8, 5),
)
axes.set_title("Eight datasets with slopes of their own")
axes.legend()
