import warnings

import numpy as np
import pytest

import conjoin
from conjoin.errors import ArgumentError, ConjoinWarning


def tables(values):
    rng = np.random.default_rng(0)
    return {
        name: {"x": rng.standard_normal(40), "y": np.asarray(values(rng))} for name in ("a", "b")
    }


def test_zeros_and_ones_may_be_meant_as_classes():
    given = tables(lambda rng: rng.integers(0, 2, 40).astype(float))
    with pytest.warns(ConjoinWarning, match="only the values 0 and 1"):
        conjoin.partition(given, target="y")
    with pytest.warns(ConjoinWarning, match="only the values 0 and 1"):
        conjoin.compare(*given.values(), target="y")


@pytest.mark.parametrize(
    ("values", "family"),
    [
        (lambda rng: rng.integers(0, 3, 40).astype(float), "auto"),
        (lambda rng: rng.integers(0, 2, 40).astype(float), "gaussian"),
        (lambda rng: np.zeros(40) + rng.integers(0, 2, 40) / 2, "auto"),
    ],
)
def test_other_targets_get_no_hint(values, family):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConjoinWarning)
        conjoin.partition(tables(values), target="y", family=family)


@pytest.mark.parametrize("method", ["tuned", "bound", "direct", "validated"])
def test_methods_for_numbers_refuse_classes(method):
    given = tables(lambda rng: rng.choice(["no", "yes"], 40))
    with pytest.raises(ArgumentError, match=f"method='{method}' is for numbers.*leave method out"):
        conjoin.partition(given, target="y", method=method)
