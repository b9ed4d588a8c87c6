"""Which datasets join first.

The merge tree of nine datasets in three true clusters. The further left a fork, the more a join
gains.
"""

from conjoin import partition
from conjoin.datasets import make_clusters

stores = make_clusters(sizes=(4, 3, 2), n=60, p=4, distance=1.0, random_state=0)
result = partition(stores.tables(), target="y", learner="linear")
result.plot_tree().set_title("Nine stores, three clusters")
