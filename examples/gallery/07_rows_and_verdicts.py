"""More rows, clearer verdicts.

Two datasets differ a little. The interval of the gain shrinks until the verdict is "apart".
"""

import matplotlib.pyplot as plt

from conjoin import compare
from conjoin.datasets import make_pair

sizes = (30, 60, 120, 240, 480, 960)
pairs = [
    compare(*make_pair(p=4, n=n, d=0.3, random_state=0).tables().values(), target="y")
    for n in sizes
]
_, axes = plt.subplots()
for n, pair in zip(sizes, pairs):
    low, high = (max(min(end, 0.6), -0.6) for end in pair.interval)
    colour = {"join": "C2", "apart": "C3", "undecided": "grey"}[pair.verdict]
    axes.vlines(n, low, high, color=colour)
    axes.annotate(pair.verdict, (n, high), ha="center", va="bottom", color=colour)
    axes.scatter(n, pair.gain, color=colour)
axes.axhline(0, linestyle=":", color="black")
axes.set(
    xscale="log",
    xlabel="rows of each dataset",
    ylabel="gain of joining",
    title="One pair, more rows",
)
