import numpy as np

from conjoin import Direct
from tests.helpers import random_rows, raw_unit


def test_never_joins_not_even_a_copy():
    rng = np.random.default_rng(0)
    X, y = random_rows(rng, 40, 3)
    criterion = Direct()
    same = [raw_unit(name, X, y) for name in "ab"]
    assert not criterion.compare(*same).join
    for seed in range(20):
        rng = np.random.default_rng(seed)
        beta = rng.standard_normal(3)
        units = [raw_unit(name, *random_rows(rng, 40, 3, beta)) for name in "ab"]
        result = criterion.compare(*units)
        assert not result.join
        assert result.score < 0
