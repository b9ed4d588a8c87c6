"""Panels of coefficients and the figure of the calibration."""

from conjoin.report.coefficients import coefficient_facts
from conjoin.report.panels import calibration, calibration_ends, panel
from conjoin.report.view import View
from tests.report import results


def test_a_dataset_without_a_fit_has_no_dot():
    found = coefficient_facts(View(results.hostile()))
    for i, feature in enumerate(found["features"]):
        drawn = panel(feature, found, i)
        known = sum(value is not None for value in feature["value"])
        assert drawn.count("h0") <= known == 4
        assert f'data-panel="{i}"' in drawn


def test_bins_are_drawn_and_described():
    bins = [
        {"low": 0.0, "high": 0.5, "predicted": 0.2, "observed": 0.25, "rows": 90,
         "interval": [0.15, 0.35]},
        {"low": 0.5, "high": 1.0, "predicted": 0.7, "observed": 0.8, "rows": 10,
         "interval": [0.5, 0.95]},
    ]  # fmt: skip
    drawn = calibration(bins, "<yes>")
    assert drawn.count("<circle") == 2
    assert "20.0 % predicted for &#x27;&lt;yes&gt;&#x27;" in drawn
    assert "10 rows" in drawn
    assert "10 predictions" in calibration(bins, None)
    assert calibration_ends(bins) == (0.0, 1.0)
