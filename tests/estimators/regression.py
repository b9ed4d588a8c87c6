"""What tests of the regressor share."""

from conjoin import JoinRegressor

TRUE_CLUSTERS = [["d1", "d2", "d3"], ["d4", "d5"]]


FEATURES = ["x1", "x2", "x3"]


def join(by=None, **params):
    """Return an estimator that is quick to fit."""
    return JoinRegressor(by, **{"folds": 4, **params})
