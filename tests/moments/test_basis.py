import numpy as np
from numpy.testing import assert_allclose

from conjoin.moments import Basis


def test_sums_of_the_target_in_its_own_units():
    rng = np.random.default_rng(0)
    X, y, w = rng.standard_normal((30, 2)), rng.normal(5, 3, 30), rng.uniform(0.5, 2, 30)
    basis = Basis.from_rows(X, y, w)
    t = basis.response(y)
    assert_allclose(basis.target_sums(w @ t, w @ t**2, w.sum()), [w @ y, w @ y**2])
