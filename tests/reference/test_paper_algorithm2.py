"""The row twin of Algorithm 2 agrees with a direct recount."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.reference import paper_rows as rows
from tests.reference.paper_algorithm2 import algorithm2


def _parts(seed, shift, size=60, p=3):
    """Cut two datasets into tuning, estimation and final rows, scattered through the whole."""
    rng = np.random.default_rng(seed)
    beta = rng.normal(size=p)
    parts = []
    for k in range(2):
        X = rng.normal(size=(size, p))
        y = X @ (beta + k * shift) + rng.normal(size=size)
        order = rng.permutation(size)
        cut1, cut2 = int(0.4 * size), int(0.8 * size)
        index = {"tune": order[:cut1], "estimate": order[cut1:cut2], "final": order[cut2:]}
        part = {name: (X[number], y[number]) for name, number in index.items()}
        parts.append({**part, "all": (X, y), "index": index})
    return parts


def test_algorithm_2_with_its_own_draws_equals_algorithm_2_with_given_ones():
    """For one alpha the generator's draws, handed over, change nothing."""
    parts1, parts2 = _parts(11, shift=0.2)
    mine, copy = np.random.default_rng(12), np.random.default_rng(12)
    drawn = {}
    for part in ("estimate", "tune", "final"):
        pairs = []
        for _ in range(15):
            pairs.append([copy.integers(0, len(q[part][1]), size=12) for q in (parts1, parts2)])
        drawn[part] = (np.array([a for a, _ in pairs]), np.array([b for _, b in pairs]))
    free = algorithm2(parts1, parts2, 12, [3.0], 15, 0.1, mine)
    given = algorithm2(parts1, parts2, 12, [3.0], 15, 0.1, None, drawn)
    assert free.keys() == given.keys()
    for key, value in free.items():
        np.testing.assert_array_equal(value, given[key])


def test_algorithm_2_counts_what_a_direct_recount_finds():
    """Agreements for every alpha, recounted with left-out rows found by set difference."""
    parts1, parts2 = _parts(13, shift=0.25)
    rng = np.random.default_rng(14)
    drawn = {
        part: tuple(rng.integers(0, len(q[part][1]), size=(10, 12)) for q in (parts1, parts2))
        for part in ("estimate", "tune", "final")
    }
    alphas = [2.0, 4.0, 8.0]
    result = algorithm2(parts1, parts2, 12, alphas, 10, 0.1, None, drawn)

    def recount(part, alpha):
        joins, helped = [], []
        for draw1, draw2 in zip(*drawn[part], strict=True):
            train, out = [], []
            for parts, draw in ((parts1, draw1), (parts2, draw2)):
                X, y = parts["all"]
                taken = parts["index"][part][draw]
                left = sorted(set(range(len(y))) - set(taken.tolist()))
                train.append((X[taken], y[taken]))
                out.append((X[left], y[left]))
            sides = rows.phi_psi(*train[0], *train[1], result["A0"], result["B0"], alpha, 0.1)
            bc = rows.fit(np.vstack([X for X, _ in train]), np.concatenate([y for _, y in train]))
            gain = 0.0
            for (X, y), (Xo, yo) in zip(train, out, strict=True):
                gain += np.mean((yo - Xo @ rows.fit(X, y)) ** 2) - np.mean((yo - Xo @ bc) ** 2)
            joins.append(sides["phi"] > sides["psi"])
            helped.append(gain > 0)
        return np.array(joins), np.array(helped)

    for alpha, count in zip(alphas, result["correct"], strict=True):
        joins, helped = recount("tune", alpha)
        assert count == np.sum(joins == helped)
    assert result["alpha"] == alphas[int(np.argmax(result["correct"]))]
    joins, helped = recount("final", result["alpha"])
    assert result["proxy_acc"] == np.mean(joins == helped)
    score = np.mean(joins & helped) - np.mean(~joins & ~helped)
    assert result["signed_score"] == pytest.approx(score)


def test_algorithm_2_on_distant_datasets_agrees_always_and_scores_below_zero():
    """Agreement on keeping apart is full agreement; the signed score tells its direction."""
    parts1, parts2 = _parts(15, shift=4.0)
    rng = np.random.default_rng(16)
    result = algorithm2(parts1, parts2, 12, [2.0, 3.0], 10, 0.1, rng)
    assert result["correct"].tolist() == [10, 10]
    assert result["alpha"] == 2.0
    assert result["proxy_acc"] == 1.0
    assert result["signed_score"] == -1.0


def test_algorithm_2_takes_nan_for_apart(monkeypatch):
    """A criterion without a value agrees wherever joining hurts."""
    monkeypatch.setattr(rows, "phi_psi", lambda *args: {"phi": 1.0, "psi": math.nan})
    parts1, parts2 = _parts(15, shift=4.0)
    result = algorithm2(parts1, parts2, 12, [2.0], 10, 0.1, np.random.default_rng(16))
    assert result["proxy_acc"] == 1.0
    assert result["signed_score"] == -1.0


def test_algorithm_2_needs_a_source_of_draws():
    """Neither a generator nor draws is an error."""
    parts1, parts2 = _parts(15, shift=0.0)
    with pytest.raises(ValueError, match="rng is None"):
        algorithm2(parts1, parts2, 12, [2.0], 10, 0.1, None)
