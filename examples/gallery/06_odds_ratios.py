"""A forest plot of odds ratios.

`to_frame` has everything that a forest plot needs: odds ratios of each hospital and each cluster,
with 95 % intervals.
"""

import matplotlib.pyplot as plt

from conjoin import partition
from conjoin.datasets import make_class_clusters

hospitals = make_class_clusters(sizes=(4, 3), n=250, p=2, distance=1.5, random_state=0)
result = partition(hospitals.tables(), target="y", learner="linear")
table = result.to_frame("coefficients", level=0.95).query("term == 'x1'").iloc[::-1]
labels = table["of"] + " " + table["name"]
_, axes = plt.subplots()
axes.hlines(labels, table["odds_ratio_low"], table["odds_ratio_high"], color="grey")
axes.scatter(
    table["odds_ratio"], labels, c=(table["of"] == "cluster").map({True: "C1", False: "C0"})
)
axes.axvline(1, linestyle=":", color="black")
axes.set(
    xscale="log", xlabel="odds ratio of x1, 95 % interval", title="Seven hospitals, two clusters"
)
