"""Counts through `partition` and `compare`."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.datasets import make_count_clusters
from conjoin.errors import ArgumentError
from tests.api.outcomes import excess, fit, frame_of


@pytest.mark.parametrize("dispersion", [1.0, 4.0])
def test_clusters_of_counts(dispersion, tmp_path):
    calls = make_count_clusters(sizes=(3, 2), n=150, p=3, distance=1.0, dispersion=dispersion)
    frame = frame_of(calls)
    result = fit(frame, family="poisson")
    assert result.family == "poisson"
    assert result.labels == dict(calls.labels)
    predicted = result.predict(frame)
    assert (predicted > 0).all()
    assert predicted.mean() == pytest.approx(frame["y"].mean(), rel=0.05)
    pooled = excess(calls, dict.fromkeys(calls.names, result.pooled))
    assert excess(calls, result.coefficients) < 0.3 * pooled
    assert excess(calls, result.using("partial").coefficients) < 0.3 * pooled
    assert result.ledger()[-1].verdict == "apart"
    result.save(tmp_path / "counts.json", evidence=True)
    assert_allclose(conjoin.load(tmp_path / "counts.json").predict(frame), predicted)
    placed = result.assign(calls.X["d5"], calls.y["d5"])
    assert placed.cluster == 1
    assert (placed.model.predict(calls.X["d5"]) > 0).all()
    with pytest.raises(ArgumentError, match="no classes"):
        result.predict_proba(frame)


@pytest.mark.parametrize("dispersion", [1.0, 5.0])
def test_scatter_of_counts_is_not_taken_for_difference(dispersion):
    """Pairs drawn from one truth are hardly ever kept apart, however much counts scatter."""
    verdicts = []
    for seed in range(20):
        calls = make_count_clusters((2,), 100, 3, dispersion=dispersion, random_state=seed)
        tables = calls.tables().values()
        verdicts.append(conjoin.compare(*tables, target="y", family="poisson").verdict)
    assert verdicts.count("apart") <= 3
    assert verdicts.count("join") >= 3


def test_datasets_of_zeros_and_counts_of_any_size():
    calls = make_count_clusters((2, 1), 60, 3, distance=0.5)
    frame = frame_of(calls)
    frame.loc[frame["store"] == "d1", "y"] = 0
    frame.loc[frame["store"] == "d3", "y"] *= 10_000
    result = fit(frame, family="poisson")
    predicted = result.predict(frame)
    assert np.isfinite(predicted).all() and (predicted > 0).all()
    means = [predicted[frame["store"] == name].mean() for name in ("d1", "d2", "d3")]
    assert means == sorted(means)
