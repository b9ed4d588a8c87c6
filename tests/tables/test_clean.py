"""The short way for clean numbers gives what the long way gives."""

import numpy as np
import polars as pl

from conjoin.tables import collect
from tests.tables.helpers import refused


def test_frames_of_either_kind_and_plain_columns_agree(frame):
    collections = [
        collect(data, target="sales", by="store")
        for data in (frame, pl.from_pandas(frame), {c: frame[c].to_numpy() for c in frame})
    ]
    shuffled = frame.sample(frac=1, random_state=0)
    assert collect(shuffled, target="sales", by="store").names == ("a", "b", "c")
    for other in collections[1:]:
        assert other.names == collections[0].names
        assert (other.X == collections[0].X).all()
        assert (other.y == collections[0].y).all()


def test_masked_values_are_missing_values(frame):
    columns = {c: frame[c].to_numpy() for c in frame}
    columns["price"] = np.ma.masked_array(columns["price"], mask=np.arange(90) == 40)
    refused(columns, "Column 'price' lacks 1 of 90 values", missing="raise")
    collection = collect(columns, target="sales", by="store")
    assert collection.X[40, 0] == np.median(np.delete(columns["price"].data, 40))
