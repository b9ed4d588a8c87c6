import numpy as np
import pytest

import conjoin
from conjoin.api.request import Request
from conjoin.datasets import make_clusters
from conjoin.engine.features import make_representation, settings_of
from conjoin.errors import ArgumentError

TABLES = make_clusters(sizes=(2, 2), n=60, p=2).tables()


def squares(X):
    return np.concatenate([X, X**2], axis=1)


def test_without_a_representation_settings_do_not_speak_of_one():
    request = Request(target="y")
    found = settings_of(request, make_representation(request))
    assert not {"representation", "target"} & set(found)
    assert found["method"] == "auto"


def test_a_representation_is_named_or_described():
    request = Request(target="y", representation=squares)
    found = settings_of(request, make_representation(request))
    assert "squares" in found["representation"]


def test_models_use_the_learned_features():
    result = conjoin.partition(TABLES, target="y", representation=squares)
    assert len(result.features) == 4
    assert result.predict(TABLES["d1"], "d1").shape == (60,)


def test_a_wrong_representation_is_refused_before_anything_is_read():
    with pytest.raises(ArgumentError, match="representation="):
        conjoin.partition("no such file.csv", target="y", representation="mlp9")
