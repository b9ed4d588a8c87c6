import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin import Tuned
from conjoin.errors import ArgumentError, DataError
from conjoin.moments import Moments
from conjoin.paper.bound import Fits, PairStatistics, inequality, pair_statistics
from conjoin.paper.design import DesignConstants
from conjoin.paper.tuned import Draws, correct_counts, draw_left_out
from tests.helpers import random_rows, raw_unit
from tests.reference.paper_algorithm2 import algorithm2

RULES = ("signed", "literal")


def two_units(seed, n, p, d):
    rng = np.random.default_rng(seed)
    beta = rng.standard_normal(p)
    return [
        raw_unit(name, *random_rows(rng, n, p, beta + shift))
        for name, shift in (("a", 0), ("b", d))
    ]


def decide(criterion, units, seed=0):
    one, two = (criterion.prepare(unit, seed) for unit in units)
    return criterion.compare(one, two)


@pytest.mark.parametrize("d", [0.0, 0.2, 1.0])
def test_agrees_with_the_slow_twin_on_the_same_draws(d):
    units = two_units(1, 120, 3, d)
    criterion = Tuned(n=20, resamples=60, alpha_step=0.25)
    draws = [criterion.draw(unit, 0) for unit in units]
    prepared = [criterion.prepare_draws(u, w, 0) for u, w in zip(units, draws)]
    ours = criterion.compare(*prepared)
    literal = dataclasses.replace(criterion, rule="literal").compare(*prepared)

    parts, plain_draws = [], {}
    for unit, drawn in zip(units, draws):
        everything = np.arange(len(unit.t))
        index = {"tune": everything, "estimate": drawn.estimate_rows, "final": everything}
        rows = {part: (unit.Z[i], unit.t[i]) for part, i in index.items()}
        parts.append({**rows, "all": (unit.Z, unit.t), "index": index})
    for part in ("tune", "estimate", "final"):
        plain_draws[part] = tuple(
            np.array([[list(p["index"][part]).index(i) for i in row] for row in getattr(w, part)])
            for p, w in zip(parts, draws)
        )
    plain = algorithm2(parts[0], parts[1], 20, criterion.alphas, 60, 0.1, None, draws=plain_draws)
    assert ours.alpha == pytest.approx(plain["alpha"])
    assert literal.score == pytest.approx(plain["proxy_acc"])
    assert ours.score == pytest.approx(plain["signed_score"])


@pytest.mark.parametrize("n", [8, 50, 100])
@pytest.mark.parametrize("d", [0.0, 0.1, 0.3])
def test_counts_along_the_grid_equal_a_full_walk(n, d):
    rng = np.random.default_rng([n, int(10 * d)])
    p, pairs = 5, 400
    beta = rng.standard_normal((pairs, p, 1))
    fits = []
    for shift in (0.0, d):
        X = rng.standard_normal((pairs, n, p))
        y = (X @ (beta + shift))[..., 0] + rng.standard_normal((pairs, n))
        fits.append(Fits.of(Moments.from_rows(X, y)))
    constants = DesignConstants.of(p / n, np.eye(p) / 2)
    stats, _ = pair_statistics(*fits, constants)
    gain = rng.standard_normal(pairs)
    alphas = Tuned().alphas
    join = inequality(stats.column(), alphas, 0.1).join
    full = np.sum(np.where(join, gain[:, None] > 0, gain[:, None] < 0), axis=0)
    assert_allclose(correct_counts(stats, gain, alphas, 0.1), full)


def test_the_proxy_accuracy_is_known_under_both_rules():
    units = two_units(1, 200, 3, 0.2)
    signed, literal = (decide(Tuned(rule=rule, resamples=100), units) for rule in RULES)
    assert signed.proxy_acc == literal.proxy_acc == literal.score
    assert signed.score != signed.proxy_acc


def test_the_spread_over_seeds_contains_the_first_seed_and_is_wide():
    units = two_units(1, 200, 3, 0.0)
    criterion = Tuned(resamples=100)
    low, high = criterion.spread(units, 5)
    assert low <= decide(criterion, units, seed=5).proxy_acc <= high
    assert high - low > 0.1


def test_out_of_samples_are_drawn_from_the_rows_left_out():
    units = two_units(3, 60, 2, 0.0)
    drawn = np.array([[0, 0, 3, 59], [1, 2, 3, 4]])
    rows = draw_left_out(units[0], drawn, 4000, np.random.default_rng(0))
    for own, found in zip(drawn, rows):
        assert set(found) == set(range(60)) - set(own)
        counts = np.bincount(found, minlength=60)[np.unique(found)]
        assert counts.std() < 2 * np.sqrt(4000 / 56)  # all rows are equally likely
    with pytest.raises(DataError, match="has all of its 60 rows, so none are left to judge it"):
        draw_left_out(units[0], np.arange(60)[None], 5, np.random.default_rng(0))


