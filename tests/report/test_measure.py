"""How errors of each kind of target are called and shown."""

import pytest

from conjoin.report.measure import error_text, measure_of, page_words


@pytest.mark.parametrize("family", ["gaussian", "logistic", "poisson"])
def test_errors_that_are_not_known(family):
    measure = measure_of(family)
    assert measure.shown(None) is measure.shown(float("inf")) is measure.shown(-1.0) is None
    assert error_text(measure.shown(float("nan"))) == "unknown"


def test_only_squared_errors_have_roots():
    assert measure_of("gaussian").shown(9.0) == 3.0
    assert measure_of("logistic").shown(0.3) == 0.3
    assert measure_of("poisson").shown(0.3) == 0.3


def test_the_page_speaks_of_the_target_it_has():
    def words(family, classes=()):
        return page_words({"family": family, "target": "y", "classes": classes})

    assert words("gaussian")["about"] == "in the units of 'y'"
    assert "expected count" in words("poisson")["coefficients"]
    assert "log-odds of 'b' against 'a'" in words("logistic", ("a", "b"))["coefficients"]
    assert "score of a class" in words("logistic", ("a", "b", "c"))["coefficients"]
