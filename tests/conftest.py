import shutil
import sys

import numpy as np
import pytest
from hypothesis import settings

import conjoin
from tests.bent import QUICK, bent_tables

settings.register_profile("conjoin", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("conjoin")


@pytest.fixture(scope="session")
def bent():
    return bent_tables(levels=0.5)


@pytest.fixture(scope="session")
def learned(bent):
    return conjoin.partition(bent, target="y", learner=QUICK)


@pytest.fixture(scope="session")
def laws():
    return conjoin.partition(bent_tables(n=150, laws=3), target="y", learner=QUICK)


@pytest.fixture(scope="session")
def class_tables():
    tables = bent_tables(n=120)
    return {name: {**one, "y": np.where(one["y"] > 0, "yes", "no")} for name, one in tables.items()}


@pytest.fixture(scope="session")
def classes(class_tables):
    return conjoin.partition(class_tables, target="y", learner=QUICK)


@pytest.fixture(scope="session")
def spark():
    """A Spark session of this machine."""
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, and there is no 'java' here")
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_PYTHON", sys.executable)  # else workers run another Python
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.session.timeZone", "UTC")
            .getOrCreate()
        )
        yield session
        session.stop()
