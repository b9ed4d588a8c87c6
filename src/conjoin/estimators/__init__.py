"""Estimators for scikit-learn: `join` has the two classes, `base` what they share."""

from conjoin.estimators.join import JoinClassifier, JoinRegressor

__all__ = ["JoinClassifier", "JoinRegressor"]
