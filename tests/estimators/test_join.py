"""Both estimators: parameters and attributes that were renamed, signatures, docstrings."""

import inspect

import pytest
from sklearn.base import clone

from conjoin import JoinClassifier, JoinRegressor
from conjoin.api.described import described
from conjoin.api.request import PredictionOptions, Request
from conjoin.errors import ArgumentError
from conjoin.estimators.join import NOT_HERE

BOTH = pytest.mark.parametrize("estimator", [JoinRegressor, JoinClassifier])


@BOTH
def test_a_renamed_parameter_is_named(estimator):
    with pytest.raises(ArgumentError, match="count='rows' is now called weigh_by='rows'"):
        estimator(count="rows")


@BOTH
def test_a_parameter_that_never_was(estimator):
    with pytest.raises(TypeError, match="colour"):
        estimator(colour="red")


@BOTH
def test_a_renamed_attribute_is_named(estimator):
    with pytest.raises(AttributeError, match="verdicts_ is now called ledger_"):
        _ = estimator().verdicts_
    with pytest.raises(AttributeError, match="has no attribute 'colour'"):
        _ = estimator().colour


def test_a_renamed_method_is_named(data):
    with pytest.raises(ArgumentError, match="method='mallows' is now called 'risk'"):
        JoinRegressor(by="store", method="mallows").fit(*data)


@BOTH
def test_the_signature_shows_every_parameter(estimator):
    shown = inspect.signature(estimator).parameters
    assert list(shown) == list(inspect.signature(estimator.__init__).parameters)[1:]
    assert set(shown) == set(estimator().get_params())

    class Other(estimator):
        """A subclass without parameters of its own."""

    assert list(inspect.signature(Other).parameters) == list(shown)
    assert type(clone(Other(delta=0.2))) is Other


@BOTH
def test_the_docstring_describes_every_parameter(estimator):
    for name in inspect.signature(estimator).parameters:
        assert f"\n    {name} : " in estimator.__doc__
    for request in (Request, PredictionOptions):
        for name in described(request).keys() - set(NOT_HERE):
            assert f"\n    {name} : " in estimator.__doc__


def test_the_regressor_takes_numbers_and_counts_only(data):
    with pytest.raises(ArgumentError, match="family='logistic' is unknown; expected one of"):
        JoinRegressor(by="store", family="logistic").fit(*data)


def test_counts_are_positive_targets_for_scikit_learn():
    assert JoinRegressor(family="poisson").__sklearn_tags__().target_tags.positive_only
    assert not JoinRegressor().__sklearn_tags__().target_tags.positive_only
    assert JoinClassifier(missing="raise").__sklearn_tags__().input_tags.allow_nan is False
