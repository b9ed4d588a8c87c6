"""The last step: rows sorted by dataset, and checks on weights and the target."""

import numpy as np
import polars as pl
import pytest

from conjoin.errors import ConjoinWarning
from conjoin.tables import collect
from conjoin.tables.assemble import EncodedRows, assemble
from conjoin.tables.encoding import Number
from conjoin.tables.roles import Roles
from conjoin.tables.schema import Schema
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
    assert (one.X == two.X).all()
    assert one.weights.mean() == pytest.approx(1)


def test_rows_are_sorted_by_dataset_and_know_their_place():
    X = np.array([[3.0], [1.0], [4.0], [2.0]])
    places = np.arange(4)
    rows = EncodedRows(X, np.arange(4.0), None, ["a", "b"], np.array([1, 0, 1, 0]), places)
    schema = Schema(Roles("y", ("by",)), (Number("x", 0.0),))
    collection = assemble(rows, schema, fewest=2).in_table_order()
    assert collection.X[:, 0].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert collection.y.tolist() == [1.0, 3.0, 0.0, 2.0]
    assert collection.positions.tolist() == [1, 3, 0, 2]
    assert collection.starts.tolist() == [0, 2, 4]
    assert (collection.weights == 1).all()


def test_the_order_of_rows_is_that_of_their_values():
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(60, 2)).round(), rng.normal(size=60).round(), rng.uniform(size=60)
    X[:5] = -0.0
    codes = rng.integers(0, 2, size=60)
    schema = Schema(Roles("y", ("by",)), (Number("x", 0.0), Number("z", 0.0)))

    def rows(order):
        """Return the bits of the rows of a table in this order."""
        given = EncodedRows(X[order], y[order], w[order], ["a", "b"], codes[order])
        found = assemble(given, schema, fewest=2)
        return found.X.tobytes(), found.y.tobytes(), found.weights.tobytes()

    assert rows(rng.permutation(60)) == rows(np.arange(60))


def test_a_class_or_number_that_never_varies(frame):
    refused(frame.assign(sales="yes"), "has one class in all rows, 'yes'; there is nothing to")
    refused(frame.assign(sales=7.5), "is 7.5 in every row of every dataset; there is nothing to")
