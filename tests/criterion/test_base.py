import numpy as np
from numpy.testing import assert_allclose

from tests.helpers import random_rows, raw_unit


def units(count):
    rng = np.random.default_rng(0)
    return [raw_unit(name, *random_rows(rng, 10 + k, 3)) for k, name in enumerate("cab"[:count])]


def test_union_sorts_datasets_by_name_whatever_the_order():
    c, a, b = units(3)
    first, second = c.union(a).union(b), b.union(a.union(c))
    assert first.names == second.names == ("a", "b", "c")
    assert first.sizes == (11, 12, 10)
    assert first.label == "a + b + c"
    assert_allclose(first.Z, second.Z)
    assert_allclose(first.t, np.concatenate([a.t, b.t, c.t]))


def test_moments_of_members_add_up():
    c, a = units(2)
    both = c.union(a)
    assert both.member_moments.shape == (2,)
    assert_allclose(both.member_moments.union().G, both.moments.G)
    assert_allclose(both.member_moments[1].h, c.moments.h)
