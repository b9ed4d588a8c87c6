"""Errors over time: periods, horizons, files and the page."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.result.course import Course


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    n, K = 120, 3
    e = rng.standard_normal((K, n))
    for i in range(1, n):
        e[:, i] = 0.9 * e[:, i - 1] + 0.44 * e[:, i]
    x = rng.standard_normal(K * n)
    data = {
        "store": np.repeat(["a", "b", "c"], n),
        "day": np.tile(np.datetime64("2024-01-01") + np.arange(n), K),
        "x": x,
        "y": x + e.ravel(),
    }
    with pytest.warns(UserWarning, match="is a date"):
        return conjoin.partition(
            data, target="y", by="store", learner="linear", time="day", horizon="6 days"
        )


def test_periods_average_to_the_error_that_is_shown(found):
    course = found.analysis.course("auto")
    assert course.periods[0] == "2024-03-01"
    assert len(set(course.rows)) == 1  # so periods count alike
    assert_allclose(np.mean(course.errors["auto"]), found.errors["auto"].error, rtol=1e-9)
    assert_allclose(np.mean(course.errors["pooled"]), found.errors["pooled"].error, rtol=1e-9)
    assert len(course.ahead) == len(course.ahead_errors) == 4


def test_without_time_there_is_none():
    tables = conjoin.datasets.make_clusters(sizes=(2,), n=30, p=2).tables()
    assert conjoin.partition(tables, target="y").analysis.course("auto") is None


def test_files_and_pages_show_it_and_the_trend(found, tmp_path):
    found.save(tmp_path / "m.json")
    again = conjoin.load(tmp_path / "m.json")
    course = again.analysis.course("auto")
    assert course == found.analysis.course("auto")
    assert Course.from_plain(course.to_plain()) == course
    again.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "How do errors go over time?" in page
    assert "as a trend and extrapolate it" in page
