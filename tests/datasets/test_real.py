"""The bundled tables have the rows and columns that their README describes."""

import numpy as np

from conjoin.datasets import load_seoul_bikes, load_washington_bikes


def test_the_bundled_table_is_complete():
    bikes = load_seoul_bikes()
    assert len(bikes["hour"]) == 8465
    assert len(np.unique(bikes["hour"])) == 24
    assert np.sum(bikes["rented_bikes"]) == 6_172_314


def test_the_table_of_washington_is_complete():
    bikes = load_washington_bikes()
    assert len(bikes["weekday"]) == 6365
    assert len(np.unique(bikes["weekday"])) == 7
    assert np.sum(bikes["rentals"]) == 1_938_517
