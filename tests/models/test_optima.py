"""Searches end at the same point, wherever they start, and are quick from nearby."""

import numpy as np
import pytest

from conjoin.models.optima import Optima, Optimum
from conjoin.models.partial import DIAGONAL, SLOPES, fit_variances
from tests.collections_ import make

LOOSE = {"maxiter": 100, "ftol": 1e-7, "gtol": 1e-3}


class Counted:
    """A bowl that is not quadratic, whose lowest point is known; it counts its evaluations."""

    def __init__(self, at):
        self.at, self.calls = np.asarray(at, dtype=float), 0
        self.scales = np.geomspace(1, 1e4, len(self.at))

    def __call__(self, x):
        self.calls += 1
        away = x - self.at
        value = self.scales @ (np.cosh(away) - 1) + 0.25 * away.sum() ** 2
        return float(value), np.sinh(away) * self.scales + 0.5 * away.sum()


def test_the_point_is_exact_and_a_start_nearby_saves_steps():
    bounds = [(-5.0, 5.0)] * 4
    bowl, first = Counted([1.0, -1.0, 0.5, 2.0]), Optima()
    found = first.find("bowl", bowl, np.zeros(4), bounds, LOOSE)
    assert found == pytest.approx(bowl.at, abs=1e-10)
    moved = Counted(bowl.at + 0.01)
    again = Optima(first.after).find("bowl", moved, np.zeros(4), bounds, LOOSE)
    assert again == pytest.approx(moved.at, abs=1e-10)
    cold = Counted(moved.at)
    Optima().find("bowl", cold, np.zeros(4), bounds, LOOSE)
    assert moved.calls < 0.5 * cold.calls


def test_an_optimum_at_a_bound_stays_there():
    bowl = Counted([1.0, -1.0, 3.0])
    found = Optima().find("bowl", bowl, np.zeros(3), [(-5, 5), (-5, 5), (-5, 1.5)], LOOSE)
    assert found[2] == 1.5 and np.abs(bowl(found)[1][:2]).max() < 1e-6


def test_a_start_of_another_size_is_not_used():
    bowl = Counted([1.0, -1.0])
    other = Optima({"bowl": Optimum(np.zeros(3), np.eye(3))})
    assert other.find("bowl", bowl, np.zeros(2), [(-5, 5)] * 2, LOOSE) == pytest.approx(bowl.at)


@pytest.mark.parametrize("family", [SLOPES, DIAGONAL])
def test_variances_do_not_depend_on_where_the_search_started(family):
    moments = make("continuum", K=12, n=30, p=3).moments
    optima = Optima()
    cold = fit_variances(moments, family, optima=optima)
    point, curvature = optima.after[family.name]
    near = Optima({family.name: Optimum(point + 0.05, 1.3 * curvature)})
    warm = fit_variances(moments, family, optima=near)
    assert warm.noise == pytest.approx(cold.noise, rel=1e-10)
    assert np.diagonal(warm.L) == pytest.approx(np.diagonal(cold.L), rel=1e-9)
    # Without optima the search stops near the same point.
    assert fit_variances(moments, family).noise == pytest.approx(cold.noise, rel=1e-2)
