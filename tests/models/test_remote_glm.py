import numpy as np
import pytest

from conjoin.models.glm_families import BERNOULLI, POISSON
from conjoin.models.glm_rows import GlmRows
from conjoin.models.likelihood import FARTHEST, Likelihood
from conjoin.models.padded_rows import SortedRows
from conjoin.models.remote_glm import RemoteGlmRows, answer

SIZES = (60, 80, 90)


class NearDesk:
    """A desk that asks rows in memory."""

    def __init__(self, rows):
        self.rows = rows

    def fetch(self, asked):
        return [answer(self.rows[one.dataset], one, FARTHEST) for one in asked]

    def each(self, work, items):
        return iter([work(item) for item in items])


def both(family):
    """Return the same rows in memory and elsewhere; the second dataset has one fold of two less."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(sum(SIZES)), rng.standard_normal((sum(SIZES), 2))])
    eta = X @ np.array([0.3, 1.0, -0.5])
    y = rng.poisson(np.exp(eta)) if family is POISSON else rng.uniform(size=len(X)) < 1 / (
        1 + np.exp(-eta)
    )  # fmt: skip
    y, starts = y.astype(float), np.concatenate([[0], np.cumsum(SIZES)])
    fold = np.arange(len(y)) % 4
    near = GlmRows.of(SortedRows(X, y, np.ones(len(y)), starts), fold, 4, family)
    parts = {}
    for k, name in enumerate("abc"):
        own = slice(starts[k], starts[k + 1])
        one = SortedRows.one_dataset(X[own], y[own], np.ones(SIZES[k]))
        parts[name] = GlmRows.of(one, fold[own], 4, family)
    classes = near.backing(np.zeros((3, 3))).counts
    far = RemoteGlmRows(
        family, (), near.sorted_rows, near.n, near.w, names=tuple("abc"),
        places=(np.arange(4),) * 3, classes=classes, desk=NearDesk(parts),
    )  # fmt: skip
    return near, far


@pytest.mark.parametrize("family", [BERNOULLI, POISSON])
def test_rows_elsewhere_answer_as_rows_in_memory(family):
    near, far = both(family)
    rng = np.random.default_rng(1)
    b = 0.3 * rng.standard_normal((3, 3))
    for one, two in zip(near.sums(b), far.sums(b)):
        assert np.allclose(one, two, atol=1e-12)
    for one, two in zip(near.without_folds.sums(b), far.without_folds.sums(b)):
        assert np.allclose(one, two, atol=1e-12)
    folds = 0.3 * rng.standard_normal((4, 3, 3))
    assert np.allclose(near.loss(folds), far.loss(folds))
    assert np.allclose(near.mass(b), far.mass(b))
    inverse = np.broadcast_to(np.eye(3), (3, 3, 3))
    assert np.allclose(near.squared_scores(b, inverse), far.squared_scores(b, inverse))
    asked = [(0, b[0]), (2, b[1])]
    assert np.allclose(near.total_losses(asked), far.total_losses(asked))
    change = 50 * b
    assert np.array_equal(near.step_shares(b, change, 4.0), far.step_shares(b, change, 4.0))
    some = far.of_datasets([2, 0])
    assert np.allclose(some.sums(b[:2]).G[0], near.sums(b[[0, 0, 0]]).G[2])


@pytest.mark.parametrize("family", [BERNOULLI, POISSON])
def test_fits_in_rounds_are_those_of_rows(family):
    near, far = both(family)
    start, ridge = np.array([0.1, 0.0, 0.0]), np.full(3, 1e-3)
    unions = [(0, 1, 2), (1,)]
    fits = [rows.fit_unions(unions, ridge, [start, start], 1e-12) for rows in (near, far)]
    assert np.allclose(fits[0], fits[1], atol=1e-9)
    pooled = Likelihood.of_cells(far, start)
    rows = near.sorted_rows
    wanted = Likelihood.of(rows, np.arange(len(rows.y)) % 4, 4, family)
    assert np.allclose(pooled.anchor, wanted.anchor, atol=1e-9)
    assert pooled.rows.phi == pytest.approx(wanted.rows.phi, rel=1e-9)
    with pytest.raises(NotImplementedError):
        far.held_out(np.zeros((4, 3, 3)))
