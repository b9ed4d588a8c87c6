import numpy as np
import pytest

from conjoin.models import effort
from conjoin.models.mixture import (
    fit_mixture,
    mixture_coefficients,
    mixture_memberships,
    mixture_prior,
)
from conjoin.models.partial import SLOPES, fit_variances, posterior
from tests.collections_ import make


def test_finds_planted_clusters_from_a_poor_start():
    truth = make("clusters", K=30, n=30, p=6, clusters=3, seed=1)
    start = fit_variances(truth.moments, SLOPES)
    labels = truth.labels.copy()
    labels[:6] = (labels[:6] + 1) % 3
    mixture = fit_mixture(truth.moments, start, labels)
    r = mixture_memberships(truth.moments, mixture)
    np.testing.assert_allclose(r.sum(axis=1), 1)
    found = np.argmax(r, axis=1)
    assert all(len(set(found[truth.labels == c])) == 1 for c in range(3))
    known = np.empty((30, 7))
    for c in range(3):
        union = truth.moments[truth.labels == c].union()
        known[truth.labels == c] = np.linalg.solve(union.G, union.h)
    assert truth.error(mixture_coefficients(truth.moments, mixture)) < 1.5 * truth.error(known)


@pytest.mark.parametrize(("kind", "better"), [("clusters", True), ("continuum", False)])
def test_evidence_prefers_clusters_only_where_there_are_some(kind, better):
    truth = make(kind, K=30, n=30, p=5, clusters=3)
    start = fit_variances(truth.moments, SLOPES)
    one = fit_mixture(truth.moments, start, np.zeros(30, dtype=int))
    three = fit_mixture(truth.moments, start, truth.labels)
    assert (three.log_evidence > one.log_evidence) == better


def test_one_centre_is_close_to_partial_pooling():
    truth = make("continuum", K=40, n=20, p=4)
    start = fit_variances(truth.moments, SLOPES)
    one = fit_mixture(truth.moments, start, np.zeros(40, dtype=int))
    ratio = truth.error(mixture_coefficients(truth.moments, one)) / truth.error(
        posterior(truth.moments, start).beta
    )
    assert ratio == pytest.approx(1, abs=0.1)


def test_a_further_dataset_is_expected_near_the_centres():
    truth = make("clusters", K=30, n=30, p=4, clusters=3)
    mixture = fit_mixture(truth.moments, fit_variances(truth.moments, SLOPES), truth.labels)
    centres, covariance, shares = mixture_prior(truth.moments, mixture)
    assert shares.sum() == pytest.approx(1)
    beta = mixture_coefficients(truth.moments, mixture)
    away = np.linalg.norm(beta[:, None] - centres, axis=2).min(axis=1)
    spread = np.sqrt(np.trace(covariance, axis1=1, axis2=2)).max()
    assert np.median(away) < 1.5 * spread
    within = mixture.hyper.L @ mixture.hyper.L.T
    assert (np.linalg.eigvalsh(covariance - within) > 0).all()  # centres are not known exactly


def test_part_of_the_datasets_gives_about_the_same_mixture(monkeypatch):
    """Centres and shares come from all datasets, the variances from a part."""
    truth = make("clusters", K=120, n=30, p=4, clusters=3)
    start = fit_variances(truth.moments, SLOPES)
    whole = fit_mixture(truth.moments, start, truth.labels)
    monkeypatch.setattr(effort, "MOST_FOR_VARIANCES", 60)
    fewer = fit_variances(truth.moments, SLOPES)
    np.testing.assert_allclose(np.diag(fewer.L), np.diag(start.L), rtol=0.3)
    assert fewer.noise == pytest.approx(start.noise, rel=0.1)
    assert fewer.relative.shape == (120,)
    part = fit_mixture(truth.moments, fewer, truth.labels)
    found = np.argmax(mixture_memberships(truth.moments, part), axis=1)
    np.testing.assert_array_equal(found, truth.labels)
    np.testing.assert_allclose(part.centres, whole.centres, atol=0.05)
    assert part.log_evidence == pytest.approx(whole.log_evidence, abs=0.01 * 120)
