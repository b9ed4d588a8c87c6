import numpy as np
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.datasets import make_clusters, make_pair
from conjoin.engine.criteria import to_units
from conjoin.paper.design import design_constants, known_designs
from conjoin.tables import collect


@pytest.mark.parametrize("intercept", [True, False])
def test_two_datasets_give_the_two_sides_of_theorem_1(intercept):
    pair = make_pair(p=4, n=(30, 60), d=0.2, shift=0.5, sigma=1.3)
    units = to_units(collect(pair.tables(), target="y"), intercept=intercept)
    oracle = pair.oracle(draws=400)
    prepared = [oracle.prepare(unit, 0) for unit in units]
    found = oracle.compare(*prepared)
    designs = [known_designs(u, pair.design, len(u.t), 400, 0) for u in units]
    constants = design_constants(*designs)
    scale = units[0].basis.target_scale
    delta = prepared[0][1][0].beta - prepared[1][1][0].beta
    assert_allclose(found.phi, constants.A0 * (1.3 / scale) ** 2, rtol=1e-8)
    assert_allclose(found.psi, delta @ constants.B0 @ delta, rtol=1e-8)


def test_decides_as_the_average_realised_gain():
    """Theorem 1 against simulation: expected gain of joining, on either side of zero."""
    for d in (0.1, 0.3):
        gains = []
        for seed in range(300):
            pair = make_pair(p=5, n=40, d=d, random_state=seed)
            fits = {k: np.linalg.lstsq(pair.X[k], pair.y[k], rcond=None)[0] for k in "ab"}
            X = np.vstack([pair.X[k] for k in "ab"])
            joint = np.linalg.lstsq(X, np.concatenate([pair.y[k] for k in "ab"]), rcond=None)[0]
            own = sum(pair.population_error(k, fits[k]) for k in "ab")
            gains.append(own - sum(pair.population_error(k, joint) for k in "ab"))
        units = to_units(collect(pair.tables(), target="y"), intercept=False)
        oracle = pair.oracle(draws=2000)
        found = oracle.compare(*(oracle.prepare(unit, 0) for unit in units))
        expected = found.score * units[0].basis.target_scale ** 2
        assert abs(np.mean(gains) - expected) < 4 * np.std(gains) / np.sqrt(300)
        assert found.join == (d == 0.1)


def test_with_equal_coefficients_the_oracle_merges_everything():
    stores = make_clusters(sizes=(5,), n=(20, 30, 40, 25, 60), p=3)
    result = conjoin.partition(stores.tables(), target="y", method=stores.oracle(draws=300))
    assert len(result.clusters) == 1


def test_finds_planted_clusters():
    stores = make_clusters(sizes=(2, 3, 1), n=50, p=4, distance=2.0)
    result = conjoin.partition(stores.tables(), target="y", method=stores.oracle(draws=200))
    assert result.clusters == [["d1", "d2"], ["d3", "d4", "d5"], ["d6"]]


def test_missing_truth_is_named():
    pair = make_pair()
    oracle = conjoin.Oracle({}, 1.0, pair.design)
    with pytest.raises(conjoin.ConjoinError, match="truth has no coefficients for dataset 'a'"):
        conjoin.compare(*pair.tables().values(), target="y", method=oracle)
    with pytest.raises(conjoin.ConjoinError, match="sigma2"):
        conjoin.Oracle({}, -1.0, pair.design)
    with pytest.raises(conjoin.ConjoinError, match="known has no distribution"):
        conjoin.compare(*pair.tables().values(), target="y", method="bound", known={})
