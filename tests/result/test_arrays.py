"""Arrays in a JSON document."""

import json

import numpy as np

from conjoin.result.arrays import array_to_plain, plain_to_array


def test_arrays_come_back_bit_by_bit():
    array = np.random.default_rng(0).standard_normal((3, 2, 4))
    assert np.array_equal(plain_to_array(json.loads(json.dumps(array_to_plain(array)))), array)
    whole = np.arange(6).reshape(2, 3)
    assert np.array_equal(plain_to_array(array_to_plain(whole, "<i4")), whole)
