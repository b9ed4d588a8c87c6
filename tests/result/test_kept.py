"""Kept moments come back from a file bit by bit, or are refused."""

import json

import numpy as np
import pytest

from conjoin.errors import ReadError
from conjoin.moments.kept import Batch, KeptMoments
from conjoin.result.kept import kept_from_plain, kept_to_plain


@pytest.fixture
def kept():
    rng = np.random.default_rng(0)
    X, y, fold = rng.normal(size=(20, 2)), rng.normal(size=20), np.arange(20) % 4
    found = KeptMoments.of_rows(["a", "b"], X, y, np.ones(20), np.array([0, 12, 20]), fold, 4)
    return found.with_batch(Batch({"a": 12, "b": 8}, {"a": 5, "b": 7}))


def test_numbers_come_back_bit_by_bit(kept):
    plain = json.loads(json.dumps(kept_to_plain(kept)))
    found = kept_from_plain(plain, ("a", "b"), 2)
    for name in ("n", "center", "scale", "low", "high"):
        assert np.array_equal(getattr(found, name), getattr(kept, name))
    assert np.allclose(found.products, kept.products, rtol=1e-15, atol=1e-15)
    assert found.batches == kept.batches and kept_from_plain(None, ("a",), 2) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda plain: plain.pop("low"), "lacks 'low'"),
        (lambda plain: plain.update(n=plain["scale"]), "other folds"),
        (lambda plain: plain.update(scale=plain["center"]), "not above zero"),
        (lambda plain: plain.update(batches=[{"rows": {"a": -1}, "sums": {}}]), "whole number"),
    ],
)
def test_what_does_not_fit_is_refused(kept, change, words):
    plain = kept_to_plain(kept)
    change(plain)
    with pytest.raises(ReadError, match=words):
        kept_from_plain(plain, ("a", "b"), 2)
