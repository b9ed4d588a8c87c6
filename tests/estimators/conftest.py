"""Data of five datasets in two clusters, and a regressor fitted to it."""

import pandas as pd
import pytest
import sklearn

from conjoin.datasets import make_clusters
from tests.estimators.regression import FEATURES, join


@pytest.fixture(scope="session")
def data():
    """Five datasets in two clusters: X with columns store, x1, x2, x3, and y; rows mixed."""
    made = make_clusters(sizes=(3, 2), n=60, p=3, distance=2.0)
    frame = pd.concat([pd.DataFrame(t).assign(store=k) for k, t in made.tables().items()])
    frame = frame.sample(frac=1, random_state=0).reset_index(drop=True)
    return frame[["store", *FEATURES]], frame["y"].to_numpy()


@pytest.fixture(scope="session")
def fitted(data):
    return join(by="store").fit(*data)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield
