import numpy as np
import pytest

from conjoin.errors import ConjoinError
from conjoin.sites import Rules, encode, make_plan
from conjoin.sites.rows import read_rows
from tests.sites.clinics import clinics, plan_of


def table(**changed):
    return {**clinics(sites=1)["clinic_1"], **changed}


def test_rows_are_read_as_the_plan_says():
    found = read_rows(table(), plan_of(), "clinic_1")
    assert found.X.shape == (300, 3)
    assert found.folds == (10,)
    assert np.array_equal(found.X[:, 2], (clinics(sites=1)["clinic_1"]["sex"] == "m"))
    assert np.array_equal(encode(table(), plan_of()), found.X)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"age": np.where(np.arange(300) < 9, np.nan, 50.0)}, "'age' lacks 9 of 300 values"),
        ({"y": ["a"] * 300}, "the plan says that it is a number"),
        ({"y": np.full(300, np.inf)}, "infinite"),
        ({"dose": ["high"] * 300}, "Column 'dose'"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(changed, sentence):
    with pytest.raises(ConjoinError, match=sentence):
        read_rows(table(**changed), plan_of(), "clinic_1")


def test_missing_columns_names_and_units_are_noticed():
    rows = table()
    del rows["dose"]
    with pytest.raises(ConjoinError, match="lacks column 'dose'"):
        read_rows(rows, plan_of(), "clinic_1")
    with pytest.raises(ConjoinError, match="cannot name a site"):
        read_rows(table(), plan_of(), "../clinic")
    plan = make_plan({"y": "number", "age": {"type": "number", "limits": [0, 30]}}, "y")
    with pytest.raises(ConjoinError, match="check its unit"):
        read_rows(table(), plan, "clinic_1")
    classes = plan_of("logistic")
    with pytest.raises(ConjoinError, match="has the class 'maybe', which is not in the plan"):
        read_rows(table(y=np.repeat(["no", "maybe"], 150)), classes, "clinic_1")


def test_few_rows_mean_fewer_folds_or_nothing():
    small = {name: values[:60] for name, values in table().items()}
    found = read_rows(small, plan_of(), "clinic_1")
    assert found.folds[0] < 10
    assert found.steps
    tiny = {name: values[:10] for name, values in table().items()}
    with pytest.raises(ConjoinError, match="Nothing was written, because it would disclose rows"):
        read_rows(tiny, plan_of(), "clinic_1")
    stricter = read_rows(table(), plan_of(), "clinic_1", rules=Rules(rows=40))
    assert stricter.folds[0] < 10
