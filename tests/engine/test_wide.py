import numpy as np
from numpy.testing import assert_allclose

from conjoin.engine.wide import Wide, _scaled
from conjoin.moments import Basis, Moments
from conjoin.moments.folds import fold_moments


def wide_of(seed=0):
    """Two datasets of 40 rows, two folds, one column and one prediction."""
    rng = np.random.default_rng(seed)
    x, f = rng.normal(size=(2, 80))
    y = 3 + x + f + rng.normal(size=80)
    fold = np.arange(80) % 2
    first = Basis(np.array([0.0, 3.0]), np.array([1.0, 2.0]), 3.0, 2.0, True)
    Z, t = first.design(np.stack([x, f], axis=1)), first.response(y)
    starts = np.array([0, 40, 80])
    folds = fold_moments(Z, t, np.ones(80), starts, fold, 2)
    ends = np.array([f.min()]), np.array([f.max()])
    return _scaled(first, folds, ends, 1), x, f, y, fold


def test_losses_and_products_are_those_of_rows():
    wide, x, f, y, fold = wide_of()
    assert isinstance(wide, Wide)
    dataset = np.repeat([0, 1], 40)
    own = wide.own(1)
    cell = fold * 2 + dataset
    expected = np.bincount(cell, (y - f) ** 2).reshape(2, 2) / 4
    assert_allclose(wide.losses(own), expected)
    both = wide.padded(np.zeros((2, 2, 2)), np.zeros(0, dtype=int))  # predicts the centre, 3
    H = wide.products([own, both])
    crossed = np.bincount(cell, (y - f) * (y - 3)).reshape(2, 2) / 4
    assert_allclose(H[..., 0, 0], expected)
    assert_allclose(H[..., 0, 1], crossed)


def test_predictions_are_centred_and_scaled_like_columns():
    wide, x, f, *_ = wide_of()
    assert_allclose(wide.basis.center[1], f.mean())
    assert_allclose(wide.basis.scale[1], max(f.std(), np.abs(f - f.mean()).max() / 4))
    basis, moments = wide.take(np.array([1]))
    assert isinstance(moments, Moments)
    assert_allclose(moments.G[..., 0, 2].sum(), 0, atol=1e-9)
    assert len(basis.center) == 2
