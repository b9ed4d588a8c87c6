"""The bundled table has the rows and columns that its README describes."""

import numpy as np

from conjoin.datasets import load_seoul_bikes


def test_the_bundled_table_is_complete():
    bikes = load_seoul_bikes()
    assert len(bikes["hour"]) == 8465
    assert len(np.unique(bikes["hour"])) == 24
    assert np.sum(bikes["rented_bikes"]) == 6_172_314
