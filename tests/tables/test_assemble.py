"""The last step: rows sorted by dataset, weights, and errors on the numbers."""

import numpy as np
import polars as pl
import pytest

from conjoin.errors import ConjoinWarning
from conjoin.tables import collect
from tests.tables.helpers import refused


def test_weights(frame):
    frame["w"] = 1.0
    frame.loc[:9, "w"] = 0.0
    collection = collect(frame, target="sales", by="store", weights="w")
    assert collection.sizes == (20, 30, 30)
    assert collection.features == ("price", "promo")
    frame["w"] = -1.0
    refused(frame, "Weights 'w' of dataset 'a' must be >= 0", weights="w")
    refused(frame, "weights='v' is not a column", weights="v")
    refused(frame.assign(w="heavy"), "weights='w' is not numeric", weights="w")
    gaps = frame.assign(w=np.where(np.arange(90) < 6, np.nan, 1.0))
    for data in (gaps, pl.DataFrame({c: gaps[c].to_numpy() for c in gaps})):
        with pytest.warns(ConjoinWarning, match="6 of 90 rows .* 'sales' or 'store' or 'w' is"):
            assert collect(data, target="sales", by="store", weights="w").sizes == (24, 30, 30)


def test_the_unit_of_weights_means_nothing(frame):
    w = np.linspace(1, 2, 90)
    one, two = (
        collect(frame.assign(w=w * unit), target="sales", by="store", weights="w")
        for unit in (1.0, 1e5)
    )
    np.testing.assert_allclose(one.weights, two.weights)
    assert one.weights.mean() == pytest.approx(1)
