"""How stable the clusters are.

How often two datasets are together when the search sees random halves of the rows.
"""

import matplotlib.pyplot as plt

from conjoin import partition
from conjoin.datasets import make_clusters

stores = make_clusters(sizes=(4, 3, 2), n=40, p=4, distance=0.8, random_state=0)
result = partition(stores.tables(), target="y", learner="linear")
found = result.stability()
_, axes = plt.subplots()
picture = axes.imshow(found.frequencies, vmin=0, vmax=1, cmap="Blues")
axes.set_xticks(range(9), list(result.labels))
axes.set_yticks(range(9), list(result.labels))
axes.figure.colorbar(picture, label="share of halves in which they are together")
axes.set_title(f"Nine stores (adjusted Rand index {found.agreement:.2f})")
