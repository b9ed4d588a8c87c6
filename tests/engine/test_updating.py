"""An update asks for what the result was asked for; tests/api/test_update.py has the rest."""

import pytest

import conjoin
from conjoin.datasets import make_clusters, make_count_clusters
from conjoin.engine.updating import request_of
from conjoin.errors import ArgumentError


def test_the_request_is_that_of_the_result():
    tables = make_clusters(sizes=(2, 1), n=30, p=1, distance=2.0).tables()
    asked = {"method": "bic", "folds": 3, "weigh_by": "rows", "random_state": 5}
    result = conjoin.partition(tables, target="y", learner="linear", keep_moments=True, **asked)
    request = request_of(result)
    assert request.keep_moments and request.target == "y"
    assert {name: getattr(request, name) for name in asked} == asked


def test_what_cannot_be_updated_names_the_next_step():
    tables = make_count_clusters(sizes=(1, 1), n=40).tables()
    counts = conjoin.partition(tables, target="y", learner="linear", family="poisson", folds=3)
    with pytest.raises(ArgumentError, match="its target is no number.*Fit all rows again"):
        conjoin.update(counts, tables)
