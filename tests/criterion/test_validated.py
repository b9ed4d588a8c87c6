import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.criterion.validated import Validated
from conjoin.errors import ArgumentError
from conjoin.moments import Moments
from tests.helpers import random_rows, raw_unit


def pair(sign):
    rng = np.random.default_rng(0)
    beta = rng.standard_normal(3)
    return [raw_unit(name, *random_rows(rng, 40, 3, s * beta)) for name, s in zip("ab", (1, sign))]


def score(units, folds=10):
    criterion = Validated(folds)
    return criterion.compare(*(criterion.prepare(unit, 0) for unit in units))


@pytest.mark.parametrize("sign, join", [(1, True), (-1, False)])
def test_equal_datasets_join_and_opposite_ones_do_not(sign, join):
    result = score(pair(sign))
    assert result.join is join
    assert (result.score > 0) is join


def test_the_score_is_a_cross_validation_written_out():
    units = pair(1)
    criterion = Validated(5)
    folds = [criterion.prepare(unit, 0) for unit in units]

    def error(parts):
        """Sum over datasets of the mean squared error on held-out folds."""
        total = 0.0
        for held_out in range(5):
            rest = Moments.stack([part[k] for part in parts for k in range(5) if k != held_out])
            beta = np.linalg.solve(rest.union().G, rest.union().h)
            total += sum(part[held_out].sse(beta) for part in parts) / 40
        return total

    both = [part[0] for part in folds]  # one dataset in each unit
    own = sum(error([part]) for part in both)
    assert_allclose(criterion.compare(*folds).score, (own - error(both)) / own)


def test_one_fold_is_refused():
    with pytest.raises(ArgumentError, match="folds=1 is not a count"):
        Validated(folds=1)
