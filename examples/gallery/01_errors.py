"""Errors of all strategies.

One model for all days of the week predicts much worse than the others. Distances to the best have
90 % intervals.
"""

from conjoin import partition
from conjoin.datasets import load_washington_bikes

result = partition(load_washington_bikes(), target="rentals", by="weekday", learner="linear")
axes = result.plot_errors()
axes.set_title("Bikes in Washington by day of the week")
