"""Figures for notebooks."""

import builtins

import pytest

from conjoin.errors import ArgumentError
from tests.report import results

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.mark.parametrize("name", ["errors", "tree", "gains", "coefficients"])
def test_figures_are_drawn(name):
    for result in (results.hostile(), results.clusters(240)):
        ax = getattr(result, f"plot_{name}")()
        ax.figure.canvas.draw()  # finds formulas in names, if there are any
        again = getattr(result, f"plot_{name}")(ax=pyplot.subplots()[1])
        assert again is not ax
        pyplot.close("all")


@pytest.mark.parametrize("classes", [2, 3])
def test_figures_of_classes(classes):
    result = results.choices(classes)
    for name in ("errors", "tree", "gains", "coefficients", "calibration"):
        ax = getattr(result, f"plot_{name}")()
        ax.figure.canvas.draw()
    assert result.plot_errors().get_xlabel().startswith("log loss above the best")
    own = pyplot.subplots()[1]
    assert result.plot_calibration(ax=own) is own
    label = "x1" if classes == 2 else "no: x1"
    assert result.plot_coefficients(label).get_ylabel() == label
    pyplot.close("all")


def test_only_classes_have_a_calibration():
    for result in (results.hostile(), results.counts()):
        with pytest.raises(ArgumentError, match="has no classes"):
            result.plot_calibration()


def test_a_feature_can_be_chosen():
    ax = results.hostile().plot_coefficients("x2")
    assert ax.get_ylabel() == "x2"
    with pytest.raises(ArgumentError, match="feature='x9' is unknown; expected one of"):
        results.hostile().plot_coefficients("x9")
    pyplot.close("all")


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ArgumentError, match=r"pip install 'conjoin\[plot\]'"):
        results.hostile().plot_errors()
