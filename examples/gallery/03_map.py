"""What joining any two datasets is worth.

Blue pairs predict better together, orange ones apart.
"""

from conjoin import partition
from conjoin.datasets import make_clusters

stores = make_clusters(sizes=(4, 3, 2), n=60, p=4, distance=1.0, random_state=0)
result = partition(stores.tables(), target="y", learner="linear")
result.plot_gains().set_title("Gain of every pair")
