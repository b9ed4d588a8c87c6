"""Kept moments come back from a file bit by bit, or are refused."""

import json

import numpy as np
import pytest

from conjoin.errors import ReadError
from conjoin.moments.kept import Batch, KeptMoments
from conjoin.result.arrays import array_to_plain
from conjoin.result.kept import kept_from_plain, kept_to_plain


@pytest.fixture
def kept():
    rng = np.random.default_rng(0)
    X, y, fold = rng.normal(size=(20, 2)), rng.normal(size=20), np.arange(20) % 4
    found = KeptMoments.of_rows(["a", "b"], X, y, np.ones(20), np.array([0, 12, 20]), fold, 4)
    found = found.with_batch(Batch({"a": 12, "b": 8}, {"a": 5, "b": 7}))
    return found.with_starts({"slopes": (np.array([0.1, -2.0]), np.eye(2) / 3)})


def test_numbers_come_back_bit_by_bit(kept):
    plain = json.loads(json.dumps(kept_to_plain(kept)))
    found = kept_from_plain(plain, ("a", "b"), 2)
    for name in ("n", "center", "scale", "low", "high"):
        assert np.array_equal(getattr(found, name), getattr(kept, name))
    assert np.allclose(found.products, kept.products, rtol=1e-15, atol=1e-15)
    for one, other in zip(found.starts["slopes"], kept.starts["slopes"], strict=True):
        assert np.array_equal(one, other)
    assert found.batches == kept.batches and kept_from_plain(None, ("a",), 2) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda plain: plain.pop("low"), "lacks 'low'"),
        (lambda plain: plain.update(n=plain["scale"]), "other folds"),
        (lambda plain: plain.update(scale=plain["center"]), "not above zero"),
        (lambda plain: plain.update(batches=[{"rows": {"a": -1}, "sums": {}}]), "whole number"),
        (lambda plain: plain["starts"]["slopes"].pop("point"), "lacks 'point'"),
        (
            lambda plain: plain["starts"]["slopes"].update(
                point=array_to_plain(np.array([np.inf, 0.0]))
            ),
            "does not fit its point",
        ),
    ],
)
def test_what_does_not_fit_is_refused(kept, change, words):
    plain = kept_to_plain(kept)
    change(plain)
    with pytest.raises(ReadError, match=words):
        kept_from_plain(plain, ("a", "b"), 2)


def test_files_of_earlier_versions_have_no_starts(kept):
    plain = kept_to_plain(kept)
    plain.pop("starts")
    assert kept_from_plain(plain, ("a", "b"), 2).starts == {}
