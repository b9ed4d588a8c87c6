"""How often probabilities come true.

Predictions of held-out rows in ten bins. Points on the line are right on average.
"""

from conjoin import partition
from conjoin.datasets import make_class_clusters

shops = make_class_clusters(sizes=(3, 3), n=200, p=3, distance=1.5, random_state=0)
result = partition(shops.tables(), target="y", learner="linear")
result.plot_calibration().set_title("Calibration on held-out rows")
