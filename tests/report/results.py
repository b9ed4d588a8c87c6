"""Results of all sizes to write pages of."""

from functools import cache

import numpy as np

import conjoin
from conjoin.datasets import make_clusters
from conjoin.result.partition import Partition

HOSTILE = "<img src=x onerror=alert(1)>"
BREAKING = '</script><script>alert("2")</script>'
FEATURE = "x1\"><b onmouseover='alert(3)'>"
CLASSES = ("no", "yes & <b>no</b>", "later", "never")


@cache
def hostile() -> Partition:
    """Five datasets in two clusters, with names that are markup; one has very few rows."""
    sizes = (60, 60, 60, 60, 3)
    tables = make_clusters(sizes=(3, 2), n=sizes, p=3, distance=1.0).tables()
    names = [HOSTILE, BREAKING, 'it\'s "so" & <so>', "$x^2$ {{ 7*7 }}", "tiny"]
    renamed = {
        name: {FEATURE if column == "x1" else column: values for column, values in table.items()}
        for name, table in zip(names, tables.values())
    }
    return conjoin.partition(renamed, target="y")


@cache
def clusters(datasets: int, number: int = 6, p: int = 5) -> Partition:
    """Datasets in clusters of about the same size, each trained on 40 rows."""
    sizes = [datasets // number] * number
    sizes[-1] += datasets - sum(sizes)
    tables = make_clusters(sizes=sizes, n=40, p=p, distance=0.6).tables()
    return conjoin.partition(tables, target="y")


@cache
def odd() -> Partition:
    """Datasets with what the page warns of: a sum of columns, a wild value, loud noise."""
    rng = np.random.default_rng(0)
    tables = {}
    for k in range(6):
        a, b = rng.standard_normal((2, 50))
        y = a - b + (10.0 if k == 5 else 1.0) * rng.standard_normal(50)
        tables[f"set {k}"] = {"a": a, "b": b, "sum": a + b, "wild": rng.standard_normal(50), "y": y}
    tables["set 0"]["wild"][7] = 1e4
    return conjoin.partition(tables, target="y", drop_outliers=False)


@cache
def choices(classes: int, datasets: int = 6, n: int = 120) -> Partition:
    """Datasets in two clusters whose target is one of some classes, with names that are markup."""
    rng = np.random.default_rng(classes)
    slopes = 1.2 * rng.standard_normal((2, 4, classes))
    labels = np.array(CLASSES[:classes])
    tables = {}
    for k in range(datasets):
        x = rng.standard_normal((n, 3))
        scores = np.column_stack([np.ones(n), x]) @ slopes[k % 2]
        share = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        drawn = (share.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
        tables[f"<i>{k}"] = {**{f"x{j}": x[:, j] for j in range(3)}, "choice": labels[drawn]}
    return conjoin.partition(tables, target="choice")


@cache
def counts() -> Partition:
    """Datasets in two clusters whose target is a count, about twenty."""
    rng = np.random.default_rng(0)
    tables = {}
    for k in range(6):
        x = rng.standard_normal((80, 2))
        rate = np.exp(3 + x @ ((0.3, -0.2), (-0.3, 0.4))[k % 2])
        tables[f"set {k}"] = {"a": x[:, 0], "b": x[:, 1], "n": rng.poisson(rate)}
    return conjoin.partition(tables, target="n", family="poisson")
