import numpy as np
import pytest

from conjoin.errors import ConjoinWarning
from conjoin.learners.columns import LearnerColumns
from conjoin.tables import collect


@pytest.fixture
def rows():
    table = {
        "by": ["a", "a", "a", "b", "b", "b"],
        "x": [1.0, None, 3.0, 4.0, 5.0, 7.0],
        "kind": ["u", "v", "w", "u", None, "w"],
        "open": [True, False, True, True, False, False],
        "one": [1, 1, 1, 1, 1, 1],
        "y": [1, 2, 3, 5, 8, 13],
    }
    table = {name: 5 * values for name, values in table.items()}
    with pytest.warns(ConjoinWarning, match="'one'"):
        return collect(table, target="y", by="by")


def test_numbers_keep_their_gaps_and_categories_are_one_column(rows):
    columns = LearnerColumns.of(rows.schema)
    seen = dict(zip(columns.names, columns.transform(rows.X).T))
    assert np.isnan(seen["x"]).sum() == 5
    assert set(seen["x"][~np.isnan(seen["x"])]) == {1, 3, 4, 5, 7}
    assert [columns.names[j] for j in columns.categories] == ["kind"]
    by_x = {x: set(seen["kind"][seen["x"] == x]) for x in (1, 3, 4, 5, 7)}
    assert by_x[1] == by_x[4] and by_x[3] == by_x[7]
    assert set(seen["kind"]) == {0, 1, 2, 3}  # missing is a category


def test_constant_columns_are_left_out(rows):
    assert "one" not in LearnerColumns.of(rows.schema).names


def test_every_feature_belongs_to_one_column(rows):
    columns = LearnerColumns.of(rows.schema).columns
    used = [j for one in columns for j in (*one.features, one.indicator) if j is not None]
    assert sorted(used) == list(range(len(rows.schema.features)))


def test_plain_columns_are_the_features(rows):
    columns = LearnerColumns.plain(rows.schema)
    assert columns.names == rows.schema.features
    assert columns.categories == ()
    assert np.array_equal(columns.transform(rows.X), rows.X)


def test_no_rows_have_columns_too(rows):
    columns = LearnerColumns.of(rows.schema)
    assert columns.transform(rows.X[:0]).shape == (0, len(columns.names))
