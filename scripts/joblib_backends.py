"""Compare searches in the workers of a backend of joblib with searches in this process.

    python -m scripts.joblib_backends loky dask ray spark

The search for clusters is repeated in random halves of the rows (`Partition.stability`), here and
in the workers. Exit code 1 if a partition differs. "ray" needs the package ray, "spark" joblibspark
and Java; neither is among the packages of the tests.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import joblib
import numpy as np

import conjoin
from conjoin._typing import IntArray
from conjoin.datasets import make_clusters


@contextmanager
def workers(backend: str) -> Iterator[None]:
    """Start two workers of a backend on this machine, and let joblib use them."""
    if backend == "dask":
        from distributed import Client, LocalCluster

        one = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": None}
        with LocalCluster(**one) as cluster, Client(cluster), joblib.parallel_config("dask"):
            yield
        return
    if backend == "ray":
        import ray
        from ray.util.joblib import register_ray

        ray.init(num_cpus=2, include_dashboard=False)
        register_ray()
    elif backend == "spark":
        from joblibspark import register_spark

        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        register_spark()
    with joblib.parallel_config(backend, n_jobs=2):
        yield


def partitions() -> IntArray:
    """Return the partitions (B, K) of random halves of the rows."""
    tables = make_clusters(sizes=(4, 4), n=40, p=3, distance=0.6).tables()
    return conjoin.partition(tables, target="y", learner="linear").stability().labels


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, and print what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "backends", nargs="+", choices=["threading", "loky", "dask", "ray", "spark"]
    )
    here, same = partitions(), True
    for backend in parser.parse_args(arguments).backends:
        with workers(backend):
            there = partitions()
        equal = np.array_equal(here, there)
        print(f"{backend}: {'the same partitions' if equal else 'OTHER PARTITIONS'}", flush=True)
        same = same and equal
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
