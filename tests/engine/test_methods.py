import numpy as np
import pytest

from conjoin.api.request import PARTITION_METHODS
from conjoin.engine.methods import METHODS, validate_search
from tests.collections_ import make
from tests.strategies.flow import run


def test_the_request_names_all_methods():
    assert set(PARTITION_METHODS) == set(METHODS)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_finds_planted_clusters(method):
    truth = make("clusters", K=9, n=120, p=4, clusters=3, seed=2)
    labels = run(truth).choose(method).labels
    together = labels[:, None] == labels
    assert (together == (truth.labels[:, None] == truth.labels)).mean() > 0.9


def test_a_partition_is_kept_only_where_it_predicts():
    for kind, clusters in (("clusters", 3), ("continuum", 1)):
        truth = make(kind, K=12, n=60, p=4, clusters=3, spread=0.0, seed=1)
        assert run(truth).choose().labels.max() + 1 == clusters


def test_the_search_is_validated_once():
    found = run(make("clusters", K=6, n=30, p=3, clusters=2))
    chosen = found.choose()
    assert chosen.searched_losses is not None  # few rows: the choice needed it already
    assert validate_search("auto", chosen, found.start) is chosen.searched_losses


def test_a_method_that_cannot_search_outside_rows_has_no_fair_error():
    found = run(make("clusters", K=6, n=30, p=3, clusters=2))
    assert validate_search("validated", found.choose("validated"), found.start) is None
    assert validate_search("auto", found.choose("auto"), found.start) is not None


def test_one_cluster_is_the_pooled_fit():
    found = run(make("continuum", K=6, n=30, p=3, spread=0.0))
    chosen = found.choose("evidence")
    assert chosen.labels.max() == 0
    assert chosen.clusters is chosen.pooled
    assert np.array_equal(chosen.pooled.coef, found.fits["pooled"].coef)
    assert validate_search("evidence", chosen, found.start) is None
    assert np.ptp(chosen.pooled.coef, axis=0).max() == 0
