import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.moments import Moments
from conjoin.moments.resample import canonical_order, draw, resample, split_rows, stream


@pytest.mark.parametrize("rows", [5, 60, 2000])
def test_resamples_and_rows_left_out_equal_a_plain_loop(rows):
    rng = np.random.default_rng(rows)
    X, y, w = rng.standard_normal((rows, 3)), rng.standard_normal(rows), rng.uniform(0.5, 2, rows)
    draws = draw(np.arange(rows - 1), 40, 30, rng)  # the last row is never drawn
    found = resample(X, y, w, draws, Moments.from_rows(X, y, w))
    for b, drawn in enumerate(draws):
        rest = np.setdiff1d(np.arange(rows), drawn)
        for taken, moments in ((drawn, found.drawn), (rest, found.left_out)):
            plain = Moments.from_rows(X[taken], y[taken], w[taken])
            for field in ("G", "h", "q", "n", "w"):
                expected = getattr(plain, field)
                assert_allclose(getattr(moments, field)[b], expected, rtol=1e-9, atol=1e-9)


def test_streams_depend_on_seed_and_names_only():
    assert stream(0, "a").random() == stream(0, "a").random()
    values = {stream(s, *n).random() for s in (0, 1) for n in (("a",), ("b",), ("a", "b"), ("ab",))}
    assert len(values) == 8


def test_the_canonical_order_does_not_depend_on_the_order_before():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (50, 2)).astype(float), rng.integers(0, 4, 50).astype(float)
    shuffle = rng.permutation(50)
    one, two = canonical_order(X, y), canonical_order(X[shuffle], y[shuffle])
    assert_allclose(X[one], X[shuffle][two])
    assert_allclose(y[one], y[shuffle][two])
    assert one.tolist() == np.lexsort((X[:, 1], X[:, 0], y)).tolist()


@pytest.mark.parametrize("n", [3, 10, 101])
def test_split_uses_every_row_once(n):
    parts = split_rows(n, (0.4, 0.4, 0.2), np.random.default_rng(0))
    assert sorted(np.concatenate(parts)) == list(range(n))
    assert min(map(len, parts)) >= 1
    if n == 10:
        assert [len(part) for part in parts] == [4, 4, 2]
