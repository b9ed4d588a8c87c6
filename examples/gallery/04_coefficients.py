"""The coefficient in which clusters differ most.

Points are fits of single datasets with 90 % intervals, lines the models of the clusters.
"""

from conjoin import partition
from conjoin.datasets import make_clusters

stores = make_clusters(sizes=(5, 4), n=50, p=3, distance=1.5, random_state=2)
result = partition(stores.tables(), target="y", learner="linear")
result.plot_coefficients().set_title("Where the clusters differ")
