"""Distributions: derivatives by finite differences, probabilities, contrasts."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.families import Response
from conjoin.models.glm_families import (
    BERNOULLI,
    LARGEST_COUNT_LOG,
    POISSON,
    RowDerivatives,
    contrasts,
    family_of,
    probabilities,
)
from tests.models.glm_draws import FAMILIES, every_family


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_contrasts_are_orthonormal_and_sum_to_zero(classes):
    V = contrasts(classes)
    assert V.shape == (classes, classes - 1)
    assert_allclose(V.T @ V, np.eye(classes - 1), atol=1e-14)
    assert_allclose(V.sum(axis=0), 0, atol=1e-14)


@every_family
def test_derivatives_by_finite_differences_far_from_zero(family):
    rng = np.random.default_rng(2)
    eta = rng.uniform(-40, 40, (1, 30) if family.m == 1 else (1, 30, family.m))
    y = rng.integers(0, family.m + 1, (1, 30)).astype(float)
    found = family.derivatives(y, eta)
    for a in range(family.m):
        h = 1e-5 if family.m == 1 else 1e-5 * np.eye(family.m)[a]
        slope = (family.loss(y, eta + h) - family.loss(y, eta - h)) / 2e-5
        bend = (
            family.derivatives(y, eta + h).gradient - family.derivatives(y, eta - h).gradient
        ) / 2e-5
        gradient = found.gradient if family.m == 1 else found.gradient[..., a]
        curvature = found.curvature if family.m == 1 else found.curvature[..., a]
        assert_allclose(gradient, slope, rtol=1e-4, atol=1e-8)
        assert_allclose(curvature, bend, rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("family", [f for f in FAMILIES if f is not POISSON], ids=lambda f: f.m)
def test_the_loss_is_minus_the_log_of_the_probability(family):
    rng = np.random.default_rng(3)
    eta = 20 * rng.standard_normal((2, 8) if family.m == 1 else (2, 8, family.m))
    probability = probabilities(family, eta)
    assert probability.shape == (2, 8, family.m + 1)
    assert_allclose(probability.sum(axis=-1), 1)
    for c in range(family.m + 1):
        loss = family.loss(np.full((2, 8), float(c)), eta)
        assert_allclose(-np.log(probability[..., c]), loss, rtol=1e-9, atol=1e-12)


def test_huge_predictors_stay_finite():
    eta = np.array([-1e6, -800.0, 800.0, 1e6])
    y = np.array([0.0, 1.0, 0.0, 1.0])
    with np.errstate(all="raise", under="ignore"):
        assert np.isfinite(probabilities(BERNOULLI, eta)).all()
        for family in (BERNOULLI, POISSON):
            assert np.isfinite(family.loss(y, eta)).all()
            assert all(np.isfinite(values).all() for values in family.derivatives(y, eta))


def test_the_poisson_mean_is_smooth_where_it_becomes_linear():
    eta = LARGEST_COUNT_LOG + np.array([-1e-6, 1e-6])
    y = np.zeros(2)
    for values in (POISSON.loss(y, eta), *POISSON.derivatives(y, eta)):
        assert values[1] == pytest.approx(values[0], rel=1e-5)


def test_the_total_curvature_is_the_trace():
    one = RowDerivatives(np.zeros((1, 2)), np.array([[3.0, 4.0]]))
    two = RowDerivatives(np.zeros((1, 1, 2)), np.array([[[[1.0, 9.0], [9.0, 2.0]]]]))
    assert one.total_curvature().tolist() == [[3.0, 4.0]]
    assert two.total_curvature().tolist() == [[3.0]]


@every_family
def test_families_survive_pickling(family):
    again = pickle.loads(pickle.dumps(family))
    eta = np.linspace(-2, 2, 5 * family.m).reshape((5,) if family.m == 1 else (5, family.m))
    assert (again.name, again.m) == (family.name, family.m)
    assert_allclose(again.loss(np.zeros(5), eta), family.loss(np.zeros(5), eta))


@pytest.mark.parametrize(
    ("response", "name"),
    [
        (Response("logistic", (0, 1)), "bernoulli"),
        (Response("logistic", ("a", "b", "c")), "multinomial"),
        (Response("poisson"), "poisson"),
    ],
)
def test_the_family_follows_the_response(response, name):
    family = family_of(response)
    assert family.name == name
    assert family.m == max(len(response.classes) - 1, 1)
    assert family_of(Response()) is None