def test_many_out_of_samples_come_close_to_all_rows_left_out():
    units = two_units(3, 150, 2, 0.3)
    everything = decide(Tuned(resamples=200), units)
    drawn = decide(Tuned(resamples=200, out_of_samples=20_000), units)
    few = decide(Tuned(resamples=200, out_of_samples=2), units)
    assert abs(drawn.proxy_acc - everything.proxy_acc) < 0.03
    assert abs(few.proxy_acc - everything.proxy_acc) > 0.03
    with pytest.raises(ArgumentError, match="out_of_samples=0"):
        Tuned(out_of_samples=0)


def test_norm_may_be_bounded_only_where_it_cannot_matter():
    rng = np.random.default_rng(0)
    units = two_units(0, 400, 6, 0.6)
    criterion = Tuned(resamples=300)
    one, two = (criterion.prepare(unit, 0).sample.fits for unit in units)
    constants = DesignConstants.of(0.3, np.eye(6) / 2)
    exact, _ = pair_statistics(one, two, constants)
    quick, _ = pair_statistics(one, two, constants, least_alpha=2.0)
    alphas = rng.uniform(2, 10, 30)
    same = inequality(exact.column(), alphas, 0.1), inequality(quick.column(), alphas, 0.1)
    assert (same[0].join == same[1].join).all()
    assert (exact.norm != quick.norm).any()


def test_opposite_coefficients_are_joined_by_the_literal_rule_and_kept_apart_by_the_signed_one():
    rng = np.random.default_rng(0)
    beta = np.array([1.0, -2.0, 0.5])
    units = [raw_unit(n, *random_rows(rng, 600, 3, b)) for n, b in (("a", beta), ("b", -beta))]
    literal, signed = decide(Tuned(rule="literal"), units), decide(Tuned(), units)
    assert literal.join
    assert literal.score == 1.0
    assert not signed.join
    assert signed.score == -1.0


@pytest.mark.parametrize("p", [3, 10, 20])
def test_identical_coefficients_are_refused_by_the_literal_rule_and_joined_by_the_signed_one(p):
    units = two_units(p, 600, p, 0.0)
    assert not decide(Tuned(rule="literal"), units).join
    assert decide(Tuned(), units).join


def test_result_depends_on_seed_and_not_on_row_order():
    units = two_units(0, 200, 3, 0.1)
    shuffle = np.random.default_rng(5).permutation(200)
    shuffled = [raw_unit(u.names[0], u.Z[shuffle], u.t[shuffle]) for u in units]
    criterion = Tuned(resamples=200)
    assert decide(criterion, units) == decide(criterion, units)
    assert decide(criterion, units).score == decide(criterion, shuffled).score
    assert decide(criterion, units).score != decide(criterion, units, seed=1).score


def test_draws_held_fixed_an_invertible_change_of_features_changes_nothing():
    units = two_units(2, 200, 3, 0.1)
    change = np.array([[2.0, 0.3, 0.0], [0.0, -1.0, 0.5], [0.1, 0.0, 4.0]])
    changed = [raw_unit(u.names[0], u.Z @ change, 7.0 * u.t) for u in units]
    criterion = Tuned(resamples=200)
    results = []
    for pair in (units, changed):
        draws = [criterion.draw(unit, 0) for unit in units]
        prepared = [criterion.prepare_draws(u, w, 0) for u, w in zip(pair, draws)]
        results.append(criterion.compare(*prepared))
    assert results[0].score == pytest.approx(results[1].score)
    assert results[0].alpha == results[1].alpha
    assert results[1].phi == pytest.approx(49 * results[0].phi)


def test_draws_come_from_their_part_of_the_rows():
    (unit, _) = two_units(0, 100, 3, 0.0)
    draws = Tuned(resamples=50).draw(unit, 0)
    parts = [set(np.unique(rows)) for rows in (draws.tune, draws.estimate, draws.final)]
    assert isinstance(draws, Draws)
    assert not (parts[0] & parts[1] or parts[0] & parts[2] or parts[1] & parts[2])
    assert draws.tune.shape == (50, 50)


def test_too_few_rows_are_refused_unless_wanted():
    units = two_units(0, 20, 6, 0.0)
    with pytest.raises(
        DataError, match="Dataset 'a' has 4 rows in the smallest of the three parts"
    ):
        decide(Tuned(), units)
    result = decide(Tuned(overparametrised=True, resamples=50), units)
    assert np.isfinite(result.score)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"delta": 0}, "delta"),
        ({"lam": 1.2}, "lam"),
        ({"resamples": 0}, "resamples"),
        ({"n": 1}, "n=1"),
        ({"rule": "loud"}, "rule"),
        ({"shares": (0.5, 0.5, 0.5)}, "shares"),
        ({"alpha_step": -1}, "alpha_step"),
    ],
)
def test_bad_arguments(options, word):
    with pytest.raises(ArgumentError, match=word):
        Tuned(**options)


def test_statistics_select_along_the_stack():
    stats = PairStatistics(10.0, 1.0, *(np.arange(4.0) + k for k in range(6)))
    assert stats[1:3].norm.tolist() == [6.0, 7.0]
    assert stats.column().g.shape == (4, 1)
